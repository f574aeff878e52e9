"""`specharness law`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from harness.arrays import Exact
    from harness.scenario import Scenario, Suite

__all__ = ["law"]

MOST_ROWS = 64  # tokens; a longer law is for a file, not for a screen


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--scenario", "only", help="One scenario instead of all.")
def law(path: Path, only: str | None) -> None:
    """Print the accounting of PATH and each rule's exact law, as fractions where it is decimal."""
    from harness.cli.screen import screen
    from harness.errors import UnknownName
    from harness.registry import did_you_mean
    from harness.scenario import load_suite

    suite = load_suite(path)
    names = [scenario.name for scenario in suite.scenarios]
    if only is not None and only not in names:
        raise UnknownName(f"{path}: no scenario {only!r}{did_you_mean(only, names)}")
    console = screen(120)
    shown: set[bytes] = set()
    for scenario in suite.scenarios:
        if only not in {None, scenario.name}:
            continue
        if scenario.promised:
            _print_scenario(console, suite, scenario, shown)
        else:
            console.print(f"{scenario.name}: two samplers, no law is stated\n", highlight=False)


def _print_scenario(console: Console, suite: Suite, scenario: Scenario, shown: set[bytes]) -> None:
    """The accounting of the laws, once for all scenarios that share them; then the rule's law."""
    from harness.engine.exact import exact_single
    from harness.engine.facts import accounting
    from harness.rules import RULES

    laws = scenario.exact_laws or scenario.laws
    tokens = scenario.vocabulary or suite.vocabulary
    rule = RULES[scenario.rule] if scenario.rule else None
    k = scenario.draft_length
    account = accounting(laws, exact_single(rule, laws, draft_length=k) if rule else None)
    address = account.p.astype(float).tobytes() + account.q.astype(float).tobytes()
    if address not in shown:
        shown.add(address)
        columns = {
            "p": account.p,
            "q": account.q,
            "accepted mass": account.accepted_mass,
            "rejected mass": account.rejected_mass,
            "residual": account.residual,
            "replacement mass": account.replacement_mass,
        }
        title = f"{suite.name}: accounting, overlap {_text(account.overlap)}"
        _print_columns(console, title, tokens, columns)
    if account.law is None:
        console.print(f"{scenario.name}: no exact law, simulated only\n", highlight=False)
        return
    title = (
        f"{scenario.name} ({scenario.rule}): acceptance {_text(account.acceptance)}, "
        f"TV to p {_text(account.tv)}"
    )
    _print_columns(console, title, tokens, {"law": account.law, "p": account.p})


def _print_columns(
    console: Console, title: str, tokens: tuple[str, ...], columns: dict[str, Exact]
) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harness.reports.words import visible

    table = Table(title=escape(title), title_justify="left", box=None)
    for name in ("", *columns):
        table.add_column(name, justify="right")
    for row, token in enumerate(tokens[:MOST_ROWS]):
        cells = (_text(column[row]) for column in columns.values())
        table.add_row(escape(visible(token)), *cells)
    if len(tokens) <= MOST_ROWS:
        table.add_row("sum", *(_text(sum(column)) for column in columns.values()))
    else:
        table.add_row("...", f"{len(tokens) - MOST_ROWS:,} more tokens")
    console.print(table)
    console.print()


def _text(value: object) -> str:
    """A fraction with its decimal value, or a float."""
    from fractions import Fraction

    if isinstance(value, Fraction) and value.denominator > 1:
        return f"{value} = {float(value):.6g}"
    return f"{float(value):.6g}"  # type: ignore[arg-type]  # Fraction, int or float
