"""Any text leads to a suite or to a complaint: nothing else may come out of the loader."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import ScenarioError
from harness.scenario import Suite, parse_suite
from harness.scenario.shape import ScenarioShape, SuiteShape
from tests.scenario.test_refused import GOOD

WORDS = [
    *SuiteShape.model_fields,
    *ScenarioShape.model_fields,
    *(
        [
            "probs",
            "logits",
            "generate",
            "markov",
            "rows",
            "zipf",
            "near_target",
            "initial",
            "transition",
            "order",
        ]
    ),
    *(
        [
            "temperature",
            "top_k",
            "cases",
            "V",
            "A",
            "B",
            "C",
            "D",
            "speculative",
            "none",
            "null",
            "true",
            "matches",
            "law",
            "acceptance",
        ]
    ),
    *(
        [
            "0",
            "1",
            "-1",
            "2/3",
            "1/0",
            "0.1",
            "1e30",
            "1e-300",
            ".nan",
            "-.inf",
            "0x1F",
            "017",
            "''",
            '"',
        ]
    ),
]
GLUE = [
    *(": ", "\n", "\n  ", "\n    ", "\n- ", "- ", "[", "]", "{", "}", ", ", "#", "'", '"'),
    *("&a ", "*a", "!!str ", "? ", "| ", "> ", "%", "---\n", "...\n", "\\u", "\x85", "\ufeff", "é"),
]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=5),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)


def written(value: object) -> str:
    """A value in YAML's flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return repr(value) if isinstance(value, str) else str(value)


def check(text: str) -> None:
    """A suite, or one line."""
    found = suite_or_complaint(text)
    if isinstance(found, ScenarioError):
        assert str(found).startswith("fuzz.yaml")
        assert len(str(found).splitlines()) == 1
        assert found.problem
        assert found.remedy
        assert str(found).encode("utf-8")


def suite_or_complaint(text: str) -> Suite | ScenarioError:
    try:
        return parse_suite(text, "fuzz.yaml")
    except ScenarioError as error:
        return error


quick = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(st.text(max_size=200))
def test_any_text(text):
    """Arbitrary characters."""
    check(text)


@quick
@given(st.lists(st.sampled_from(WORDS + GLUE), max_size=60).map("".join))
def test_any_words_and_signs_of_yaml(text):
    """What a scanner chokes on: half-open quotes, stray signs, odd indentation."""
    check(text)


@quick
@given(st.data())
def test_a_good_suite_with_a_part_torn_out_or_put_in(data):
    """Damage to a file that loads."""
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(len(GOOD), start + 30)))
    check(GOOD[:start] + data.draw(st.sampled_from(["", *WORDS, *GLUE])) + GOOD[end:])


@quick
@given(st.sampled_from(list(SuiteShape.model_fields)), values)
def test_any_value_for_any_key_of_a_suite(key, value):
    """Every key of the suite holds anything."""
    lines = [line for line in GOOD.splitlines() if not line.startswith(f"{key}:")]
    check("\n".join([f"{key}: {written(value)}", *lines]))


@quick
@given(st.sampled_from(list(ScenarioShape.model_fields)), values)
def test_any_value_for_any_key_of_a_scenario(key, value):
    """Every key of the scenario holds anything."""
    check(GOOD + f"    {key}: {written(value)}\n")


@quick
@given(
    st.sampled_from(["target", "draft", "policy", "applied", "applied, target", "target, markov",
                     "draft, generate", "target, policy", "matrix", "matrix, cases", "facts"]),
    st.dictionaries(st.sampled_from(WORDS), values, max_size=3),
)  # fmt: skip
def test_any_law_policy_or_axis(path, value):
    """The nested parts hold anything."""
    for key in reversed(path.split(", ")):
        value = {key: value}
    key, inner = next(iter(value.items()))
    check(GOOD + f"    {key}: {written(inner)}\n")


@pytest.mark.parametrize("depth", [10, 1000, 100_000])
@pytest.mark.parametrize("sign", ["[", "{", "- ", "? ", "{a: ", "!"])
def test_depth_cannot_exhaust_the_stack(sign, depth):
    """A recursive parser would die of this."""
    check(sign * depth)
