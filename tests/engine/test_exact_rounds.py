"""Exact laws of rounds and of their composition: closed forms, and a second program."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from harness.engine.exact import ExactRounds, exact_joint, exact_kept_length, exact_single
from harness.errors import BadSetting
from harness.laws.accounting import acceptance, overlap, positive_part, residual
from harness.laws.contexts import markov_contexts, position_contexts
from harness.laws.joint import joint_law
from harness.laws.tables import Contexts, LawTables, one_context
from harness.rules import RULES

LOSSLESS = [name for name in RULES if RULES[name].lossless and RULES[name].discrete]
DISCRETE = [name for name in RULES if RULES[name].discrete]


def fractions(rng, shape):
    """Laws with some zeros, as Fractions."""
    weights = rng.integers(0, 8, shape)
    weights[..., rng.integers(shape[-1])] += 1
    exact = np.vectorize(Fraction, otypes=[object])(weights)
    return exact / exact.sum(axis=-1, keepdims=True)


def tables(seed, contexts):
    rng = np.random.default_rng(seed)
    p, q = fractions(rng, contexts.successor.shape), fractions(rng, contexts.successor.shape)
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


def absorbing(token):
    """Markov contexts, and one more that `token` leads to and nothing leaves."""
    plain = markov_contexts(3, 1)
    successor = np.vstack([plain.successor, np.full((1, 3), len(plain))])
    successor[:, token] = len(plain)
    return Contexts(plain.starts, successor, token)


GEOMETRIES = {
    "absorbing end": absorbing(1),
    "markov": markov_contexts(3, 1),
    "markov with an end": markov_contexts(3, 1, end=2),
    "positions": position_contexts(3, 5),
}


def floats(laws):
    names = ("p", "q", "proposal", "target")
    rows = {name: getattr(laws, name).astype(np.float64) for name in names}
    return LawTables(**rows, contexts=laws.contexts)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_rules_have_exactly_the_promised_joint_law(name, geometry):
    """Drafts of 1 to 3 tokens composed to horizon 4, as Fractions; oracle: the product law."""
    laws = tables(3, GEOMETRIES[geometry])
    promised = joint_law(laws.target, laws.contexts, 4, start=0)
    for draft_length in (1, 2, 3):
        found = exact_joint(RULES[name], laws, draft_length=draft_length, horizon=4)
        assert (found == promised).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_round_of_the_exact_rule_has_its_closed_form(seed):
    """Kept x_1..x_n then y: prod min(p, q)(x_i) (p - q)+(y); a full block: p(y) at the end."""
    laws, k = tables(seed, GEOMETRIES["positions"]), 2
    law = ExactRounds(RULES["speculative"].prepare(laws), laws, k).round_law(0)
    seen = 0
    for committed, n_accepted, weight in zip(
        law.committed, law.n_accepted, law.weights, strict=True
    ):
        expected = Fraction(1)
        for position in range(n_accepted):
            x = committed[position]
            expected *= min(laws.p[position, x], laws.q[position, x])
        p, q = laws.p[n_accepted], laws.q[n_accepted]
        after = p if n_accepted == k else positive_part(p, q)
        assert weight == expected * after[committed[n_accepted]]
        seen += weight
    assert seen == 1


@pytest.mark.parametrize("name", DISCRETE)
def test_floats_follow_fractions(name):
    """Joint law to horizon 4 in float64, to 1e-12; oracle: the same in Fractions."""
    laws = tables(5, GEOMETRIES["markov with an end"])
    exact = exact_joint(RULES[name], laws, draft_length=2, horizon=4)
    found = exact_joint(RULES[name], floats(laws), draft_length=2, horizon=4)
    assert found.dtype == np.float64
    assert exact.sum() == 1
    np.testing.assert_allclose(found, exact.astype(float), atol=1e-12)


def by_recursion(laws, accept, replace, draft_length, horizon):
    """A token rule written once more, as a tree of weighted sequences over plain dictionaries."""
    finished = defaultdict(Fraction)
    growing = {((), 0, 0): Fraction(1)}  # committed, context, drafted tokens kept in this round
    while growing:
        (committed, context, kept), weight = growing.popitem()
        if len(committed) >= horizon:
            finished[committed[:horizon]] += weight
            continue
        grown = defaultdict(Fraction)
        for x in range(laws.vocabulary):
            if kept == draft_length:
                grown[x, 0] += laws.p[context, x]
                continue
            drafted, heads = laws.proposal[context, x], accept[context, x]
            grown[x, kept + 1] += drafted * heads
            for y in range(laws.vocabulary):
                grown[y, 0] += drafted * (1 - heads) * replace[context, y]
        for (token, run), share in grown.items():
            if share:
                state = ((*committed, token), laws.contexts.successor[context, token], run)
                growing[state] = growing.get(state, Fraction(0)) + weight * share
    return [finished[s] for s in product(range(laws.vocabulary), repeat=horizon)]


@pytest.mark.parametrize("draft_length", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "accept", "replace"),
    [
        ("speculative", acceptance, residual),
        ("resample-from-target", acceptance, lambda p, q: p),
        ("inverted-ratio", lambda p, q: acceptance(q, p), residual),
        ("ignore-draft", lambda p, q: p * 0, lambda p, q: p),
    ],
)
def test_composed_rounds_agree_with_a_second_program(name, accept, replace, draft_length):
    """Several rounds to horizon 5, as Fractions; oracle: the tree of all sequences."""
    laws = tables(11, GEOMETRIES["markov"])
    expected = by_recursion(
        laws, accept(laws.p, laws.q), replace(laws.p, laws.q), draft_length, horizon=5
    )
    found = exact_joint(RULES[name], laws, draft_length=draft_length, horizon=5)
    assert found.tolist() == expected


def test_committed_length_and_acceptance_of_equal_rows_are_geometric():
    """Acceptance a everywhere: length i has (1 - a) a^(i-1), the full block a^k; Leviathan (1)."""
    p, q = (np.array([Fraction(n, 10) for n in row], object) for row in ([6, 3, 1], [5, 2, 3]))
    rounds = ExactRounds(RULES["speculative"].prepare(one_context(p, q)), one_context(p, q), 3)
    a = overlap(p, q)
    assert rounds.committed_length(0).tolist() == [0, 1 - a, a * (1 - a), a**2 * (1 - a), a**3]
    assert rounds.kept_length(0).tolist() == rounds.committed_length(0)[1:].tolist()
    assert rounds.acceptance(0).tolist() == [a, a, a]


def test_trace_of_a_position_is_its_step_weighted_by_the_kept_prefix():
    """At position 1: sum over x of min(p, q)(x) times the step in the row that x leads to."""
    laws = tables(2, GEOMETRIES["markov"])
    rounds = ExactRounds(RULES["speculative"].prepare(laws), laws, 2)
    expected = sum(
        min(laws.p[0, x], laws.q[0, x]) * rounds.step(int(laws.contexts.successor[0, x])).trace
        for x in range(3)
    )
    assert (rounds.trace(0)[1] == expected).all()


def test_the_end_token_ends_a_round():
    """Nothing is committed after it, and a kept end token is the last of the kept run."""
    laws = tables(4, GEOMETRIES["markov with an end"])
    law = ExactRounds(RULES["speculative"].prepare(laws), laws, 3).round_law(0)
    for committed, n_accepted, length in zip(
        law.committed, law.n_accepted, law.length, strict=True
    ):
        assert (committed[:length] >= 0).all()
        assert (committed[length:] == -1).all()
        assert 2 not in committed[: length - 1]
        assert n_accepted in ((length, length - 1) if committed[length - 1] == 2 else (length - 1,))


def test_a_long_draft_is_enumerated_in_seconds():
    """Draft length 8 over three tokens: the exact rule's joint law to horizon 9 is the promise."""
    laws = floats(tables(6, GEOMETRIES["markov"]))
    found = exact_joint(RULES["speculative"], laws, draft_length=8, horizon=9)
    np.testing.assert_allclose(found, joint_law(laws.p, laws.contexts, 9, start=0), atol=1e-12)


