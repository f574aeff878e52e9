"""Sampling policies against laws derived by hand, in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from harness.errors import BadLaw, BadSetting
from harness.laws.orders import ORDERS
from harness.laws.policy import SamplingPolicy, apply, apply_to_logits, describe, softmax

# The oracle of this table is arithmetic by hand, written beside each entry.
BY_HAND = [
    # nothing set: the law itself
    ({}, ".6 .3 .1", ".6 .3 .1"),
    ({"temperature": 1.0}, ".6 .3 .1", ".6 .3 .1"),
    # T = 1/2 squares: 36 : 9 : 1 of 46
    ({"temperature": 0.5}, ".6 .3 .1", "36/46 9/46 1/46"),
    # T = 1/4 takes fourth powers: 1296 : 81 : 1 of 1378
    ({"temperature": 0.25}, ".6 .3 .1", "1296/1378 81/1378 1/1378"),
    # top-k 1, 2, and more than there are
    ({"top_k": 1}, ".6 .3 .1", "1 0 0"),
    ({"top_k": 2}, ".6 .3 .1", "2/3 1/3 0"),
    ({"top_k": 9}, ".6 .3 .1", ".6 .3 .1"),
    # top-p .6 is reached by the first token exactly: the second goes
    ({"top_p": 0.6}, ".6 .3 .1", "1 0 0"),
    # .61 is not: .6 / .9 and .3 / .9
    ({"top_p": 0.61}, ".6 .3 .1", "2/3 1/3 0"),
    ({"top_p": 0.9}, ".6 .3 .1", "2/3 1/3 0"),
    ({"top_p": 0.91}, ".6 .3 .1", ".6 .3 .1"),
    ({"top_p": 0.01}, ".1 .3 .6", "0 0 1"),
    # min-p .5: the floor is .3, which the second token just meets
    ({"min_p": 0.5}, ".6 .3 .1", "2/3 1/3 0"),
    ({"min_p": 0.51}, ".6 .3 .1", "1 0 0"),
    # floor 1/6 * .6 = .1 in fractions only; .16 gives .096, .17 gives .102
    ({"min_p": Fraction(1, 6)}, ".6 .3 .1", ".6 .3 .1"),
    ({"min_p": 0.16}, ".6 .3 .1", ".6 .3 .1"),
    ({"min_p": 0.17}, ".6 .3 .1", "2/3 1/3 0"),
    # zeros stay zero, also where top-k asks for more than the support holds
    ({"top_k": 3}, ".5 0 .5 0", ".5 0 .5 0"),
    ({"temperature": 0.5}, ".75 0 .25", "9/10 0 1/10"),
    # greedy, and its ties
    ({"greedy": True}, ".3 .6 .1", "0 1 0"),
    ({"greedy": True}, ".4 .4 .2", "1 0 0"),
    ({"greedy": True, "ties": "last"}, ".4 .4 .2", "0 1 0"),
    ({"greedy": True, "ties": "uniform"}, ".4 .4 .2", ".5 .5 0"),
    ({"greedy": True, "ties": "uniform"}, ".1 .3 .3 .3", "0 1/3 1/3 1/3"),
    ({"greedy": True, "temperature": 0.5, "top_k": 2}, ".3 .6 .1", "0 1 0"),
    # ties at k = 2: by value all three stay; llama.cpp keeps two, .4 and one .2
    ({"top_k": 2}, ".4 .2 .2 .2", ".4 .2 .2 .2"),
    ({"top_k": 2, "order": "vllm"}, ".4 .2 .2 .2", ".4 .2 .2 .2"),
    ({"top_k": 2, "order": "llama.cpp"}, ".4 .2 .2 .2", "2/3 1/3 0 0"),
    ({"top_k": 2, "edges": "llama.cpp"}, ".2 .2 .2 .4", "1/3 0 0 2/3"),
    ({"top_k": 3}, ".4 .1 .3 .1 .1", ".4 .1 .3 .1 .1"),
    ({"top_k": 3, "order": "llama.cpp"}, ".4 .1 .3 .1 .1", "1/2 1/8 3/8 0 0"),
    # ties at top-p = .6: .4 + .2 reach it; sorted upwards the last .2 stays, downwards the first
    ({"top_p": 0.6}, ".4 .2 .2 .2", "2/3 0 0 1/3"),
    ({"top_p": 0.6, "order": "vllm"}, ".4 .2 .2 .2", "2/3 0 0 1/3"),
    ({"top_p": 0.6, "order": "llama.cpp"}, ".4 .2 .2 .2", "2/3 1/3 0 0"),
    # temperature and top-p: squares of .5 .3 .2 are 25 : 9 : 4 of 38, and 25/38 = .658 >= .6
    # reaches top-p alone; before the temperature .5 + .3 are needed, then 25 : 9 of 34
    ({"temperature": 0.5, "top_p": 0.6}, ".5 .3 .2", "1 0 0"),
    ({"temperature": 0.5, "top_p": 0.6, "order": "vllm"}, ".5 .3 .2", "1 0 0"),
    ({"temperature": 0.5, "top_p": 0.6, "order": "llama.cpp"}, ".5 .3 .2", "25/34 9/34 0"),
    (
        {"temperature": 0.5, "top_p": 0.6, "order": ["top_p", "temperature"]},
        ".5 .3 .2",
        "25/34 9/34 0",
    ),
    # min-p and top-p: the floor .3 * .5 = .15 leaves 2/3 : 1/3, and 2/3 reaches .6 alone;
    # top-p first needs .5 + .25, and min-p then cuts nothing
    ({"min_p": 0.3, "top_p": 0.6, "order": "vllm"}, "1/2 1/4 1/8 1/8", "1 0 0 0"),
    ({"min_p": 0.3, "top_p": 0.6}, "1/2 1/4 1/8 1/8", "2/3 1/3 0 0"),
    ({"min_p": 0.3, "top_p": 0.6, "order": "llama.cpp"}, "1/2 1/4 1/8 1/8", "2/3 1/3 0 0"),
    # min-p and temperature: the floor .3 * .6 = .18 keeps .3; of the squares 36 : 9 : 1 the
    # floor is 10.8 and cuts the 9. llama.cpp: 36 : 9 after the cut
    ({"min_p": 0.3, "temperature": 0.5}, ".6 .3 .1", "1 0 0"),
    ({"min_p": 0.3, "temperature": 0.5, "order": "vllm"}, ".6 .3 .1", "1 0 0"),
    ({"min_p": 0.3, "temperature": 0.5, "order": "llama.cpp"}, ".6 .3 .1", "4/5 1/5 0"),
    # top-k and top-p: top-k first leaves 5/8 : 3/8, and 5/8 reaches .6 alone;
    # top-p first needs both, and top-k then cuts nothing
    ({"top_k": 2, "top_p": 0.6}, ".5 .3 .2", "1 0 0"),
    ({"top_k": 2, "top_p": 0.6, "order": ["top_p", "top_k"]}, ".5 .3 .2", "5/8 3/8 0"),
    # all four, transformers: squares of .4 .3 .2 .1 are 16 9 4 1; top-k 3 leaves 16 9 4 of 29;
    # top-p .9 needs 25/29 = .862 and one more; the floor .3 * 16 = 4.8 cuts the 4
    (
        {"temperature": 0.5, "top_k": 3, "top_p": 0.9, "min_p": 0.3},
        ".4 .3 .2 .1",
        "16/25 9/25 0 0",
    ),
    # all four, llama.cpp: top-k 3 leaves 4 3 2 of 9; top-p .9 needs all; the floor .3 * 4 = 1.2
    # cuts none; squares 16 : 9 : 4 of 29
    (
        {"temperature": 0.5, "top_k": 3, "top_p": 0.9, "min_p": 0.3, "order": "llama.cpp"},
        ".4 .3 .2 .1",
        "16/29 9/29 4/29 0",
    ),
    # all four, vLLM: 16 9 4 1; the floor 4.8 leaves 16 9; top-k 3 cuts none; top-p .64 is met
    # by 16/25 exactly
    (
        {"temperature": 0.5, "top_k": 3, "top_p": 0.64, "min_p": 0.3, "order": "vllm"},
        ".4 .3 .2 .1",
        "1 0 0 0",
    ),
    # ... and with transformers' order 16/29 = .55 does not reach .64, so both stay
    (
        {"temperature": 0.5, "top_k": 3, "top_p": 0.64, "min_p": 0.3},
        ".4 .3 .2 .1",
        "16/25 9/25 0 0",
    ),
]


def law(text: str) -> np.ndarray:
    return np.array([Fraction(number) for number in text.split()], dtype=object)


@pytest.mark.parametrize(("settings", "before", "after"), BY_HAND)
def test_law_after_a_policy_is_the_one_derived_by_hand_in_fractions(settings, before, after):
    """Fractions in, the very fractions of the derivation out (oracle: arithmetic by hand)."""
    got = apply(SamplingPolicy(**settings), law(before))
    assert got.tolist() == law(after).tolist()
    assert all(isinstance(x, Fraction) for x in got)


@pytest.mark.parametrize(("settings", "before", "after"), BY_HAND)
def test_floats_cut_where_the_decimals_they_stand_for_cut(settings, before, after):
    """Also at boundaries met exactly, such as top_p .6 of .6 .3 .1 (oracle: the same table)."""
    probs = np.array([law(before), law(before)]).astype(np.float64)
    got = apply(SamplingPolicy(**settings), probs)
    expected = law(after).astype(np.float64)
    np.testing.assert_allclose(got, [expected, expected], rtol=4e-15, atol=0)
    assert got.dtype == np.float64


@pytest.mark.parametrize(("settings", "before", "after"), BY_HAND)
def test_logits_give_the_law_that_their_probabilities_give(settings, before, after):
    """Log-probabilities, shifted by a constant, as logits (oracle: the same table)."""
    with np.errstate(divide="ignore"):
        logits = np.log(law(before).astype(np.float64)) - 7.0
    got = apply_to_logits(SamplingPolicy(**settings), logits)
    np.testing.assert_allclose(got, law(after).astype(np.float64), rtol=1e-13, atol=0)


def test_rows_are_treated_apart():
    """Each row of (C, V) is cut by its own numbers (oracle: the rows one by one)."""
    rows = np.array([law(".6 .3 .1"), law(".2 .2 .6"), law("0 1 0")])
    policy = SamplingPolicy(temperature=0.5, top_k=2, top_p=0.9)
    together = apply(policy, rows)
    assert together.tolist() == [apply(policy, row).tolist() for row in rows]


@pytest.mark.parametrize("order", ORDERS)
def test_float_and_fraction_laws_agree_on_random_laws_with_ties(order):
    """200 laws of small integers, many of them tied (oracle: the same policy in fractions)."""
    rng = np.random.default_rng(20)
    for _ in range(200):
        weights = rng.integers(0, 6, size=rng.integers(2, 9))
        weights[0] += 1
        exact = np.array([Fraction(int(w), int(weights.sum())) for w in weights], dtype=object)
        policy = SamplingPolicy(
            temperature=float(rng.choice([0.25, 0.5, 1.0])),
            top_k=int(rng.integers(1, 9)),
            top_p=float(rng.choice([0.25, 0.5, 0.75, 0.9, 1.0])),
            min_p=float(rng.choice([0.0, 0.2, 0.25, 0.5])),
            order=order,
        )
        got = apply(policy, exact.astype(np.float64))
        expected = apply(policy, exact)
        assert sum(expected) == 1
        np.testing.assert_allclose(got, expected.astype(np.float64), rtol=1e-13, atol=0)


def test_a_policy_that_cuts_nothing_gives_back_the_very_numbers():
    """No rounding enters where nothing changes (oracle: bitwise equality)."""
    probs = np.random.default_rng(3).dirichlet(np.ones(50), size=4)
    policy = SamplingPolicy(top_k=50, top_p=1.0, min_p=1e-9)
    assert apply(policy, probs).tobytes() == probs.tobytes()


def test_result_is_read_only_and_the_law_given_is_untouched():
    probs = np.array([[0.6, 0.3, 0.1]])
    got = apply(SamplingPolicy(top_k=1), probs)
    assert not got.flags.writeable
    assert probs.tolist() == [[0.6, 0.3, 0.1]]


def test_irrational_temperatures_turn_fractions_into_floats():
    """T = .7: p^(10/7), normalised (oracle: the power itself)."""
    got = apply(SamplingPolicy(temperature=0.7), law(".6 .3 .1"))
    powers = np.array([0.6, 0.3, 0.1]) ** (1 / 0.7)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, powers / powers.sum(), rtol=1e-14)


def test_cuts_ahead_of_an_irrational_temperature_are_still_exact():
    """llama.cpp's order: top-p .6 of .6 .3 .1 keeps one token, whatever T does after it."""
    policy = SamplingPolicy(temperature=0.7, top_p=0.6, order="llama.cpp")
    assert apply(policy, law(".6 .3 .1")).tolist() == [1, 0, 0]


