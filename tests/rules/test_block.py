"""Block verification (Sun et al. 2024): law p, acceptance at least the token rule's."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from harness.engine.exact import ExactRounds, exact_joint, exact_single
from harness.laws.contexts import markov_contexts
from harness.laws.joint import joint_law
from harness.laws.tables import LawTables, one_context
from harness.rules import RULES

BLOCK, TOKEN = RULES["block-verification"], RULES["speculative"]


def tables(seed, vocabulary=3, order=1):
    rng = np.random.default_rng(seed)
    contexts = markov_contexts(vocabulary, order)
    weights = rng.integers(0, 9, (2, len(contexts), vocabulary))
    weights[:, np.arange(len(contexts)), rng.integers(vocabulary, size=len(contexts))] += 1
    exact = np.vectorize(Fraction, otypes=[object])(weights)
    p, q = exact / exact.sum(axis=-1, keepdims=True)
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


def algorithm_2(laws, draft_length):  # noqa: C901 (one page of the paper, in its order)
    """Law of (kept run, next token), line by line from the paper, in Fractions."""
    weights = defaultdict(Fraction)
    for draft in product(range(laws.vocabulary), repeat=draft_length):
        rows = [0]
        for x in draft:
            rows.append(int(laws.contexts.successor[rows[-1], x]))
        drawn = Fraction(1)
        for i, x in enumerate(draft):
            drawn *= laws.q[rows[i], x]
        if not drawn:
            continue
        p_i = [Fraction(1)]
        for i, x in enumerate(draft):
            p_i.append(min(p_i[-1] * laws.p[rows[i], x] / laws.q[rows[i], x], Fraction(1)))
        tau = {0: Fraction(1)}
        for i in range(1, draft_length + 1):
            over = sum(np.maximum(p_i[i] * laws.p[rows[i]] - laws.q[rows[i]], Fraction(0)))
            if i == draft_length:
                h = p_i[i]
            else:
                h = over / (over + 1 - p_i[i]) if over + 1 - p_i[i] else Fraction(1)
            tau = {j: w * (1 - h) for j, w in tau.items()} | {i: h}
        for i, weight in tau.items():
            rest = laws.p[rows[i]]
            if i < draft_length:
                rest = np.maximum(p_i[i] * laws.p[rows[i]] - laws.q[rows[i]], Fraction(0))
            for y in range(laws.vocabulary):
                if weight and rest[y]:
                    weights[(*draft[:i], y)] += drawn * weight * rest[y] / sum(rest)
    return weights


@pytest.mark.parametrize("draft_length", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_round_is_algorithm_2(seed, draft_length):
    """The law of one round, as Fractions; oracle: the paper's algorithm written down once more."""
    laws = tables(seed)
    law = ExactRounds(BLOCK.prepare(laws), laws, draft_length).round_law(0)
    found = defaultdict(Fraction)
    for committed, n_accepted, weight in zip(
        law.committed, law.n_accepted, law.weights, strict=True
    ):
        found[tuple(committed[: n_accepted + 1].tolist())] += weight
    assert found == algorithm_2(laws, draft_length)


@pytest.mark.parametrize("seed", range(4))
def test_the_joint_law_is_the_promise(seed):
    """Blocks of three to horizon 5, exactly; oracle: the product law."""
    laws = tables(seed)
    found = exact_joint(BLOCK, laws, draft_length=3, horizon=5)
    assert (found == joint_law(laws.p, laws.contexts, 5, start=0)).all()


@pytest.mark.parametrize("seed", range(12))
def test_it_keeps_at_least_as_many_tokens_as_the_token_rule(seed):
    """Expected kept length, exactly, theorem 2 of the paper; strictly more for some laws."""
    laws = tables(seed)
    kept = [ExactRounds(rule.prepare(laws), laws, 3).kept_length(0) for rule in (BLOCK, TOKEN)]
    expected = [sum(n * w for n, w in enumerate(law)) for law in kept]
    assert expected[0] >= expected[1]
    if seed == 0:
        assert expected[0] > expected[1]


def test_a_block_of_one_token_is_the_token_rule():
    laws = tables(5)
    block, token = (exact_single(rule, laws) for rule in (BLOCK, TOKEN))
    assert (block.trace == token.trace).all()


def test_equal_laws_keep_everything():
    """0/0 in the acceptance of a prefix, where nothing is left to make up for, counts as 1."""
    p = np.array([Fraction(n, 10) for n in (6, 3, 1)], object)
    kept = ExactRounds(BLOCK.prepare(one_context(p, p)), one_context(p, p), 3).kept_length(0)
    assert kept.tolist() == [0, 0, 0, 1]


def test_tokens_next_to_nothing_do_not_overflow():
    """Where one law has 1e-320 and the other a half, their ratio is beyond a float."""
    p = np.array([0.5, 0.5, 1e-320, 0.0])
    q = np.array([1e-320, 0.5, 0.5, 0.0])
    found = exact_joint(BLOCK, one_context(p, q), draft_length=3, horizon=2)
    np.testing.assert_allclose(found, np.outer(p, p).ravel(), atol=1e-12)
