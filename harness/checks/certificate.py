"""Proof of a match: upper confidence bounds on the total variation from the promised law.

C1. Let A be the set where the true law exceeds p; it is one fixed set. The draws in it are
binomial and at most n (p(A) + T), T the observed total variation, since T is the largest excess
over all sets. So with the exact binomial (Clopper-Pearson) upper limit U of level 1 - delta

    TV <= T + max_s [U(s) - s/n],

the maximum over the counts s that floor(n (a + T)) can be for a set of target mass a: no union
over sets, no dimension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from harness.arrays import Counts, Floats, Probs
from harness.checks.coarse import Coarsening
from harness.checks.observed import checked_counts, checked_law
from harness.errors import BadLaw, BadSetting

__all__ = [
    "Certificate",
    "certify",
    "certify_coarse",
    "certify_contexts",
    "clopper_pearson_radius",
    "hoeffding_radius",
    "least_radius",
    "total_variation",
    "tv_lower_bound",
]

MOST_EVALUATIONS = 4_096  # binomial limits computed one by one: about 5 ms
NARROWED = 512  # counts from which a search pays
NEWTON = 30  # steps; five are usual
ROUNDING = 1e-15  # of an excess


@dataclass(frozen=True, slots=True)
class Certificate:
    """With confidence 1 - delta the total variation of the true law from p is at most `bound`.

    `tv` is the observed total variation, `law` names what was certified: the full alphabet or
    a coarse-graining of it. A bound that is not a number is refused.
    """

    tv: float
    bound: float
    delta: float
    method: str
    law: str = "full alphabet"

    def __post_init__(self) -> None:
        if not (0.0 <= self.tv <= 1.0 and 0.0 <= self.bound <= 1.0):
            raise BadLaw(f"total variation {self.tv} with bound {self.bound}")


def checked_delta(delta: float) -> float:
    if not 0.0 < delta < 0.5:
        raise BadSetting(f"an error probability of {delta} is outside (0, 1/2)")
    return delta


def total_variation(counts: Counts, law: Probs) -> Floats:
    """Half the sum of |N/n - p| for counts (..., V) with n of at least one."""
    shares = counts / counts.sum(axis=-1, keepdims=True)
    return np.minimum(1.0, 0.5 * np.abs(shares - law).sum(axis=-1))


def hoeffding_radius(n: int, delta: float) -> float:
    """sqrt(ln(1/delta) / (2 n)): also right where contexts are drawn along the way (Azuma)."""
    return math.sqrt(math.log(1.0 / checked_delta(delta)) / (2.0 * n))


def excess_limits(s: npt.NDArray[np.int64], n: int, delta: float) -> Floats:
    """U(s) - s/n for the exact upper limit U of a binomial probability."""
    inside = np.minimum(s, n - 1)
    limits = special.betainccinv(inside + 1.0, n - inside, delta)
    return np.where(s >= n, 0.0, limits - inside / n)


def kl(x: float, u: float) -> float:
    """Relative entropy of two coins, x and u with x <= u < 1, in nats."""
    # log1p: the two halves nearly cancel where u is near x
    heads = -x * math.log1p((u - x) / x) if x > 0.0 else 0.0
    return heads - (1.0 - x) * math.log1p((x - u) / (1.0 - x))


def entropy_budget(n: int, delta: float) -> float:
    """z^2 / (2 n), z the normal quantile of delta: what a coin's share may be off, in nats."""
    return float(special.ndtri(delta)) ** 2 / (2.0 * n)


def kl_excess(x: float, budget: float) -> float:
    """Largest u - x with kl(x, u) within the budget; concave in x.

    Zubkov and Serov (2013) place U(s) - s/n between this at s/n and this at (s + 1)/n plus 1/n.
    Newton's method on a convex function, from above: Pinsker's bound, or near one
    kl(x, u) >= (1 - x) (ln((1 - x)/(1 - u)) - 1).
    """
    if x >= 1.0:
        return 0.0
    near_one = 1.0 - (1.0 - x) * math.exp(-1.0 - budget / (1.0 - x))
    u = min(x + math.sqrt(0.5 * budget), near_one)
    for _ in range(NEWTON):
        step = (kl(x, u) - budget) * u * (1.0 - u) / (u - x) if u < 1.0 else 0.0
        u -= max(step, 0.0)
        if step <= ROUNDING * (u - x):
            break
    return u - x


def slope_of_excess(x: float, excess: float) -> float:
    """Derivative in x of the largest excess, from that excess: implicit differentiation."""
    u = x + excess
    if x <= 0.0 or u >= 1.0:
        return math.inf if x <= 0.0 else -1.0
    odds = math.log1p(-excess / u) - math.log1p(excess / (1.0 - u))
    return -odds * u * (1.0 - u) / excess - 1.0


@dataclass(frozen=True, slots=True)
class Envelope:
    """The concave function 1/n + kl_excess((s + 1)/n), nowhere below U(s) - s/n."""

    n: int
    budget: float

    @classmethod
    def of(cls, n: int, delta: float) -> Envelope:
        return cls(n, entropy_budget(n, delta))

    def at(self, s: int) -> float:
        return 1.0 / self.n + kl_excess(min(1.0, (s + 1) / self.n), self.budget)

    def slope(self, s: int) -> float:
        """Growth from one count to the next, at s."""
        x = min(1.0, (s + 1) / self.n)
        return slope_of_excess(x, kl_excess(x, self.budget)) / self.n

    def peak(self, first: int, last: int) -> int:
        """Where it is about largest between two counts: halving by the sign of the slope."""
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (middle, last) if self.slope(middle) > 0.0 else (first, middle)
        return first if self.at(first) >= self.at(last) else last

    def edge(self, outside: int, inside: int, level: float) -> int:
        """From the peak outward, the last count that may still reach the level."""
        while abs(outside - inside) > 1:
            middle = (outside + inside) // 2
            reaches = self.at(middle) >= level
            outside, inside = (outside, middle) if reaches else (middle, inside)
        return outside