def test_cold_and_hot_temperatures_neither_overflow_nor_lose_zeros():
    """T -> 0 leaves the maximum, T -> inf the uniform law on the support (oracle: the limits)."""
    probs = np.array([0.5, 0.3, 0.0, 0.2])
    assert apply(SamplingPolicy(temperature=1e-300), probs).tolist() == [1, 0, 0, 0]
    hot = apply(SamplingPolicy(temperature=1e300), probs)
    np.testing.assert_allclose(hot, [1 / 3, 1 / 3, 0, 1 / 3], rtol=1e-14)
    cold = apply(SamplingPolicy(temperature=Fraction(1, 10**9)), law(".6 .3 .1"))
    assert cold.tolist() == [1, 0, 0]


def test_huge_logits_neither_overflow_nor_lose_a_late_temperature():
    """Logits 1000 apart at T = 1000 are a factor e apart, in every order (oracle: e)."""
    logits = np.array([1e6, 1e6 - 1000.0, -np.inf])
    expected = np.array([np.e, 1, 0]) / (np.e + 1)
    for order in ORDERS:
        policy = SamplingPolicy(temperature=1000.0, top_k=3, order=order)
        np.testing.assert_allclose(apply_to_logits(policy, logits), expected, rtol=1e-13)
    assert softmax(np.array([1e308, -1e308])).tolist() == [1, 0]


