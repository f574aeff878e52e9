"""Two arms without a known law."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks.permutation import permutation_check, tree_statistic
from harness.checks.two_sample import STRENGTHS, BlockEValue, block_factors
from harness.errors import BadSetting


def test_block_factors_agree_with_the_reference(reference, p, fault):
    """Fixed laws a = p, b = the fault on 10,000 pairs. Oracle: notes, 16 digits."""
    expected = reference["two_sample_TLG_logE_fixed_ab"]
    one = np.ones(3)
    of_a = expected["A"] @ block_factors(p, fault, one, one)
    of_b = expected["B"] @ block_factors(one, one, p, fault)
    assert of_a + of_b == pytest.approx(float(expected["lnE"]), abs=1e-11)


def slow_log_e(x, y, size, strength):
    """The definition, pair by pair."""
    a, b, log = np.zeros(size), np.zeros(size), 0.0
    for t, (i, j) in enumerate(zip(x, y, strict=True)):
        pool = (a + b + 0.5) / (2 * t + 0.5 * size)
        of_a, of_b = (a + strength * pool) / (t + strength), (b + strength * pool) / (t + strength)
        middle = (of_a + of_b) / 2
        log += np.log(of_a[i] / middle[i]) + np.log(of_b[j] / middle[j])
        a[i] += 1
        b[j] += 1
    return log


def test_the_fast_evidence_equals_its_definition(rng):
    """300 pairs over 7 tokens, all strengths. Oracle: the loop over pairs."""
    x, y = rng.integers(7, size=(2, 300))
    state, path = BlockEValue.empty(7).update(x, y)
    assert state.logs == pytest.approx([slow_log_e(x, y, 7, s) for s in STRENGTHS], abs=1e-10)
    assert path[-1] == pytest.approx(state.log_e)


def test_updates_may_be_cut_anywhere(rng):
    """One update or three: the same state and path. Oracle: the single update."""
    x, y = rng.integers(4, size=(2, 500))
    contexts = rng.integers(3, size=500)
    whole, path = BlockEValue.empty(4, 3).update(x, y, contexts)
    state, pieces = BlockEValue.empty(4, 3), []
    for part in (slice(0, 11), slice(11, 400), slice(400, 500)):
        state, piece = state.update(x[part], y[part], contexts[part])
        pieces.append(piece)
    assert np.concatenate(pieces) == pytest.approx(path, abs=1e-12)
    assert (state.of_a == whole.of_a).all()


def test_evidence_has_mean_at_most_one(p):
    """Every sequence of three pairs under a common law: sum P E <= 1. Oracle: enumeration."""
    mean = 0.0
    for code in range(3**6):
        digits = np.array([code // 3**k % 3 for k in range(6)])
        state, _ = BlockEValue.empty(3).update(digits[:3], digits[3:])
        mean += p[digits].prod() * np.exp(state.log_e)
    assert mean <= 1.0 + 1e-12
    assert mean > 0.99


def test_equal_arms_do_not_differ_and_the_fault_is_found(p, fault):
    """Sup E >= 20 in at most 5 % of 400 null runs of 3,000 pairs (41 is 5 standard errors);
    the three-token fault refuted at 1e-6 after about 31,000 pairs: mean of 20 runs in [23k, 40k].

    Oracle: Ville; notes (mean 31.0k, standard deviation about 11k, standard error 2.5k).
    """
    rng = np.random.default_rng(31)
    crossed = 0
    for _ in range(400):
        _, path = BlockEValue.empty(3).update(*rng.choice(3, size=(2, 3_000), p=p))
        crossed += path.max() >= np.log(20.0)
    assert crossed <= 41
    stops = []
    for _ in range(20):
        x, y = rng.choice(3, 100_000, p=p), rng.choice(3, 100_000, p=fault)
        _, path = BlockEValue.empty(3).update(x, y)
        stops.append(int(np.argmax(path >= np.log(1e6))))
    assert min(stops) > 0
    assert 23_000 < np.mean(stops) < 40_000


def test_a_difference_in_one_context_is_found(rng):
    """Arms that agree in the pool and differ within contexts: found only with contexts."""
    contexts = np.arange(20_000) % 2
    laws = np.array([[0.7, 0.3], [0.3, 0.7]])
    x = (rng.random(20_000) < laws[contexts, 1]).astype(int)
    y = (rng.random(20_000) < laws[1 - contexts, 1]).astype(int)
    with_contexts, _ = BlockEValue.empty(2, 2).update(x, y, contexts)
    without, _ = BlockEValue.empty(2).update(x, y)
    assert with_contexts.log_e > np.log(1e6) > without.log_e


def test_arms_that_do_not_pair_up_are_refused():
    """Unequal lengths and tokens outside the vocabulary: `BadSetting`."""
    for x, y in (([0, 1], [0]), ([0, 3], [0, 1]), ([0, -1], [0, 1])):
        with pytest.raises(BadSetting):
            BlockEValue.empty(3).update(x, y)


def test_tree_statistic_of_one_depth():
    """Equal arms: sum (a - b)^2/(a + b) - 1. Oracle: by hand on two tokens."""
    ids = np.array([[0], [0], [1], [0], [1], [1]])
    arms = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]])
    assert tree_statistic(ids, arms) == pytest.approx([(1 / 3 - 1) + (1 / 3 - 1)])


def test_permutation_p_values_keep_their_level(rng):
    """300 null comparisons, 59 permutations: p <= .05 in at most 34 (15 expected; 1e-5 tail at
    34, 1e-6 at 37). Oracle: exchangeability.
    """
    small = 0
    for _ in range(300):
        a, b = rng.integers(3, size=(25, 3)), rng.integers(3, size=(20, 3))
        small += permutation_check(a, b, rng, permutations=59).p_value <= 0.05
    assert small <= 37


def test_broken_dependence_with_equal_marginals_is_found(rng):
    """Second token copied from the first in one arm: smallest possible p, never zero."""
    a = rng.integers(5, size=(400, 4))
    b = rng.integers(5, size=(400, 4))
    b[:, 1] = np.where(rng.random(400) < 0.5, b[:, 0], b[:, 1])
    result = permutation_check(a, b, rng, permutations=199)
    assert result.p_value == pytest.approx(1 / 200)


def test_permutations_stay_within_prompts(rng):
    """Arms that differ only in how often each prompt was asked do not differ."""
    prompts_a = np.repeat([0, 1], [300, 100])
    prompts_b = np.repeat([0, 1], [100, 300])
    a = prompts_a[:, None] * 2 + rng.integers(2, size=(400, 2))
    b = prompts_b[:, None] * 2 + rng.integers(2, size=(400, 2))
    inside = permutation_check(
        a, b, rng, prompts_a=prompts_a, prompts_b=prompts_b, permutations=199
    )
    assert inside.p_value > 0.005
    assert permutation_check(a, b, rng, permutations=199).p_value == pytest.approx(1 / 200)


def test_arms_of_different_length_are_refused(rng):
    """Horizons that differ cannot be compared: `BadSetting`."""
    with pytest.raises(BadSetting):
        permutation_check(np.zeros((3, 2)), np.zeros((3, 4)), rng)
