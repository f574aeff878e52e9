"""Tallies of one position are monoids and count what a loop would count."""

from __future__ import annotations

import numpy as np
import pytest

from harness.rng import stream
from harness.tallies import FactoredTrace, OutputTally, TraceTally
from harness.trials import TrialBatch

TALLIES = {"trace": TraceTally, "factored": FactoredTrace, "output": OutputTally}


def made_batch(vocabulary: int, seed: int, n: int = 500) -> TrialBatch:
    """Any drafts, any acceptance; a kept draft is what is emitted."""
    rng = stream(seed, "made batch")
    drafted = rng.integers(0, vocabulary, (n, 1)).astype(np.int16)
    kept = rng.random(n) < 0.6
    emitted = np.where(kept, drafted[:, 0], rng.integers(0, vocabulary, n)).astype(np.int16)
    return TrialBatch(emitted[:, None], drafted, kept.astype(np.int8))


def counted_by_hand(batch: TrialBatch, vocabulary: int) -> dict[str, np.ndarray]:
    found = {
        name: np.zeros(vocabulary, int) for name in ("output", "kept", "rejected", "replacement")
    }
    for x, y, kept in zip(batch.drafted[:, 0], batch.tokens[:, 0], batch.n_accepted, strict=True):
        found["output"][y] += 1
        found["kept"][x] += kept > 0
        found["rejected"][x] += kept == 0
        found["replacement"][y] += kept == 0
    return found


@pytest.mark.parametrize("vocabulary", [2, 3, 5, 11, 40])
@pytest.mark.parametrize("name", TALLIES)
def test_a_tally_counts_what_a_loop_counts(name, vocabulary):
    """Oracle: a loop over trials."""
    batch = made_batch(vocabulary, 1)
    counts = TALLIES[name].empty(vocabulary).add([batch]).counts()
    for key, expected in counted_by_hand(batch, vocabulary).items():
        if key in counts:
            np.testing.assert_array_equal(counts[key], expected)


@pytest.mark.parametrize("name", TALLIES)
def test_order_and_grouping_of_batches_do_not_matter(name):
    """A commutative monoid: merge commutes, associates, and empty is neutral."""
    empty = TALLIES[name].empty(5)
    a, b, c = (empty.add([made_batch(5, seed)]) for seed in (1, 2, 3))
    for left, right in [
        (a.merge(b), b.merge(a)),
        (a.merge(b).merge(c), a.merge(b.merge(c))),
        (a.merge(empty), a),
        (empty.add([made_batch(5, 1), made_batch(5, 2)]), a.merge(b)),
    ]:
        for key in left.counts():
            np.testing.assert_array_equal(left.counts()[key], right.counts()[key])


def test_adding_leaves_the_tally_as_it_was():
    """Values are frozen: `add` returns a new tally."""
    empty = FactoredTrace.empty(4)
    empty.add([made_batch(4, 1)])
    assert empty.counts()["output"].sum() == 0
