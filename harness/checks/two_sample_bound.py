"""Two arms and no known law: an upper confidence bound on the distance between their laws.

C1 for two arms. Let a and b be the laws of the arms, n independent draws of each, and
A = {a > b}: one fixed set, with TV(a, b) = a(A) - b(A). Count successes among all N = 2 n draws,
of the first arm those inside A, of the second those outside:

    S = #(first arm in A) + #(second arm outside A),    E S = N u,    u = (1 + TV(a, b)) / 2.

No set has a larger excess of shares than the observed distance T, so that S <= n (1 + T). S is a
sum of independent bits of mean u on average, and for c <= N u - 1 its lower tail P(S <= c) is at
most that of the binomial (N, u): Hoeffding (1956), Theorem 4. So the exact binomial upper limit U
of level 1 - delta covers u, and, since U grows with S,

    TV(a, b) <= 2 U(n (1 + T)) - 1.

The condition on c: where u exceeds U(S), P(Bin(N, u) <= S) is below delta < 1/4, while at least a
quarter of a binomial lies at or below any c > N u - 1 (Greenberg and Mohri 2014), as long as
1 - u > 1/N. That holds wherever S <= N - 2 lies above N u - 1; for S >= N - 1 the bound is 1.

Nothing in this asks the draws to be alike: where each arm takes the same number of draws of every
prompt, A holds pairs of prompt and token, and TV is the mean over prompts, weighted by draws.
At delta = 1e-6 the bound exceeds T by at most 3.4 / sqrt(n), whatever the vocabulary.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from harness.checks.certificate import Certificate
from harness.errors import BadSetting

__all__ = ["certify_two_arms"]

LARGEST_DELTA = 0.25  # of the proof


def certify_two_arms(
    first: npt.ArrayLike, second: npt.ArrayLike, delta: float, *, name: str = "full alphabet"
) -> Certificate:
    """With confidence 1 - delta the laws behind two arms are within `bound` of each other.

    Counts of the same cells, any shape, as many draws of each arm; 1 where there are none. Raises
    BadSetting for other counts and for a delta outside (0, 1/4).
    """
    a, b = np.asarray(first), np.asarray(second)
    _check(a, b, delta)
    n = int(a.sum())
    if n == 0:
        return Certificate(0.0, 1.0, delta, "no draws", name)
    excess = int(np.maximum(a - b, 0).sum())  # n T: the largest excess over all sets
    bound = 2.0 * _upper_limit(n + excess, 2 * n, delta) - 1.0
    return Certificate(excess / n, min(1.0, bound), delta, "fixed set, two arms", name)


def _check(a: npt.NDArray[Any], b: npt.NDArray[Any], delta: float) -> None:
    if a.shape != b.shape or (a < 0).any() or (b < 0).any() or a.sum() != b.sum():
        raise BadSetting("two arms are compared by as many draws of each, over the same cells")
    if not 0.0 < delta < LARGEST_DELTA:
        raise BadSetting(f"an error probability of {delta} is outside (0, 1/4)")


def _upper_limit(successes: int, draws: int, delta: float) -> float:
    """Clopper-Pearson; 1 for one failure or none, where the proof needs it."""
    if successes >= draws - 1:
        return 1.0
    return float(stats.beta.isf(delta, successes + 1.0, draws - successes))
