"""Laws worked out of a file, held against numbers and prefixes worked out by hand."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from harness.laws import made
from harness.laws.contexts import fixed_contexts, markov_contexts, position_contexts
from harness.laws.joint import joint_law
from harness.scenario import parse_suite
from harness.scenario.chains import joined

HEAD = "version: 1\nsuite: s\nvocabulary: [A, B, C]\n"
LAWS = "target: {probs: [0.6, 0.3, 0.1]}\ndraft: {probs: [1/2, 1/4, 0.25]}\n"


def scenario(laws=LAWS, settings="", head=HEAD):
    """The only scenario of a suite with these laws and settings."""
    text = f"{head}{laws}scenarios:\n  - name: x\n    rule: speculative\n"
    (only,) = parse_suite(
        text + "".join(f"    {s}\n" for s in settings.splitlines()), "s"
    ).scenarios
    return only


def after(laws, prefix, prompt=0):
    """The context after a prefix, walked token by token."""
    context = laws.contexts.starts[prompt]
    for token in prefix:
        context = laws.contexts.successor[context, token]
    return context


def test_decimals_are_the_fractions_that_they_say():
    """0.1 is one tenth, not the float nearest to it; 1/2 is a half."""
    exact = scenario().exact_laws
    assert exact.p.tolist() == [[Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]]
    assert exact.q.tolist() == [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]]
    assert exact.proposal.tolist() == exact.q.tolist()
    assert exact.target.tolist() == exact.p.tolist()


def test_floats_are_the_fractions_rounded():
    """The float tables are the nearest float64 of the exact ones."""
    found = scenario()
    np.testing.assert_array_equal(found.laws.p, [[0.6, 0.3, 0.1]])
    assert found.laws.p.dtype == np.float64


def test_a_sum_within_1e_9_is_renormalised():
    """Three times 0.3333333333 sums to 1 - 1e-10: each becomes a third exactly."""
    found = scenario(LAWS.replace("0.6, 0.3, 0.1", "0.3333333333, 0.3333333333, 0.3333333333"))
    assert found.exact_laws.p.tolist() == [[Fraction(1, 3)] * 3]


def test_many_tokens_are_kept_as_floats_that_sum_to_one():
    """Above 64 tokens no Fractions: 1/128 each, exactly."""
    row = ", ".join(["0.0078125"] * 128)
    found = scenario(f"target: {{probs: [{row}]}}\ndraft: {{probs: [{row}]}}\n",
                     head=HEAD.replace("[A, B, C]", "128"))  # fmt: skip
    assert found.exact_laws is None
    np.testing.assert_array_equal(found.laws.p, np.full((1, 128), 1 / 128))
    assert found.vocabulary[:2] == ("0", "1")


def test_a_policy_of_the_scenario_is_that_of_target_and_draft():
    """Temperature 1/2 squares and normalises: .36 : .09 : .01 and 4 : 1 : 1."""
    found = scenario(settings="policy: {temperature: 0.5}")
    assert found.exact_laws.p.tolist() == [[Fraction(36, 46), Fraction(9, 46), Fraction(1, 46)]]
    assert found.exact_laws.q.tolist() == [[Fraction(4, 6), Fraction(1, 6), Fraction(1, 6)]]


def test_a_law_s_own_policy_wins():
    """The target asks for none, the draft gets the scenario's top-k of one."""
    found = scenario(LAWS.replace("0.1]}", "0.1], policy: none}"), "policy: {top_k: 1}")
    assert found.exact_laws.p.tolist() == [[Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]]
    assert found.exact_laws.q.tolist() == [[1, 0, 0]]


def test_a_law_without_numbers_takes_those_of_the_suite():
    """Only the policy is stated anew."""
    found = scenario(settings="target: {policy: {top_k: 2}}")
    assert found.exact_laws.p.tolist() == [[Fraction(2, 3), Fraction(1, 3), 0]]


def test_a_temperature_with_roots_leaves_no_exact_laws():
    """p^(1/.7) is irrational: floats, as numpy gives them."""
    found = scenario(settings="policy: {temperature: 0.7}")
    powers = np.array([0.6, 0.3, 0.1]) ** (1 / 0.7)
    assert found.exact_laws is None
    np.testing.assert_allclose(found.laws.p, [powers / powers.sum()], rtol=1e-14)


