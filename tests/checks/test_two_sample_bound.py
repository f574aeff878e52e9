"""The bound on the distance between two laws that are both unknown."""

from __future__ import annotations

from itertools import product
from math import factorial

import numpy as np
import pytest

from harness.checks.two_sample_bound import certify_two_arms
from harness.errors import BadSetting


def binomial(n, p):
    """Probabilities of 0 to n successes, by the convolution of n coins."""
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [1.0 - p, p])
    return law


def outcomes(n, cells):
    """All counts of n draws over `cells` cells: (outcomes, cells)."""
    every = product(range(n + 1), repeat=cells)
    return np.array([counts for counts in every if sum(counts) == n])


def multinomial(counts, law):
    """Probability of each row of counts."""
    ways = [factorial(int(row.sum())) / np.prod([factorial(int(k)) for k in row]) for row in counts]
    return np.array(ways) * np.prod(np.asarray(law) ** counts, axis=1)


def bounds_by_excess(n, delta):
    """Bound for every possible excess of one arm over the other, 0 to n."""
    arms = [((n, 0), (n - excess, excess)) for excess in range(n + 1)]
    return np.array([certify_two_arms(a, b, delta).bound for a, b in arms])


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize("n", [2, 7, 25])
def test_two_tokens_are_covered_whatever_their_laws(n, delta):
    """P(bound < TV) <= delta on a grid of 41 x 41 pairs of laws, 0 and 1 included; the worst is
    above a quarter of delta, so that the bound is not idle. Oracle: enumeration.
    """
    bounds, worst = bounds_by_excess(n, delta), 0.0
    excess = np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1)))
    for a, b in product(np.linspace(0.0, 1.0, 41), repeat=2):
        both = np.outer(binomial(n, a), binomial(n, b))
        missed = both[bounds[excess] < abs(a - b) - 1e-12].sum()
        worst = max(worst, missed)
    assert worst <= delta + 1e-12
    assert n == 2 or worst > delta / 4


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((0.6, 0.3, 0.1), (0.59, 0.295, 0.115)),
        ((1.0, 0.0, 0.0), (0.0, 0.5, 0.5)),
        ((0.98, 0.01, 0.01), (0.5, 0.49, 0.01)),
        ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.25, 0.25)),
    ],
)
def test_three_tokens_are_covered(a, b, delta):
    """P(bound < TV) <= delta for 7 draws an arm. Oracle: enumeration of all 36 x 36 counts."""
    n, bounds = 7, bounds_by_excess(7, delta)
    counts = outcomes(n, 3)
    both = np.outer(multinomial(counts, a), multinomial(counts, b))
    assert both.sum() == pytest.approx(1.0)
    excess = np.maximum(counts[:, None] - counts[None], 0).sum(axis=-1)
    tv = 0.5 * np.abs(np.subtract(a, b)).sum()
    assert both[bounds[excess] < tv - 1e-12].sum() <= delta


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_mean_over_prompts_is_covered(delta):
    """Two prompts of 6 draws each, a grid of laws that differ between prompts and arms: the bound
    is of the mean TV. Oracle: enumeration.
    """
    n, bounds = 6, bounds_by_excess(12, delta)
    gaps = np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1)))
    excess = gaps[:, :, None, None] + gaps
    for a, b, c, d in product([0.0, 0.1, 0.5, 0.9, 1.0], repeat=4):
        first = np.outer(binomial(n, a), binomial(n, b))
        second = np.outer(binomial(n, c), binomial(n, d))
        both = first[:, :, None, None] * second
        tv = 0.5 * (abs(a - b) + abs(c - d))
        assert both[bounds[excess] < tv - 1e-12].sum() <= delta + 1e-12


@pytest.mark.parametrize("n", [10**3, 10**5, 10**8])
def test_what_is_added_to_the_observed_distance(n):
    """At delta = 1e-6 at most 3.4 / sqrt(n) (normal theory: 4.753 / sqrt(2 n) = 3.361 / sqrt(n)),
    less where the distance is large.
    """
    for share in (0.0, 0.1, 0.5, 0.9):
        excess = int(share * n)
        found = certify_two_arms([n, 0], [n - excess, excess], 1e-6)
        assert found.tv == pytest.approx(excess / n)
        assert 0.0 <= found.bound - found.tv <= 3.4 / np.sqrt(n) + 2.0 / n
    same = certify_two_arms([n // 2, n - n // 2], [n // 2, n - n // 2], 1e-6)
    assert same.bound * np.sqrt(n) == pytest.approx(3.361, rel=0.02)


def test_arms_of_different_size_and_levels_beyond_the_proof_are_refused():
    """`BadSetting`; no draws bound nothing."""
    for a, b, delta in (([1, 2], [1, 1], 0.1), ([1, 2], [3], 0.1), ([1, 1], [1, 1], 0.25)):
        with pytest.raises(BadSetting):
            certify_two_arms(a, b, delta)
    assert certify_two_arms([0, 0], [0, 0], 0.1).bound == 1.0
