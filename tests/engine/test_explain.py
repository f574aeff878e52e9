"""Explanations: the fault that drew the trials is found again, and nothing is blamed wrongly.

A rule that drew the trials is refuted with a chance of 1e-6 a scenario; seeds are fixed.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from harness.engine.candidates import scenario_of
from harness.engine.explain import LEVEL, explain
from harness.engine.lookalikes import homogeneity_p
from harness.engine.places import base_name, places
from harness.engine.run import run_suite
from harness.rules import RULES
from harness.scenario import parse_suite

RANKED = [name for name in RULES if RULES[name].discrete]
BLOCK_FAULTS = ["residual-of-row-0", "bonus-by-argmax", "bonus-from-draft", "stale-q",
                "rejected-token-kept", "spliced-suffix", "sum-of-flags"]  # fmt: skip

ONE_POSITION = """
version: 1
suite: one-position
vocabulary: [A, B, C, D]
target: {probs: [0.40, 0.30, 0.20, 0.10]}
draft: {probs: [0.10, 0.35, 0.15, 0.40]}
trials: 40_000
scenarios:
"""
BLOCKS = """
version: 1
suite: blocks
vocabulary: [A, B, C]
target: {rows: [[0.60, 0.30, 0.10], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]}
draft: {rows: [[0.40, 0.25, 0.35], [0.4, 0.4, 0.2], [0.2, 0.6, 0.2]]}
draft_length: 2
horizon: 3
trials: 100_000
scenarios:
"""


def drawn(head, rules):
    """A run of one scenario for each rule."""
    lines = (f"  - {{name: {rule}, rule: {rule}, expect: differs}}\n" for rule in rules)
    return run_suite(parse_suite(head + "".join(lines), "made.yaml"), workers=1)


def explained(result, name):
    return explain(result, next(s for s in result.scenarios if s.name == name))


@pytest.fixture(scope="module")
def one_position():
    return drawn(ONE_POSITION, RANKED)


@pytest.fixture(scope="module")
def blocks():
    return drawn(BLOCKS, [*BLOCK_FAULTS, "reused-coin"])


@pytest.mark.parametrize("name", RANKED)
def test_a_rule_is_recognised_by_what_it_drew(one_position, name):
    """Every rule that has a law: it, or one with the same laws, fits best (oracle: who drew)."""
    best = explained(one_position, name).best
    assert best is not None
    assert name in {best.rule, *best.also}
    assert best.p_value > LEVEL


@pytest.mark.parametrize("name", BLOCK_FAULTS)
def test_a_fault_of_whole_rounds_is_recognised(blocks, name):
    """By the joint law, where one position shows nothing (oracle: who drew)."""
    best = explained(blocks, name).best
    assert best is not None
    assert name in {best.rule, *best.also}


def test_a_wrong_bonus_is_located(blocks):
    """The joint law departs at position 3 and no earlier; the bonus token is C alone (by hand)."""
    found = explained(blocks, "bonus-by-argmax").places
    assert {place.position for place in found} == {3}
    bonus = [place for place in found if place.branch == "bonus"]
    assert {place.what[-1]: place.seen for place in bonus} == {"A": 0.0, "B": 0.0, "C": 1.0}


def test_a_residual_of_the_wrong_row_is_located(blocks):
    """Position 2, where A replaces what the second row can never replace by it (by hand)."""
    found = explained(blocks, "residual-of-row-0").places
    assert not [place for place in found if place.position == 1]
    replaced = [place for place in found if place.branch == "replaced" and place.promised == 0.0]
    assert {place.position for place in replaced} == {2}


def test_a_fault_without_an_exact_law_is_not_blamed_on_another(blocks):
    """A reused coin: no known law fits, but draws of it look the same (oracle: who drew)."""
    found = explained(blocks, "reused-coin")
    assert found.best is None
    assert not found.promise_fits
    assert "reused-coin" in found.not_ranked
    assert found.alike == ("reused-coin",)
    assert all(fit.refuted is not False for fit in found.fits)


def test_an_unknown_law_is_none_of_the_known_faults(made):
    """Draws from (.45, .25, .30), which no rule has (oracle: how they were made)."""
    rng = np.random.default_rng(4)
    law = np.array([0.45, 0.25, 0.30])
    scenario = made.scenario("odd", made.P3, made.Q3, law, rng, tokens=("A", "B", "C"))
    found = explain(made.suite([scenario]), scenario)
    assert found.best is None
    assert found.alike == ()
    assert not found.promise_fits


def test_two_sets_of_counts_are_of_one_law_or_not():
    """G of (30, 70) and (50, 50) by hand: 2 sum N ln(N / expected), one degree of freedom."""
    one, other = np.array([30, 70]), np.array([50, 50])
    g = 2 * sum(n * math.log(n / e) for n, e in ((30, 40), (70, 60), (50, 40), (50, 60)))
    assert homogeneity_p(one, other) == pytest.approx(math.erfc(math.sqrt(g / 2)), rel=1e-9)
    assert homogeneity_p(one, one) == 1.0
    assert homogeneity_p(np.array([5, 0]), np.array([7, 0])) == 1.0


def test_the_exact_rule_needs_no_explanation(made):
    """The promise fits, no place stands out, and rules that cannot be told apart are named."""
    exact, _ = made.three_token(np.random.default_rng(1))
    found = explain(made.suite([exact]), exact)
    assert found.promise_fits
    assert found.places == ()
    assert found.best.rule == "speculative"
    assert "residual-drops-drafted-only" in found.best.also


def test_likelihoods_are_those_of_the_counts(made):
    """Sum of N ln m for the promise and for (.59, .295, .115), the fault's law (by hand)."""
    _, fault = made.three_token(np.random.default_rng(1))
    found = explain(made.suite([fault]), fault)
    counts = fault.observables[0].counts
    law = np.array([0.59, 0.295, 0.115])
    assert found.best.rule == "resample-from-target"
    assert found.by == "output"
    assert found.promise["output"] == pytest.approx(counts @ np.log(made.P3), rel=1e-12)
    assert found.best.log_likelihoods["output"] == pytest.approx(counts @ np.log(law), rel=1e-12)


