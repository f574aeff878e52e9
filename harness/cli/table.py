"""A run as a table that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.cli.screen import screen
from harness.engine.decide import worst_code
from harness.engine.result import ScenarioResult, SuiteResult
from harness.reports.words import OUTCOMES, number, outcome, scopes, setting, visible

__all__ = ["print_result", "print_total"]

STYLES = {"matches": "green", "differs": "yellow", "inconclusive": "magenta", "invalid": "red"}
NARROW = 100  # characters; below it columns would break numbers
COLUMNS = (
    ("scenario", "left"), ("verdict", "left"), ("", "left"), ("trials", "right"),
    ("TV at most", "right"), ("epsilon", "right"),
    ("could see TV", "right"), ("ln E", "right"), ("kept", "right"), ("finding", "left"),
)  # fmt: skip


def print_result(result: SuiteResult, folder: Path | None) -> None:
    """One suite: its scenarios, what they were held against, and where the files are."""
    console = screen()
    (_print_table if console.width >= NARROW else _print_blocks)(console, result)
    for scope in scopes(result):
        console.print(f"looked at: {escape(visible(scope))}", highlight=False)
    console.print(f"{setting(result)}; {_speed(result)}", highlight=False)
    if folder is not None:
        console.print(f"results in {escape(str(folder))}\n", highlight=False, soft_wrap=True)


def _print_table(console: Console, result: SuiteResult) -> None:
    table = Table(title=_title(result), title_justify="left", box=None)
    for name, side in COLUMNS:
        table.add_column(name, justify=side, overflow="fold", no_wrap=name == "verdict")  # type: ignore[arg-type]
    for scenario in result.scenarios:
        table.add_row(*_row(scenario))
    console.print(table)


def _print_blocks(console: Console, result: SuiteResult) -> None:
    """For a terminal too narrow for columns: a scenario, then its numbers, then its finding."""
    console.print(_title(result))
    for scenario in result.scenarios:
        name, verdict, met, *numbers, finding = _row(scenario)
        console.print(f"{verdict} {met}: {name}", highlight=False)
        names = [column for column, _ in COLUMNS[3:-1]]
        told = ", ".join(f"{n} {v}" for n, v in zip(names, numbers, strict=True))
        console.print(f"  {told}\n  {finding}", highlight=False)


def _title(result: SuiteResult) -> str:
    return f"{escape(result.suite)}: {outcome(result)}"


def print_total(results: Sequence[SuiteResult]) -> None:
    """One line over all suites."""
    scenarios = [scenario for result in results for scenario in result.scenarios]
    met = sum(scenario.as_expected for scenario in scenarios)
    code = worst_code(result.exit_code for result in results)
    screen().print(
        f"{len(results)} suites, {len(scenarios)} scenarios, {met} as expected: {OUTCOMES[code]}",
        highlight=False,
    )


def _row(scenario: ScenarioResult) -> list[str]:
    main = scenario.headline
    kept = scenario.acceptance
    met = "as expected" if scenario.as_expected else f"expected {scenario.expect}"
    return [
        escape(visible(scenario.name)),
        f"[{STYLES[scenario.verdict]}]{scenario.verdict}[/]",
        met if scenario.as_expected else f"[bold red]{met}[/]",
        f"{scenario.trials:,}",
        number(main.tv_bound) if main else "–",
        f"{scenario.epsilon:g}",
        number(main.tv_detectable) if main else "–",
        number(main.log_e) if main else "–",
        f"{kept.observed:.4f}" if kept else "–",
        escape(visible(scenario.reason)),
    ]


def _speed(result: SuiteResult) -> str:
    rate, wall = (result.manifest.get(key, 0.0) for key in ("trials_per_second", "wall_seconds"))
    return f"{wall:.1f} s, {rate / 1e6:.1f} million trials a second"