APPLIED = {
    "target: {policy: none}": ("p", [Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]),
    "draft: {policy: none}": ("q", [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]),
    "proposal: {policy: {greedy: true}}": ("proposal", [1, 0, 0]),
    "proposal: {probs: [0, 0, 1], policy: none}": ("proposal", [0, 0, 1]),
}


@pytest.mark.parametrize("applied", APPLIED)
def test_what_is_applied_differs_from_what_is_promised_in_one_law_only(applied):
    """Each fault of policies is one law that is not the promised one."""
    role, law = APPLIED[applied]
    promised = scenario(settings="policy: {top_k: 2, order: llama.cpp}").exact_laws
    found = scenario(
        settings=f"policy: {{top_k: 2, order: llama.cpp}}\napplied: {{{applied}}}"
    ).exact_laws
    for name in ("p", "q", "proposal", "target"):
        expected = [law] if name == role else getattr(promised, name).tolist()
        assert getattr(found, name).tolist() == expected


def test_logits_are_softmaxed_and_minus_infinity_is_never_drawn():
    """Logits of log 2 against 0 is two to one."""
    found = scenario(
        "target: {logits: [0.6931471805599453, 0, -.inf]}\ndraft: {probs: [0, 0, 1]}\n"
    )
    np.testing.assert_allclose(found.laws.p, [[2 / 3, 1 / 3, 0]], rtol=1e-15)


def test_made_laws_are_those_of_the_maker():
    """The file names the kind, its options and the seed; the draft is near the target."""
    found = scenario(
        "target: {generate: {zipf: {exponent: 1.2}, seed: 3}}\n"
        "draft: {generate: {near_target: {noise: 0.5}, seed: 4}}\n",
        head=HEAD.replace("[A, B, C]", "1000"),
    )
    zipf = made.zipf(1000, exponent=1.2, seed=3)
    np.testing.assert_array_equal(found.laws.p, zipf)
    np.testing.assert_array_equal(found.laws.q, made.perturbed(zipf, noise=0.5, seed=4))


CHAIN = (
    "target:\n  markov:\n    order: 2\n    initial:\n    - [1, 0, 0]\n"
    "    - {A: [0, 1, 0], B: [0, 0, 1], C: [1, 0, 0]}\n    transition:\n"
    + "".join(
        f"      {a}: {{A: [0.{i}1, 0.{9 - i}9, 0], B: [0.{i}2, 0.{9 - i}8, 0], "
        f"C: [0.{i}3, 0.{9 - i}7, 0]}}\n"
        for i, a in enumerate("ABC")
    )
)


def test_a_chain_of_order_two_selects_its_rows_by_the_last_two_tokens():
    """The row after ...ab carries a and b in its digits, whatever came before."""
    laws = scenario(CHAIN + "draft: {probs: [1, 0, 0]}\n").exact_laws
    assert laws.p[after(laws, [])].tolist() == [1, 0, 0]
    assert laws.p[after(laws, [1])].tolist() == [0, 0, 1]
    for prefix in itertools.product(range(3), repeat=4):
        *_, a, b = prefix
        assert laws.p[after(laws, prefix), 0] == Fraction(10 * a + b + 1, 100)


def test_prompts_are_read_before_the_first_token():
    """Two prompts, two starts: the rows after CA and after BB."""
    laws = scenario(
        CHAIN + "draft: {probs: [1, 0, 0]}\n", "prompts: [[C, A], [A, B, B]]"
    ).exact_laws
    assert [laws.p[c, 0] for c in laws.contexts.starts] == [Fraction(21, 100), Fraction(12, 100)]


def test_rows_are_by_position_and_the_last_one_stays():
    """Position 0, 1, 2, 3 of a target with three rows and a chain of order one as draft."""
    laws = scenario(
        "target: {rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
        "draft: {markov: {initial: [0.1, 0.9, 0],"
        " transition: [[0.2, 0.8, 0], [0.3, 0.7, 0], [0.4, 0.6, 0]]}}\n"
    ).exact_laws
    for length in range(4):
        for prefix in itertools.product(range(3), repeat=length):
            here = after(laws, prefix)
            assert laws.p[here].argmax() == min(length, 2)
            assert laws.q[here, 0] == Fraction(prefix[-1] + 2 if prefix else 1, 10)


