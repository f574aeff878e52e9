"""Two runs side by side: what counts as worse, and how far the draws moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.engine.compare import compare
from harness.engine.result import Verdict


@pytest.fixture(scope="module")
def run(made):
    return made.suite(made.three_token(np.random.default_rng(1)))


def statuses(before, after):
    return {change.name: change.status for change in compare(before, after).scenarios}


def changed(run, **fields):
    """The run with its first scenario changed."""
    first, *rest = run.scenarios
    return replace(run, scenarios=(replace(first, **fields), *rest))


def test_a_run_is_the_same_as_itself(run):
    """No distance, no other setting, nothing worse (oracle: identity)."""
    found = compare(run, run)
    assert not found.worse
    assert {change.status for change in found.scenarios} == {"same"}
    assert found.settings == found.scenarios[0].settings == ()
    assert found.scenarios[0].observables[0].tv_between == 0.0


def test_worse_is_what_no_longer_comes_out_as_expected(run):
    """Also a control that is no longer caught, in whichever direction the verdict moved."""
    missed = changed(run, verdict=Verdict.DIFFERS, as_expected=False)
    assert statuses(run, missed)["exact"] == "worse"
    assert statuses(missed, run)["exact"] == "better"
    assert compare(run, missed).worse
    assert not compare(missed, run).worse


def test_another_verdict_that_was_not_expected_either_is_a_change(run):
    """Inconclusive to differs where a match is expected (oracle: the definition)."""
    one = changed(run, verdict=Verdict.INCONCLUSIVE, as_expected=False)
    two = changed(run, verdict=Verdict.DIFFERS, as_expected=False)
    assert statuses(one, two)["exact"] == "changed"
    assert not compare(one, two).worse


def test_a_scenario_that_is_missing_is_worse_and_a_new_one_is_not(run):
    """What is not tested any more cannot be trusted (oracle: the definition)."""
    fewer = replace(run, scenarios=run.scenarios[:1])
    assert statuses(run, fewer)["resample from the target"] == "missing"
    assert statuses(fewer, run)["resample from the target"] == "added"
    assert compare(run, fewer).worse
    assert not compare(fewer, run).worse


def test_settings_that_differ_are_told(run):
    """Trials, the laws, the seed (oracle: what was changed)."""
    other = replace(changed(run, trials=5, q=np.array([0.2, 0.4, 0.4])), seed=1)
    found = compare(run, other)
    assert found.settings == ("seed: 2026 -> 1",)
    assert found.scenarios[0].settings == ("trials: 1000000 -> 5", "draft law: another one")


def test_draws_of_one_law_are_as_far_apart_as_chance_says(made):
    """Mean of 200 pairs of runs against the stated mean (oracle: simulation; the mean of 200 has a
    standard error of 5 %, 25 % is 5 of them: false alarms below 1e-6).
    """
    ratios = []
    for seed in range(200):
        rng = np.random.default_rng([7, seed])
        runs = [
            made.suite([made.scenario("s", made.P3, made.Q3, made.P3, rng, trials=trials)])
            for trials in (2_000, 10_000)
        ]
        change = compare(*runs).scenarios[0].observables[0]
        ratios.append(change.tv_between / change.tv_by_chance)
    assert abs(np.mean(ratios) - 1) < 0.25


def test_draws_of_two_laws_are_as_far_apart_as_the_laws(made):
    """TV .015 between p and the fault's law (oracle: by hand; 1e6 draws: 4.9 standard errors of a
    cell, .0017, false alarms below 1e-6).
    """
    rng = np.random.default_rng(3)
    exact, fault = made.three_token(rng)
    runs = made.suite([exact]), made.suite([replace(fault, name="exact")])
    change = compare(*runs).scenarios[0].observables[0]
    assert change.tv_between == pytest.approx(0.015, abs=0.0035)
    assert change.tv_by_chance < 0.001
