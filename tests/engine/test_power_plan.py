"""Plans hold: what is planned for a power is caught with that power, and no fewer trials do."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness import Verdict, parse_suite, run_suite
from harness.checks import EProcess, approximate_trials, exact_miss, exact_trials
from harness.engine.misses import Detector, missed, trials_to_catch
from harness.engine.power import plan_scenario, plan_suite
from harness.engine.prepare import prepare
from harness.engine.repeated import repeated
from harness.engine.sequence import Levels
from harness.errors import BadSetting
from harness.rng import stream

P, RESAMPLED = np.array([0.6, 0.3, 0.1]), np.array([0.59, 0.295, 0.115])
SUITE = """
version: 1
suite: plans
vocabulary: [A, B, C]
target: {probs: [0.60, 0.30, 0.10]}
draft: {probs: [0.50, 0.25, 0.25]}
trials: 200_000
epsilon: 0.01
scenarios:
  - {name: exact, rule: speculative, observe: [output]}
  - {name: resample, rule: resample-from-target, expect: differs}
  - {name: resample by its trace, rule: resample-from-target, expect: differs, observe: [trace]}
  - {name: resample from the draft, rule: resample-from-draft, expect: differs}
  - {name: greedy residual, rule: greedy-residual, expect: differs}
  - {name: absolute residual, rule: absolute-residual, expect: differs}
  - {name: inverted ratio, rule: inverted-ratio, expect: differs}
  - {name: retry, rule: retry-until-accepted, expect: differs}
  - {name: ignore the draft, rule: ignore-draft, expect: differs, observe: [trace]}
  - {name: reused coin, rule: reused-coin, expect: differs, observe: [trace]}
"""
LEVELS = Levels(alpha=1e-6, delta=1e-6, family=1)


def suite(text=SUITE):
    return parse_suite(text, "made.yaml")


def prepared(name):
    whole = suite()
    return prepare(next(s for s in whole.scenarios if s.name == name), whole, {})


def chi_square(threshold=27.63102111592855):
    """Pearson's statistic as evidence, at the critical value of level 1e-6 for three cells."""

    def statistic(counts):
        expected = counts.sum(axis=1, keepdims=True) * P
        return ((counts - expected) ** 2 / expected).sum(axis=1)

    return Detector(P, statistic, threshold, draws=11_000)


@pytest.mark.parametrize("n", [5_000, 20_000, 41_591])
def test_tilted_draws_give_the_exact_probability_of_a_miss(n):
    """From 1 down to 1e-6; oracle: exact sums of Pearson's statistic over three cells.

    Six standard errors of the estimate: below 1e-6 of seeds.
    """
    found = missed(chi_square(), RESAMPLED, n, stream(1, "miss", n))
    exact = exact_miss(n, P, RESAMPLED, 27.63102111592855)
    assert abs(found.probability - exact) < 6 * found.error
    assert found.error < 0.1 * exact


def test_planned_trials_are_the_exact_ones_not_those_of_the_noncentral_chi_square():
    """41,591 exact, 39,535 by the noncentral chi-square; oracle: STATISTICS and exact sums."""
    planned = trials_to_catch(chi_square(), RESAMPLED, 1e-6, "test")
    assert exact_trials(P, RESAMPLED, 1e-6, 1e-6) == 41_591
    assert approximate_trials(P, RESAMPLED, 1e-6, 1e-6) == pytest.approx(39_535, abs=1)
    assert 41_591 * 0.99 < planned < 41_591 * 1.05


def test_a_law_that_is_the_promised_one_is_never_caught():
    """No bias, no plan; oracle: relative entropy zero."""
    assert math.isinf(trials_to_catch(chi_square(), P, 1e-6, "test"))


def test_impossible_draws_are_planned_by_their_probability():
    """Miss .985^n first falls to 1e-6 at 915 trials; STATISTICS rounds 914.1 down."""
    plan = plan_scenario(prepared("resample by its trace"), LEVELS)
    assert plan.needed == 915
    assert 0.985**915 < 1e-6 < 0.985**914
    assert plan.observables[0].how == "an impossible draw"


@pytest.mark.parametrize("name", ["resample", "greedy residual", "inverted ratio", "retry"])
def test_runs_planned_for_a_power_of_90_per_cent_have_it(name):
    """400 runs each by the e-process alone; oracle: the binomial law of a power of .9 to .94.

    Band of 1e-7 on each side.
    """
    ready = prepared(name)
    needed = plan_scenario(ready, LEVELS, power=0.9).needed
    ready = replace(ready, scenario=replace(ready.scenario, trials=int(needed)))
    caught = int(repeated(ready, range(400), LEVELS).differs.sum())
    assert stats.binom.ppf(1e-7, 400, 0.9) <= caught <= stats.binom.isf(1e-7, 400, 0.94)


