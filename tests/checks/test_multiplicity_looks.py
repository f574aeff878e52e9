"""Error budgets over tests and looks."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks.looks import look_schedule, spent_per_look
from harness.checks.multiplicity import benjamini_hochberg, bonferroni, e_to_p, holm
from harness.errors import BadLaw, BadSetting


def test_holm_and_benjamini_hochberg_agree_with_the_reference(reference):
    """Eight p-values. Oracle: worked by hand in the notes."""
    values = reference["notes"]["holm"]
    assert holm(values["p"]) == pytest.approx(values["holm"])
    assert benjamini_hochberg(values["p"]) == pytest.approx(values["bh"], rel=1e-4)


def closed_testing(p, w):
    """Weighted Bonferroni tests closed over every intersection: the definition of Holm's method."""
    n = len(p)
    adjusted = np.zeros(n)
    for mask in range(1, 2**n):
        inside = np.array([bool(mask >> i & 1) for i in range(n)])
        local = min(1.0, (p[inside] / w[inside]).min() * w[inside].sum())
        adjusted[inside] = np.maximum(adjusted[inside], local)
    return adjusted


@pytest.mark.parametrize("seed", range(10))
def test_weighted_holm_is_closed_weighted_bonferroni(seed):
    """Oracle: closed testing over all 2^6 intersections."""
    rng = np.random.default_rng(seed)
    p, w = rng.random(6) ** 4, rng.dirichlet(np.ones(6))
    assert holm(p, w) == pytest.approx(closed_testing(p, w))
    assert (bonferroni(p, w) >= holm(p, w) - 1e-15).all()


@pytest.mark.parametrize("adjust", [holm, bonferroni, benjamini_hochberg])
def test_a_p_value_that_is_nan_does_not_pass(adjust):
    """NaN compares false with everything; it is refused before any comparison."""
    with pytest.raises(BadLaw):
        adjust([0.5, np.nan])


def test_e_values_become_p_values():
    """1/E, at most one; infinite evidence is p = 0; NaN is refused. Oracle: Ville."""
    assert e_to_p([-3.0, np.log(20.0), np.inf]) == pytest.approx([1.0, 0.05, 0.0])
    with pytest.raises(BadLaw):
        e_to_p([np.nan])


def test_looks_grow_geometrically_and_end_at_the_declared_number():
    """1000 * 1.25^k up to 517k and its end: 29 looks. Oracle: notes, section 5."""
    looks = look_schedule(1_000, 516_988)
    assert looks[:4] == (1_000, 1_250, 1_563, 1_954)
    assert looks[-1] == 516_988
    assert len(looks) == 29
    assert look_schedule(10, 10) == (10,)
    assert look_schedule(50, 10) == (10,)
    assert spent_per_look(1e-6, 4) == 2.5e-7
    with pytest.raises(BadSetting):
        look_schedule(0, 10)
