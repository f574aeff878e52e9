"""Intervals that hold for every cell at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.stats import beta

from harness.arrays import Bits, Counts, Floats, Probs, Rows

__all__ = ["Ratios", "clopper_pearson", "ratios"]


@dataclass(frozen=True, slots=True)
class Ratios:
    """Seen frequency over target, (cells,), with its simultaneous interval.

    NaN where the target is 0 and nothing was seen, infinite where something was.
    """

    seen: Floats
    low: Floats
    high: Floats

    @property
    def off(self) -> Bits:
        """Cells whose interval leaves out 1."""
        return (self.low > 1.0) | (self.high < 1.0)

    def at(self, cells: Rows) -> Self:
        """Those of some cells; their intervals still hold together with all the others."""
        return type(self)(self.seen[cells], self.low[cells], self.high[cells])


def clopper_pearson(counts: Counts, trials: int, error: float) -> tuple[Floats, Floats]:
    """Exact two-sided binomial limits; all cells hold at once but for `error` (Bonferroni)."""
    tail = error / (2 * len(counts))
    with np.errstate(invalid="ignore"):  # beta with a parameter 0 is NaN, replaced at once
        low = beta.ppf(tail, counts, trials - counts + 1)
        high = beta.isf(tail, counts + 1, trials - counts)
    return np.where(counts == 0, 0.0, low), np.where(counts == trials, 1.0, high)


def ratios(counts: Counts, target: Probs, error: float) -> Ratios:
    """Seen over target, each with its limits over target."""
    trials = int(counts.sum())
    low, high = clopper_pearson(counts, trials, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Ratios(counts / trials / target, low / target, high / target)