def test_what_cannot_be_enumerated_has_no_exact_joint_law():
    """None, whether the rule is not discrete, retries for ever or has too many outcomes."""
    laws = floats(tables(6, GEOMETRIES["markov"]))
    assert exact_joint(RULES["shared-gumbel"], laws, draft_length=1, horizon=2) is None
    apart = one_context(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert exact_joint(RULES["retry-until-accepted"], apart, draft_length=1, horizon=2) is None
    wide = one_context(*np.full((2, 200), 1 / 200))
    assert exact_joint(RULES["spliced-suffix"], wide, draft_length=4, horizon=2) is None
    assert exact_kept_length(RULES["spliced-suffix"], wide, draft_length=4) is None


def test_a_joint_law_with_too_many_cells_is_refused():
    laws = one_context(*np.full((2, 4), 0.25))
    rounds = ExactRounds(RULES["speculative"].prepare(laws), laws, 2)
    with pytest.raises(BadSetting, match="cells of a joint law"):
        rounds.joint(11, 0)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("name", DISCRETE)
def test_stated_steps_give_the_enumerated_laws(name, geometry):
    """Joint law to horizon 4 and kept length, as Fractions; oracle: the enumeration of rounds."""
    laws, rule = tables(8, GEOMETRIES[geometry]), RULES[name]
    enumerated = ExactRounds(rule.prepare(laws), laws, 2)
    found = exact_joint(rule, laws, draft_length=2, horizon=4)
    assert (found == enumerated.joint(4, 0)).all()
    kept = exact_kept_length(rule, laws, draft_length=2)
    assert kept.tolist() == enumerated.kept_length(0).tolist()


def test_steps_reach_where_enumeration_cannot():
    """V = 32, draft length 16, 32^4 cells: the exact rule has the promised law, a fault not."""
    contexts = markov_contexts(32, 1)
    p, q = np.random.default_rng(0).dirichlet(np.ones(32), size=(2, 33))
    laws = LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)
    promised = joint_law(p, contexts, 4, start=0)
    exact = exact_joint(RULES["speculative"], laws, draft_length=16, horizon=4)
    np.testing.assert_allclose(exact, promised, atol=1e-14)
    fault = exact_joint(RULES["stale-context"], laws, draft_length=16, horizon=4)
    assert abs(fault - promised).sum() / 2 > 0.1


@pytest.mark.parametrize("name", DISCRETE)
def test_the_first_step_of_a_longer_draft(name):
    """Rules that look at the whole block have another first step; oracle: rounds of that length."""
    laws, rule = tables(8, GEOMETRIES["markov"]), RULES[name]
    expected = ExactRounds(rule.prepare(laws), laws, 2).step(0)
    assert (exact_single(rule, laws, draft_length=2).trace == expected.trace).all()


def test_a_block_seen_whole_has_no_stated_step_where_it_cannot_be_enumerated():
    """At V = 50 a retried block of two has no law here, and a block of one has its closed form."""
    laws = one_context(*np.random.default_rng(1).dirichlet(np.ones(50), size=2))
    rule = RULES["retry-until-accepted"]
    assert exact_single(rule, laws, draft_length=2) is None
    kept = np.minimum(laws.p, laws.q)[0]
    np.testing.assert_allclose(exact_single(rule, laws).output, kept / kept.sum(), atol=1e-15)
