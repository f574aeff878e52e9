"""`specharness selfcheck`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.engine.selfcheck import SelfCheck

__all__ = ["selfcheck"]

FAILED = 4  # nothing that this harness says on this machine can be trusted


@click.command()
@click.option(
    "--thorough", is_flag=True, help="Deeper: 1e8 multinomials at 1e-6 and more; many minutes."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def selfcheck(seed: int, *, thorough: bool, as_json: bool) -> None:
    """Prove the harness's own false-alarm rate and power on this machine: what was expected, what
    was seen.

    Takes about a minute. Exit code 0 where all came out as theory has it, else 4.
    """
    from harness.engine.selfcheck import DEFAULT, THOROUGH
    from harness.engine.selfcheck import selfcheck as check

    found = check(THOROUGH if thorough else DEFAULT, seed)
    if as_json:
        _print_json(found)
    else:
        _print_table(found)
    raise SystemExit(0 if found.passed else FAILED)


def _print_json(found: SelfCheck) -> None:
    import json
    from dataclasses import asdict

    click.echo(json.dumps({**asdict(found), "passed": found.passed}, indent=1, allow_nan=False))


def _print_table(found: SelfCheck) -> None:
    from rich.table import Table

    from harness.cli.screen import screen

    table = Table(title="selfcheck", title_justify="left", box=None)
    for name in ("", "claim", "expected", "seen", ""):
        table.add_column(name, overflow="fold")
    for line in found.lines:
        verdict = "ok" if line.passed else "[bold red]FAILED[/]"
        table.add_row(line.topic, line.claim, line.expected, line.seen, verdict)
    console = screen(160)
    console.print(table)
    failed = sum(not line.passed for line in found.lines)
    outcome = "all as expected" if found.passed else f"{failed} NOT as expected"
    console.print(
        f"{len(found.lines)} claims, {outcome}; seed {found.seed}, {found.seconds:.0f} s",
        highlight=False,
    )
