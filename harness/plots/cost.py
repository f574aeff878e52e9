"""The timing model: speed-up against draft length, for several acceptances, and over both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from harness.arrays import Floats
from harness.engine.cost import Costs, best_draft_length, speedup
from harness.engine.kept_run import KeptRun
from harness.errors import StoreError
from harness.plots.labels import number
from harness.plots.page import BLUE, FAINT, GREY, INK, RED, new_page, panel, titles, write

__all__ = ["cost_figure", "write_cost"]

OTHERS: Final = (0.5, 0.7, 0.8, 0.9)  # acceptances to compare with
FURTHEST: Final = 16  # drafted tokens along the axis, or more where the setting has more
ROWS: Final = 96  # acceptances from 0 to 1 in the map


def cost_figure(
    kept: KeptRun, costs: Costs, draft_length: int, tokens: int | None = None
) -> Figure:
    """Left: the setting at hand between constant acceptances. Right: every constant acceptance."""
    lengths = range(max(FURTHEST, draft_length + 2) + 1)
    figure = new_page(3.6)
    here = speedup(kept, costs, draft_length, tokens)
    titles(figure, _finding(kept, costs, draft_length, tokens), _details(costs, tokens))
    axes = panel(figure, 0.6, 0.5, 2.85, 2.25)
    _curves(axes, kept, costs, lengths, tokens)
    axes.plot([draft_length], [here], "D", color=RED, ms=6, zorder=5)
    _map(panel(figure, 4.3, 0.5, 2.9, 2.25), costs, lengths[1:], tokens)
    return figure


def write_cost(figure: Figure, path: Path) -> list[Path]:
    """The figure beside itself as PNG and SVG, whichever of the two `path` names.

    Raises StoreError where it cannot be written.
    """
    if path.suffix not in {"", ".png", ".svg"}:
        raise StoreError(f"{path}: a plot is written as .png and .svg, not as {path.suffix}")
    try:
        return write(figure, path.with_suffix(""))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error


def _curves(
    axes: Axes, kept: KeptRun, costs: Costs, lengths: Sequence[int], tokens: int | None
) -> None:
    axes.axhline(1.0, color=FAINT, linewidth=0.9, linestyle=":")
    for acceptance in OTHERS:
        values = _speeds(KeptRun.constant(acceptance), costs, lengths, tokens)
        axes.plot(lengths, values, color=GREY, linewidth=1.2)
        _name(axes, lengths, values, f"{acceptance:g}", FAINT)
    values = _speeds(kept, costs, lengths, tokens)
    axes.plot(lengths, values, "o-", color=BLUE, ms=3, linewidth=1.6, zorder=4)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("draft length")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"×{value:.3g}"))
    axes.set_title("speed-up; grey: constant acceptance", size=8.5, loc="left", color=INK, pad=14)


def _map(axes: Axes, costs: Costs, lengths: Sequence[int], tokens: int | None) -> None:
    """Speed-up over draft length and constant acceptance, the break-even line, the best lengths."""
    rates = np.linspace(0.0, 0.99, ROWS)
    runs = [KeptRun.constant(float(rate)) for rate in rates]
    speeds = np.stack([_speeds(run, costs, lengths, tokens) for run in runs])
    norm = TwoSlopeNorm(1.0, min(0.5, float(speeds.min())), max(1.5, float(speeds.max())))
    axes.pcolormesh(lengths, rates, speeds, cmap="PuOr_r", norm=norm, shading="nearest")
    levels = [
        level for level in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0) if speeds.min() < level < speeds.max()
    ]
    lines = axes.contour(
        lengths, rates, speeds, levels=levels, colors=INK,
        linewidths=[1.8 if level == 1.0 else 0.7 for level in levels],
    )  # fmt: skip
    axes.clabel(lines, fmt=lambda level: f"×{level:g}", fontsize=7)
    best = [best_draft_length(run, costs, tokens, longest=lengths[-1]) for run in runs]
    axes.plot(
        np.maximum(best, 1), np.where(np.array(best) > 0, rates, np.nan), ".", color=INK, ms=3
    )
    axes.set_ylabel("acceptance")
    axes.set_xlabel("draft length")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_title("speed-up; dots: best draft length", size=8.5, loc="left", color=INK, pad=14)


def _speeds(run: KeptRun, costs: Costs, lengths: Sequence[int], tokens: int | None) -> Floats:
    return np.array([speedup(run, costs, length, tokens) for length in lengths])


def _name(axes: Axes, lengths: Sequence[int], values: Floats, name: str, colour: str) -> None:
    axes.annotate(
        name, (lengths[-1], float(values[-1])), (4, 0), color=colour, size=7.5, va="center",
        textcoords="offset points", annotation_clip=False,
    )  # fmt: skip


def _finding(kept: KeptRun, costs: Costs, draft_length: int, tokens: int | None) -> str:
    here = speedup(kept, costs, draft_length, tokens)
    best = best_draft_length(kept, costs, tokens)
    if best == 0:
        return f"model: {number(here)} times at draft length {draft_length}; best not to speculate"
    most = number(speedup(kept, costs, best, tokens))
    return f"model: {number(here)} times at draft length {draft_length}; best {most} at {best}"


def _details(costs: Costs, tokens: int | None) -> str:
    verify = f", {number(costs.verify)} more to verify it" if costs.verify else ""
    until = f"; generations of {tokens:,} tokens" if tokens else ""
    return (
        f"Target pass {number(costs.target)}, drafted token {number(costs.draft)}{verify}{until}. "
        "A model of Leviathan et al. (2023), not a measurement."
    )
