"""The three-line unit test that people will write."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from harness.assertions import assert_preserves_target, judge
from harness.errors import BadLaw

pytest_plugins = ["pytester"]
P, Q = [0.6, 0.3, 0.1], [0.5, 0.25, 0.25]


@pytest.fixture(scope="module")
def functions():
    path = Path(__file__).parent / "programs" / "functions.py"
    spec = importlib.util.spec_from_file_location("functions_under_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_exact_verifier_passes(functions):
    """Nothing is raised for min(1, p/q) with the residual."""
    assert_preserves_target(functions.exact, target=P, draft=Q, draft_length=3)


def test_failure_says_all_that_is_needed(functions):
    """Verdict, where, which fault fits, trials, seed; resampling from p makes C too frequent."""
    with pytest.raises(AssertionError) as caught:
        assert_preserves_target(
            functions.target_residual, target=P, draft=Q, draft_length=3, seed=7
        )
    text = str(caught.value)
    assert "target_residual does not preserve the target law (differs)" in text
    assert "resample-from-target" in text
    assert "seed=7" in text
    assert "% too" in text


@pytest.mark.parametrize("seed", range(12))
def test_the_fault_that_it_is_is_among_those_named(seed, functions):
    """At the few trials that refute it, resampling from p (.590, .295, .115) cannot be told from
    retrying (.588, .294, .118). Where the output refutes p, the true fault is missing only when
    it is a million times less likely than another: about 1e-5 over seeds and faults.
    """
    shape = {"target": P, "draft": Q, "draft_length": 1, "seed": seed}
    with pytest.raises(AssertionError, match="fits `resample-from-target`"):
        assert_preserves_target(functions.target_residual, **shape)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (np.array(P, np.float32), "sums to 1.000000037 in row 0.*normalise it in float64"),
        ([0.6, 0.3, np.nan], "no finite number"),
        ([[[0.6, 0.3, 0.1]]], "rows of laws"),
    ],
)
def test_what_is_no_law_is_told_with_a_way_out(target, told, functions):
    """Laws of float32 are off by 4e-8, more than the 1e-9 that a promise may be."""
    with pytest.raises(BadLaw, match=told):
        assert_preserves_target(functions.exact, target=target, draft=Q)


def test_it_stops_early(functions):
    """A gross fault takes a small part of the trials that a proof would."""
    result = judge(functions.ignores_draft, target=P, draft=Q)
    assert result.scenarios[0].verdict.value == "matches"
    wrong = judge(lambda draft, q, p, rng: np.pad(draft, ((0, 0), (0, 1))), target=P, draft=Q)
    assert wrong.scenarios[0].verdict.value == "differs"
    assert wrong.scenarios[0].trials <= 2_000


def test_too_few_trials_are_no_proof(functions):
    """Not rejected is not the same as shown: the assertion fails, and says what to raise."""
    with pytest.raises(AssertionError, match=r"inconclusive.*raise `trials`"):
        assert_preserves_target(functions.exact, target=P, draft=Q, trials=500)


def test_broken_verifier_is_told(functions):
    """The exception of the verifier's own stands in the text."""
    with pytest.raises(AssertionError, match="no such kernel"):
        assert_preserves_target(functions.raises, target=P, draft=Q)


def test_rows_differ_by_position(functions):
    """A verifier that reuses the first row's laws is caught, an exact one is not."""
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3), 2)
    settings = {"target": p, "draft": q, "draft_length": 2, "epsilon": 0.03}
    assert_preserves_target(functions.exact, **settings)
    with pytest.raises(AssertionError, match="differs"):
        assert_preserves_target(functions.position_matters, **settings)


def test_generators_are_judged_too(functions):
    """A generator of p x p passes, one of the uniform law fails."""
    assert_preserves_target(functions.generate, target=P, level="generator", horizon=2)
    with pytest.raises(AssertionError, match="differs"):
        assert_preserves_target(
            functions.generate_globally, target=P, level="generator", horizon=2, trials=20_000
        )


@pytest.mark.parametrize("law", [[0.6, 0.3], [0.6, 0.3, 0.2], [1.1, -0.1, 0.0], [np.nan, 1, 0]])
def test_laws_that_are_none_are_refused(law, functions):
    """Before anything is drawn."""
    with pytest.raises(BadLaw):
        assert_preserves_target(functions.exact, target=law, draft=Q)


def test_fixture_takes_settings_from_the_command_line(pytester):
    """One seed and one number of trials for every assertion of a run."""
    pytester.makepyfile(
        """
        import numpy as np

        def verify(draft, q, p, rng):
            return np.pad(draft, ((0, 0), (0, 1)))

        def test_it(preserves_target):
            preserves_target(verify, target=[0.6, 0.4], draft=[0.4, 0.6])
        """
    )
    result = pytester.runpytest_inprocess("--specharness-seed", "11", "-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*does not preserve the target law*", "*seed=11*"])
