"""A suite from text to verdicts: what is decided, what is not, and what it does not depend on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from harness import Verdict, parse_suite, run_suite
from harness.checks import CheckResult
from harness.engine.decide import adjusted, decide, exit_code, family_adjusted, worst
from harness.engine.result import Evidence
from harness.errors import SamplerFailure, UnknownName

THREE_TOKEN = """
version: 1
suite: three-token
vocabulary: [A, B, C]
target: {probs: [0.60, 0.30, 0.10]}
draft:  {probs: [0.50, 0.25, 0.25]}
trials: 400_000
epsilon: 0.01
scenarios:
  - {name: exact, rule: speculative, expect: matches}
  - {name: resample, rule: resample-from-target, expect: differs}
"""


def suite(extra: str = "", text: str = THREE_TOKEN):
    return parse_suite(text + extra, "made.yaml")


def only(result):
    (scenario,) = result.scenarios
    return scenario


def same(a, b):
    """Everything but time is equal."""
    for x, y in zip(a.scenarios, b.scenarios, strict=True):
        assert (x.verdict, x.reason, x.trials, x.growth) == (
            y.verdict,
            y.reason,
            y.trials,
            y.growth,
        )
        for one, other in zip(x.observables, y.observables, strict=True):
            np.testing.assert_array_equal(one.counts, other.counts)
            assert one.evidence == other.evidence


def test_the_exact_rule_matches_and_resampling_differs():
    """The example that the project exists for; oracle: the stated law (.59, .295, .115)."""
    result = run_suite(suite())
    exact, wrong = result.scenarios
    assert (exact.verdict, wrong.verdict) == (Verdict.MATCHES, Verdict.DIFFERS)
    assert result.exit_code == 0
    output = wrong.observable("output")
    np.testing.assert_allclose(output.exact, [0.59, 0.295, 0.115], atol=1e-15)
    assert output.finding == "C is 15 % too frequent" or output.finding.startswith("C is 1")


def test_the_result_does_not_depend_on_workers():
    """Bit for bit, with and without early stopping."""
    for extra in ("stop_early: true\n", ""):
        given = suite(extra)
        same(run_suite(given, workers=1), run_suite(given, workers=3))


def test_an_executor_of_the_callers_own_stays_open():
    """Two suites in a row on one pool, such as a cluster's, give what threads of our own give."""
    with ThreadPoolExecutor(2) as pool:
        twice = [run_suite(suite(), workers=2, executor=pool) for _ in range(2)]
        assert pool.submit(int, "7").result() == 7
    for result in twice:
        same(result, run_suite(suite(), workers=1))


def test_early_stopping_draws_less_and_says_the_same():
    """The exact rule is certified and the fault refuted before the trials run out."""
    result = run_suite(suite("stop_early: true\n"))
    exact, wrong = result.scenarios
    assert (exact.verdict, wrong.verdict) == (Verdict.MATCHES, Verdict.DIFFERS)
    assert exact.trials < 400_000
    assert wrong.trials < 100_000


def test_a_wrong_sampler_that_should_match_gives_exit_code_1():
    """The gate: a fault without `expect: differs`."""
    text = THREE_TOKEN.replace("expect: differs", "expect: matches")
    assert run_suite(suite(text=text)).exit_code == 1


def test_a_control_that_is_not_caught_gives_exit_code_4():
    """The exact rule declared a fault: the harness must not be trusted on that file."""
    text = THREE_TOKEN.replace(
        "rule: speculative, expect: matches", "rule: speculative, expect: differs"
    )
    assert run_suite(suite(text=text)).exit_code == 4


def test_too_few_trials_are_inconclusive_not_a_match():
    """Not rejecting is never enough: 1,000 trials cannot bound TV by .01."""
    text = THREE_TOKEN.replace("400_000", "1_000").split("  - {name: resample")[0]
    result = run_suite(suite(text=text))
    assert only(result).verdict is Verdict.INCONCLUSIVE
    assert result.exit_code == 3


def test_a_wrong_fact_makes_the_scenario_invalid():
    """Facts are held against fractions: .85 is right, .86 is not."""
    text = THREE_TOKEN.replace("expect: matches}", "expect: matches, facts: {acceptance: 0.86}}")
    result = run_suite(suite(text=text))
    assert result.scenarios[0].verdict is Verdict.INVALID
    assert "17/20" in result.scenarios[0].reason
    assert result.exit_code == 4


def test_a_sampler_that_ignores_its_draft_matches_on_output_and_differs_on_the_trace():
    """Lossless with another trace: judged only where the scenario asks for it."""
    line = "  - {name: ignore, rule: ignore-draft"
    base = THREE_TOKEN.split("scenarios:", maxsplit=1)[0] + "scenarios:\n"
    assert only(run_suite(suite(text=base + line + "}\n"))).verdict is Verdict.MATCHES
    asked = only(run_suite(suite(text=base + line + ", observe: [output, trace]}\n")))
    assert asked.verdict is Verdict.DIFFERS
    assert asked.observable("output").verdict is Verdict.MATCHES
    assert asked.observable("trace").verdict is Verdict.DIFFERS


