"""The exact law of one position: reference values, enumeration, each rule's own form."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from harness.engine.exact import ExactRounds, exact_single
from harness.errors import BadSetting
from harness.laws.accounting import accepted_mass, positive_part, total_variation
from harness.laws.tables import one_context
from harness.rules import RULES

CASES = json.loads(
    (Path(__file__).parents[1] / "reference" / "single_position.json").read_text("utf-8")
)
DISCRETE = [name for name in RULES if RULES[name].discrete]


def fractions(texts):
    return np.array([Fraction(text) for text in texts], dtype=object)


def laws_of(case):
    return one_context(fractions(CASES[case]["p"]), fractions(CASES[case]["q"]))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", CASES["three-token"]["laws"])
def test_output_law_is_the_reference_fraction_by_fraction(case, name):
    """Thirteen rules on eight pairs; oracle: tests/reference/single_position.json."""
    step = exact_single(RULES[name], laws_of(case))
    expected = CASES[case]["laws"].get(name)
    if expected is None:  # laws that share no token: nothing is ever kept
        assert step is None
    else:
        assert step.output.tolist() == fractions(expected["law"]).tolist()


@pytest.mark.parametrize("case", CASES)
def test_the_exact_rule_keeps_the_smaller_mass_and_rejects_the_draft_s_excess(case):
    """Kept min(p, q), rejected (q - p)+, replaced (p - q)+: Leviathan et al. (2023)."""
    laws = laws_of(case)
    p, q = laws.p[0], laws.q[0]
    step = exact_single(RULES["speculative"], laws)
    assert step.kept.tolist() == accepted_mass(p, q).tolist()
    assert step.rejected.tolist() == positive_part(q, p).tolist()
    assert step.replacement.tolist() == positive_part(p, q).tolist()
    assert step.kept.sum() == Fraction(CASES[case]["overlap"])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", DISCRETE)
def test_a_rule_states_the_step_that_enumeration_finds(case, name):
    """The closed form used for large vocabularies, against the enumerated step, as Fractions."""
    laws, rule = laws_of(case), RULES[name]
    enumerated = exact_single(rule, laws)
    if enumerated is None:
        with pytest.raises(BadSetting, match="for ever"):
            rule.prepare(laws).step_law(0)
        return
    stated = rule.prepare(laws).step_law(0)
    for column in ("kept", "rejected", "replacement"):
        assert getattr(stated, column).tolist() == getattr(enumerated, column).tolist()


@pytest.mark.parametrize("name", DISCRETE)
def test_floats_agree_with_fractions(name):
    """The same step in float64, to 1e-15; oracle: the Fractions."""
    laws, rule = laws_of("zeros-both-ways"), RULES[name]
    floats = one_context(laws.p.astype(float), laws.q.astype(float))
    exact, found = exact_single(rule, laws), exact_single(rule, floats)
    assert found.output.dtype == np.float64
    np.testing.assert_allclose(found.output, exact.output.astype(float), atol=1e-15)
    np.testing.assert_allclose(found.trace, exact.trace.astype(float), atol=1e-15)


@pytest.mark.parametrize("name", DISCRETE)
def test_a_large_vocabulary_is_stated_not_enumerated(name):
    """At V = 2,000 the stated law sums to one and has no trace."""
    p, q = np.random.default_rng(4).dirichlet(np.full(2_000, 0.2), size=2)
    step = exact_single(RULES[name], one_context(p, q))
    assert step.trace is None
    assert abs(step.output.sum() - 1) < 1e-12
    assert abs(step.rejected.sum() - step.replacement.sum()) < 1e-12


def test_trace_cells_are_the_steps():
    """Row x of the trace holds what was drafted as x: it sums to q(x)."""
    laws = laws_of("far")
    trace = ExactRounds(RULES["speculative"].prepare(laws), laws, 1).step(0).trace
    assert trace.shape == (8, 9)
    assert trace.sum(axis=1).tolist() == laws.q[0].tolist()


def test_the_reused_coin_states_a_law_that_cannot_be_enumerated():
    """TV to p .062 for this pair; here by integrating over the coin on a fine grid."""
    laws = laws_of("near")
    p, q = laws.p[0].astype(float), laws.q[0].astype(float)
    stated = exact_single(RULES["reused-coin"], laws)
    grid = (np.arange(200_000) + 0.5) / 200_000
    excess = np.maximum(p - q, 0)
    ends = np.cumsum(excess) / excess.sum()
    replacement = np.zeros(8)
    for token in range(8):
        coins = grid[grid >= min(1.0, p[token] / q[token])]
        found = np.searchsorted(ends, coins, side="right")
        replacement += q[token] * np.bincount(found, minlength=8)[:8] / len(grid)
    np.testing.assert_allclose(stated.replacement, replacement, atol=2e-5)
    assert stated.output.sum() == pytest.approx(1, abs=1e-12)
    assert total_variation(stated.output, p) == pytest.approx(0.062, abs=5e-4)