def largest_excess(first: int, last: int, n: int, delta: float) -> float:
    """Max of U(s) - s/n over first <= s <= last: exact where few counts can hold the maximum,
    else the envelope, which is at most 2/n higher than it need be.
    """
    if last - first < min(NARROWED, MOST_EVALUATIONS):
        return float(excess_limits(np.arange(first, last + 1), n, delta).max())
    above = Envelope.of(n, delta)
    peak = above.peak(first, last)
    level = float(excess_limits(np.array([peak]), n, delta)[0])
    left, right = above.edge(first, peak, level), above.edge(last, peak, level)
    if right - left < MOST_EVALUATIONS:
        return float(excess_limits(np.arange(left, right + 1), n, delta).max())
    # the slack covers the rounding of slopes: a concave function rises little beyond its peak
    return above.at(peak) + 1.0 / n


def reachable_counts(tv: float, top: float, n: int) -> list[tuple[int, int]]:
    """Ranges of floor(n (a + T)), one count wider on each side, over the masses a of sets."""
    masses = [(0.0, 1.0 - top), (top, 1.0)] if top > 0.5 else [(0.0, 1.0)]
    spans = [(math.floor(n * (a + tv)) - 1, math.floor(n * (b + tv)) + 1) for a, b in masses]
    return [(max(first, 0), min(last, n)) for first, last in spans if first <= n]


def clopper_pearson_radius(tv: float, top: float, n: int, delta: float) -> float:
    """What C1 adds to the observed total variation; `top` is the largest target probability.

    At delta = 1e-6 at most 2.38 / sqrt(n), whatever the vocabulary.
    """
    spans = reachable_counts(tv, top, n)
    return max(largest_excess(first, last, n, checked_delta(delta)) for first, last in spans)


def least_radius(top: float, n: int, delta: float, epsilon: float) -> float:
    """No more than C1 adds to any observed total variation up to epsilon: by p and n alone.

    The likeliest count of the range over which C1 takes its maximum, near 1/2 or, beyond that, the
    largest mass of a set without the likeliest token. Where this exceeds epsilon, no draws certify.
    """
    share = min(0.5, 1.0 - top)
    if n == 0 or share < epsilon:
        return 0.0
    return kl_excess(math.floor(n * share) / n, entropy_budget(n, checked_delta(delta)))


def certify(
    counts: npt.ArrayLike, law: npt.ArrayLike, delta: float, *, name: str = "full alphabet"
) -> Certificate:
    """C1 for one law and independent draws; the bound is 1 where there are none."""
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    n = int(observed.sum())
    if n == 0:
        return Certificate(0.0, 1.0, checked_delta(delta), "no draws", name)
    tv = float(total_variation(observed, p))
    bound = min(1.0, tv + clopper_pearson_radius(tv, float(p.max()), n, delta))
    return Certificate(tv, bound, delta, "fixed set, Clopper-Pearson", name)


def certify_coarse(
    counts: npt.ArrayLike, law: npt.ArrayLike, part: Coarsening, delta: float
) -> Certificate:
    """C1 for a coarse-graining: it bounds the bias between its cells, not within them."""
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    return certify(part.gather(observed), part.gather(p), delta, name=part.name)


def certify_contexts(counts: Counts, laws: Probs, delta: float) -> Certificate:
    """For counts (C, V) after each of C contexts: bounds the visit-weighted mean of the TVs.

    Contexts may depend on the past (Hoeffding and Azuma). A sequence of L tokens is then within
    L times the bound, where the sampler itself produced the contexts.
    """
    checked = [checked_counts(row, laws.shape[-1]) for row in counts]
    visits = np.array([row.sum() for row in checked])
    n = int(visits.sum())
    if n == 0:
        return Certificate(0.0, 1.0, checked_delta(delta), "no draws", "after each context")
    expected = visits[:, None] * np.stack([checked_law(law) for law in laws])
    tv = min(1.0, float(0.5 * np.abs(np.stack(checked) - expected).sum() / n))
    bound = min(1.0, tv + hoeffding_radius(n, delta))
    return Certificate(tv, bound, delta, "fixed set, Hoeffding-Azuma", "after each context")


def tv_lower_bound(
    first: npt.ArrayLike, second: npt.ArrayLike, law: npt.ArrayLike, delta: float
) -> float:
    """With confidence 1 - delta the total variation is at least this: a set chosen on the first
    half of the draws, its mass bounded on the second.
    """
    p = checked_law(law)
    chosen, tested = checked_counts(first, p.size), checked_counts(second, p.size)
    too_many = chosen > chosen.sum() * p
    hits, n = int(tested[too_many].sum()), int(tested.sum())
    if hits == 0:
        return 0.0
    lowest = float(stats.beta.ppf(checked_delta(delta), hits, n - hits + 1))
    return max(0.0, lowest - float(p[too_many].sum()))
