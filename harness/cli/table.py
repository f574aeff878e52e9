"""A run as a table that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.engine.decide import worst_code
from harness.engine.result import ScenarioResult, SuiteResult
from harness.reports.words import OUTCOMES, number, outcome, scopes, setting, visible

__all__ = ["print_result", "print_total"]

STYLES = {"matches": "green", "differs": "yellow", "inconclusive": "magenta", "invalid": "red"}
COLUMNS = (
    ("scenario", "left"), ("verdict", "left"), ("", "left"), ("trials", "right"),
    ("TV at most", "right"),
    ("could see TV", "right"), ("ln E", "right"), ("kept", "right"), ("finding", "left"),
)  # fmt: skip


def print_result(result: SuiteResult, folder: Path | None) -> None:
    """One suite: its scenarios, what they were held against, and where the files are."""
    console = _console()
    table = Table(
        title=f"{escape(result.suite)}: {outcome(result)}", title_justify="left", box=None
    )
    for name, side in COLUMNS:
        table.add_column(name, justify=side, overflow="fold", no_wrap=name == "verdict")  # type: ignore[arg-type]
    for scenario in result.scenarios:
        table.add_row(*_row(scenario))
    console.print(table)
    for scope in scopes(result):
        console.print(f"looked at: {escape(visible(scope))}", highlight=False)
    console.print(f"{setting(result)}; {_speed(result)}", highlight=False)
    if folder is not None:
        console.print(f"results in {escape(str(folder))}\n", highlight=False, soft_wrap=True)


def print_total(results: Sequence[SuiteResult]) -> None:
    """One line over all suites."""
    scenarios = [scenario for result in results for scenario in result.scenarios]
    met = sum(scenario.as_expected for scenario in scenarios)
    code = worst_code(result.exit_code for result in results)
    _console().print(
        f"{len(results)} suites, {len(scenarios)} scenarios, {met} as expected: {OUTCOMES[code]}",
        highlight=False,
    )


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=160)


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
        number(main.tv_detectable) if main else "–",
        number(main.log_e) if main else "–",
        f"{kept.observed:.4f}" if kept else "–",
        escape(visible(scenario.reason)),
    ]


def _speed(result: SuiteResult) -> str:
    rate, wall = (result.manifest.get(key, 0.0) for key in ("trials_per_second", "wall_seconds"))
    return f"{wall:.1f} s, {rate / 1e6:.1f} million trials a second"
