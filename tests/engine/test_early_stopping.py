"""Early stopping measured: when the exact rule is certified, and when a fault is refuted.

Targets are those of STATISTICS: about 1.1e5 and 1.6e4 trials on average. The published figures have
no share of alpha for classical tests and 29 looks; an engine that keeps half of alpha for them and
looks from 64 trials on pays ln 2 in the evidence and a few per cent in the radius.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness import parse_suite
from harness.engine.prepare import prepare
from harness.engine.repeated import repeated
from harness.engine.sequence import Levels, draw_until_decided
from harness.executors import InlineExecutor

SUITE = """
version: 1
suite: three-token
vocabulary: [A, B, C]
target: {probs: [0.60, 0.30, 0.10]}
draft:  {probs: [0.50, 0.25, 0.25]}
trials: 1_000_000
epsilon: 0.01
stop_early: true
scenarios:
  - {name: exact, rule: speculative, observe: [output]}
  - {name: exact and its trace, rule: speculative}
  - {name: resample, rule: resample-from-target, observe: [output]}
  - {name: resample by its trace, rule: resample-from-target, observe: [trace]}
"""
LEVELS = Levels(alpha=1e-6, delta=1e-6, family=1)


def scenario(name):
    suite = parse_suite(SUITE, "made.yaml")
    return prepare(next(s for s in suite.scenarios if s.name == name), suite, {})


def assert_mean(trials, expected, within):
    """The mean lies `within` of the expectation, beyond five standard errors of its own."""
    error = trials.std(ddof=1) / np.sqrt(len(trials))
    assert abs(trials.mean() - expected) < within * expected + 5 * error


@pytest.mark.parametrize("name", ["exact", "exact and its trace", "resample"])
def test_runs_in_step_stop_where_a_run_of_its_own_stops(name):
    """Oracle: `draw_until_decided` with the same seed."""
    prepared = scenario(name)
    seeds = range(5)
    alone = [
        draw_until_decided(prepared, seed, LEVELS, InlineExecutor(), 1, lambda _: None).trials
        for seed in seeds
    ]
    assert repeated(prepared, seeds, LEVELS).trials.tolist() == alone


def test_the_exact_rule_is_certified_after_about_110_000_trials():
    """120 seeds: all certified, none refuted; oracle: the mean published in STATISTICS, 1.1e5.

    The mean may lie 12 % off (looks are 25 % apart) and five standard errors: below 1e-6 of seeds.
    """
    found = repeated(scenario("exact"), range(120), LEVELS)
    assert found.matches.all()
    assert not found.differs.any()
    assert_mean(found.trials, 1.1e5, 0.12)


def test_resampling_from_the_target_is_refuted_after_about_16_000_trials():
    """300 seeds from the output alone: all refuted; oracle: the mean published in STATISTICS.

    Five standard errors beside 10 % for ln 2 and the looks: below 1e-6 of seeds.
    """
    found = repeated(scenario("resample"), range(300), LEVELS)
    assert found.differs.all()
    assert not found.matches.any()
    assert_mean(found.trials, 1.6e4, 0.10)


def test_the_trace_refutes_it_at_the_first_look_after_the_first_impossible_draw():
    """P(stop by look n) = 1 - .985^n: 400 seeds against it; oracle: the hard zero of .015.

    Binomial band at each of the first looks, 1e-7 each and side.
    """
    found = repeated(scenario("resample by its trace"), range(400), LEVELS)
    for look in (64, 80, 100, 125, 157):
        stopped = int((found.trials <= look).sum())
        low, high = stats.binom.ppf([1e-7, 1 - 1e-7], 400, 1 - 0.985**look)
        assert low <= stopped <= high
