"""The command line: a command parses, calls the library, renders, chooses an exit code.

Command modules import the library when they run, not before: `--help` must answer at once.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback

import click

from harness.errors import HarnessError

__all__ = ["main"]

COMMANDS = {
    "run": (
        "harness.cli.run:run",
        "Run suites, print verdicts, write results; the exit code is the gate.",
    ),
    "validate": ("harness.cli.validate:validate", "Check scenario files; run nothing."),
    "law": ("harness.cli.law:law", "Print the exact accounting and the exact law of each rule."),
    "plan": ("harness.cli.plan:plan", "Trials needed: to certify, and to catch each control."),
    "plot": ("harness.cli.plot:plot", "Draw the plots of a finished run again."),
    "report": ("harness.cli.report:report", "Report a finished run in another format."),
    "catalog": ("harness.cli.catalog:catalog", "List rules, checks, policies and reports."),
    "check": ("harness.cli.check:check", "Hold recorded tokens against a law."),
    "cost": (
        "harness.cli.cost:cost",
        "What speculation saves in theory: a model, not a measurement.",
    ),
    "compare": ("harness.cli.compare:compare", "What changed between two runs."),
    "explain": (
        "harness.cli.explain:explain",
        "Where a scenario differs, and which known fault fits.",
    ),
    "init": ("harness.cli.init:init", "Write a commented starter suite and a pytest example."),
    "selfcheck": (
        "harness.cli.selfcheck:selfcheck",
        "Prove the harness's own false-alarm rate and power on this machine.",
    ),
    "bench": (
        "harness.cli.bench:bench",
        "Measure trials against the cost of their random numbers.",
    ),
}

INTERRUPTED, CLOSED = 130, 141  # 128 + SIGINT and 128 + SIGPIPE, as shells have it
BUG = 70  # EX_SOFTWARE of sysexits.h


class Harness(click.Group):
    """Loads a command when it is called; prints the harness's own errors as one line, exit 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        if isinstance(sys.stdout, io.TextIOWrapper):  # where a console lacks a character of a name
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except HarnessError as error:
            click.echo(f"specharness: {error}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:  # click would exit 1: a sampler that differs
            click.echo("specharness: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # so would this, after `| head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(CLOSED)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception:  # noqa: BLE001 (a bug of ours: shown, and never taken for a verdict)
            traceback.print_exc()
            ctx.exit(BUG)


@click.group(cls=Harness, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="specharness")
def main() -> None:
    """Does a speculative-decoding sampler draw from the law it promises?

    Exit codes: 0 all as expected; 1 a sampler that should match differs; 2 usage or scenario
    error; 3 inconclusive; 4 invalid: a control was not caught, or a sampler failed; 70 a bug of
    the harness; 130 interrupted.
    """
