"""Faults of whole rounds: where each shows, and where it cannot. Exact laws; V = 3, k = 2."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from harness.engine.exact import ExactRounds, exact_joint, exact_single
from harness.errors import BadSetting
from harness.laws.accounting import positive_part, residual, total_variation
from harness.laws.contexts import markov_contexts, position_contexts
from harness.laws.joint import joint_law, tokens_of_cells
from harness.laws.tables import LawTables, one_context
from harness.rng import stream
from harness.rules import RULES
from harness.samplers.rule import RuleSampler

ROW_FAULTS = ("residual-of-row-0", "stale-context", "stale-q")
BONUS_FAULTS = ("bonus-by-argmax", "bonus-from-draft")


def fractions(rows):
    exact = np.vectorize(Fraction, otypes=[object])(rows)
    return exact / exact.sum(axis=-1, keepdims=True)


def tables(seed=0, *, end=None, order=1):
    contexts = markov_contexts(3, order, end=end)
    p, q = fractions(np.random.default_rng(seed).integers(1, 20, (2, len(contexts), 3)))
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


def same_row_everywhere():
    p, q = fractions([[6, 3, 1], [2, 1, 1]])
    return one_context(p, q)


def distance(name, laws, horizon, draft_length=2):
    found = exact_joint(RULES[name], laws, draft_length=draft_length, horizon=horizon)
    return total_variation(found, joint_law(laws.target, laws.contexts, horizon, start=0))


@pytest.mark.parametrize("name", [*ROW_FAULTS, *BONUS_FAULTS])
def test_the_first_token_cannot_show_it(name):
    """Lesson 1 of the fault list: horizon 1 sees nothing, horizon 4 does."""
    laws = tables()
    assert distance(name, laws, 1) == 0
    assert distance(name, laws, 4) > 0.005


@pytest.mark.parametrize("name", BONUS_FAULTS)
def test_a_bonus_fault_needs_a_horizon_beyond_the_draft(name):
    laws = tables()
    assert distance(name, laws, 2) == 0
    assert distance(name, laws, 3) > 0.005


@pytest.mark.parametrize("name", ROW_FAULTS)
def test_a_row_fault_needs_rows_that_differ(name):
    """Lesson 2: with one row for every context it is the exact rule."""
    assert distance(name, same_row_everywhere(), 4) == 0


def test_residual_of_row_0_by_hand():
    """Kept x, then y in place of the second draft: min(p, q)(x) P(reject | x) r_0(y)."""
    laws = tables()
    law = ExactRounds(RULES["residual-of-row-0"].prepare(laws), laws, 2).round_law(0)
    first = residual(laws.p[0], laws.q[0])
    for committed, n_accepted, weight in zip(
        law.committed, law.n_accepted, law.weights, strict=True
    ):
        if n_accepted == 1:
            x, y = committed[:2]
            here = int(laws.contexts.successor[0, x])
            rejects = positive_part(laws.q[here], laws.p[here]).sum()
            assert weight == min(laws.p[0, x], laws.q[0, x]) * rejects * first[y]


def test_stale_q_by_hand():
    """A full block of x then z has accepted z against the q of the row before."""
    laws = tables()
    law = ExactRounds(RULES["stale-q"].prepare(laws), laws, 2).round_law(0)
    for committed, n_accepted, weight in zip(
        law.committed, law.n_accepted, law.weights, strict=True
    ):
        if n_accepted == 2:
            x, z, y = committed
            here = int(laws.contexts.successor[0, x])
            after = int(laws.contexts.successor[here, z])
            kept = laws.q[here, z] * min(Fraction(1), laws.p[here, z] / laws.q[0, z])
            assert weight == min(laws.p[0, x], laws.q[0, x]) * kept * laws.p[after, y]


def test_an_unverified_first_draft_has_the_draft_s_law():
    laws = tables()
    step = exact_single(RULES["first-draft-unverified"], laws)
    assert (step.output == laws.q[0]).all()


def test_a_policy_on_the_bonus_only_shows_at_the_bonus():
    """Verification reads p without its policy; the bonus has it. Oracle: the promised rows."""
    raw = tables()
    policed = fractions(np.where(raw.p == raw.p.min(axis=1, keepdims=True), 0, raw.p))
    laws = replace(raw, target=policed)
    rounds = ExactRounds(RULES["policy-on-bonus-only"].prepare(laws), laws, 1)
    law = rounds.round_law(0)
    for x in range(3):
        full = [
            w
            for c, n, w in zip(law.committed, law.n_accepted, law.weights, strict=True)
            if n == 1 and c[0] == x
        ]
        assert len(full) == np.count_nonzero(policed[laws.contexts.successor[0, x]])
    assert distance("policy-on-bonus-only", laws, 1, draft_length=1) > 0


def test_a_rejected_token_that_stays_gives_the_draft_s_law_and_a_longer_round():
    """The first token is the draft's, kept or not; TV(q, p) at position 0, and lengths one more."""
    laws = tables()
    fault, exact = (
        ExactRounds(RULES[name].prepare(laws), laws, 2).committed_length(0)
        for name in ("rejected-token-kept", "speculative")
    )
    assert (exact_single(RULES["rejected-token-kept"], laws).output == laws.q[0]).all()
    assert fault.tolist() == [0, 0, exact[1], exact[2] + exact[3]]


