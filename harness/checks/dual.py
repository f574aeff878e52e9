"""C2: a certificate for large vocabularies, from a bound on the mean of T far from p.

T = TV(N/n, p) of a perfect sampler grows like sqrt(V/n), and C1 adds its radius to all of it. But a
law at distance epsilon from p has a larger mean of T than p has, at least

    f(epsilon) >= M(a, b) + (a + b) epsilon,    h_i(q) = E |Bin(n, q)/n - p_i|,
    M(a, b) = sum_i min over u >= 0 of h_i(p_i + u)/2 - a u and of h_i(p_i - u)/2 - b u,

for all a, b in (0, 1/2] (weak duality over the laws that move at least epsilon up and down). T lies
below its mean by r = sqrt(ln(1/delta)/(2n)) with probability at most delta (McDiarmid), so

    TV <= (T - M(a, b) + r) / (a + b)

with confidence 1 - delta, for the best a and b at once: f does not depend on the draws. h_i is
convex in q; its minima are bounded from below by tangents, never by a search alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from harness.arrays import Bits, Floats, Probs, Rows
from harness.checks.certificate import (
    Certificate,
    certify,
    clopper_pearson_radius,
    hoeffding_radius,
    total_variation,
)
from harness.checks.observed import checked_counts, checked_law
from harness.checks.plans import expected_tv
from harness.errors import BadSetting

__all__ = ["certify_law", "dual_mean"]

CUTS = 12  # tangents a token and side; most need three
TIGHT = 1e-3  # of h: a gap between tangents and curve this small is left as it is
ROUNDING = 1e-9  # of the mean of T, taken off for the rounding of binomial tails
CURVATURE = 3.1  # M(a, a) is about E_p T (1 - 3.1 a^2) where every token expects a few draws
THINNED = 200  # probabilities looked at while a and b are chosen
SEARCH = 30  # trials of the choice
FIRST_SIMPLEX = np.array([[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]])  # in ln a and ln b


def deviation(q: Floats, p: Probs, n: int) -> tuple[Floats, Floats]:
    """h, the mean of |Bin(n, q)/n - p|, at each of several q and p; and its derivative in q, which
    increases from -1 to 1.
    """
    m = np.floor(n * p)
    upto, less = stats.binom.cdf(m, n - 1, q), stats.binom.cdf(m - 1, n - 1, q)
    # one draw more: P(Bin(n, q) <= m) = (1 - q) upto + q less
    below = p * ((1.0 - q) * upto + q * less) - q * less
    share = 2.0 * (m - n * p) + 1.0
    return (q - p) + 2.0 * below, 1.0 - upto - less + share * (upto - less)


def mean_deviation(q: Floats, p: Probs, n: int) -> Floats:
    """h: the mean of |Bin(n, q)/n - p|, at each of several q and p."""
    return deviation(q, p, n)[0]


@dataclass(frozen=True, slots=True)
class Tangents:
    """Points u of the convex curves h(p + side u)/2 - a u, with their values and slopes."""

    u: Floats
    value: Floats
    slope: Floats

    @classmethod
    def at(cls, u: Floats, p: Probs, n: int, a: float, side: int) -> Self:
        q = np.clip(p + side * u, 0.0, 1.0)
        mean, slope = deviation(q, p, n)
        return cls(u, 0.5 * mean - a * u, 0.5 * side * slope - a)

    def where(self, chosen: Bits, other: Tangents) -> Tangents:
        """These points, replaced by the other ones where chosen."""
        pairs = ((other.u, self.u), (other.value, self.value), (other.slope, self.slope))
        return Tangents(*(np.where(chosen, new, old) for new, old in pairs))

    def put(self, rows: Rows, other: Tangents) -> Tangents:
        """These points with the given rows replaced."""
        u, value, slope = self.u.copy(), self.value.copy(), self.slope.copy()
        u[rows], value[rows], slope[rows] = other.u, other.value, other.slope
        return Tangents(u, value, slope)

    def take(self, rows: Rows) -> Tangents:
        return Tangents(self.u[rows], self.value[rows], self.slope[rows])


def crossing(left: Tangents, right: Tangents) -> tuple[Floats, Floats]:
    """Where a falling and a rising tangent meet, and how high: no curve goes lower."""
    steeper = np.minimum(left.slope, -1e-300) - np.maximum(right.slope, 0.0)
    gap = right.value - left.value - right.slope * (right.u - left.u)
    u = np.clip(left.u + gap / steeper, left.u, right.u)
    return u, np.minimum(left.value + left.slope * (u - left.u), right.value)


def lowest(p: Probs, n: int, a: float, side: int) -> Floats:
    """Lower bounds of the minima over u of h(p + side u)/2 - a u, side 1 or -1: (V,)."""
    end = 1.0 - p if side > 0 else p
    spread = np.sqrt(p * (1.0 - p) / n)
    guess = np.minimum(end, 2.0 * float(stats.norm.ppf(0.5 + min(a, 0.4999))) * spread + 2.0 / n)
    left, right = (Tangents.at(u, p, n, a, side) for u in (np.zeros_like(p), guess))
    short = right.slope < 0.0
    left, right = left.where(short, right), right.where(short, Tangents.at(end, p, n, a, side))
    bound = np.where(left.slope >= 0.0, left.value, np.where(right.slope <= 0.0, right.value, 0.0))
    going = np.flatnonzero((left.slope < 0.0) & (right.slope > 0.0))
    for _ in range(CUTS):
        here_left, here_right = left.take(going), right.take(going)
        u, bound[going] = crossing(here_left, here_right)
        middle = Tangents.at(u, p[going], n, a, side)
        falls = middle.slope < 0.0
        left = left.put(going, here_left.where(falls, middle))
        right = right.put(going, here_right.where(~falls, middle))
        open_still = middle.value - bound[going] > TIGHT * (middle.value + a * u)
        going = going[open_still]
        if not going.size:
            break
    return bound


def dual_of(law: Probs, repeats: Floats, n: int, slopes: tuple[float, float]) -> float:
    """M(a, b) for each probability of a law and how many tokens have it."""
    each = np.minimum(lowest(law, n, slopes[0], 1), lowest(law, n, slopes[1], -1))
    return float((each * repeats).sum())


def dual_mean(p: npt.ArrayLike, n: int, a: float, b: float) -> float:
    """M(a, b): with it every law at total variation d from p has E T >= M(a, b) + (a + b) d."""
    if not (0.0 < a <= 0.5 and 0.0 < b <= 0.5):
        raise BadSetting(f"dual slopes of {a} and {b} are outside (0, 1/2]")
    law, repeats = np.unique(checked_law(p), return_counts=True)
    return dual_of(law, repeats.astype(np.float64), n, (a, b)) - ROUNDING * expected_tv(p, n)


def thinned(p: Probs) -> tuple[Probs, Floats]:
    """A few hundred probabilities that stand for all, with weights: to choose slopes by."""
    law, repeats = np.unique(p, return_counts=True)
    groups = np.array_split(np.arange(law.size), min(law.size, THINNED))
    middles = np.array([group[len(group) // 2] for group in groups])
    return law[middles], np.array([float(repeats[group].sum()) for group in groups])


def slopes_near_best(p: Probs, n: int, surplus: float) -> tuple[float, float]:
    """The a and b that about minimise (surplus - M) / (a + b); any two give a valid bound."""
    law, repeats = thinned(p)
    mean = float((0.5 * mean_deviation(law, law, n) * repeats).sum())

    def slopes(logs: Floats) -> tuple[float, float]:
        a, b = np.minimum(0.5, np.exp(logs))
        return float(a), float(b)

    def bound(logs: Floats) -> float:
        a, b = slopes(logs)
        return (surplus + mean - dual_of(law, repeats, n, (a, b))) / (a + b)

    start = math.log(min(0.5, first_slope(mean, surplus)))
    found = optimize.minimize(
        bound,
        np.array([start, start]),
        method="Nelder-Mead",
        options={"maxfev": SEARCH, "initial_simplex": start + FIRST_SIMPLEX},
    )
    return slopes(np.asarray(found.x))


def first_slope(mean: float, surplus: float) -> float:
    """Where M is about E_p T (1 - 3.1 a^2) the best a is this."""
    return math.sqrt(max(surplus, 1e-12) / (CURVATURE * max(mean, 1e-300)))


def promised_by_sets(p: Probs, n: int, delta: float, excess: float = 0.0) -> float:
    """The bound of C1 where T exceeds the mean of a correct sampler by so much."""
    tv = min(expected_tv(p, n) + excess, 1.0)
    return tv + clopper_pearson_radius(tv, float(p.max()), n, delta)


def promised_by_dual(p: Probs, n: int, delta: float, excess: float = 0.0) -> float:
    """About the bound of C2 where T exceeds the mean of a correct sampler by so much."""
    mean, surplus = expected_tv(p, n), hoeffding_radius(n, delta) + excess
    a = min(0.5, first_slope(mean, surplus))
    return (CURVATURE * a * a * mean + surplus) / (2.0 * a)


def pays(p: Probs, n: int, delta: float) -> bool:
    """Whether C2 promises a smaller bound than C1 for a correct sampler: by p and n alone."""
    return promised_by_dual(p, n, delta) < promised_by_sets(p, n, delta)


def certify_law(counts: npt.ArrayLike, law: npt.ArrayLike, delta: float) -> Certificate:
    """C1, or C2 where it promises a smaller bound: decided before the draws are seen.

    C2 takes about two seconds for 128,256 different probabilities.
    """
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    n = int(observed.sum())
    return (
        certify_dual(observed, p, delta)
        if n > 1 and pays(p, n, delta)
        else certify(observed, p, delta)
    )


def certify_dual(counts: npt.ArrayLike, law: npt.ArrayLike, delta: float) -> Certificate:
    """C2, for two draws or more."""
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    n = int(observed.sum())
    if n < 2:
        raise BadSetting(f"C2 needs two draws or more, not {n}")
    tv, radius = float(total_variation(observed, p)), hoeffding_radius(n, delta)
    a, b = slopes_near_best(p, n, max(tv - expected_tv(p, n) + radius, 0.05 * radius))
    bound = (tv - dual_mean(p, n, a, b) + radius) / (a + b)
    return Certificate(tv, min(1.0, max(0.0, bound)), delta, "mean of T, dual bound")