def test_made_rows_are_as_many_as_the_positions_that_are_looked_at():
    """Draft length 2 and horizon 3: three rows; the draft is near each of them."""
    laws = scenario(
        "target: {rows: {generate: {softmax_normal: {scale: 2}, seed: 3}}}\n"
        "draft: {generate: {near_target: {noise: 0.5}, seed: 4}}\n",
        "draft_length: 2\nhorizon: 3",
    ).laws
    rows = made.softmax_normal(3, 3, scale=2, seed=3)
    np.testing.assert_array_equal(laws.p, rows)
    np.testing.assert_array_equal(laws.q, made.perturbed(rows, noise=0.5, seed=4))
    assert [after(laws, prefix) for prefix in ([], [2], [0, 1], [1, 1, 1])] == [0, 1, 2, 2]


def test_nothing_follows_the_end_token():
    """CC and CA are never seen: the cell of C is the one that repeats it."""
    laws = scenario(CHAIN + "draft: {probs: [1, 0, 0]}\n", "end_token: A").exact_laws
    assert laws.contexts.end == 0
    assert laws.p.shape == (1 + 3 + 9, 3)
    joint = joint_law(laws.target, laws.contexts, 3, start=0)
    assert joint.tolist() == [1] + 26 * [0]


@pytest.mark.parametrize("seed", range(10))
def test_joint_contexts_know_what_each_part_knows(seed):
    """Walking jointly is walking each part, on every prefix up to length five."""
    rng = np.random.default_rng(seed)
    prompts = [tuple(rng.integers(0, 2, n)) for n in rng.integers(0, 3, 2)]
    kinds = [
        fixed_contexts(2, 2),
        position_contexts(2, 3, prompts=2),
        *(markov_contexts(2, order, prompts=prompts) for order in (1, 2)),
    ]
    parts = [kinds[i] for i in rng.integers(0, 4, 3)]
    together, own = joined(parts)
    for prompt, length in itertools.product(range(2), range(6)):
        for prefix in itertools.product(range(2), repeat=length):
            walked = [c.starts[prompt] for c in (together, *parts)]
            for token in prefix:
                walked = [
                    c.successor[x, token] for c, x in zip((together, *parts), walked, strict=True)
                ]
            assert [column[walked[0]] for column in own] == walked[1:]


def test_scenarios_with_the_same_laws_share_their_tables():
    """Memory is for laws, not for scenarios."""
    text = f"{HEAD}{LAWS}scenarios:\n"
    text += "".join(f"  - {{name: x{i}, rule: one-hot, trials: {i + 1}}}\n" for i in range(3))
    first, *others = parse_suite(text, "s").scenarios
    assert all(other.laws is first.laws for other in others)


def test_a_sampler_may_draft_from_a_law_that_nobody_knows():
    """Without a draft law the target's stands in for it; a rule of ours needs one."""
    text = f"{HEAD}target: {{probs: [0.6, 0.3, 0.1]}}\nscenarios: [{{name: x, sampler: mine}}]\n"
    (found,) = parse_suite(text, "s").scenarios
    assert found.exact_laws.q.tolist() == found.exact_laws.p.tolist()


def test_fractions_without_a_modest_common_denominator_are_kept_as_floats():
    """64 odd denominators of 30 digits would make numbers of 123,000 digits at temperature 1/64."""
    odd = [10**29 + 2 * i + 1 for i in range(64)]
    row = ", ".join(f"{round(Fraction(d, 64))}/{d}" for d in odd)
    found = scenario(
        f"target: {{probs: [{row}]}}\ndraft: {{probs: [{row}]}}\n",
        "policy: {temperature: 1/64}",
        HEAD.replace("[A, B, C]", "64"),
    )
    assert found.exact_laws is None
    np.testing.assert_allclose(found.laws.p, np.full((1, 64), 1 / 64), rtol=1e-12)