def test_a_spliced_suffix_commits_as_many_tokens_as_coins_accept():
    """Length n + 1 has the law of n independent accepting coins along the draft."""
    laws = same_row_everywhere()
    a = np.minimum(laws.p, laws.q).sum()
    length = ExactRounds(RULES["spliced-suffix"].prepare(laws), laws, 2).committed_length(0)
    assert length.tolist() == [0, (1 - a) ** 2, 2 * a * (1 - a), a**2]
    assert distance("spliced-suffix", tables(), 1) == 0
    assert distance("spliced-suffix", tables(), 3) > 0.005


def test_the_sum_of_flags_is_a_fault_of_the_report_alone():
    """Tokens are right; the reported run has the binomial law, not the geometric one."""
    laws = same_row_everywhere()
    a = np.minimum(laws.p, laws.q).sum()
    rounds = ExactRounds(RULES["sum-of-flags"].prepare(laws), laws, 2)
    assert distance("sum-of-flags", laws, 4) == 0
    assert rounds.kept_length(0).tolist() == [(1 - a) ** 2, 2 * a * (1 - a), a**2]


def test_tokens_after_a_stop_are_sequences_that_cannot_be():
    """Exactly the mass of a mid-round end token is moved to impossible cells."""
    laws = tables(end=2)
    found = exact_joint(RULES["tokens-after-stop"], laws, draft_length=2, horizon=3)
    promised = joint_law(laws.target, laws.contexts, 3, start=0)
    sequences = tokens_of_cells(np.arange(27), 3, 3)
    ended = np.cumsum(sequences == 2, axis=1)
    impossible = ((ended[:, :-1] > 0) & (sequences[:, 1:] != 2)).any(axis=1)
    assert promised[impossible].sum() == 0
    assert found[impossible].sum() > Fraction(1, 100)
    assert distance("tokens-after-stop", tables(), 3) == 0


def test_a_frozen_stream_makes_neighbours_equal_and_leaves_each_right():
    """Every second trial repeats the one before it; the law of each is the promise."""
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.25, 0.25])
    sampler = RuleSampler(RULES["frozen-stream"].prepare, one_context(p, q), 2, 3)
    tokens = sampler.sample(4_001, stream(1, "frozen")).tokens
    assert (tokens[0:4_000:2] == tokens[1:4_000:2]).all()
    with pytest.raises(BadSetting):
        ExactRounds(sampler.procedure, sampler.laws, 2).outcomes(0)


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_swapped_rows_show_in_batches_of_more_than_two(batch):
    """The chain 0 -> 1 -> 2 -> 0 from prompts in turn: broken at once where neighbours differ."""
    contexts = markov_contexts(3, 1, prompts=[(0,), (1,), (2,)])
    p = np.eye(3)[[0, 1, 2, 0]]
    laws = LawTables(p=p, q=p, proposal=p, target=p, contexts=contexts)
    sampler = RuleSampler(RULES["row-swap"].prepare, laws, 2, 6)
    tokens = sampler.sample(batch, stream(1, "swap")).tokens
    follows = (np.diff(tokens, axis=1) % 3 == 1).all() and (
        tokens[:, 0] == (np.arange(batch) % 3 + 1) % 3
    ).all()
    assert follows == (batch <= 2)


def test_tied_maxima_tell_the_first_from_the_last():
    """On a tie the two greedy rules decode different tokens; without one the same."""
    tied = one_context(fractions([[2, 1, 2]]), fractions([[1, 1, 1]]))
    first, last = (exact_single(RULES[n], tied).output for n in ("greedy", "greedy-last-maximum"))
    assert (first.tolist(), last.tolist()) == ([1, 0, 0], [0, 0, 1])
    alone = same_row_everywhere()
    assert distance("greedy", alone, 3) == distance("greedy-last-maximum", alone, 3)


@pytest.mark.parametrize("ties", [False, True])
def test_greedy_is_greedy_decoding_token_for_token(ties):
    """Oracle: argmax of p, token after token, over 30 tokens from 50 prompts, V = 60."""
    rng = np.random.default_rng(7)
    contexts = markov_contexts(60, 1, prompts=[(x,) for x in range(50)])
    p = rng.dirichlet(np.ones(60), size=len(contexts))
    if ties:
        p = np.round(p, 2) + 0.001
        p /= p.sum(axis=1, keepdims=True)
    q = np.where(rng.random((len(contexts), 1)) < 0.5, p, np.roll(p, 1, axis=1))
    laws = LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)
    batch = RuleSampler(RULES["greedy"].prepare, laws, 4, 30).sample(50, stream(1, "greedy"))
    here = contexts.starts
    for column in batch.tokens.T:
        np.testing.assert_array_equal(column, p[here].argmax(axis=1))
        here = contexts.successor[here, column]
    assert 0 < (batch.n_accepted == 4).sum() < 50


def test_a_fault_that_remembers_too_many_rows_is_refused():
    contexts = position_contexts(1000, 200)
    p = np.full((200, 1000), 1e-3)
    laws = LawTables(p=p, q=p, proposal=p, target=p, contexts=contexts)
    with pytest.raises(BadSetting, match="fewer contexts"):
        RULES["stale-context"].prepare(laws)
