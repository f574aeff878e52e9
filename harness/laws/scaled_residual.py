"""Residual laws (w p - q)+ for weights w that differ from trial to trial.

The tokens of a row are sorted by q/p, so that those with w p > q are the first few: their mass
follows from two running sums, and a draw from bisecting them, in O(log V) a trial.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.arrays import Bits, Exact, Rows, Tokens, readonly
from harness.laws.accounting import normalised, positive_part
from harness.laws.categorical import Law
from harness.laws.tables import at

__all__ = ["ScaledResidual", "SortedByRatio"]


class SortedByRatio:
    """Rows of p and q (contexts, V), float64 or Fractions, their tokens sorted by q/p."""

    def __init__(self, p: Exact, q: Exact) -> None:
        self.p, self.q = p, q
        with np.errstate(over="ignore"):  # q/p of a p next to nothing is as good as infinite
            ratio = np.where(p == 0, np.inf, q / np.where(p == 0, p * 0 + 1, p))
        self.tokens = readonly(np.argsort(ratio, axis=1, kind="stable"))
        self.ratio = readonly(np.take_along_axis(ratio, self.tokens, axis=1))
        self.p_before, self.q_before = (self._running(rows) for rows in (p, q))

    def _running(self, rows: Exact) -> Exact:
        """Sums (contexts, V + 1) of the first j sorted tokens."""
        sums = np.cumsum(np.take_along_axis(rows, self.tokens, axis=1), axis=1)
        return readonly(np.concatenate([sums[:, :1] * 0, sums], axis=1))

    def mass(self, contexts: Rows, weights: Exact) -> Exact:
        """Sums (m,) of (w p - q)+ over the tokens."""
        return self._mass_of_first(self._above(contexts, weights), contexts, weights)

    def find(self, contexts: Rows, weights: Exact, u: Exact) -> Tokens:
        """Tokens (m,) at the shares u in [0, 1) of that mass."""
        above = self._above(contexts, weights)
        wanted = u * self._mass_of_first(above, contexts, weights)
        place = bisect(
            np.maximum(above - 1, 0),
            lambda first: self._mass_of_first(first + 1, contexts, weights) <= wanted,
        )
        return self.tokens[contexts, place]

    def _above(self, contexts: Rows, weights: Exact) -> Rows:
        """How many tokens (m,) have w p > q."""
        last = self.ratio.shape[1]
        return bisect(
            np.full(len(contexts), last),
            lambda place: (self.ratio[contexts, np.minimum(place, last - 1)] < weights).astype(
                bool
            ),
        )

    def _mass_of_first(self, count: Rows, contexts: Rows, weights: Exact) -> Exact:
        return weights * self.p_before[contexts, count] - self.q_before[contexts, count]


class ScaledResidual(Law):
    """Laws proportional to (w p - q)+, one for each of m trials; p itself where that is zero."""

    def __init__(self, rest: SortedByRatio, contexts: Rows, weights: Exact) -> None:
        self.rest, self.contexts, self.weights = rest, contexts, weights

    @property
    def probs(self) -> Exact:  # type: ignore[override]  # worked out only where it is enumerated
        p, q = self.rest.p[self.contexts], self.rest.q[self.contexts]
        return normalised(positive_part(self.weights[:, None] * p, q), otherwise=p)

    @property
    def vocabulary(self) -> int:
        return int(self.rest.p.shape[1])

    def draw(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        """Tokens (n,), the i-th from the law of trial `contexts[i]`."""
        here, weights = at(self.contexts, contexts), self.weights.take(contexts)
        return self.rest.find(here, weights, rng.random(len(contexts)))


def bisect(highest: Rows, too_low: Callable[[Rows], Bits]) -> Rows:
    """The first places (m,) in 0..`highest` that are not too low; `highest` where all below are."""
    low, high = np.zeros_like(highest), highest.copy()
    for _ in range(int(highest.max(initial=0)).bit_length()):
        middle = (low + high) // 2
        up = too_low(middle) & (low < high)
        low = np.where(up, middle + 1, low)
        high = np.where(up, high, middle)
    return low
