"""The axis of a ratio: wide enough for every defect, not for the noise of the rarest cells."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from harness.arrays import Floats
from harness.plots.intervals import Ratios

__all__ = ["RatioScale", "over", "ratio_scale", "worth_showing"]

WIDEST = 64.0  # a ratio beyond this is drawn at the edge
LINEAR_UP_TO = 2.0  # below this a linear axis, above it a logarithmic one


@dataclass(frozen=True, slots=True)
class RatioScale:
    """What the axis shows; `clip` moves what lies outside to its edge."""

    low: float
    high: float

    def clip(self, values: Floats) -> Floats:
        return np.clip(values, self.low, self.high)


def ratio_scale(axes: Axes, wanted: Floats, which: str = "x") -> RatioScale:
    """Set one axis to show the ratios `wanted` around 1: in percent, or by powers of 2."""
    reach = float(np.clip(np.max(wanted, initial=1.001), 1.001, WIDEST))
    linear = reach <= LINEAR_UP_TO
    scale = RatioScale(2 - reach, reach) if linear else RatioScale(1 / reach, reach)
    axis = axes.xaxis if which == "x" else axes.yaxis
    if not linear:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        axis.set_major_locator(FixedLocator(_powers(reach)))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(FixedLocator(_steps(reach)))
    axis.set_major_formatter(FuncFormatter(_percent if linear else _times))
    room = 0.03 * (scale.high - scale.low) if linear else 0.0
    limits = (
        (scale.low - room, scale.high + room) if linear else (scale.low / 1.1, scale.high * 1.1)
    )
    (axes.set_xlim if which == "x" else axes.set_ylim)(*limits)
    return scale


def over(law: Floats, target: Floats) -> Floats:
    """Law / target, infinite or NaN where the target is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return law / target


def worth_showing(found: Ratios, exact: Floats | None, share: float) -> Floats:
    """Ratios above 1 that an axis should reach: what is off, the law, a share of intervals."""
    off = found.off
    limits = found.high[np.isfinite(found.high)]
    every = [found.high[off & (found.seen > 1)], _inverse(found.low[off & (found.seen < 1)])]
    every.append(np.quantile(limits, [share]) if len(limits) else np.ones(1))
    if exact is not None:
        every += [exact[exact >= 1], _inverse(exact[exact < 1])]
    ratios = np.concatenate(every)
    return ratios[np.isfinite(ratios)]


def _inverse(ratios: Floats) -> Floats:
    return 1 / np.maximum(ratios, 1 / WIDEST)


def _powers(reach: float) -> list[float]:
    most = int(np.floor(np.log2(reach)))
    step = 1 if most <= 3 else 2
    return [2.0**k for k in range(-(most // step) * step, most + 1, step)]


def _steps(reach: float) -> list[float]:
    """1 and one or two round steps to each side."""
    size = 10.0 ** math.floor(math.log10(reach - 1))
    step = size * max(k for k in (0.5, 1, 2, 2.5, 5) if k * size <= (reach - 1) / 1.4)
    return [1 + k * step for k in (-2, -1, 0, 1, 2) if abs(k) * step <= reach - 1]


def _percent(value: float, _: int) -> str:
    return "equal" if abs(value - 1) < 1e-12 else f"{100 * (value - 1):+.4g} %"


def _times(value: float, _: int) -> str:
    return f"×{value:.4g}" if value >= 1 else f"×1/{1 / value:.4g}"
