"""What a suite's trials can show: the power of its controls, and how close they come to proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from harness.engine.power import ScenarioPlan, SuitePlan
from harness.errors import StoreError
from harness.plots.labels import file_stem, mathless, number, short, shown
from harness.plots.page import (
    BLUE,
    FAINT,
    GREY,
    INK,
    RED,
    log_axis,
    new_page,
    panel,
    plain_ticks,
    titles,
    write,
)

__all__ = ["power_figure", "write_power"]

ROW: Final = 0.19  # inches of a scenario
NAMED: Final = 44  # characters of a scenario's name
ENOUGH, TOO_FEW = (BLUE, "o"), (RED, "s")


def write_power(plan: SuitePlan, folder: Path) -> list[Path]:
    """The figure of one suite as PNG and SVG. Raises StoreError where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return write(power_figure(plan), folder / f"plan-{file_stem(0, plan.suite)[4:]}")
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error


def power_figure(plan: SuitePlan) -> Figure:
    """Above: the power of every control against trials. Below: trials needed and declared."""
    rows = max(3, len(plan.scenarios)) * ROW
    figure = new_page(3.75 + rows)
    titles(figure, _finding(plan), _details(plan))
    curves = [scenario for scenario in plan.scenarios if scenario.curve]
    above = panel(figure, 3.05, rows + 1.0, 4.3, 1.75)
    _curves(above, curves, plan)
    below = panel(figure, 3.05, 0.5, 4.3, rows)
    _needed(below, plan.scenarios)
    _same_trials(above, below, plan)
    return figure


def _curves(axes: Axes, scenarios: Sequence[ScenarioPlan], plan: SuitePlan) -> None:
    hardest = max(scenarios, key=lambda s: s.needed or 0.0, default=None)
    for scenario in scenarios:
        trials, power = np.array(scenario.curve).T
        worst = scenario is hardest
        axes.plot(trials, power, color=BLUE if worst else GREY, linewidth=1.8 if worst else 1.1,
                  zorder=3 if worst else 2)  # fmt: skip
    declared = sorted({scenario.trials for scenario in plan.scenarios})
    for trials in declared:
        axes.axvline(trials, color=INK, linewidth=0.9, linestyle=":")
    axes.set_ylim(0, 1.04)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylabel("probability of being caught")
    axes.set_title(_names(hardest), size=8.5, loc="left", color=INK, pad=5)


def _names(hardest: ScenarioPlan | None) -> str:
    if hardest is None:
        return "no control that these trials could catch"
    return mathless(f"blue: {_short(hardest.name)}")


def _needed(axes: Axes, scenarios: Sequence[ScenarioPlan]) -> None:
    """A line from the trials needed to the trials declared, one scenario a row."""
    for row, scenario in enumerate(scenarios):
        needed = scenario.needed
        axes.plot([scenario.trials], [row], "|", color=INK, ms=7)
        if needed is None or math.isinf(needed):
            axes.annotate(
                "not known" if needed is None else "never", (scenario.trials, row), (6, 0),
                textcoords="offset points", va="center", size=7, color=FAINT, annotation_clip=False,
            )  # fmt: skip
            continue
        colour, marker = ENOUGH if scenario.suffices else TOO_FEW
        axes.plot([needed, scenario.trials], [row, row], color=colour, linewidth=1.0, alpha=0.6)
        filled = colour if scenario.expect == "differs" else "white"
        axes.plot([needed], [row], marker, color=colour, ms=4.5, mfc=filled)
    plain_ticks(axes, range(len(scenarios)), [_short(s.name) for s in scenarios], 7.5)
    axes.set_ylim(len(scenarios) - 0.4, -0.6)
    axes.set_xlabel("trials; filled: to be caught, hollow: to be certified, bar: declared")


def _same_trials(above: Axes, below: Axes, plan: SuitePlan) -> None:
    wanted = [float(s.trials) for s in plan.scenarios]
    wanted += [s.needed for s in plan.scenarios if s.needed and math.isfinite(s.needed)]
    wanted += [float(s.curve[0][0]) for s in plan.scenarios if s.curve]
    for axes in (above, below):
        log_axis(axes, "x")
        axes.set_xlim(max(0.5, min(wanted) / 1.3), max(wanted) * 1.6)


def _short(name: str) -> str:
    return short(shown(name), NAMED)


def _finding(plan: SuitePlan) -> str:
    short = [s for s in plan.scenarios if s.suffices is False]
    if not short:
        return f"{plan.suite}: the declared trials suffice"
    worst = max(short, key=lambda s: (s.needed or 0.0) / s.trials)
    if worst.needed is None or math.isinf(worst.needed):
        return f"{plan.suite}: no number of trials shows “{_short(worst.name)}”"
    return (
        f"{plan.suite}: “{_short(worst.name)}” needs {number(worst.needed / worst.trials)} times "
        f"the declared trials"
    )


def _details(plan: SuitePlan) -> str:
    return (
        f"Alpha {number(plan.alpha)} over {plan.family} observables; a control is missed with "
        f"probability {number(1 - plan.power)}. Exact laws through the e-process of a run; "
        "dotted: declared trials."
    )
