"""The suite at a glance: one row a scenario."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.engine.result import ScenarioResult, SuiteResult, Verdict
from harness.plots.labels import short, shown
from harness.plots.page import (
    FAINT,
    GREY,
    INK,
    VERDICTS,
    keys,
    log_axis,
    new_page,
    panel,
    plain_ticks,
    titles,
)
from harness.plots.wording import coarsely

__all__ = ["overview"]

KEYS = (
    ("●", INK, "TV seen"),
    ("━", INK, "up to its bound"),
    ("○", INK, "bound of a coarser law"),
    ("┃", FAINT, "epsilon"),
)
MOST_ROWS = 200  # scenarios; a page of more is as tall as a picture may be
FLOOR = 1e-5  # a distance below this is drawn here


def overview(result: SuiteResult) -> Figure | None:
    """TV, its bound and epsilon of every scenario; None for a suite without scenarios."""
    rows = result.scenarios[:MOST_ROWS]
    if not rows:
        return None
    height = max(0.24 * len(rows), 0.6)
    figure = new_page(height + 1.4)
    titles(figure, _finding(result), _details(result))
    axes = panel(figure, 2.65, 0.5, 2.9, height)
    _frame(axes, rows)
    for row, scenario in enumerate(rows):
        _row(axes, row, scenario)
    return figure


def _frame(axes: Axes, rows: tuple[ScenarioResult, ...]) -> None:
    log_axis(axes, "x")
    found = [(o.tv, o.tv_bound) for s in rows if (o := s.headline)]
    values = [v for pair in found for v in pair] + [s.epsilon for s in rows]
    known = [max(v, FLOOR) for v in values if math.isfinite(v)]
    axes.set_xlim(min(known) / 1.5, max(known) * 1.5)
    names = [short(shown(scenario.name), 36) for scenario in rows]
    plain_ticks(axes, range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("total variation distance to the promised law")
    keys(axes, KEYS)


def _row(axes: Axes, row: int, scenario: ScenarioResult) -> None:
    colour, marker = VERDICTS[scenario.verdict]
    seen = scenario.headline
    axes.axhline(row, color=GREY, linewidth=0.5, zorder=0)
    axes.vlines(scenario.epsilon, row - 0.36, row + 0.36, color=FAINT, linewidth=1.6)
    if seen and np.isfinite([seen.tv, seen.tv_bound]).all():
        tv, coarse = max(seen.tv, FLOOR), bool(coarsely(seen))
        if coarse:  # the bound is of another law than the distance: no line between them
            axes.plot([seen.tv_bound], [row], "o", mfc="white", mec=colour, mew=1.4, ms=6)
        else:
            axes.hlines(row, tv, seen.tv_bound, color=colour, linewidth=2.2)
        axes.plot([tv], [row], marker, color=colour, ms=6)
    text = str(scenario.verdict) + ("" if scenario.as_expected else ", not expected")
    axes.plot([1.04], [row], marker, color=colour, ms=6, transform=axes.get_yaxis_transform(),
              clip_on=False)  # fmt: skip
    axes.text(1.07, row, text, size=8, va="center", transform=axes.get_yaxis_transform(),
              weight="normal" if scenario.as_expected else "bold", color=INK)  # fmt: skip


def _finding(result: SuiteResult) -> str:
    wrong = [s for s in result.scenarios if not s.as_expected]
    name = shown(result.suite)
    if not wrong:
        return f"{name}: all {len(result.scenarios)} scenarios came out as expected"
    return f"{name}: {len(wrong)} of {len(result.scenarios)} scenarios did not come out as expected"


def _details(result: SuiteResult) -> str:
    tally = [(v, sum(s.verdict == v for s in result.scenarios)) for v in Verdict]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in tally if n)
    more = len(result.scenarios) - MOST_ROWS
    cut = f" The first {MOST_ROWS} are shown." if more > 0 else ""
    return f"{counts}; alpha {result.alpha:g}, bounds hold with 1 - {result.delta:g} each.{cut}"
