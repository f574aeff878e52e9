"""Kolmogorov-Smirnov on tokens, with the exact p-value of a discrete law.

The textbook p-value assumes a continuous law and is wrong on tokens in both directions. Tokens
have no natural order, and the statistic depends on it: see `order.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import signal

from harness.arrays import Counts, Floats, Probs
from harness.checks.observed import checked_counts, checked_law, impossible
from harness.checks.order import CellOrder, ratio_order
from harness.checks.result import CheckResult
from harness.checks.stirling import poisson_pmf

__all__ = ["dkw_p", "ks_check", "ks_distance", "ks_exact_p"]

TIE = 1e-9  # of n: a path this close to the boundary counts as outside, towards a larger p
DIRECT_BAND = 3_000  # widths up to which a direct convolution is faster or as fast
COST_LIMIT = 3e8  # cells times band width times log: about a second
ROUNDING = 1e-14  # of the summed probabilities, for each cell of a sweep
TRANSFORMED = 1e-12  # the same where fast transforms were used


def ks_distance(counts: Floats, law: Probs) -> float:
    """Largest difference of the two cumulative laws, cells in their order."""
    n = float(counts.sum())
    return float(np.abs(np.cumsum(counts / n) - np.cumsum(law))[:-1].max(initial=0.0))


def dkw_p(distance: float, n: int) -> float:
    """2 exp(-2 n D^2), valid for every law and n (Massart 1990)."""
    return float(min(1.0, 2.0 * np.exp(-2.0 * n * distance**2)))


def band_edges(law: Probs, n: int, distance: float) -> tuple[Counts, Counts]:
    """Lowest and highest running count that stay nearer than `distance`, after each cell."""
    centre, width = n * np.cumsum(law)[:-1], n * distance - TIE * n
    lowest = np.maximum(np.floor(centre - width) + 1, 0).astype(np.int64)
    highest = np.minimum(np.ceil(centre + width) - 1, n).astype(np.int64)
    return lowest, highest


def convolved(mass: Floats, steps: Floats) -> Floats:
    """Law of a sum of two counts; the fast transform where the band is wide."""
    if mass.size <= DIRECT_BAND:
        return np.convolve(mass, steps)
    return np.maximum(signal.fftconvolve(mass, steps), 0.0)


def stays_inside(law: Probs, n: int, lowest: Counts, highest: Counts) -> float:
    """Probability that every running count stays in its band, by a forward sweep over cells.

    Counts are taken as independent Poisson variables, given that they sum to n.
    """
    mass, start = np.ones(1), 0
    for p, low, high in zip(law[:-1], lowest, highest, strict=True):
        if high < low:
            return 0.0
        fewest = max(int(low) - (start + mass.size - 1), 0)
        steps = poisson_pmf(np.arange(fewest, int(high) - start + 1), n * p)
        offset = int(low) - start - fewest
        mass = convolved(mass, steps)[max(offset, 0) : int(high) - start - fewest + 1]
        start += fewest + max(offset, 0)
    last = poisson_pmf(n - start - np.arange(mass.size), n * law[-1])
    return float(mass @ last / poisson_pmf(n, float(n)))


def sweep_cost(cells: int, n: int, distance: float) -> float:
    width = 2.0 * n * distance + 1.0
    each = width * 2.0 * width if width <= DIRECT_BAND else 60.0 * width * np.log2(width)
    return cells * (each + 1e4)


def ks_exact_p(law: npt.ArrayLike, n: int, distance: float) -> float:
    """P(D >= distance) for n draws from a discrete law, cells in their order.

    Never above the DKW bound, to which it falls back where the exact sum would be too long
    (many cells: there the bound is nearly sharp) or smaller than its own rounding.
    """
    p = checked_law(law)
    p = p[p > 0.0]
    bound = dkw_p(distance, n)
    if distance <= 0.0 or p.size == 1:
        return 1.0
    if sweep_cost(p.size, n, distance) > COST_LIMIT:
        return bound
    inside = stays_inside(p, n, *band_edges(p, n, distance))
    direct = 2.0 * n * distance + 1.0 <= DIRECT_BAND
    error = ROUNDING * (10 + p.size) if direct else TRANSFORMED
    return float(min(bound, max(0.0, 1.0 - inside) + error))


def ks_check(
    counts: npt.ArrayLike, law: npt.ArrayLike, order: CellOrder | None = None
) -> CheckResult:
    """Exact discrete KS in a stated order; by default decreasing probability, a convention."""
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    order = order or ratio_order(p)
    if impossible(observed, p).any():
        return CheckResult("ks", 1.0, 0.0, "a token of target probability zero was drawn")
    cells, law_of_cells, n = order.gather(observed), order.gather(p), int(observed.sum())
    if n == 0:
        return CheckResult("ks", 0.0, 1.0, "no draws")
    distance = ks_distance(cells, law_of_cells)
    return CheckResult("ks", distance, ks_exact_p(law_of_cells, n, distance), order.description)