@pytest.mark.parametrize("bad", [[np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf], []])
def test_logits_that_give_no_law_are_refused(bad):
    with pytest.raises(BadLaw, match="logits"):
        softmax(np.array(bad, dtype=np.float64))


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"temperature": 0.0}, "temperature 0.0 .*greedy: true"),
        ({"temperature": 0, "greedy": True}, "greedy: true"),
        ({"temperature": -1.0}, "temperature -1.0"),
        ({"temperature": float("nan")}, "temperature nan"),
        ({"temperature": float("inf")}, "temperature inf"),
        ({"top_k": 0}, "top_k 0 .*leave it out"),
        ({"top_k": -1}, "top_k -1"),
        ({"top_p": 0.0}, "top_p 0.0 .*outside"),
        ({"top_p": 1.01}, "top_p 1.01"),
        ({"top_p": float("nan")}, "top_p nan"),
        ({"min_p": 1.0}, "min_p 1.0 .*outside"),
        ({"min_p": -0.1}, "min_p -0.1"),
        ({"ties": "random"}, "ties 'random'"),
        ({"order": "transformer"}, "no order 'transformer'; did you mean 'transformers'"),
        ({"order": ["temprature"]}, "did you mean 'temperature'"),
        ({"order": ["top_k", "top_k"]}, "twice"),
        ({"order": ["temperature"], "top_p": 0.9}, "leaves out top_p"),
        ({"edges": "lama.cpp"}, "did you mean 'llama.cpp'"),
    ],
)
def test_a_setting_outside_its_range_is_refused_in_one_line_with_a_way_out(settings, complaint):
    with pytest.raises(BadSetting, match=complaint) as refusal:
        SamplingPolicy(**settings)
    assert "\n" not in str(refusal.value)


