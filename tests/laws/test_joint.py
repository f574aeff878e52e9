"""Joint laws of the first tokens; oracle: the product of next-token laws along each sequence."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from harness.errors import BadSetting
from harness.laws.contexts import markov_contexts
from harness.laws.joint import joint_cells, joint_law, tokens_of_cells


def chain(end, seed=0):
    contexts = markov_contexts(3, 2, end=end)
    weights = np.random.default_rng(seed).integers(0, 9, (len(contexts), 3)) + np.eye(
        1, 3, dtype=int
    )
    fractions = np.vectorize(Fraction, otypes=[object])(weights)
    return fractions / fractions.sum(axis=1, keepdims=True), contexts


@pytest.mark.parametrize("end", [None, 0, 2])
def test_a_cell_is_the_product_along_its_sequence(end):
    """Fractions; after the end token the only sequence is the one that repeats it."""
    probs, contexts = chain(end)
    joint = joint_law(probs, contexts, 4, start=0)
    for cell, sequence in enumerate(product(range(3), repeat=4)):
        expected, context, over = Fraction(1), 0, False
        for token in sequence:
            expected *= (token == end) if over else probs[context, token]
            over, context = over or token == end, contexts.successor[context, token]
        assert joint[cell] == expected
    assert joint.sum() == 1


def test_cells_and_sequences_are_each_other_s_inverse():
    cells = np.arange(3**4)
    assert joint_cells(tokens_of_cells(cells, 3, 4), 3, None).tolist() == cells.tolist()


def test_what_follows_the_end_is_read_as_the_end_repeated():
    tokens = np.array([[0, 2, -1, -1], [0, 2, 2, 2], [1, 1, 1, 2]], np.int8)
    assert joint_cells(tokens, 3, 2).tolist() == [26, 26, 41]


def test_too_many_cells_are_refused():
    probs, contexts = chain(None)
    with pytest.raises(BadSetting, match=r"1,594,323 sequences, more than the 1,048,576"):
        joint_law(probs, contexts, 13, start=0)
