"""Tallies of sequences, rounds, pairs and prompts are monoids; none keeps what it is given."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks import PitTable, pair_tallies
from harness.errors import SamplerFailure
from harness.laws.contexts import markov_contexts
from harness.rng import stream
from harness.tallies import (
    GroupedTally,
    JointTally,
    LengthTally,
    OutputTally,
    PairTally,
    PositionTally,
    Strata,
    Together,
)
from harness.trials import TrialBatch

V, K, HORIZON = 3, 2, 4
CONTEXTS = markov_contexts(V, 1, prompts=((), (1,)))
GROUPS = np.array([[0, 0, 1], [1, 0, 2], [0, 1, 1], [0, 0, 0]])
LAWS = np.random.default_rng(4).dirichlet(np.ones(V), size=len(CONTEXTS))


def pairs():
    return PairTally({}, PitTable.of(LAWS).values, pair_tallies, CONTEXTS)


def joint():
    return JointTally.empty(V, HORIZON, None)


EMPTY = {
    "joint": joint(),
    "grouped": GroupedTally.empty(GROUPS),
    "length": LengthTally.empty(K),
    "second position": PositionTally.empty(1, CONTEXTS, 0, K),
    "bonus": PositionTally.empty(K, CONTEXTS, 0, K),
    "pairs": pairs(),
    "together": Together((joint(), LengthTally.empty(K), pairs())),
    "prompts": Strata((Together((joint(), OutputTally.empty(V))),) * 2),
}


def made_batch(seed, n=300):
    """Any tokens, drafts, lengths and prompts; kept drafts are what is committed."""
    rng = stream(seed, "made rounds")
    drafted, tokens = (rng.integers(0, V, (n, size)).astype(np.int16) for size in (K, HORIZON))
    kept = rng.integers(0, K + 1, n).astype(np.int8)
    for position in range(K):
        tokens[kept > position, position] = drafted[kept > position, position]
    return TrialBatch(tokens, drafted, kept, rng.integers(0, 2, n))


def assert_same(a, b):
    assert a.counts().keys() == b.counts().keys()
    for name, counts in a.counts().items():
        np.testing.assert_array_equal(counts, b.counts()[name])


@pytest.mark.parametrize("name", EMPTY)
def test_order_and_grouping_of_batches_do_not_matter(name):
    """A commutative monoid: merge commutes, associates, and empty is neutral."""
    empty = EMPTY[name]
    a, b, c = (empty.add([made_batch(seed)]) for seed in (1, 2, 3))
    assert_same(a.merge(b), b.merge(a))
    assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert_same(a.merge(empty), a)
    assert_same(empty.merge(a), a)
    assert_same(empty.add([made_batch(1), made_batch(2)]), a.merge(b))


@pytest.mark.parametrize("name", EMPTY)
def test_adding_and_merging_leave_a_tally_as_it_was(name):
    """Values are frozen: `add` and `merge` return new tallies."""
    empty = EMPTY[name]
    a, b = (empty.add([made_batch(seed)]) for seed in (1, 2))
    before = {name: counts.copy() for name, counts in a.counts().items()}
    a.merge(b)
    a.add([made_batch(3)])
    for key, counts in a.counts().items():
        np.testing.assert_array_equal(counts, before[key])
    assert sum(counts.sum() for counts in empty.counts().values()) == 0


def test_what_follows_an_end_token_is_counted_as_the_end_token():
    """Sequences B, . and A, A, . of tokens A, B, .: cells B.. and AA. of 27."""
    tokens = np.array([[1, 2, -1], [0, 0, 2]], np.int16)
    counted = JointTally.empty(3, 3, 2).add([TrialBatch(tokens)]).counts()["joint"]
    assert np.flatnonzero(counted).tolist() == [0 * 9 + 0 * 3 + 2, 1 * 9 + 2 * 3 + 2]


def test_every_trial_is_counted_for_its_own_prompt():
    """Oracle: a loop over trials."""
    batch = made_batch(5)
    counts = EMPTY["prompts"].add([batch]).counts()
    for prompt in range(2):
        mine = [t for t, j in zip(batch.tokens, batch.prompts, strict=True) if j == prompt]
        assert counts[f"{prompt}/output"].tolist() == [
            sum(t[0] == token for t in mine) for token in range(V)
        ]
        assert counts[f"{prompt}/joint"].sum() == len(mine)


@pytest.mark.parametrize("name", ["length", "second position", "bonus"])
def test_a_sampler_that_shows_no_round_is_named_as_the_failure(name):
    """Tokens alone say nothing of drafts and lengths."""
    with pytest.raises(SamplerFailure, match="does not show"):
        EMPTY[name].add([TrialBatch(made_batch(1).tokens)])
