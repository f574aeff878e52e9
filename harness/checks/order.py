"""The order of a nominal alphabet, stated and fixed by the laws alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Bits, Floats, Rows, readonly
from harness.checks.observed import checked_law
from harness.errors import BadSetting

__all__ = ["CellOrder", "ratio_order"]

SAME_RATIO = 1e-12  # relative; ratios this close are rounding of one another


@dataclass(frozen=True, slots=True)
class CellOrder:
    """Rank of every token, (V,); equal ranks are one cell, -1 is a token that cannot be drawn."""

    ranks: Rows
    description: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranks", readonly(self.ranks))

    def gather(self, values: npt.NDArray[np.generic]) -> Floats:
        """Sums of (V,) values over tokens of equal rank, in order."""
        kept = self.ranks >= 0
        sums = np.bincount(self.ranks[kept], weights=values[kept].astype(np.float64))
        return sums.astype(np.float64)


def ranked(keys: Floats, possible: Bits) -> Rows:
    """Ranks by decreasing key; keys within rounding of their neighbour share one."""
    tokens = np.flatnonzero(possible)
    tokens = tokens[np.argsort(-keys[tokens], kind="stable")]
    sorted_keys = keys[tokens]
    steps = sorted_keys[:-1] - sorted_keys[1:] > SAME_RATIO * np.abs(sorted_keys[:-1])
    ranks = np.full(keys.size, -1, dtype=np.intp)
    ranks[tokens] = np.concatenate([[0], np.cumsum(steps)])
    return ranks


def ratio_order(p: npt.ArrayLike, q: npt.ArrayLike | None = None) -> CellOrder:
    """Tokens by decreasing q/p, equal ratios merged; by decreasing p where there is no draft.

    Faults of speculative decoding move mass monotonically in q/p, and in that order the KS
    distance of such a fault equals its total variation.
    """
    target = checked_law(p)
    possible = target > 0.0
    if q is None:
        by_mass = "order: decreasing target probability, a convention"
        return CellOrder(ranked(target, possible), by_mass)
    draft = checked_law(q)
    if draft.size != target.size:
        raise BadSetting(f"a draft of {draft.size} tokens for a target of {target.size}")
    ratio = np.divide(draft, target, out=np.zeros_like(target), where=possible)
    return CellOrder(ranked(ratio, possible), "order: decreasing draft/target ratio")
