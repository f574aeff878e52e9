"""Laws of many cells: seen over target in bins, so that thousands of tokens still show a defect.

Two orders: by rank of target probability, and by draft over target, along which the known faults of
verification rules are smooth. Cells that are off by themselves are named.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.arrays import Floats, Probs, Rows
from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult
from harness.plots.intervals import Ratios, clopper_pearson, ratios
from harness.plots.labels import number
from harness.plots.page import (
    BLUE,
    INK,
    MARKS,
    ORANGE,
    RED,
    keys,
    log_axis,
    new_page,
    panel,
    titles,
)
from harness.plots.scale import RatioScale, over, ratio_scale, worth_showing
from harness.plots.wording import cell_name, details, finding

__all__ = ["ranked"]

RANK_BINS, RATIO_BINS = 40, 24
NAMED = 4  # cells off by themselves that are named


def ranked(result: SuiteResult, scenario: ScenarioResult, seen: ObservableResult) -> Figure:
    """The page of a law of many cells."""
    figure = new_page(4.2)
    titles(figure, finding(scenario, seen), details(result, scenario, seen))
    worst = _off_by_themselves(scenario, seen, result.delta)
    left = panel(figure, 0.85, 0.5, 3.55, 2.7)
    order, edges, places = _by_rank(seen.target)
    bins = _bins(seen, order, edges, result.delta)
    scale = ratio_scale(left, np.append(bins.wanted, _within_reach(bins.wanted, worst)), "y")
    _draw(left, bins, places, scale)
    _crosses(left, worst, np.argsort(order, kind="stable") + 1, scale)
    log_axis(left, "x")
    left.set_xlabel("rank by target probability")
    left.set_ylabel("seen / target")
    keys(left, (("●", BLUE, "bin agrees"), ("■", RED, "is off"), ("━", ORANGE, "law of the rule")))
    if len(scenario.q) == len(seen.target) and seen.observable == "output":
        _by_draft(panel(figure, 5.2, 0.5, 2.2, 2.7), scenario, seen, result.delta)
    return figure


@dataclass(frozen=True, slots=True)
class Bins:
    """Ratios (bins,) over the target: what was seen, and the law of the rule."""

    found: Ratios
    exact: Floats | None

    @property
    def wanted(self) -> Floats:
        return worth_showing(self.found, self.exact, share=0.95)


@dataclass(frozen=True, slots=True)
class Worst:
    """Cells that are off by themselves, the surest first, with their ratio and a note."""

    cells: Rows
    ratio: Floats
    notes: tuple[str, ...]


def _by_rank(target: Probs) -> tuple[Rows, Rows, Floats]:
    """Order, edges and places of bins that widen geometrically; cells of mass 0 left out."""
    order = np.argsort(-target, kind="stable")
    possible = int(np.count_nonzero(target))
    edges = np.unique(np.geomspace(1, possible + 1, RANK_BINS + 1).round().astype(np.intp)) - 1
    return order, edges, np.sqrt((edges[:-1] + 1.0) * edges[1:])


def _by_draft(axes: Axes, scenario: ScenarioResult, seen: ObservableResult, error: float) -> None:
    """Bins of equal target mass along draft over target."""
    rate = over(scenario.q, seen.target)
    order = np.argsort(rate, kind="stable")
    order = order[seen.target[order] > 0]
    mass = np.concatenate(([0.0], np.cumsum(seen.target[order])))
    cuts = np.searchsorted(mass, np.linspace(0, 1, RATIO_BINS + 1)[1:-1])
    edges = np.unique(np.concatenate(([0], cuts, [len(order)])))
    bins = _bins(seen, order, edges, error)
    _draw(axes, bins, (mass[edges[:-1]] + mass[edges[1:]]) / 2, ratio_scale(axes, bins.wanted, "y"))
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0.12, 0.88], ["draft < target", "draft > target"])
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("bins of equal mass by draft / target")


def _bins(seen: ObservableResult, order: Rows, edges: Rows, error: float) -> Bins:
    """Counts and laws summed between edges; the intervals hold for all bins at once."""
    target = np.add.reduceat(seen.target[order], edges[:-1])
    counts = np.add.reduceat(seen.counts[order], edges[:-1])
    low, high = clopper_pearson(counts, int(seen.counts.sum()), error)
    found = Ratios(over(counts / seen.counts.sum(), target), over(low, target), over(high, target))
    if seen.exact is None:
        return Bins(found, None)
    return Bins(found, over(np.add.reduceat(seen.exact[order], edges[:-1]), target))


def _draw(axes: Axes, bins: Bins, places: Floats, scale: RatioScale) -> None:
    found = bins.found
    axes.axhline(1.0, color=INK, linewidth=0.8)
    if bins.exact is not None:
        axes.plot(places, scale.clip(bins.exact), "_", color=ORANGE, ms=8, mew=2.2)
    for off, (colour, marker) in MARKS.items():
        which = found.off == off
        low, high = scale.clip(found.low[which]), scale.clip(found.high[which])
        axes.vlines(places[which], low, high, color=colour, linewidth=1.2)
        axes.plot(places[which], scale.clip(found.seen[which]), marker, color=colour, ms=3)


def _off_by_themselves(scenario: ScenarioResult, seen: ObservableResult, error: float) -> Worst:
    found = ratios(seen.counts, seen.target, error)
    impossible = (seen.target == 0) & (seen.counts > 0)
    expected = seen.target * seen.counts.sum()
    surprise = np.where(impossible, np.inf, over((seen.counts - expected) ** 2, expected))
    surprise = np.where(found.off | impossible, surprise, -1.0)
    worst = np.argsort(-surprise, kind="stable")[:NAMED]
    cells = worst[surprise[worst] > 0]
    notes = tuple(
        f"{cell_name(scenario, seen, cell)}: {_off_by(seen, cell, found)}" for cell in cells
    )
    return Worst(cells, found.seen[cells], notes)


def _within_reach(bins: Floats, worst: Worst) -> Floats:
    """How far an axis of these bins should stretch for single cells: not so far as to hide bins."""
    ratio = np.maximum(worst.ratio, 1 / np.maximum(worst.ratio, 1e-3))
    return np.minimum(1.05 * ratio, 1 + 6 * (np.max(bins, initial=1.001) - 1))


def _crosses(axes: Axes, worst: Worst, rank: Rows, scale: RatioScale) -> None:
    for cell, ratio in zip(worst.cells, worst.ratio, strict=True):
        marker = "^" if ratio > scale.high else "v" if ratio < scale.low else "x"
        axes.plot([rank[cell]], scale.clip(np.array([ratio])), marker, color=RED, ms=6, mew=1.6)
    if worst.notes:
        axes.text(
            0.99, 0.99, "\n".join(("× off by themselves:", *worst.notes)), color=RED, size=7.5,
            va="top", ha="right", transform=axes.transAxes, parse_math=False, zorder=5,
            bbox={"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1.5},
        )  # fmt: skip


def _off_by(seen: ObservableResult, cell: int, found: Ratios) -> str:
    if seen.target[cell] == 0:
        return f"{number(int(seen.counts[cell]))} times, target 0"
    return f"×{number(float(found.seen[cell]))}"
