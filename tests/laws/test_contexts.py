"""Contexts of Markov laws, of positions and of prompts; oracle: strings followed one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from harness.errors import BadSetting
from harness.laws.contexts import (
    markov_contexts,
    markov_rows,
    over_prompts,
    position_contexts,
    position_rows,
)
from harness.laws.joint import joint_law
from harness.laws.tables import LawTables, one_context


def strings(vocabulary, longest):
    return [s for n in range(longest + 1) for s in product(range(vocabulary), repeat=n)]


@pytest.mark.parametrize(("vocabulary", "order"), [(3, 0), (3, 1), (2, 3), (4, 2)])
def test_a_token_leads_to_the_last_tokens_of_the_prefix(vocabulary, order):
    """Contexts are numbered as strings by length, then alphabetically."""
    known = strings(vocabulary, order)
    contexts = markov_contexts(vocabulary, order)
    assert len(contexts) == len(known)
    for number, string in enumerate(known):
        for token in range(vocabulary):
            longer = (*string, token)[-order:] if order else ()
            assert known[contexts.successor[number, token]] == longer


def test_a_prompt_starts_where_its_last_tokens_lead():
    contexts = markov_contexts(3, 2, prompts=((), (1,), (2, 0), (1, 1, 2, 0)))
    known = strings(3, 2)
    assert [known[start] for start in contexts.starts] == [(), (1,), (2, 0), (2, 0)]


def test_rows_stand_in_the_numbering_of_their_contexts():
    """Row of a string is the law given after that string."""
    rng = np.random.default_rng(0)
    first, second, full = (rng.dirichlet(np.ones(3), size=shape) for shape in ((), 3, (3, 3)))
    rows = markov_rows([first, second], full)
    for row, string in zip(rows, strings(3, 2), strict=True):
        law = (first, second, full)[len(string)]
        np.testing.assert_array_equal(row, law[string])


def test_a_transition_of_lower_order_looks_at_the_last_token_alone():
    transition = np.random.default_rng(0).dirichlet(np.ones(3), size=3)
    rows = markov_rows([transition[0], transition], transition)
    for row, string in zip(rows[4:], strings(3, 2)[4:], strict=True):
        np.testing.assert_array_equal(row, transition[string[-1]])


def test_laws_that_do_not_fit_the_prefixes_are_refused():
    with pytest.raises(BadSetting, match="2 laws do not fit 3 prefixes"):
        markov_rows([np.full(3, 1 / 3)], np.full((2, 3), 1 / 3))


def test_positions_count_up_and_the_last_row_stays():
    contexts = position_contexts(2, 3)
    assert contexts.successor.tolist() == [[1, 1], [2, 2], [2, 2]]
    assert position_rows(np.eye(2), 4).tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    "make", [lambda: markov_contexts(1000, 2), lambda: position_contexts(2**20, 17)]
)
def test_tables_beyond_the_memory_limit_are_refused(make):
    with pytest.raises(BadSetting, match="16,777,216 probabilities"):
        make()


def test_prompts_side_by_side_keep_their_own_laws():
    """Oracle: each prompt's joint law from its own tables."""
    rng = np.random.default_rng(3)
    contexts = [markov_contexts(3, 1), position_contexts(3, 2)]
    alone = []
    for c in contexts:
        p, q = rng.dirichlet(np.ones(3), size=(2, len(c)))
        alone.append(LawTables(p=p, q=q, proposal=q, target=p, contexts=c))
    together = over_prompts(alone)
    for laws, start in zip(alone, together.contexts.starts, strict=True):
        expected = joint_law(laws.p, laws.contexts, 4, start=0)
        found = joint_law(together.p, together.contexts, 4, start=int(start))
        np.testing.assert_array_equal(found, expected)


def test_prompts_over_different_vocabularies_or_ends_are_refused():
    three, two = (
        one_context(np.full(3, 1 / 3), np.full(3, 1 / 3)),
        one_context(*np.full((2, 2), 0.5)),
    )
    with pytest.raises(BadSetting, match="vocabulary"):
        over_prompts([three, two])
    ending = replace(three, contexts=replace(three.contexts, end=1))
    with pytest.raises(BadSetting, match="end token"):
        over_prompts([three, ending])
