"""Mixtures of rules: their law is the mixture of laws, drawn and enumerated alike."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from harness.engine.exact import ExactRounds, exact_single
from harness.errors import BadSetting
from harness.laws.contexts import markov_contexts
from harness.laws.tables import LawTables, one_context
from harness.protocols import Rule
from harness.rng import stream
from harness.rules import RULES
from harness.rules.mixture import MixtureRule
from harness.samplers.rule import RuleSampler

P, Q = np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.25, 0.25])
EXACT, FAULT = RULES["speculative"].prepare, RULES["resample-from-target"].prepare


def test_a_third_of_a_fault_in_fractions():
    """Law .6 - t/100 of A and so on at t = 1/3, as fractions (oracle: the stated law at t = 1)."""
    p, q = (
        np.array([Fraction(x) for x in row])
        for row in (("3/5", "3/10", "1/10"), ("1/2", "1/4", "1/4"))
    )
    rule = Rule(MixtureRule(FAULT, EXACT, Fraction(1, 3)), "a dose")
    law = exact_single(rule, one_context(p, q)).output
    assert law.tolist() == [Fraction(179, 300), Fraction(179, 600), Fraction(21, 200)]


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("name", ["ignore-draft", "token-matching-redraw"])
def test_a_round_of_two_drafts_mixes_the_joint_laws(name, weight):
    """Oracle: the enumerated laws of both rules, mixed; over several rounds where one is pure."""
    laws = one_context(P, Q)
    rule = RULES[name].prepare
    found = ExactRounds(MixtureRule(rule, EXACT, weight)(laws), laws, 2)
    for horizon in (1, 3) if weight in {0.0, 1.0} else (1,):
        both = [ExactRounds(r(laws), laws, 2).joint(horizon, 0) for r in (rule, EXACT)]
        mixed = weight * both[0] + (1 - weight) * both[1]
        np.testing.assert_allclose(found.joint(horizon, 0), mixed, atol=1e-15)


def test_a_rule_that_starts_over_is_mixed_in_closed_form_and_drawn_so():
    """Law t min(p, q)/.85 + (1 - t) p; enumeration would drop the coin with the trial: refused.

    Drawn counts: chi-square on three cells, fixed seed; a right mixture fails at 1e-7 of seeds.
    """
    laws = one_context(P, Q)
    rule = MixtureRule(RULES["retry-until-accepted"].prepare, EXACT, 0.25)
    assert exact_single(Rule(rule, "a dose"), laws) is None
    law = exact_single(Rule(rule, "a dose", discrete=False), laws).output
    np.testing.assert_allclose(law, 0.25 * np.minimum(P, Q) / 0.85 + 0.75 * P, atol=1e-15)
    n = 200_000
    seen = np.bincount(RuleSampler(rule, laws).sample(n, stream(5, "retry")).tokens[:, 0])
    assert stats.chi2.sf(((seen - n * law) ** 2 / (n * law)).sum(), 2) > 1e-7


def test_the_stated_step_is_the_enumerated_one():
    """Closed form against enumeration; oracle: `ExactRounds` on four tokens with zeros."""
    laws = one_context(np.array([0.4, 0.3, 0.3, 0.0]), np.array([0.1, 0.5, 0.2, 0.2]))
    procedure = MixtureRule(FAULT, EXACT, 0.3)(laws)
    stated, found = procedure.step_law(0), ExactRounds(procedure, laws, 1).step(0)
    for part in ("kept", "rejected", "replacement"):
        np.testing.assert_allclose(getattr(stated, part), getattr(found, part), atol=1e-15)


def test_drawn_mixtures_follow_the_enumerated_law():
    """Two drafts after a context, drawn against the enumerated joint law of three tokens.

    Chi-square on 27 cells, fixed seed; a right mixture fails at 1e-7 of seeds.
    """
    contexts = markov_contexts(3, 1)
    p, q = np.random.default_rng(4).dirichlet(np.ones(3), size=(2, len(contexts)))
    laws = LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)
    rule = MixtureRule(FAULT, EXACT, 0.4)
    n, start = 200_000, int(contexts.starts[0])
    batch = RuleSampler(rule, laws, 2, 3).sample(n, stream(3, "mixture"))
    cells = batch.tokens.astype(int) @ np.array([9, 3, 1])
    law = ExactRounds(rule(laws), laws, 2).joint(3, start)
    seen = np.bincount(cells, minlength=27)
    assert stats.chi2.sf(((seen - n * law) ** 2 / (n * law)).sum(), 26) > 1e-7


@pytest.mark.parametrize("weight", [-0.1, 1.1, np.nan])
def test_a_weight_is_a_probability(weight):
    """What is no probability is refused."""
    with pytest.raises(BadSetting, match="must be from 0 to 1"):
        MixtureRule(FAULT, EXACT, weight)
