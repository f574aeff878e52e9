"""`specharness plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.engine.power import ScenarioPlan, SuitePlan

__all__ = ["plan"]

NOT_ENOUGH = 3  # as a run would end that cannot decide


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--power",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=1 - 1e-6,
    show_default="1 - 1e-6",
    help="With which a control is to be caught.",
)
@click.option("--trials", type=click.IntRange(1, 10**12), help="In place of all stated trials.")
@click.option(
    "--sampler",
    "samplers",
    multiple=True,
    metavar="NAME=TARGET",
    help="Declare a sampler that scenarios name; it is not run.",
)
@click.option(
    "--plot",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Draw the power of each control against trials into this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON, and nothing else.")
def plan(
    paths: tuple[Path, ...],
    power: float,
    trials: int | None,
    samplers: tuple[str, ...],
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    """Trials that the suites in PATHS need: to certify epsilon, and to catch each control.

    Controls are planned by their exact law at the level of a run. Exit code 0 where the stated
    trials suffice, 3 where some scenario's do not.
    """
    from harness.cli.settings import declared_samplers, suites_at
    from harness.engine.power import plan_suite

    known = declared_samplers(samplers, Path("results") / "replay")
    plans = []
    for suite in suites_at(paths, trials=trials):
        found = plan_suite(suite, samplers=known, power=power, curves=folder is not None)
        plans.append(found)
        if not as_json:
            _print_table(found)
        if folder is not None:
            _draw(found, folder)
    if as_json:
        _print_json(plans)
    raise SystemExit(0 if all(found.suffices for found in plans) else NOT_ENOUGH)


def _draw(found: SuitePlan, folder: Path) -> None:
    from harness.plots.power import write_power

    for path in write_power(found, folder):
        click.echo(path, err=True)


def _print_json(plans: list[SuitePlan]) -> None:
    import json

    document = {"format": 1, "suites": [_document(found) for found in plans]}
    click.echo(json.dumps(_finite(document), indent=1, allow_nan=False))


def _document(found: SuitePlan) -> dict[str, Any]:
    from dataclasses import asdict

    scenarios = [{**asdict(s), "suffices": s.suffices} for s in found.scenarios]
    return {**asdict(found), "suffices": found.suffices, "scenarios": scenarios}


def _finite(value: object) -> object:
    """The same without infinities, which JSON does not have: null stands for never."""
    import math

    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print_table(found: SuitePlan) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harness.cli.screen import screen
    from harness.reports.words import visible

    table = Table(title=escape(found.suite), title_justify="left", box=None)
    for name, side in COLUMNS:
        table.add_column(name, justify=side, overflow="fold")  # type: ignore[arg-type]
    for scenario in found.scenarios:
        table.add_row(*(escape(visible(cell)) for cell in _row(scenario)))
    console = screen(160)
    console.print(table)
    console.print(
        f"alpha {found.alpha:g} over {found.family} observables, delta {found.delta:g}; a control "
        f"is missed with probability {1 - found.power:.2g}, a correct sampler is certified with "
        f"probability {found.certified:g}\n",
        highlight=False,
    )


COLUMNS = (
    ("scenario", "left"), ("expect", "left"), ("trials", "right"), ("needed", "right"),
    ("enough", "left"), ("by", "left"), ("could see TV", "right"), ("", "left"),
)  # fmt: skip


def _row(scenario: ScenarioPlan) -> list[str]:
    shown = next((o for o in scenario.observables if o.name == scenario.by), None)
    enough = {True: "yes", False: "NO", None: "unknown"}[scenario.suffices]
    by = "" if shown is None else shown.name
    if shown is not None and scenario.expect == "differs" and shown.how:
        by = f"{shown.name}: {shown.how}"
    return [
        scenario.name,
        scenario.expect,
        f"{scenario.trials:,}",
        _trials(scenario.needed),
        enough,
        by,
        "–" if shown is None else f"{shown.detectable:.2g}",
        scenario.note,
    ]


def _trials(needed: float | None) -> str:
    import math

    if needed is None:
        return "–"
    return "never" if math.isinf(needed) else f"{needed:,.0f}"
