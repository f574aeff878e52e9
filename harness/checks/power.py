"""What a number of trials can see: planned, exact and guaranteed.

The noncentral chi-square alone is optimistic (39,535 trials where 41,591 are needed), so plans
come from exact sums where cells are few, from a proved bound on the bets of the e-process for
any vocabulary, or from simulation.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

from harness.arrays import Probs
from harness.checks.observed import checked_law
from harness.errors import BadSetting

__all__ = [
    "approximate_trials",
    "chi_square_divergence",
    "detectable_tv",
    "exact_miss",
    "exact_trials",
    "noncentrality",
    "support_trials",
]

MOST_TRIALS = 10**13  # beyond this a plan says: not in this life


def noncentrality(df: int, alpha: float, beta: float) -> float:
    """The lambda at which a chi-square test of level alpha misses with probability beta."""
    critical = float(special.chdtri(df, alpha))

    def excess(lam: float) -> float:
        return float(special.chndtr(critical, df, lam)) - beta

    high = 10.0 * (critical - df + 10.0)
    return float(optimize.brentq(excess, 1e-6, high, xtol=1e-9))


def chi_square_divergence(p: Probs, q: Probs) -> float:
    """Sum of (q - p)^2 / p over the tokens that p gives; infinite if q gives others."""
    if (q[p == 0.0] > 0.0).any():
        return math.inf
    possible = p > 0.0
    return float(((q - p)[possible] ** 2 / p[possible]).sum())


def support_trials(p: Probs, q: Probs, beta: float) -> float:
    """Trials after which q has given a token that p never gives, but for probability beta."""
    forbidden = float(q[p == 0.0].sum())
    if forbidden <= 0.0:
        return math.inf
    return 1.0 if forbidden >= 1.0 else math.ceil(math.log(beta) / math.log1p(-forbidden))


def approximate_trials(p: npt.ArrayLike, q: npt.ArrayLike, alpha: float, beta: float) -> float:
    """Trials for a chi-square test to catch q, by the noncentral chi-square: a first guess."""
    target, law = checked_law(p), checked_law(q)
    impossible = support_trials(target, law, beta)
    divergence = chi_square_divergence(target, law)
    if math.isinf(divergence) or divergence == 0.0:
        return impossible
    return math.ceil(noncentrality(int(np.count_nonzero(target)) - 1, alpha, beta) / divergence)


def detectable_tv(n: int, cells: int, alpha: float, beta: float) -> float:
    """Smallest total variation seen in any direction by a chi-square test of n trials.

    Every law at total variation d has a divergence of at least 4 d^2; noncentral chi-square.
    """
    if cells < 2 or n < 1:
        return 1.0
    return min(1.0, math.sqrt(noncentrality(cells - 1, alpha, beta) / (4.0 * n)))


def near(n: int, p: float, critical: float) -> npt.NDArray[np.int64]:
    """Counts of a cell that X^2 <= critical allows: (N - n p)^2 <= critical n p (1 - p)."""
    width = math.sqrt(critical * n * p * (1.0 - p)) + 1.0
    return np.arange(max(0, math.ceil(n * p - width)), min(n, math.floor(n * p + width)) + 1)


def exact_miss(n: int, p: npt.ArrayLike, q: npt.ArrayLike, critical: float) -> float:
    """P(X^2 < critical) for Pearson's X^2 against p when q is the law, by summing the ellipse.

    Two or three cells of positive target probability; raises `BadSetting` for more.
    """
    target, law = checked_law(p), checked_law(q)
    possible = target > 0.0
    target, law = target[possible], law[possible]
    if target.size not in (2, 3):
        raise BadSetting(f"exact power is summed for two or three cells, not {target.size}")
    first = near(n, float(target[0]), critical)
    if target.size == 2:
        inside = (first - n * target[0]) ** 2 / (n * target[0] * target[1]) < critical
        return float(stats.binom.pmf(first[inside], n, law[0]).sum())
    return three_cells(n, target, law, first, critical)


def three_cells(n: int, p: Probs, q: Probs, first: npt.NDArray[np.int64], critical: float) -> float:
    second = near(n, float(p[1]), critical)
    a, b = first[:, None], second[None, :]
    cells = ((a, p[0]), (b, p[1]), (n - a - b, p[2]))
    statistic = sum((count - n * x) ** 2 / (n * x) for count, x in cells)
    inside = (statistic < critical) & (a + b <= n)
    within = q[1] / (q[1] + q[2]) if q[1] + q[2] > 0 else 0.0
    mass = stats.binom.pmf(a, n, q[0]) * stats.binom.pmf(b, np.maximum(n - a, 0), within)
    # mass of q outside the support of p never counts as a miss
    kept = (q[0] + q[1] + q[2]) ** n
    return float(mass[inside].sum() * kept)


def exact_trials(p: npt.ArrayLike, q: npt.ArrayLike, alpha: float, beta: float) -> int:
    """Trials for Pearson's test of level alpha (chi-square critical value) to miss q with at most
    beta, by exact sums over two or three cells.
    """
    target = checked_law(p)
    critical = float(stats.chi2.isf(alpha, np.count_nonzero(target) - 1))
    high = approximate_trials(p, q, alpha, beta)
    if math.isinf(high) or high > 10**7:
        raise BadSetting(f"exact power for {high:g} trials is too long a sum")
    low, high = int(high) // 2, int(high)
    if low < 1 or exact_miss(low, p, q, critical) <= beta:
        low, high = 0, max(low, 1)
    while exact_miss(high, p, q, critical) > beta:
        low, high = high, high + max(1, high // 10)
    while high - low > 1:
        middle = (low + high) // 2
        enough = exact_miss(middle, p, q, critical) <= beta
        low, high = (low, middle) if enough else (middle, high)
    return high