def test_a_sampler_that_fails_is_invalid_and_the_others_go_on():
    """A failure is data: the suite's other scenarios keep their verdicts."""

    class Broken:
        provides = frozenset()
        concurrent = False

        def sample(self, n_trials, rng):
            raise SamplerFailure("it returned a token out of range")

    text = THREE_TOKEN.replace("rule: resample-from-target, expect: differs", "sampler: mine")
    result = run_suite(suite(text=text), samplers={"mine": lambda _: Broken()})
    exact, broken = result.scenarios
    assert exact.verdict is Verdict.MATCHES
    assert broken.verdict is Verdict.INVALID
    assert broken.reason == "it returned a token out of range"
    assert result.exit_code == 4


def test_a_sampler_that_nobody_declared_is_refused_by_name():
    """Nothing is drawn, and the message says where to declare it."""
    text = THREE_TOKEN.replace("rule: resample-from-target, expect: differs", "sampler: mine")
    with pytest.raises(UnknownName, match="--sampler NAME="):
        run_suite(suite(text=text))


def test_equal_laws_never_reject_and_never_normalise_nothing():
    """P = q: the exact rule accepts everything; token matching keeps sum p q = .46."""
    text = THREE_TOKEN.replace("[0.50, 0.25, 0.25]", "[0.60, 0.30, 0.10]").replace(
        "rule: resample-from-target, expect: differs", "rule: token-matching-keep-target"
    )
    exact, matching = run_suite(suite(text=text)).scenarios
    assert exact.acceptance.observed == exact.acceptance.expected == 1.0
    assert matching.acceptance.expected == pytest.approx(0.46, abs=1e-15)
    assert matching.acceptance.low < 0.46 < matching.acceptance.high


def evidence(p_value: float, share: float) -> Evidence:
    return Evidence(CheckResult("made", 0.0, p_value), share)


def test_an_observable_differs_at_its_shares_of_alpha():
    """Weighted Bonferroni: the smallest p over its share; a check without share counts nothing."""
    assert adjusted([evidence(1e-6, 0.5), evidence(0.3, 0.2), evidence(0.0, 0.0)]) == 2e-6
    assert adjusted([evidence(0.9, 0.5)]) == 1.0
    assert adjusted([]) == 1.0


def test_holm_runs_over_the_family_and_controls_stand_outside():
    """Oracle: Holm by hand for three tests; the control takes the factor 3."""
    after = family_adjusted([1e-3, 0.01, 1e-4, 0.04], [True, True, False, True])
    np.testing.assert_allclose(after, [3e-3, 0.02, 3e-4, 0.04])


@pytest.mark.parametrize(
    ("p", "bound", "verdict"),
    [
        (1e-7, 0.001, Verdict.DIFFERS),  # both statements may be true within epsilon: differs wins
        (0.5, 0.001, Verdict.MATCHES),
        (0.5, 0.02, Verdict.INCONCLUSIVE),
    ],
)
def test_a_verdict_needs_evidence_or_proof(p, bound, verdict):
    """The table of STATISTICS, section 1."""
    assert decide(p, 1e-6, bound, 0.01) is verdict


def test_a_scenario_is_as_good_as_its_worst_observable():
    """Invalid < differs < inconclusive < matches."""
    assert worst([Verdict.MATCHES, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE
    assert worst([Verdict.INCONCLUSIVE, Verdict.DIFFERS]) is Verdict.DIFFERS


def test_the_exit_code_of_a_mixed_run_is_that_of_its_gravest_scenario():
    """4 before 1 before 3 before 0."""
    base = only(run_suite(suite(text=THREE_TOKEN.split("  - {name: resample", maxsplit=1)[0])))
    failed = replace(base, verdict=Verdict.DIFFERS, as_expected=False)
    missed = replace(base, expect="differs", verdict=Verdict.MATCHES, as_expected=False)
    undecided = replace(base, verdict=Verdict.INCONCLUSIVE, as_expected=False)
    assert exit_code([base, undecided]) == 3
    assert exit_code([undecided, failed]) == 1
    assert exit_code([failed, missed]) == 4


def test_the_manifest_tells_what_is_needed_to_repeat_the_run():
    """Text and hash of the suite, laws, seed, stream, versions, machine, time."""
    given = suite()
    manifest = run_suite(given).manifest
    assert manifest["suite"]["text"] == given.text
    assert len(manifest["suite"]["sha256"]) == 64
    assert manifest["scenarios"]["exact"]["laws"]["target"]["rows"] == [[0.6, 0.3, 0.1]]
    assert {"seed", "stream", "versions", "machine", "wall_seconds", "cpu_seconds"} <= set(manifest)


def test_exact_facts_are_fractions_not_floats():
    """.1 + .2 and friends: a fact that only floats would doubt is accepted."""
    text = THREE_TOKEN.replace(
        "expect: matches}", "expect: matches, facts: {law: {A: 3/5, B: 0.3, C: 1/10}}}"
    )
    given = suite(text=text)
    assert given.scenarios[0].facts.law["B"] == Fraction(3, 10)
    assert run_suite(given).scenarios[0].verdict is Verdict.MATCHES
