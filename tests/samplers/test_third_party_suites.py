"""The suites that kernel authors add to their CI hold what their descriptions say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine.run import run_suite
from harness.samplers.declared import from_toml, samplers_of
from harness.samplers.spec import SamplerSpec
from harness.scenario import load_suite

SUITES = Path(__file__).parents[2] / "scenarios" / "third_party"
PROGRAMS = Path(__file__).parent / "programs"


SLOW = ("1000 tokens", "batch size", "policy", "token rule, three")


def _short(name, *, only="", trials=2_000):
    """The suite with few trials: enough for a gross fault, and never for a false alarm (alpha)."""
    suite = load_suite(SUITES / name)
    chosen = [
        s for s in suite.scenarios if only in s.name and (only or not s.name.startswith(SLOW))
    ]
    return replace(suite, scenarios=tuple(replace(s, trials=trials) for s in chosen))


def _verdicts(suite, **declaration):
    spec = SamplerSpec("mine", folder=PROGRAMS, **declaration)
    result = run_suite(suite, samplers=samplers_of({"mine": spec}), workers=1)
    return {s.name: (s.verdict.value, s.reason) for s in result.scenarios}


@pytest.mark.parametrize("path", sorted((SUITES / "examples").glob("*.yaml")), ids=lambda p: p.name)
def test_examples_name_declared_samplers_only(path):
    """Loaded with the names of the examples' own pyproject.toml."""
    names = from_toml(SUITES / "examples" / "pyproject.toml")
    assert load_suite(path, samplers=names).scenarios


def test_exact_verifier_differs_nowhere():
    """With so few trials most is inconclusive; nothing is invalid."""
    verdicts = _verdicts(_short("verifier.yaml"), target="functions.py:exact")
    assert {verdict for verdict, _ in verdicts.values()} <= {"matches", "inconclusive"}, verdicts


def test_exact_scheme_with_another_trace_passes_all_but_the_token_rule():
    """Tokens straight from p are lossless where laws have one context, and no token rule."""
    verdicts = _verdicts(_short("verifier.yaml"), target="functions.py:ignores_draft")
    flat = ("three tokens", "zeros", "several", "32 tokens")
    assert all(v != "differs" for n, (v, _) in verdicts.items() if n.startswith(flat)), verdicts
    assert verdicts["token rule, one token"][0] == "differs"


@pytest.mark.parametrize(
    ("fault", "where"),
    [
        ("target_residual", "several rejected"),
        ("position_matters", "a row a position"),
        ("batch_matters", "batch_size=4096"),
    ],
)
def test_each_fault_is_seen_on_its_axis(fault, where):
    """The axis that was written for it catches it within 2,000 trials."""
    verdicts = _verdicts(_short("verifier.yaml", only=where), target=f"functions.py:{fault}")
    assert {v for v, _ in verdicts.values()} == {"differs"}, verdicts


def test_fault_of_large_batches_passes_small_ones():
    """Batch 1 hides padding faults (lesson 1)."""
    verdicts = _verdicts(
        _short("verifier.yaml", only="batch size", trials=1_000),
        target="functions.py:batch_matters",
    )
    seen = {name.split("=")[1]: verdict for name, (verdict, _) in verdicts.items()}
    assert [seen[f"{size}]"] for size in (1, 2, 3, 8)].count("differs") == 0
    assert seen["4096]"] == "differs"


def test_exact_generator_differs_nowhere_without_a_policy():
    """`made` draws from the raw tables: the scenarios without a policy pass, and temperature does
    not, because it takes no options.
    """
    declaration = {"target": "functions.py:made", "level": "generator", "factory": True}
    suite = _short("generator.yaml", trials=500)
    verdicts = _verdicts(suite, **declaration)
    plain = ("chain", "draft is", "zeros")
    assert all(v != "differs" for n, (v, _) in verdicts.items() if n.startswith(plain))
    assert verdicts["greedy"][0] == "differs"
    assert verdicts["temperature 0.7 and top-k 3"][0] == "differs"


def test_engine_that_repeats_its_draws_is_seen(declare, assignment):
    """A generator that ignores its seed makes the same tokens in every call (lesson 4)."""
    suite = _short("generator.yaml", only="zeros")
    declaration = {"target": "functions.py:same_again", "level": "generator", "batch_size": 50}
    assert {v for v, _ in _verdicts(suite, **declaration).values()} == {"differs"}
