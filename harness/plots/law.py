"""Seen against promised: every cell with its interval, and the exact law of the rule."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from harness.arrays import Counts, Probs, Rows
from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult
from harness.plots.intervals import ratios
from harness.plots.labels import number
from harness.plots.page import (
    BLUE,
    FAINT,
    GREY,
    INK,
    MARKS,
    ORANGE,
    RED,
    Key,
    keys,
    new_page,
    panel,
    plain_ticks,
    titles,
)
from harness.plots.ranked import ranked
from harness.plots.scale import over, ratio_scale, worth_showing
from harness.plots.wording import cell_name, details, finding

__all__ = ["law"]

BEYOND_ANY = 1e200  # chi-square of one impossible draw, for an order
FEW_ROWS = 16  # cells with room to spare
MOST_ROWS = 40  # cells that can be named on one page; more of them are ranked and binned
SHOWN_WHOLE: Final = 0.75  # share of intervals that fit; those of the rarest cells are cut
LAW_MARK: Final[dict[str, Any]] = {"mfc": "none", "mec": ORANGE, "ms": 5.5, "mew": 1.3}
KEYS: tuple[Key, ...] = (
    ("▬", GREY, "target"),
    ("●", BLUE, "seen"),
    ("◇", ORANGE, "law of the rule"),
)


def law(result: SuiteResult, scenario: ScenarioResult) -> Figure | None:
    """The observable that speaks for a scenario; None where it has none.

    Up to 40 cells are rows. Of more, tokens are ranked by target probability and binned; of
    traces and joint laws those cells are shown that differ most.
    """
    seen = scenario.headline
    if seen is None or not np.isfinite(seen.target).all():
        return None
    cells = len(seen.target)
    if cells <= MOST_ROWS:
        return _rows(result, scenario, seen, np.arange(cells))
    if seen.cells and seen.observable != "output":  # no one order suits pairs of tokens
        return _rows(result, scenario, seen, _most_surprising(seen))
    if not seen.counts.any():
        return _rows(result, scenario, seen, np.argsort(-seen.target, kind="stable")[:FEW_ROWS])
    return ranked(result, scenario, seen)


def _most_surprising(seen: ObservableResult) -> Rows:
    """The cells that add most to chi-square, in their own order."""
    expected = seen.target * seen.counts.sum()
    surprise = over((seen.counts - expected) ** 2, expected)
    surprise = np.where(expected > 0, surprise, BEYOND_ANY * seen.counts)
    return np.sort(np.argsort(-surprise, kind="stable")[:FEW_ROWS])


def _rows(
    result: SuiteResult, scenario: ScenarioResult, seen: ObservableResult, cells: Rows
) -> Figure:
    height = len(cells) * (0.3 if len(cells) <= FEW_ROWS else 0.19)
    figure = new_page(height + 1.5)
    all_of = len(seen.target)
    cut = f", {len(cells)} of {number(all_of)} cells" if len(cells) < all_of else ""
    titles(figure, finding(scenario, seen), details(result, scenario, seen, cut))
    left = panel(figure, 1.55, 0.5, 2.7, height)
    _probabilities(left, seen, cells)
    names = [cell_name(scenario, seen, cell) for cell in cells]
    plain_ticks(left, range(len(cells)), names, 8 if len(cells) <= FEW_ROWS else 7)
    left.set_ylim(len(cells) - 0.4, -0.6)
    if seen.counts.any():
        _ratios(panel(figure, 4.5, 0.5, 2.8, height), result, seen, cells)
    return figure


def _probabilities(axes: Axes, seen: ObservableResult, cells: Rows) -> None:
    rows = np.arange(len(cells))
    axes.barh(rows, seen.target[cells], height=0.62, color=GREY, edgecolor=FAINT, linewidth=0.5)
    if seen.exact is not None:
        axes.plot(seen.exact[cells], rows, "D", **LAW_MARK)
    if total := seen.counts.sum():
        axes.plot(seen.counts[cells] / total, rows, "o", color=BLUE, ms=3.5)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_xlabel("probability")
    keys(axes, KEYS)


def _ratios(axes: Axes, result: SuiteResult, seen: ObservableResult, cells: Rows) -> None:
    found = ratios(seen.counts, seen.target, result.delta).at(cells)
    exact = None if seen.exact is None else over(seen.exact, seen.target)[cells]
    scale = ratio_scale(axes, worth_showing(found, exact, SHOWN_WHOLE))
    rows = np.arange(len(cells))
    axes.axvline(1.0, color=INK, linewidth=0.8)
    if exact is not None:
        finite = np.isfinite(exact)
        axes.plot(scale.clip(exact[finite]), rows[finite], "D", **LAW_MARK)
    for off, (colour, marker) in MARKS.items():
        which = (found.off == off) & (seen.target[cells] > 0)
        low, high = scale.clip(found.low[which]), scale.clip(found.high[which])
        axes.hlines(rows[which], low, high, color=colour, linewidth=1.6)
        axes.plot(scale.clip(found.seen[which]), rows[which], marker, color=colour, ms=4)
    _impossible(axes, seen.counts[cells], seen.target[cells])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("seen / target")
    keys(axes, (("●", BLUE, "agrees"), ("■", RED, "interval leaves out 1")))


def _impossible(axes: Axes, counts: Counts, target: Probs) -> None:
    for row in np.flatnonzero((target == 0) & (counts > 0)):
        axes.text(
            0.98, float(row), f"seen {number(int(counts[row]))} times, target 0", color=RED,
            size=8, weight="bold", ha="right", va="center", transform=axes.get_yaxis_transform(),
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
