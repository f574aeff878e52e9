"""Residuals (w p - q)+ by sorted running sums; oracle: the dense formula, token by token."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from harness.laws.accounting import positive_part
from harness.laws.scaled_residual import ScaledResidual, SortedByRatio


def sparse(rng, shape):
    law = rng.dirichlet(np.full(shape[1], 0.3), size=shape[0])
    law[rng.random(shape) < 0.2] = 0
    law[:, 0] += 1 - law.sum(axis=1)
    return law


@pytest.mark.parametrize("seed", range(8))
def test_mass_is_the_dense_sum(seed):
    rng = np.random.default_rng(seed)
    p, q = sparse(rng, (3, 13)), sparse(rng, (3, 13))
    contexts, weights = rng.integers(0, 3, 200), rng.random(200)
    weights[:20] = 1.0
    dense = positive_part(weights[:, None] * p[contexts], q[contexts]).sum(axis=1)
    np.testing.assert_allclose(SortedByRatio(p, q).mass(contexts, weights), dense, atol=1e-15)


def test_mass_of_fractions_is_exact():
    p = np.array([[Fraction(1, 2), Fraction(1, 2), Fraction(0)]], object)
    q = np.array([[Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]], object)
    weights = np.array([Fraction(1), Fraction(2, 3), Fraction(1, 3)], object)
    mass = SortedByRatio(p, q).mass(np.zeros(3, np.intp), weights)
    assert mass.tolist() == [Fraction(1, 4), Fraction(1, 12), 0]


@pytest.mark.parametrize("seed", range(8))
def test_shares_of_the_mass_fall_on_tokens_in_proportion(seed):
    """An even grid of u finds every token as often as the dense law says, to one grid step."""
    rng = np.random.default_rng(seed)
    p, q = sparse(rng, (1, 9)), sparse(rng, (1, 9))
    size = 10_000
    rest = SortedByRatio(p, q)
    contexts, weights = np.zeros(size, np.intp), np.full(size, rng.uniform(0.5, 1.0))
    found = rest.find(contexts, weights, (np.arange(size) + 0.5) / size)
    law = ScaledResidual(rest, contexts[:1], weights[:1]).probs[0]
    np.testing.assert_allclose(np.bincount(found, minlength=9) / size, law, atol=1.01 / size)
