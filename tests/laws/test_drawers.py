"""Draws against the law they come from: exact bounds, zero cells, and comparisons at the edge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.laws.alias import alias_table
from harness.laws.categorical import Coin, Law
from harness.laws.lazy import split
from harness.laws.made import make
from harness.laws.tables import one_for_all
from harness.rng import stream

FALSE_ALARM = 1e-6  # of each test over seeds, Bonferroni over its cells
SIZES = [2, 3, 8, 9, 32, 1_000]


def assert_drawn_from(counts, law, n):
    """Every cell within its exact binomial range; nothing from a token of probability zero."""
    assert counts[law == 0].sum() == 0
    level = FALSE_ALARM / len(law) / 2
    low, high = stats.binom.ppf(level, n, law), stats.binom.isf(level, n, law)
    assert ((counts >= low) & (counts <= high)).all()


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("size", SIZES)
def test_draws_follow_their_row(size, rows):
    """Oracle: the exact binomial of every cell of every row."""
    laws = make("dirichlet", size, rows=rows, concentration=0.5, seed=size)
    n = 200_000
    contexts = np.arange(n) % rows if rows > 1 else one_for_all(n)
    tokens = Law(laws).draw(contexts, stream(1, "draws", size, rows))
    for row in range(rows):
        here = tokens[contexts == row]
        assert_drawn_from(np.bincount(here, minlength=size), laws[row], len(here))


@pytest.mark.parametrize("size", SIZES)
def test_a_token_of_probability_zero_is_never_drawn(size):
    """Also at the ends of the alphabet, and when one token has all the mass."""
    for support in ([0], [size - 1], [0, size - 1]):
        law = np.zeros((1, size))
        law[0, support] = 1.0 / len(support)
        tokens = Law(law).draw(one_for_all(100_000), stream(2, "zeros"))
        assert set(np.unique(tokens).tolist()) <= set(support)


@pytest.mark.parametrize("size", [9, 33, 1_000])
def test_alias_columns_give_back_the_law(size):
    """Vose's table, summed by hand: token mass = own share + shares refused to it, over V."""
    law = make("zipf", size, seed=1)
    keep, alias = (table[0] for table in alias_table(law))
    mass = keep.copy()
    np.add.at(mass, alias, 1.0 - keep)
    np.testing.assert_allclose(mass / size, law[0], rtol=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 2.0**-40, 1e-12, 1 / 3, 0.5, 1 - 2.0**-40, 1.0])
def test_a_threshold_is_split_without_loss(threshold):
    """Coarse + rest is the threshold itself, scaled; 0 never, 1 always."""
    for bits in (16, 32):
        coarse, rest = split(np.array([threshold]), bits)
        assert (float(coarse[0]) + rest[0]) * 2.0**-bits == threshold
        assert 0.0 <= rest[0] <= 1.0


class Scripted16:
    """A generator whose leading bits are given, to reach comparisons that chance never would."""

    def __init__(self, leading, rest):
        self.leading, self.rest = leading, rest

    def integers(self, low, high, size, dtype):
        words = np.full(4 * size, self.leading, dtype=np.uint16)
        return words.view(np.uint64)

    def random(self, size):
        return np.full(size, self.rest)


@pytest.mark.parametrize(("rest", "kept"), [(0.0, True), (0.49, True), (0.5, False), (0.99, False)])
@pytest.mark.parametrize("tokens", [3, 12])
def test_a_tie_of_the_first_16_bits_is_decided_by_the_rest(rest, kept, tokens):
    """Threshold (7 + 1/2) / 2^16 with leading bits 7: kept where the rest is below 1/2."""
    coin = Coin(np.full((1, tokens), 7.5 * 2.0**-16))
    bits = coin.flip(one_for_all(4), np.zeros(4, np.int8), Scripted16(7, rest))
    assert bits.tolist() == [kept] * 4


def test_a_coin_of_zero_never_falls_on_heads_even_for_a_uniform_of_zero():
    """`<` and not `<=`: SGLang #35771, transformers and tpu-inference accept p = 0 there."""
    for tokens in (3, 12):
        coin = Coin(np.zeros((1, tokens)))
        assert not coin.flip(one_for_all(4), np.zeros(4, np.int8), Scripted16(0, 0.0)).any()


def test_a_certain_coin_always_falls_on_heads():
    """Leading bits all ones and a rest next to one."""
    for tokens in (3, 12):
        coin = Coin(np.ones((1, tokens)))
        bits = coin.flip(one_for_all(4), np.zeros(4, np.int8), Scripted16(2**16 - 1, 1 - 2.0**-53))
        assert bits.all()


def test_another_token_follows_the_rest_of_the_row():
    """The law without one token, renormalised: exact binomials; also where it is rare."""
    law = np.array([[0.5, 0.3, 0.2]])
    n = 100_000
    drawn = Law(law).draw_other(one_for_all(n), np.zeros(n, np.int8), stream(3, "other"))
    assert_drawn_from(np.bincount(drawn, minlength=3), np.array([0.0, 0.6, 0.4]), n)
    rare = np.array([[1 - 3e-9, 1e-9, 2e-9]])
    drawn = Law(rare).draw_other(one_for_all(300), np.zeros(300, np.int8), stream(4, "rare"))
    assert_drawn_from(np.bincount(drawn, minlength=3), np.array([0.0, 1 / 3, 2 / 3]), 300)


def test_a_mass_of_1e_12_is_met_at_its_rate():
    """Leading bits tie with the cut and the rest is drawn: P = 2^-16 * rest, not 2^-16."""
    law = np.array([[1 - 1e-12, 1e-12]])
    drawn = Law(law).draw(one_for_all(1000), Scripted16(2**16 - 1, 1 - 2.0**-37))
    assert (drawn == 1).all()
    drawn = Law(law).draw(one_for_all(1000), Scripted16(2**16 - 1, 0.5))
    assert (drawn == 0).all()
