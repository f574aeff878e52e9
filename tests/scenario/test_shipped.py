"""The suites that ship: they load, they say what they cannot see, and leave no known fault out."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from harness.engine.exact import exact_joint, exact_single
from harness.laws.joint import MOST_JOINT_CELLS, joint_law
from harness.rules import RULES
from harness.scenario import load_suites

ROOT = Path(__file__).parents[2]
SUITES = {suite.name: suite for suite in load_suites([ROOT / "scenarios"])}
PAIRS = json.loads((ROOT / "tests/reference/single_position.json").read_text(encoding="utf-8"))


def exact(scenario):
    """The exact law of a scenario's first token, None where its rule has none."""
    return exact_single(RULES[scenario.rule], scenario.exact_laws or scenario.laws)


def test_the_suites_of_the_main_job_are_there():
    """Ten suites, each a file of its own name."""
    assert {Path(s.source).stem for s in SUITES.values()} == SUITES.keys()
    assert SUITES.keys() >= {
        *("three-token", "equal-distribution", "policies", "support", "asymmetric", "controls"),
        *("blocks", "sequences", "long-draft", "vocabulary"),
    }


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_says_what_it_sees_and_what_it_cannot(name):
    """Nobody should take a match for more than it is."""
    assert "Sees: " in SUITES[name].description
    assert "Cannot see: " in SUITES[name].description


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_holds_the_exact_rule_and_a_fault(name):
    """A suite without a control proves nothing."""
    scenarios = SUITES[name].scenarios
    assert any(s.rule == "speculative" and s.expect == "matches" for s in scenarios)
    assert any(s.expect == "differs" for s in scenarios)


@pytest.mark.parametrize("name", SUITES)
def test_what_is_expected_is_what_the_exact_laws_say(name):
    """Where losslessness alone is judged, `differs` is a law that is not the target's.

    Oracle: the exact law of the first token, as Fractions; beyond it, that of all tokens together.
    """
    for scenario in SUITES[name].scenarios:
        if scenario.rule is None or scenario.observe is not None:
            continue
        as_promised = keeps_its_promise(scenario)
        if as_promised is not None:
            assert as_promised == (scenario.expect == "matches"), scenario.name


def keeps_its_promise(scenario):
    """Whether the rule's exact law is the promised one, from every prompt; None: not known."""
    laws, k, horizon = scenario.laws, scenario.draft_length, scenario.horizon
    if horizon == 1:
        step = exact(scenario) if scenario.exact_laws is not None else None
        start = laws.contexts.starts[0]
        return None if step is None else (step.output == scenario.exact_laws.target[start]).all()
    if laws.vocabulary**horizon > MOST_JOINT_CELLS:
        return None
    for start in map(int, laws.contexts.starts):
        shape = {"horizon": horizon, "start": start}
        found = exact_joint(RULES[scenario.rule], laws, draft_length=k, **shape)
        if found is None:
            return None
        if abs(found - joint_law(laws.target, laws.contexts, **shape)).sum() > 1e-9:
            return False
    return True


@pytest.mark.parametrize("name", ["blocks", "sequences", "long-draft"])
def test_faults_of_whole_blocks_are_controls_in_the_same_geometry(name):
    """Each fault of FAULTS that the first token cannot show, where it can be seen."""
    controls = {s.rule for s in SUITES[name].scenarios if s.expect == "differs"}
    assert controls >= {
        "residual-of-row-0", "bonus-by-argmax", "bonus-from-draft", "stale-context", "stale-q",
        "rejected-token-kept", "spliced-suffix", "sum-of-flags",
    }  # fmt: skip


def test_every_rule_that_is_wrong_at_one_position_is_a_control_on_all_three_pairs():
    """Oracle: the exact law of every rule in the table, on the far, near and asymmetric laws."""
    suite = SUITES["controls"]
    exact_ones = [s for s in suite.scenarios if s.rule == "speculative" and s.expect == "matches"]
    for fair in exact_ones:
        same = [s for s in suite.scenarios if s.laws is fair.laws and s.observe is None]
        listed = {s.rule for s in same if s.expect == "differs"}
        assert {rule for rule in RULES if is_wrong(rule, fair.laws)} <= listed, fair.name


def is_wrong(rule, laws):
    """Whether a rule's exact law is not the target's."""
    step = exact_single(RULES[rule], laws)
    return step is not None and abs(step.output - laws.target[0]).sum() > 1e-9


def test_every_lossless_rule_is_a_decoy():
    """What is lossless must be let pass, however wasteful."""
    decoys = {s.rule for s in SUITES["controls"].scenarios if s.control and s.expect == "matches"}
    assert decoys == {name for name in RULES if RULES[name].lossless} - {"speculative"}


@pytest.mark.parametrize(
    ("name", "pair"), [("three-token", "three-token"), ("equal-distribution", "equal")]
)
def test_stated_laws_are_those_derived_by_hand(name, pair):
    """Oracle: laws of thirteen rules derived by hand, as fractions, in single_position.json."""
    laws = {rule: found["law"] for rule, found in PAIRS[pair]["laws"].items()}
    stated = [s for s in SUITES[name].scenarios if s.facts.law is not None and s.rule in laws]
    assert stated
    for scenario in stated:
        assert list(scenario.facts.law.values()) == [Fraction(x) for x in laws[scenario.rule]]
