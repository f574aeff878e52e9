"""Exact multinomial p-values by enumeration: the oracle of every other test, and small n itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special

from harness.arrays import Counts, Floats, Probs
from harness.checks.observed import checked_counts, checked_law

__all__ = [
    "ENUMERABLE",
    "Statistic",
    "enumerable",
    "exact_p",
    "exact_p_values",
    "exact_size",
    "log_pmf",
    "n_outcomes",
    "outcomes",
    "tail_of",
]

Statistic = Callable[[Counts, Probs], Floats]  # (..., k) counts and (k,) law -> (...)

ENUMERABLE = 600_000  # outcomes: half a second and 50 MB
TIE = 1e-9  # statistics this close (relative) count as equal, towards the larger p-value


def n_outcomes(n: int, cells: int) -> int:
    """How many count vectors of `cells` cells sum to n."""
    return math.comb(n + cells - 1, cells - 1)


def enumerable(n: int, cells: int) -> bool:
    """Whether these are few enough to list, without working a huge number out."""
    few, many = sorted((n, cells - 1))
    # at least (1 + many) choose one, and at least 2^few
    if few > 0 and max(1 + many, 2 ** min(few, 64)) > ENUMERABLE:
        return False
    return n_outcomes(n, cells) <= ENUMERABLE


def outcomes(n: int, cells: int) -> Counts:
    """Every count vector of `cells` cells that sums to n, one a row."""
    left = np.array([n], dtype=np.int64)
    columns: list[Counts] = []
    for _ in range(cells - 1):
        repeats = left + 1
        starts = np.repeat(np.cumsum(repeats) - repeats, repeats)
        here = np.arange(repeats.sum(), dtype=np.int64) - starts
        columns = [np.repeat(column, repeats) for column in columns] + [here]
        left = np.repeat(left, repeats) - here
    return np.stack([*columns, left], axis=-1)


def log_pmf(counts: Counts, law: Probs) -> Floats:
    """Logarithm of the multinomial probability of each row of counts."""
    n = counts.sum(axis=-1)
    ways = special.gammaln(n + 1.0) - special.gammaln(counts + 1.0).sum(axis=-1)
    return ways + special.xlogy(counts, law).sum(axis=-1)


def tail_of(values: Floats, observed: float) -> npt.NDArray[np.bool_]:
    """Which values are at least as extreme as the observed one; ties count."""
    return values >= observed - TIE * max(1.0, abs(observed))


def exact_p(counts: npt.ArrayLike, law: npt.ArrayLike, statistic: Statistic) -> float:
    """P(statistic >= the observed one) under the law, summed over every outcome."""
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    every = outcomes(int(observed.sum()), p.size)
    extreme = tail_of(statistic(every, p), float(statistic(observed, p)))
    return min(1.0, math.fsum(np.exp(log_pmf(every[extreme], p)).tolist()))


def exact_p_values(every: Counts, law: Probs, statistic: Statistic) -> Floats:
    """The exact p-value of each of all outcomes: (outcomes,)."""
    values, mass = statistic(every, law), np.exp(log_pmf(every, law))
    order = np.argsort(values)
    ascending = values[order]
    tail = np.concatenate([np.cumsum(mass[order][::-1])[::-1], [0.0]])
    slack = TIE * np.maximum(1.0, np.abs(values))
    return np.minimum(1.0, tail[np.searchsorted(ascending, values - slack)])


def exact_size(
    p_values: Callable[[Counts], Floats], law: npt.ArrayLike, n: int, alpha: float
) -> float:
    """P(p-value <= alpha) under the law at n trials: the true size of a test, by enumeration."""
    p = checked_law(law)
    every = outcomes(n, p.size)
    rejected = every[p_values(every) <= alpha]
    return math.fsum(np.exp(log_pmf(rejected, p)).tolist())
