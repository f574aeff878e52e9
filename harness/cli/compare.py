"""`specharness compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from harness.engine.compare import Comparison, ObservableChange, ScenarioChange

__all__ = ["compare"]

STYLES = {"same": "", "changed": "yellow", "better": "green", "worse": "bold red",
          "added": "cyan", "missing": "bold red"}  # fmt: skip
COLUMNS = ("", "scenario", "observable", "verdict", "TV", "TV at most", "ln E", "between runs",
           "kept", "million/s")  # fmt: skip


@click.command()
@click.argument("before", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("after", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def compare(before: Path, after: Path, *, as_json: bool) -> None:
    """What changed from one results folder to another: verdicts, effects, settings, speed.

    Exit codes: 0 nothing got worse; 1 a scenario that came out as expected in the first run does
    not in the second, or is missing there. The column `between runs` is the total variation of the
    two runs' draws, and in brackets what it would be on average had nothing changed.
    """
    from harness.engine.compare import compare as compared
    from harness.store.folder import load

    found = compared(load(before), load(after))
    if as_json:
        click.echo(_document(found), nl=False)
    else:
        _print(found)
    raise SystemExit(1 if found.worse else 0)


def _document(found: Comparison) -> str:
    import json
    from dataclasses import asdict

    from harness.reports.json import FORMAT, plain

    document = {"format": FORMAT, "worse": found.worse, **asdict(found)}
    return json.dumps(plain(document), indent=1, allow_nan=False) + "\n"


def _print(found: Comparison) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harness.cli.screen import screen

    console = screen(180)
    title = f"{' -> '.join(dict.fromkeys(found.suites))}: {' -> '.join(found.started)}"
    table = Table(title=escape(title), title_justify="left", box=None)
    for name in COLUMNS:
        table.add_column(name, overflow="fold", no_wrap=name not in {"scenario", "verdict"})
    for change in found.scenarios:
        for row in _rows(change):
            table.add_row(*row)
    console.print(table)
    _print_settings(console, found)
    counted = {status: sum(c.status == status for c in found.scenarios) for status in STYLES}
    summary = ", ".join(f"{n} {status}" for status, n in counted.items() if n)
    console.print(f"{summary}; {_rates(found.speed)}", highlight=False)


def _rows(change: ScenarioChange) -> list[list[str]]:
    """A scenario with the observable that comes first; further ones where their verdict changed."""
    from rich.markup import escape

    from harness.reports.words import visible

    style = STYLES[change.status]
    status = f"[{style}]{change.status}[/]" if style else change.status
    verdict = _arrow(change.before or "–", change.after or "–")
    kept = _arrow(*("–" if rate is None else f"{rate:.4f}" for rate in change.acceptance))
    first, *others = change.observables or (None,)
    tail = [kept, _arrow(*map(_rate, change.speed))]
    head = [status, escape(visible(change.name)), *_effects(first, verdict), *tail]
    moved = [o for o in others if o and o.before["verdict"] != o.after["verdict"]]
    return [head, *(["", "", *_effects(o, _verdicts(o)), "", ""] for o in moved)]


def _effects(change: ObservableChange | None, verdict: str) -> list[str]:
    """Observable, verdict, TV, its bound, ln E, distance between the runs."""
    from rich.markup import escape

    if change is None:
        return ["", verdict, "", "", "", ""]
    runs = change.before, change.after
    numbers = [
        _arrow(*(_short(float(run[key])) for run in runs)) for key in ("tv", "tv_bound", "log_e")
    ]
    between = "–"
    if change.tv_between is not None and change.tv_by_chance is not None:
        between = f"{change.tv_between:.2g} ({change.tv_by_chance:.2g})"
    return [escape(change.observable), verdict, *numbers, between]


def _verdicts(change: ObservableChange) -> str:
    return _arrow(str(change.before["verdict"]), str(change.after["verdict"]))


def _short(value: float) -> str:
    """Three significant digits; a dash where there is no number."""
    from harness.reports.words import number

    return number(float(f"{value:.3g}"))


def _print_settings(console: Console, found: Comparison) -> None:
    """What was not asked alike, once however many scenarios it concerns."""
    from rich.markup import escape

    lines = [f"run: {text}" for text in found.settings]
    where: dict[str, list[str]] = {}
    for change in found.scenarios:
        for text in change.settings:
            where.setdefault(text, []).append(change.name)
    for text, names in where.items():
        place = names[0] if len(names) == 1 else f"{len(names)} scenarios"
        lines.append(f"{place}: {text}")
    for line in lines:
        console.print(f"asked differently: {escape(line)}", highlight=False)


def _arrow(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"


def _rate(speed: float) -> str:
    return f"{speed / 1e6:.3g}" if speed else "–"


def _rates(speed: tuple[float, float]) -> str:
    return f"{' -> '.join(map(_rate, speed))} million trials a second"
