"""What single positions show, drawn from joint laws and lengths: against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from harness import parse_suite, run_suite

CHAIN = """
version: 1
suite: chain
vocabulary: [A, B]
target: {markov: {order: 1, initial: [0.7, 0.3], transition: [[0.4, 0.6], [0.9, 0.1]]}}
draft: {markov: {order: 1, initial: [0.5, 0.5], transition: [[0.5, 0.5], [0.6, 0.4]]}}
draft_length: 2
horizon: 3
trials: 50_000
epsilon: 0.05
scenarios: [{name: exact, rule: speculative}]
"""


@pytest.fixture(scope="module")
def scenario():
    (found,) = run_suite(parse_suite(CHAIN, "made.yaml")).scenarios
    return found


def test_the_second_token_has_the_marginal_of_the_chain(scenario):
    """p(A at 2) = .7 * .4 + .3 * .9 = .55; the exact rule's own law is the same."""
    second = scenario.observable("output at position 2")
    np.testing.assert_allclose(second.target, [0.55, 0.45], atol=1e-15)
    np.testing.assert_allclose(second.exact, [0.55, 0.45], atol=1e-12)
    joint = scenario.observable("joint").counts.reshape(2, 2, 2)
    np.testing.assert_array_equal(second.counts, joint.sum(axis=(0, 2)))
    assert not second.judged


def test_the_second_draft_is_kept_at_the_rate_of_the_chain(scenario):
    """Kept first: A .5, B .3. Then overlap .9 after A and .7 after B: (.45 + .21) / .8."""
    second = scenario.observable("acceptance at position 2")
    np.testing.assert_allclose(second.target, [0.825, 0.175], atol=1e-12)
    lengths = scenario.observable("committed_length").counts
    np.testing.assert_array_equal(second.counts, [lengths[2], lengths[1]])
    assert second.trials == lengths[1:].sum()


def test_greedy_laws_that_disagree_never_get_to_a_second_draft():
    """Nothing is kept, so there is no rate to speak of, and no division by zero."""
    text = CHAIN.replace("horizon: 3", "horizon: 3\npolicy: {greedy: true}").replace(
        "initial: [0.5, 0.5]", "initial: [0.1, 0.9]"
    )
    (scenario,) = run_suite(parse_suite(text, "greedy.yaml")).scenarios
    assert scenario.observable("acceptance").counts[0] == 0
    assert scenario.observable("acceptance at position 2") is None
