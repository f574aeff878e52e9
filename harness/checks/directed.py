"""Betting on named laws: the directed part of the e-process.

For a law m and a stake t the product of 1 + t (m(x)/p(x) - 1) over the draws is a test
supermartingale, close to the most powerful test of p against (1 - t) p + t m. Where m puts mass
on tokens that p never gives, the product only loses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Counts, Floats, Probs, readonly
from harness.checks.dirichlet import log_mean_exp
from harness.checks.observed import checked_law

__all__ = ["STAKES", "UNIFORM", "UNIFORM_STAKES", "Direction", "directions"]

STAKES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
UNIFORM = "uniform"
# uniform over p reaches 1e5 and more on rare tokens, so the stakes go further down
UNIFORM_STAKES = (*STAKES, 1e-4, 1e-5, 1e-6, 1e-7)
SAME = 1e-15  # a direction this close to p bets on nothing


@dataclass(frozen=True, slots=True)
class Direction:
    """Bets on one law: `gains` ln(1 + t (m/p - 1)), (stakes, k), and their mean under p, (stakes,).

    `ruin` marks the bets that lose everything, where the gain is set to zero.
    """

    name: str
    law: Probs
    gains: Floats
    mean_gain: Floats
    ruin: Floats

    def log_stakes(self, counts: Counts) -> Floats:
        """Logarithm of the product of every stake, for counts (..., k): (..., stakes)."""
        n = counts.sum(axis=-1)
        # the mean is taken out: a sum of n terms that nearly cancel would lose its digits
        unexpected = counts - n[..., None] * self.law
        log = unexpected @ self.gains.T + n[..., None] * self.mean_gain
        return np.where(counts.astype(np.float64) @ self.ruin.T > 0, -np.inf, log)

    def log_e(self, counts: Counts) -> Floats:
        """Logarithm of the average product over the stakes, for counts (..., k)."""
        return log_mean_exp(self.log_stakes(counts))


def direction(name: str, p: Probs, m: Probs, stakes: tuple[float, ...]) -> Direction:
    """The bets on m, for p positive and m given on the same tokens (it may sum to less)."""
    t = np.array(stakes)[:, None]
    advantage = m / p - 1.0
    stake = t * advantage
    ruin = stake <= -1.0
    gains = np.log1p(np.where(ruin, 0.0, stake))
    # sum p (gain - stake) + t (sum m - 1): each term small, where sum p gain is a difference
    below = (p * np.where(ruin, 0.0, gains - stake)).sum(axis=-1)
    lost_to_ruin = (p * np.where(ruin, stake, 0.0)).sum(axis=-1)
    mean = below - lost_to_ruin + t[:, 0] * (math.fsum(m.tolist()) - 1.0)
    return Direction(name, p, readonly(gains), readonly(mean), readonly(ruin.astype(np.float64)))


def directions(
    p: Probs, laws: Mapping[str, npt.ArrayLike], *, uniform: bool = True
) -> tuple[Direction, ...]:
    """Bets on each law and on the uniform one, over the tokens that p gives, in their order.

    Laws equal to p are left out. `p` is the whole law with its zeros.
    """
    wanted: dict[str, Probs] = {name: checked_law(law) for name, law in laws.items()}
    if uniform:
        wanted.setdefault(UNIFORM, np.full(p.size, 1.0 / p.size))
    possible = p > 0.0
    return tuple(
        direction(name, p[possible], m[possible], UNIFORM_STAKES if name == UNIFORM else STAKES)
        for name, m in wanted.items()
        if np.abs(m - p).max() > SAME
    )