def test_steps_are_listed_as_they_are_applied():
    settings = {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "min_p": 0.1}
    steps = {order: SamplingPolicy(order=order, **settings).steps for order in ORDERS}
    assert steps == ORDERS
    assert SamplingPolicy(min_p=0.1).steps == ("min_p",)
    assert SamplingPolicy(greedy=True, **settings).steps == ("greedy",)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "none"),
        ({"greedy": True, "ties": "last", "top_k": 3}, "greedy (ties: last)"),
        ({"temperature": Fraction(7, 10), "order": "llama.cpp"}, "temperature 0.7"),
        (
            {"temperature": 0.7, "top_k": 5, "order": "llama.cpp"},
            "top_k 5, temperature 0.7 (top-k ties: first)",
        ),
        (
            {"top_p": 0.9, "min_p": 0.1, "order": "vllm"},
            "min_p 0.1, top_p 0.9 (top-p ties: last)",
        ),
    ],
)
def test_description_says_what_the_policy_does_and_no_more(settings, text):
    assert describe(SamplingPolicy(**settings)) == text


def test_policies_are_values():
    """Equal settings, equal hash, a list of steps like a tuple of them."""
    one = SamplingPolicy(top_p=0.9, order=["top_p"])
    two = SamplingPolicy(top_p=0.9, order=("top_p",))
    assert one == two
    assert len({one, two, SamplingPolicy()}) == 2
