"""G and Pearson on counts: reported with their large-sample p, decided by an exact or tilted one.

At 1e-6 the chi-square approximation is off by a factor of 25 where five draws are expected in a
cell. So cells are pooled, by the law and never by the counts, and the deciding p-value is summed
over every outcome where these are few, and simulated with tilted draws elsewhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from harness.arrays import Counts, Floats, Probs, Rows
from harness.checks.exact import Statistic, enumerable, exact_p
from harness.checks.monte_carlo import draws_affordable, tilted_p
from harness.checks.observed import checked_counts, checked_law, impossible
from harness.checks.result import CheckResult

__all__ = [
    "SMALL_ALPHABET",
    "chi_square_check",
    "g_statistic",
    "g_test",
    "gamma_tail",
    "pearson",
    "pearson_statistic",
    "pool",
    "pooled",
    "williams_divisor",
]

LEAST_EXPECTED = 20.0  # G is then within 8 % of nominal at 1e-6 for few cells
SMALL_ALPHABET = 100  # cells up to which G is used; beyond, its bias in sparse cells is ruinous


def pool(law: npt.ArrayLike, n: int, *, least: float = LEAST_EXPECTED) -> Rows:
    """Cell of every token, so that each cell expects `least` draws; -1 where the law is zero.

    Tokens are ranked by probability; the likely ones stand alone, the others are gathered in
    that order. A last cell that falls short joins its neighbour. Depends on the law and n alone.
    """
    p = checked_law(law)
    ranked = np.argsort(-p, kind="stable")[: np.count_nonzero(p)]
    alone = int(np.count_nonzero(n * p[ranked] >= least))
    starts = [*range(alone), *bucket_starts(n * p[ranked], alone, least)]
    labels = np.full(p.size, -1, dtype=np.intp)
    labels[ranked] = np.searchsorted(starts, np.arange(ranked.size), side="right") - 1
    return labels


def bucket_starts(expected: Floats, first: int, least: float) -> list[int]:
    """Where each bucket of at least `least` begins, from `first` on; leftovers open none."""
    reached = np.cumsum(expected)
    starts, at = [], first
    while at < expected.size:
        gone = reached[at - 1] if at else 0.0
        after = int(np.searchsorted(reached, (gone + least) * (1.0 - 1e-12))) + 1
        if after > expected.size:
            break
        starts.append(at)
        at = after
    return starts if starts or first else [0]


def pooled(values: npt.NDArray[np.generic], labels: Rows) -> Floats:
    """Sums of (V,) values over the cells of a pooling; what stands at -1 is left out."""
    kept = labels >= 0
    sums = np.bincount(labels[kept], weights=values[kept].astype(np.float64))
    return sums.astype(np.float64)


def g_statistic(counts: Counts, law: Probs) -> Floats:
    """Likelihood-ratio statistic 2 sum N ln(N / (n p)) of counts (..., k), law positive."""
    n = counts.sum(axis=-1, keepdims=True)
    terms = counts * np.log(np.where(counts > 0, counts, 1) / np.where(counts > 0, n * law, 1))
    return 2.0 * terms.sum(axis=-1)


def pearson_statistic(counts: Counts, law: Probs) -> Floats:
    """Sum of (N - n p)^2 / (n p) of counts (..., k), law positive, n at least one."""
    expected = counts.sum(axis=-1, keepdims=True) * law
    return ((counts - expected) ** 2 / expected).sum(axis=-1)


def williams_divisor(law: Probs, n: int) -> float:
    """Williams (1976): G divided by this has mean k - 1 up to order n^-2."""
    k = law.size
    return float(1.0 + (np.sum(1.0 / law) - 1.0) / (6.0 * n * (k - 1)))


def gamma_tail(statistic: float, law: Probs, n: int) -> float:
    """Upper tail of Pearson's statistic from a shifted gamma with its three exact moments.

    The third central moment is Haldane's (1937); the tests hold all three against enumeration.
    """
    k, R, S = law.size, float(np.sum(1.0 / law)), float(np.sum(1.0 / law**2))
    variance = 2.0 * (k - 1) + (R - k * k - 2 * k + 2) / n
    third = 8.0 * (k - 1) + (32 - 36 * k - 18 * k * k + 22 * R) / n
    third += (-24 + 28 * k + 18 * k * k + 2 * k**3 - 22 * R - 3 * k * R + S) / n**2
    if variance <= 0.0:
        return 1.0
    skew = max(third / variance**1.5, 1e-6)
    return float(stats.pearson3.sf((statistic - (k - 1)) / np.sqrt(variance), skew))


def deciding_p(
    counts: Counts, law: Probs, statistic: Statistic, rng: np.random.Generator
) -> tuple[float, str]:
    """Valid p-value and how it was found; the way depends on n and the number of cells only."""
    n = int(counts.sum())
    if enumerable(n, law.size):
        return exact_p(counts, law, statistic), "exact by enumeration"
    draws = draws_affordable(law.size)
    return tilted_p(counts, law, statistic, draws, rng), f"{draws} tilted draws"


def impossible_result(check: str) -> CheckResult:
    return CheckResult(check, np.inf, 0.0, "a token of target probability zero was drawn")


def g_test(counts: npt.ArrayLike, law: npt.ArrayLike, rng: np.random.Generator) -> CheckResult:
    """G with Williams' divisor on cells pooled to an expectation of at least 20."""
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    if impossible(observed, p).any():
        return impossible_result("g-test")
    n = int(observed.sum())
    labels = pool(p, n)
    cells, law_of_cells = pooled(observed, labels).astype(np.int64), pooled(p, labels)
    if n == 0 or cells.size == 1:
        return CheckResult("g-test", 0.0, 1.0, "one cell: nothing to compare", 1.0)
    statistic = float(g_statistic(cells, law_of_cells)) / williams_divisor(law_of_cells, n)
    decides, how = deciding_p(cells, law_of_cells, g_statistic, rng)
    detail = f"{cells.size} cells, {cells.size - 1} degrees of freedom; {how}"
    approximate = float(stats.chi2.sf(statistic, cells.size - 1))
    return CheckResult("g-test", max(statistic, 0.0), decides, detail, approximate)


def pearson(counts: npt.ArrayLike, law: npt.ArrayLike, rng: np.random.Generator) -> CheckResult:
    """Pearson's statistic on every token that can be drawn; gamma tail, tilted p decides."""
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    if impossible(observed, p).any():
        return impossible_result("pearson")
    n, possible = int(observed.sum()), p > 0
    cells, law_of_cells = observed[possible], p[possible]
    if n == 0 or cells.size == 1:
        return CheckResult("pearson", 0.0, 1.0, "one cell: nothing to compare", 1.0)
    statistic = float(pearson_statistic(cells, law_of_cells))
    decides, how = deciding_p(cells, law_of_cells, pearson_statistic, rng)
    detail = f"{cells.size} cells, {cells.size - 1} degrees of freedom; {how}"
    return CheckResult(
        "pearson", statistic, decides, detail, gamma_tail(statistic, law_of_cells, n)
    )


def chi_square_check(
    counts: npt.ArrayLike, law: npt.ArrayLike, rng: np.random.Generator
) -> CheckResult:
    """G where pooling leaves at most 100 cells, Pearson on all tokens beyond."""
    p = checked_law(law)
    n = int(checked_counts(counts, p.size).sum())
    test = g_test if pool(p, n).max() < SMALL_ALPHABET else pearson
    return test(counts, p, rng)