def test_plan_and_run_agree():
    """Every control at its planned trials is caught by whole runs, 12 seeds, all in one suite.

    Planned for a miss of 1e-9 and 12 runs of 9 controls: below 1e-6 of seeds. Also the exact rule
    is certified at its planned trials in all but a thousandth of runs: 12 lose 3 or more at 2e-7.
    """
    whole = suite()
    plan = plan_suite(whole, power=1 - 1e-9)
    assert plan.scenarios[0].needed is not None
    needed = {s.name: math.ceil(s.needed) for s in plan.scenarios}
    scenarios = tuple(replace(s, trials=needed[s.name]) for s in whole.scenarios)
    certified = 0
    for seed in range(12):
        result = run_suite(replace(whole, scenarios=scenarios, seed=seed), workers=2)
        exact, *controls = result.scenarios
        assert [s.verdict for s in controls] == [Verdict.DIFFERS] * len(controls)
        certified += exact.verdict is Verdict.MATCHES
    assert certified >= 10


def test_a_plan_says_when_the_trials_are_too_few():
    """41,591 and more are needed where 10,000 are declared; certification needs 1.55e5."""
    plan = plan_suite(suite(SUITE.replace("200_000", "10_000")))
    by_name = {s.name: s for s in plan.scenarios}
    assert by_name["resample"].suffices is False
    assert by_name["inverted ratio"].suffices is True
    assert not plan.suffices
    assert by_name["exact"].needed == pytest.approx(1.55e5, rel=0.05)


def test_a_rule_without_an_exact_law_is_planned_by_a_pilot_of_its_own():
    """Shared Gumbel noise on eight tokens: no enumeration, yet caught in all of 10 runs as planned.

    Planned for a miss of 1e-6, with a quarter more for the pilot's own error: below 1e-6 of seeds.
    """
    text = """
version: 1
suite: pilot
vocabulary: [A, B, C, D, E, F, G, H]
target: {probs: [0.30, 0.20, 0.15, 0.10, 0.10, 0.05, 0.05, 0.05]}
draft: {probs: [0.05, 0.05, 0.05, 0.10, 0.10, 0.15, 0.20, 0.30]}
trials: 500_000
scenarios:
  - {name: shared noise, rule: shared-gumbel, expect: differs}
"""
    whole = suite(text)
    ready = prepare(whole.scenarios[0], whole, {})
    assert ready.judged[0].observable.exact is None
    needed = plan_scenario(ready, LEVELS).needed
    ready = replace(ready, scenario=replace(ready.scenario, trials=int(1.25 * needed)))
    assert repeated(ready, range(10), LEVELS).differs.all()


def test_large_alphabets_are_certified_by_a_coarse_law_that_is_named():
    """20,000 tokens and 400,000 trials: the plan names what can be certified."""
    text = """
version: 1
suite: large
vocabulary: 20_000
target: {generate: {zipf: {exponent: 1.0}}}
draft: {generate: {zipf: {exponent: 1.1}}}
trials: 400_000
epsilon: 0.02
scenarios:
  - {name: exact, rule: speculative, observe: [output]}
  - {name: draft, rule: accept-everything, expect: differs}
"""
    exact, draft = plan_suite(suite(text)).scenarios
    assert exact.suffices
    assert "certified on the" in exact.note
    assert exact.observables[0].certify.full > 4e5
    assert draft.suffices
    assert draft.observables[0].how != "e-process"


def test_a_fault_within_epsilon_may_be_certified_before_it_is_seen():
    """TV .015 under an epsilon of .02 with early stopping: the plan says so."""
    text = SUITE.replace("epsilon: 0.01", "epsilon: 0.02\nstop_early: true")
    resample = next(s for s in plan_suite(suite(text)).scenarios if s.name == "resample")
    assert "may certify it first" in resample.note


def test_a_fault_that_is_expected_to_match_is_never_certified():
    """Its TV of .015 lies beyond epsilon (oracle: the stated law)."""
    text = SUITE.replace("expect: differs", "expect: matches")
    resample = next(s for s in plan_suite(suite(text)).scenarios if s.name == "resample")
    assert resample.needed == math.inf
    assert "expected to match, but output has TV 0.015" in resample.note


@pytest.mark.parametrize("power", [0.0, 1.0, math.nan])
def test_power_is_a_probability_below_one(power):
    """What no number of trials gives is refused."""
    with pytest.raises(BadSetting, match="must lie between 0 and 1"):
        plan_suite(suite(), power=power)


def test_the_process_of_a_plan_is_that_of_the_run():
    """The e-process with the bets on known faults, not one without (oracle: both evaluated)."""
    (examiner,) = prepared("resample").judged
    counts = np.array([[5900, 2950, 1150]])
    alone = EProcess.of(P, [0.5, 0.25, 0.25]).log_e(counts).total
    assert examiner.log_e_at(counts)[0] != alone[0]
