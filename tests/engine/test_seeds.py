"""A scenario's trials depend on seed, scenario name and chunk, and on nothing around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness import parse_suite, run_suite
from harness.engine.draw import ChunkTask
from harness.engine.plan import Chunk
from harness.engine.prepare import prepare

TEXT = """
version: 1
suite: seeds
vocabulary: [A, B, .]
end_token: .
prompts: [[], [B]]
target: {markov: {generate: {dirichlet: {}, seed: 1}}}
draft: {markov: {generate: {dirichlet: {}, seed: 2}}}
draft_length: 2
horizon: 5
trials: 50_000
epsilon: 0.1
seed: 7
scenarios:
  - {name: token rule, rule: speculative}
  - {name: block rule, rule: block-verification}
  - {name: rows swapped, rule: row-swap, expect: differs}
"""
SUITE = parse_suite(TEXT, "seeds.yaml")


def counts_of(result):
    return {
        (scenario.name, seen.observable): seen.counts
        for scenario in result.scenarios
        for seen in scenario.observables
    }


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for key, counts in found.items():
        np.testing.assert_array_equal(counts, expected[key], err_msg=str(key))


@pytest.fixture(scope="module")
def expected():
    return counts_of(run_suite(SUITE, workers=1))


@pytest.mark.parametrize("workers", [2, 5])
def test_the_number_of_workers_changes_no_count(workers, expected):
    """End tokens, prompts and rounds of any length included; oracle: one worker."""
    assert_same(counts_of(run_suite(SUITE, workers=workers)), expected)


def test_other_scenarios_in_any_order_change_no_count(expected):
    """Each scenario alone, and all in reverse; oracle: all in order."""
    mixed = replace(SUITE, scenarios=SUITE.scenarios[::-1])
    assert_same(counts_of(run_suite(mixed, workers=2)), expected)
    for scenario in SUITE.scenarios:
        alone = counts_of(run_suite(replace(SUITE, scenarios=(scenario,)), workers=1))
        assert_same(alone, {key: expected[key] for key in alone})


def test_more_trials_begin_with_the_trials_of_fewer():
    """The recorded growth agrees at every mark that both runs pass."""
    (scenario, *_) = SUITE.scenarios
    few, many = (
        run_suite(replace(SUITE, scenarios=(replace(scenario, trials=n),)), workers=2)
        for n in (20_000, 70_000)
    )
    shared = [tuple(mark[:2]) for mark in few.scenarios[0].growth[:-1]]
    assert len(shared) == 3  # 1,000, 4,000 and 16,000 trials
    assert [tuple(mark[:2]) for mark in many.scenarios[0].growth[:3]] == shared


def test_a_chunk_is_the_same_whenever_it_is_drawn():
    """Third first, and again: the same tokens; another number: other tokens."""
    ready = prepare(SUITE.scenarios[0], SUITE, {})
    task = ChunkTask(ready.sampler, ready.empty, SUITE.seed, ready.scenario.name)
    tokens = [next(iter(task.batches(Chunk(n, 2_000)))).tokens for n in (2, 0, 1, 2)]
    np.testing.assert_array_equal(tokens[0], tokens[3])
    assert all((tokens[0] != tokens[i]).any() for i in (1, 2))


def test_another_seed_has_other_trials(expected):
    """No count of a joint law of 243 cells agrees throughout by chance."""
    other = counts_of(run_suite(replace(SUITE, seed=8), workers=2))
    joints = [key for key in expected if key[1].startswith("joint")]
    assert joints
    assert all((other[key] != expected[key]).any() for key in joints)
