"""Draws that should be independent: randomised PIT values in pairs.

A token x becomes z = F(x-) + u p(x) in a stated order of the tokens. Under the promised
conditional laws all z are independent and uniform, whatever the contexts do (Rosenblatt 1952). A
sampler with the right marginals whose rows or steps replay a stream, or that moves slowly through
the quantiles, shows in the joint law of neighbouring values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from harness.arrays import Counts, Floats, Probs, Rows, Tokens, readonly
from harness.checks.dirichlet import log_dirichlet_ratio, log_mean_exp
from harness.checks.e_process import KAPPAS
from harness.checks.observed import checked_law
from harness.checks.order import ratio_order
from harness.errors import BadSetting

__all__ = ["LAGS", "PitTable", "dependence_log_e", "pair_counts", "pair_tallies", "pairs_log_e"]

BINS = 8
LAGS = (1, 2, 4)
AXES = ("trials", "positions")


@dataclass(frozen=True, slots=True)
class PitTable:
    """Where each token lies in [0, 1) after each context: F(x-) and p(x), both (C, V)."""

    below: Probs
    mass: Probs

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", readonly(self.below))
        object.__setattr__(self, "mass", readonly(self.mass))

    @classmethod
    def of(cls, laws: npt.ArrayLike, drafts: npt.ArrayLike | None = None) -> Self:
        """For target laws (C, V), tokens by decreasing draft/target ratio in each context."""
        targets = np.stack([checked_law(law) for law in np.atleast_2d(np.asarray(laws))])
        proposals = [None] * len(targets) if drafts is None else np.atleast_2d(np.asarray(drafts))
        below = [lower_ends(p, q) for p, q in zip(targets, proposals, strict=True)]
        return cls(np.stack(below), targets)

    def values(self, tokens: Tokens, contexts: Rows, rng: np.random.Generator) -> Floats:
        """Randomised PIT of tokens of any shape, contexts of the same: the row of each.

        Raises `BadSetting` for a missing token: leaving its pair out would bias the other half.
        """
        if (tokens < 0).any() or (tokens >= self.mass.shape[1]).any():
            raise BadSetting("dependence is tested on complete sequences of known tokens")
        spread = rng.random(tokens.shape) * self.mass[contexts, tokens]
        return np.minimum(self.below[contexts, tokens] + spread, np.nextafter(1.0, 0.0))


def lower_ends(p: Probs, q: Probs | None) -> Probs:
    """F(x-) of every token in ratio order, equal ratios in the order of the vocabulary."""
    ranks = ratio_order(p, q).ranks
    order = np.argsort(np.where(ranks < 0, p.size, ranks), kind="stable")
    below = np.empty_like(p)
    below[order] = np.cumsum(p[order]) - p[order]
    return below


def pair_counts(first: Floats, second: Floats) -> Counts:
    """How many pairs fall into each of 8 x 8 equal cells: (64,)."""
    row, column = (np.minimum((z * BINS).astype(np.intp), BINS - 1) for z in (first, second))
    return np.bincount((row * BINS + column).ravel(), minlength=BINS * BINS).astype(np.int64)


def disjoint_pairs(z: Floats, axis: int, lag: int) -> tuple[Floats, Floats]:
    """Values `lag` apart along an axis, each used once."""
    moved = np.moveaxis(z, axis, 0)
    blocks = moved[: len(moved) // (2 * lag) * (2 * lag)].reshape(-1, 2, lag, *moved.shape[1:])
    return blocks[:, 0], blocks[:, 1]


def pair_tallies(z: Floats, lags: Sequence[int] = LAGS) -> dict[str, Counts]:
    """Pair counts of PIT values (trials, positions) across trials and positions, at each lag.

    The counts of chunks add. Trials must stand in the order in which they were drawn.
    """
    return {
        f"{name}, lag {lag}": pair_counts(*disjoint_pairs(z, axis, lag))
        for axis, name in enumerate(AXES)
        for lag in lags
    }


def square(cells: int) -> Rows:
    """Cell of the 8 x 8 table in a coarser one of cells x cells."""
    index = np.arange(BINS) * cells // BINS
    return (index[:, None] * cells + index).ravel()


def distance() -> Rows:
    """How far a cell lies from the diagonal, in either direction."""
    index = np.arange(BINS)
    return np.abs(index[:, None] - index).ravel()


def pairs_log_e(counts: Counts) -> Floats:
    """Logarithm of E for pair counts (64,) against the uniform law on the square.

    Averaged over kappa and over the full table, 4 x 4, 2 x 2, and the distance from the diagonal.
    """
    uniform = np.full(BINS * BINS, 1.0 / (BINS * BINS))
    parts = [square(8), square(4), square(2), distance()]
    logs = [
        log_dirichlet_ratio(
            np.bincount(part, weights=counts).astype(np.int64),
            np.bincount(part, weights=uniform).astype(np.float64),
            KAPPAS,
        )
        for part in parts
    ]
    return log_mean_exp(np.concatenate(logs))


def dependence_log_e(tallies: Mapping[str, Counts]) -> tuple[float, dict[str, float]]:
    """The average e-value over axes and lags (they share draws, so no product), and each."""
    each = {name: float(pairs_log_e(counts)) for name, counts in tallies.items()}
    if not each:
        return 0.0, each
    return float(log_mean_exp(np.array(list(each.values())))), each
