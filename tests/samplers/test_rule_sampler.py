"""Rounds until the horizon: drawn laws against exact ones, the end token, prompts, streams."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.engine.exact import ExactRounds, exact_single
from harness.laws.contexts import markov_contexts, over_prompts, position_contexts
from harness.laws.joint import joint_cells, joint_law
from harness.laws.tables import LawTables, one_context
from harness.rng import stream
from harness.rules import RULES
from harness.samplers.rule import RuleSampler

FALSE_ALARM = 1e-6  # for each call of assert_drawn_from, over seeds
N = 60_000


def assert_drawn_from(law, cells):
    """Two-sided exact binomial test of every cell, Bonferroni over cells; no draw of mass zero."""
    counts = np.bincount(cells, minlength=len(law))
    assert len(counts) == len(law)
    assert not counts[law <= 0].any()
    n, law = len(cells), np.minimum(law, 1)  # sums of floats may pass 1 by a rounding
    tails = np.minimum(stats.binom.cdf(counts, n, law), stats.binom.sf(counts - 1, n, law))
    assert 2 * tails.min() * len(law) > FALSE_ALARM


def tables(contexts, seed=0):
    p, q = np.random.default_rng(seed).dirichlet(
        np.ones(contexts.successor.shape[1]), size=(2, len(contexts))
    )
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


def drawn(name, laws, draft_length, horizon, n=N):
    sampler = RuleSampler(RULES[name].prepare, laws, draft_length, horizon)
    return sampler.sample(n, stream(1, name, draft_length, horizon))


@pytest.mark.parametrize("end", [None, 2])
@pytest.mark.parametrize("name", [name for name in RULES if RULES[name].discrete])
def test_drawn_rounds_have_the_exact_joint_law(name, end):
    """Two drafted tokens, horizon 4, rows that differ, with and without an end token."""
    laws = tables(markov_contexts(3, 1, end=end))
    exact = ExactRounds(RULES[name].prepare(laws), laws, 2)
    batch = drawn(name, laws, 2, 4)
    assert_drawn_from(exact.joint(4, 0), joint_cells(batch.tokens, 3, end))
    assert_drawn_from(exact.kept_length(0), batch.n_accepted)
    kept = (batch.n_accepted > 0) & (batch.drafted[:, 0] == batch.tokens[:, 0])
    step = batch.drafted[:, 0].astype(int) * 4 + np.where(kept, 3, batch.tokens[:, 0])
    assert_drawn_from(exact.step(0).trace.ravel(), step)


@pytest.mark.parametrize("name", ["speculative", "block-verification", "one-hot"])
@pytest.mark.parametrize(("draft_length", "horizon"), [(1, 3), (3, 2), (4, 3), (16, 3)])
def test_any_draft_length_and_horizon(name, draft_length, horizon):
    """Laws by position, V = 10 (drawn by alias tables); oracle: the product law."""
    laws = tables(position_contexts(10, 4), seed=draft_length)
    batch = drawn(name, laws, draft_length, horizon)
    promised = joint_law(laws.target, laws.contexts, horizon, start=0)
    assert_drawn_from(promised, joint_cells(batch.tokens, 10, None))


@pytest.mark.parametrize("name", ["reused-coin", "frozen-stream"])
def test_rules_that_cannot_be_enumerated_have_their_stated_step(name):
    """Oracle: the law integrated over the coin; pairs of replayed trials are halved first."""
    laws = one_context(*np.random.default_rng(0).dirichlet(np.ones(5), size=2))
    tokens = drawn(name, laws, 1, 1).tokens[:, 0].astype(int)
    assert_drawn_from(exact_single(RULES[name], laws).output, tokens[::2])


def test_the_last_round_goes_on_in_the_context_that_it_reached():
    """Deterministic laws: 0 -> 1 -> 2 -> 0 for ever, whatever is drafted, for every horizon."""
    contexts = markov_contexts(3, 1)
    p = np.eye(3)[[0, 1, 2, 0]]
    for name in ("speculative", "block-verification", "token-matching-keep-target", "one-hot"):
        laws = LawTables(
            p=p,
            q=np.full((4, 3), 1 / 3),
            proposal=np.full((4, 3), 1 / 3),
            target=p,
            contexts=contexts,
        )
        for horizon in range(1, 12):
            tokens = (
                RuleSampler(RULES[name].prepare, laws, 3, horizon)
                .sample(64, stream(1, name))
                .tokens
            )
            assert (tokens == np.arange(horizon) % 3).all()


def test_nothing_follows_the_end_token():
    """Horizon 8: -1 to the end after token 1, and no -1 before it."""
    tokens = drawn("speculative", tables(markov_contexts(3, 1, end=1)), 3, 8).tokens
    before = np.cumsum(tokens == 1, axis=1) - (tokens == 1)
    assert ((tokens == -1) == (before > 0)).all()
    assert (tokens == 1).any(axis=1).mean() > 0.5


def test_prompts_are_taken_in_turn_and_keep_their_laws():
    """Three strata with laws of their own; oracle: the product law of each."""
    strata = [tables(markov_contexts(3, 1), seed) for seed in range(3)]
    laws = over_prompts(strata)
    batch = drawn("speculative", laws, 2, 3)
    assert batch.prompts[:4].tolist() == [0, 1, 2, 0]
    for prompt, alone in enumerate(strata):
        mine = joint_cells(batch.tokens[batch.prompts == prompt], 3, None)
        assert_drawn_from(joint_law(alone.p, alone.contexts, 3, start=0), mine)


@pytest.mark.parametrize("name", ["speculative", "block-verification", "token-matching-retry"])
def test_a_stream_gives_the_same_tokens_again(name):
    laws = tables(markov_contexts(3, 1))
    first, second = (drawn(name, laws, 2, 5, n=500).tokens for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_tokens_take_the_smallest_type_and_columns_are_contiguous():
    batch = drawn("speculative", tables(markov_contexts(3, 1)), 2, 5, n=100)
    assert batch.tokens.dtype == batch.drafted.dtype == np.int8
    assert batch.tokens.flags.f_contiguous
    assert batch.tokens.shape == (100, 5)


def test_no_trials_are_no_trials():
    batch = drawn("speculative", tables(markov_contexts(3, 1, end=0)), 2, 5, n=0)
    assert batch.tokens.shape == (0, 5)


def test_many_trials_are_those_of_their_parts():
    """Beyond 2^17 trials the stream goes on from part to part; columns stay contiguous."""
    laws, n = tables(markov_contexts(3, 1)), (1 << 17) + 5
    sampler = RuleSampler(RULES["speculative"].prepare, laws, 2, 3)
    rng = stream(1, "parts")
    parts = [sampler.sample(size, rng).tokens for size in (1 << 17, 5)]
    whole = sampler.sample(n, stream(1, "parts")).tokens
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert whole.flags.f_contiguous