def test_what_a_rule_cannot_draw_is_minus_infinity(made):
    """C is drawn, which greedy decoding never does (oracle: by hand)."""
    exact, _ = made.three_token(np.random.default_rng(1))
    found = explain(made.suite([exact]), exact)
    greedy = next(fit for fit in found.fits if "greedy" in {fit.rule, *fit.also})
    assert greedy.log_likelihoods["output"] == -math.inf
    assert greedy.refuted is not False


def test_every_kind_of_run_can_be_explained(made):
    """No law, no draws, hostile names, V = 32,000, hits outside the support (oracle: it ends)."""
    suite = made.every_kind()
    found = [explain(suite, scenario) for scenario in suite.scenarios]
    assert [e.scenario for e in found] == [s.name for s in suite.scenarios]
    outside = next(e for e in found if e.scenario == "tokens outside the support")
    assert any(place.promised == 0.0 and place.p_value == 0.0 for place in outside.places)


def test_what_was_held_against_another_sampler_has_no_law_to_explain(made):
    """No place and no rule: shares of other draws are no promise (oracle: the definition)."""
    _, fault = made.three_token(np.random.default_rng(1))
    against = replace(fault.observables[0], reference_counts=fault.observables[0].counts)
    scenario = replace(fault, observables=(against,), reference="the other")
    found = explain(made.suite([scenario]), scenario)
    assert found.places == found.fits == ()
    assert not found.promise_fits


def test_the_scenario_is_read_again_from_the_manifest(blocks):
    """With the laws of every position; not where the file is another (oracle: the laws)."""
    scenario = blocks.scenarios[0]
    again = scenario_of(blocks, scenario)
    assert len(again.laws.contexts) == 3
    other = replace(blocks, manifest={"suite": {"text": ONE_POSITION, "source": "made.yaml"}})
    assert scenario_of(other, scenario) is None
    assert scenario_of(replace(blocks, manifest={}), scenario) is None


def test_without_its_file_a_run_is_explained_by_one_position(blocks):
    """No joint law is ranked then: its laws are not known (oracle: the names)."""
    found = explain(replace(blocks, manifest={}), blocks.scenarios[0])
    assert found.by not in {"joint", "committed_length"}
    assert all("joint" not in fit.log_likelihoods for fit in found.fits)


def test_names_of_observables_carry_their_prompt():
    """`joint [prompt 2]` is the joint law of prompt 1, counted from 0 (oracle: by hand)."""
    assert base_name("joint [prompt 2]") == ("joint", 1)
    assert base_name("trace at position 3") == ("trace at position 3", 0)


def test_no_place_stands_out_by_chance(made):
    """No place in 300 perfect samplers: each at 1e-6, all at 3e-4, and the seed is fixed."""
    rng = np.random.default_rng(8)
    p, q = rng.dirichlet(np.ones(32), size=2)
    for _ in range(300):
        scenario = made.scenario("s", p, q, p, rng, trials=3_000)
        assert places(scenario) == ()
