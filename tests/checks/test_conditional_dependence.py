"""Contexts and neighbours: sticky chains pass, replayed streams do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.checks.conditional import ConditionalEProcess, conditional_check
from harness.checks.dependence import (
    PitTable,
    dependence_log_e,
    disjoint_pairs,
    distance,
    pair_counts,
    pair_tallies,
    pairs_log_e,
    square,
)
from harness.checks.e_process import EProcess
from harness.checks.exact import log_pmf, outcomes
from harness.errors import BadSetting

LAWS = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]])
DRAFTS = np.array([[0.5, 0.25, 0.25], [0.3, 0.3, 0.4]])
STICKY = np.array([[0.85, 0.1, 0.05], [0.1, 0.85, 0.05], [0.2, 0.2, 0.6]])
REFUTED = np.log(1e6)


def chain(transition, trials, length, rng):
    """Tokens (trials, length) of a Markov chain, and the context of each."""
    tokens = np.zeros((trials, length + 1), dtype=np.int64)
    cumulative = np.cumsum(transition, axis=1)
    for at in range(length):
        u = rng.random(trials)[:, None]
        tokens[:, at + 1] = (u > cumulative[tokens[:, at]]).sum(axis=1)
    return tokens[:, 1:], tokens[:, :-1]


def test_the_conditional_process_has_mean_one():
    """Two contexts with 3 and 2 draws: sum P(N) E(N) = 1 for every part. Oracle: enumeration."""
    process = ConditionalEProcess.of(LAWS, DRAFTS)
    first, second = outcomes(3, 3), outcomes(2, 3)
    means = np.zeros(4)
    for a in first:
        for b in second:
            logs = process.log_e(np.stack([a, b]))
            mass = np.exp(log_pmf(a, LAWS[0]) + log_pmf(b, LAWS[1]))
            parts = (logs.total, logs.multi_resolution, logs.cell, logs.directed)
            means += mass * np.exp([float(part) for part in parts])
    assert means == pytest.approx(np.ones(4), abs=1e-12)


def test_one_context_is_the_plain_process_without_coarse_levels():
    """With a single context the parts agree where there is one level. Oracle: EProcess."""
    law = [0.5, 0.5]
    counts = [40, 60]
    one = ConditionalEProcess.of([law], [[0.4, 0.6]]).log_e([counts])
    plain = EProcess.of(law, [0.4, 0.6]).log_e(counts)
    assert float(one.total) == pytest.approx(float(plain.total), abs=1e-12)


def test_a_sticky_chain_is_not_flagged_by_contexts_but_is_by_its_marginals():
    """Sticky chains of 400 tokens: the marginal chi-square at 1e-3 rejects some 5 % of 300, the
    product over contexts none of 100 at 1/E <= 1e-3 beyond chance.

    Oracle: the chain is correct. At most .1 expected of 100; 5 or more has probability 8e-8.
    """
    rng = np.random.default_rng(21)
    process = ConditionalEProcess.of(STICKY)
    stationary = np.linalg.matrix_power(STICKY, 200)[0]
    marginal = conditional = 0
    for run in range(300):
        tokens, contexts = chain(STICKY, 1, 400, rng)
        counts = np.zeros((3, 3), dtype=np.int64)
        np.add.at(counts, (contexts.ravel(), tokens.ravel()), 1)
        if run < 100:
            conditional += conditional_check(process, counts).p_value <= 1e-3
        x2 = ((counts.sum(axis=0) - 400 * stationary) ** 2 / (400 * stationary)).sum()
        marginal += stats.chi2.sf(x2, 2) <= 1e-3
    assert conditional < 5
    assert marginal >= 6


def test_degrees_of_freedom_are_counted_in_each_visited_context():
    """Contexts with 3 and 2 possible tokens, one never visited: 2 + 1 of 5 possible."""
    laws = [[0.6, 0.3, 0.1], [0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]
    process = ConditionalEProcess.of(laws)
    result = conditional_check(process, [[60, 30, 10], [4, 6, 0], [0, 0, 0]])
    assert "3 degrees of freedom" in result.detail
    assert result.statistic == pytest.approx(0.4)


def test_an_impossible_token_after_one_context_is_proof():
    """Token 2 cannot follow context 1: p = 0. Oracle: definition."""
    process = ConditionalEProcess.of([[0.6, 0.3, 0.1], [0.5, 0.5, 0.0]])
    assert conditional_check(process, [[6, 3, 1], [1, 1, 1]]).p_value == 0.0
    with pytest.raises(BadSetting):
        process.log_e([[6, 3, 1]])


def test_a_fault_after_one_context_only_is_found():
    """Laws swapped after context 1 only: refuted at 1e-6 with 2,000 draws."""
    rng = np.random.default_rng(22)
    process = ConditionalEProcess.of(LAWS, DRAFTS)
    counts = [rng.multinomial(1_000, LAWS[0]), rng.multinomial(1_000, DRAFTS[1])]
    assert process.log_e(counts).total > REFUTED


def test_pit_values_are_uniform_under_any_contexts():
    """KS on randomised PIT of a sticky chain, 40,000 values. Oracle: Rosenblatt; level 1e-6."""
    rng = np.random.default_rng(23)
    tokens, contexts = chain(STICKY, 4_000, 10, rng)
    z = PitTable.of(STICKY).values(tokens, contexts, rng)
    assert stats.kstest(z.ravel(), "uniform").pvalue > 1e-6


def test_pit_intervals_tile_the_unit_line(p, q):
    """In ratio order C, A, B: C below .1, A to .7, B to 1. Oracle: by hand."""
    table = PitTable.of(p, q)
    assert table.below[0] == pytest.approx([0.1, 0.7, 0.0])
    assert table.below[0] + table.mass[0] == pytest.approx([0.7, 1.0, 0.1])


def test_a_missing_token_is_refused(p, rng):
    """-1 has no PIT, and dropping its pair would bias the partner."""
    with pytest.raises(BadSetting):
        PitTable.of(p).values(np.array([0, -1]), np.array([0, 0]), rng)


def test_pairs_have_mean_one():
    """Sum P E = 1 for one pair, and E does not drift at the second. Oracle: enumeration."""
    one = np.eye(64, dtype=np.int64)
    after_one = np.exp([float(pairs_log_e(row)) for row in one])
    assert after_one.mean() == pytest.approx(1.0, abs=1e-12)
    after_two = np.exp([float(pairs_log_e(row + one[0])) for row in one])
    assert after_two.mean() == pytest.approx(after_one[0], abs=1e-12)


def test_pairs_are_disjoint_at_every_lag():
    """Lag 2 of eight values: (0, 2), (1, 3), (4, 6), (5, 7). Oracle: by hand."""
    first, second = disjoint_pairs(np.arange(9.0), 0, 2)
    assert first.ravel().tolist() == [0, 1, 4, 5]
    assert second.ravel().tolist() == [2, 3, 6, 7]


def test_coarse_tables_partition_the_square():
    """64, 16, 4 equal cells, and 8 distances from the diagonal. Oracle: counting."""
    assert [len(np.unique(square(k))) for k in (8, 4, 2)] == [64, 16, 4]
    assert np.bincount(distance()).tolist() == [8, 14, 12, 10, 8, 6, 4, 2]
    corners = pair_counts(np.array([0.0, 0.99]), np.array([0.99, 0.0]))
    assert corners.nonzero()[0].tolist() == [7, 56]


def tallies_of(tokens, contexts, laws, rng):
    return dependence_log_e(pair_tallies(PitTable.of(laws).values(tokens, contexts, rng)))


def quantile_tokens(u, law):
    return np.searchsorted(np.cumsum(law), u, side="right").clip(max=law.size - 1)


def test_independent_draws_and_sticky_chains_are_not_flagged(p):
    """60 runs: 1/E <= .01 at most 7 times (.6 expected at most; 8 has probability 3e-7)."""
    rng = np.random.default_rng(24)
    flagged = 0
    for run in range(60):
        if run % 2:
            tokens, contexts = chain(STICKY, 100, 8, rng)
            log_e, _ = tallies_of(tokens, contexts, STICKY, rng)
        else:
            tokens = rng.choice(3, size=(100, 8), p=p)
            log_e, _ = tallies_of(tokens, np.zeros((100, 8), dtype=int), p, rng)
        flagged += log_e >= np.log(100.0)
    assert flagged <= 7


@pytest.mark.parametrize("kind", ["rows", "steps", "slow", "every fourth"])
def test_replayed_and_slow_streams_are_found(p, kind):
    """Right marginals from u that repeats by rows, by steps, at lag 4, or creeps: E > 1e6.

    2,000 trials of 6 tokens. Oracle: the fault is built in; each marginal is exact.
    """
    rng = np.random.default_rng(25)
    u = rng.random((2_000, 6))
    if kind == "rows":
        u[1::2] = u[::2]
    elif kind == "steps":
        u[:] = u[:, :1]
    elif kind == "every fourth":
        u = np.repeat(u.reshape(-1, 8, 6)[:, :4], 2, axis=0).reshape(-1, 6)
    else:
        u = (u[:1] + np.arange(2_000)[:, None] / 2_000) % 1.0
    tokens = quantile_tokens(u, p)
    log_e, each = tallies_of(tokens, np.zeros(tokens.shape, dtype=int), p, rng)
    assert log_e > REFUTED
    assert max(each, key=each.get).startswith("positions" if kind == "steps" else "trials")


def test_tallies_of_chunks_add(p, rng):
    """Counts of two halves sum to those of the whole when the halves hold whole blocks."""
    z = rng.random((64, 8))
    whole, one, two = pair_tallies(z), pair_tallies(z[:32]), pair_tallies(z[32:])
    assert all((whole[name] == one[name] + two[name]).all() for name in whole)
