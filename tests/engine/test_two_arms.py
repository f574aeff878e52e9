"""Two samplers and no law: one is held against the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from harness import Verdict, parse_suite, run_suite
from harness.checks.two_sample import BlockEValue
from harness.engine.judge import Outcome, judge
from harness.engine.pairs import PairTask
from harness.engine.plan import Chunk, chunks_of, looks_of
from harness.engine.rooms import examined, made_ready
from harness.engine.sequence import Levels
from harness.engine.two_arms import draw_pairs, shares_of
from harness.errors import ScenarioError
from harness.executors import InlineExecutor
from harness.plots import plot_suite
from harness.reports import REPORTS
from harness.reports.json import document
from harness.store import load, save
from harness.trials import TrialBatch

THREE_TOKEN = """
version: 1
suite: two-samplers
vocabulary: [A, B, C]
target: {probs: [0.60, 0.30, 0.10]}
draft:  {probs: [0.50, 0.25, 0.25]}
reference: {rule: autoregressive}
trials: 300_000
epsilon: 0.02
stop_early: true
scenarios:
  - {name: exact, rule: speculative, expect: matches}
  - {name: resample, rule: resample-from-target, expect: differs}
"""

FROM_OUTSIDE = """
version: 1
suite: from-outside
vocabulary: [A, B, C, D]
reference: {sampler: old}
trials: 20_000
epsilon: 0.2
horizon: 3
stop_early: true
scenarios:
  - {name: new against old, sampler: new}
"""


@dataclass(frozen=True)
class Made:
    """A sampler around a function from (n, rng) to tokens, and prompts in turn."""

    draw: object
    prompts: int = 1
    provides = frozenset()
    concurrent = True

    def sample(self, n_trials, rng):
        prompts = np.arange(n_trials) % self.prompts
        return TrialBatch(self.draw(prompts, rng), prompts=prompts)


def uniform(prompts, rng):
    return rng.integers(4, size=(len(prompts), 3))


def copied(prompts, rng):
    """Every position uniform, the second a copy of the first half of the time."""
    tokens = uniform(prompts, rng)
    tokens[:, 1] = np.where(rng.random(len(prompts)) < 0.5, tokens[:, 0], tokens[:, 1])
    return tokens


def by_prompt(shift):
    """Tokens that lean to the prompt, by `shift` more: arms that differ only within prompts."""

    def draw(prompts, rng):
        lean = rng.random((len(prompts), 3)) < 0.3
        return np.where(lean, (prompts[:, None] + shift) % 4, uniform(prompts, rng))

    return draw


def parsed(text=THREE_TOKEN, **changes):
    suite = parse_suite(text, "made.yaml")
    scenarios = tuple(replace(s, **changes) for s in suite.scenarios)
    return replace(suite, scenarios=scenarios)


def outside(new, old, text=FROM_OUTSIDE, **changes):
    samplers = {"new": lambda _: new, "old": lambda _: old}
    return run_suite(parsed(text, **changes), samplers=samplers, workers=1)


def verdict(ready, suite, levels):
    """The verdict of one scenario by the engine's own code, without a manifest."""
    found = examined(ready, suite, levels, InlineExecutor(), 1, lambda _: None)
    (result,) = judge([Outcome(ready, found)], suite)
    return result.verdict


def test_arms_of_one_sampler_differ_no_more_often_than_the_level():
    """1,000 seeds, alpha .05, looks at every pair up to 400: at most 86 may differ; 50 are allowed
    on average and 86 are exceeded with probability 4e-7. Oracle: Ville, exact binomial.
    """
    assert stats.binom.sf(86, 1000, 0.05) < 1e-6
    base = replace(parsed(trials=400, rule="autoregressive", expect="matches"), alpha=0.05)
    ready = made_ready(base.scenarios[0], base, {})
    levels = Levels(0.05, 1e-6, 1)
    wrong = sum(
        verdict(ready, replace(base, seed=seed), levels) is Verdict.DIFFERS for seed in range(1000)
    )
    assert wrong <= 86


def test_the_fault_is_found_with_about_31_000_draws_an_arm():
    """120 seeds, alpha 1e-6: every one differs, after 31,000 draws an arm on average.

    Oracle: notes, mean 31.0k; the standard deviation of a run is at most 11k, so that a mean of 120
    is within 4,920 of it but for 1e-6.
    """
    suite = parsed()
    ready = made_ready(suite.scenarios[1], suite, {})
    levels = Levels(1e-6, 1e-6, 1)
    stops = []
    for seed in range(120):
        drawn = draw_pairs(ready, seed, levels, InlineExecutor(), 1, lambda _: None)
        assert drawn.standing.values[0].log_e >= np.log(1e6)
        stops.append(drawn.standing.trials)
    assert abs(np.mean(stops) - 31_000) < 4_920


def test_a_run_stops_at_the_very_pair_that_decides():
    """Ln E passes ln 1e6 there and nowhere before. Oracle: the e-value over the same pairs."""
    suite = parsed()
    ready = made_ready(suite.scenarios[1], suite, {})
    drawn = draw_pairs(ready, 3, Levels(1e-6, 1e-6, 1), InlineExecutor(), 1, lambda _: None)
    marks = looks_of(ready.scenario.trials, stop_early=True)
    task = PairTask(ready, 3)
    pairs = [task(chunk) for chunks in chunks_of(marks) for chunk in chunks]
    x, y = (
        np.concatenate([getattr(p, arm)[:, 0] for p in pairs]) for arm in ("sampled", "reference")
    )
    _, path = BlockEValue.empty(3).update(x, y)
    assert drawn.standing.trials == int(np.argmax(path >= np.log(1e6))) + 1


def test_the_exact_rule_matches_and_the_fault_differs_without_a_law():
    """What a gate wants: exit 0, a proved bound within epsilon, and the cell that is off."""
    result = run_suite(parsed(), workers=1)
    exact, wrong = result.scenarios
    assert (exact.verdict, wrong.verdict) == (Verdict.MATCHES, Verdict.DIFFERS)
    assert result.exit_code == 0
    assert exact.observables[0].tv_bound <= 0.02
    assert exact.reference == "autoregressive"
    assert wrong.reason.startswith("output: C is ")
    assert wrong.reason.endswith("% more frequent than with the reference")
    assert wrong.observables[0].reference_counts.sum() == wrong.trials


def test_the_result_does_not_depend_on_workers():
    """Counts of both arms, evidence and growth, bit for bit. Oracle: one worker."""
    one, three = (run_suite(parsed(trials=60_000), workers=n) for n in (1, 3))
    for a, b in zip(one.scenarios, three.scenarios, strict=True):
        assert (a.trials, a.growth, a.reason) == (b.trials, b.growth, b.reason)
        for x, y in zip(a.observables, b.observables, strict=True):
            np.testing.assert_array_equal(x.counts, y.counts)
            np.testing.assert_array_equal(x.reference_counts, y.reference_counts)


def test_the_arms_have_streams_of_their_own():
    """One rule in both arms: the tokens are not the same ones."""
    suite = parsed(rule="autoregressive")
    pairs = PairTask(made_ready(suite.scenarios[0], suite, {}), 0)(Chunk(0, 1000))
    assert 300 < (pairs.sampled != pairs.reference).sum() < 800  # 540 expected, 16 a deviation


def test_too_few_pairs_are_inconclusive():
    """No difference seen is no match: exit code 3, and the bound that was reached."""
    result = run_suite(parsed(trials=500, expect="matches"), workers=1)
    assert {s.verdict for s in result.scenarios} == {Verdict.INCONCLUSIVE}
    assert "no difference seen" in result.scenarios[0].reason
    assert result.exit_code == 3


def test_samplers_from_outside_need_no_law(tmp_path):
    """Two equal ones match; reports, plots and the store take a run without a promised law."""
    result = outside(Made(uniform), Made(uniform))
    (scenario,) = result.scenarios
    assert scenario.verdict is Verdict.MATCHES
    assert np.isnan(scenario.p).all()
    folder = save(result, tmp_path, {})
    assert load(folder).scenarios[0].reason == scenario.reason
    assert plot_suite(result, tmp_path / "plots", kinds=("png",))
    assert all(REPORTS[name](result) for name in REPORTS)
    (told,) = document(result)["scenarios"]
    assert told["reference"] == "old"
    assert sum(told["law"]["reference_counts"]) == scenario.trials


def test_broken_dependence_is_found_in_the_joint_law():
    """Each position uniform in both arms, the second a copy in one: the joint law tells."""
    (scenario,) = outside(Made(copied), Made(uniform)).scenarios
    assert scenario.verdict is Verdict.DIFFERS
    assert scenario.observable("output").verdict is not Verdict.DIFFERS
    assert scenario.reason.startswith("joint: ")


def permutation_p(scenario):
    found = [e for e in scenario.observable("joint").evidence if e.result.check == "permutation"]
    return found[0].result.p_value


def test_sequences_are_permuted_inside_their_prompts():
    """Prompts that lean to different tokens: equal arms are not told apart (p > .001, one in 1,000
    seeds may fail, this one does not), arms that lean otherwise within prompts are, by the smallest
    possible p-value and by the e-value; pooled over prompts they have one law.
    """
    text = FROM_OUTSIDE + "    prompts: [[A], [B], [C], [D]]\n"
    text = text.replace("new}\n    prompts", "new,\n     prompts").replace("[D]]\n", "[D]]}\n")
    settings = {"stop_early": False, "trials": 4_000}
    same, shifted = (
        outside(Made(by_prompt(0), 4), Made(by_prompt(s), 4), text, **settings).scenarios[0]
        for s in (0, 1)
    )
    assert same.verdict is not Verdict.DIFFERS
    assert permutation_p(same) > 0.001
    assert shifted.verdict is Verdict.DIFFERS
    assert permutation_p(shifted) == pytest.approx(1 / 1000)
    assert shifted.observable("output").bound_of == "mean over 4 prompts"


def test_arms_that_take_other_prompts_are_invalid():
    """Pairs must share their prompt: the second sampler knows of none but the first."""
    text = FROM_OUTSIDE.replace("sampler: new}", "sampler: new, prompts: [[A], [B]]}")
    (scenario,) = outside(Made(uniform, 2), Made(uniform, 1), text).scenarios
    assert scenario.verdict is Verdict.INVALID
    assert "same order" in scenario.reason


def test_the_permutation_test_has_a_share_where_it_could_decide():
    """Its smallest p-value is 1/1,000: nothing of alpha = 1e-6, a fifth of .05; none for tokens."""
    assert shares_of(1e-6, 4) == (1.0, 0.0)
    assert shares_of(0.05, 1) == (1.0, 0.0)
    assert shares_of(0.05, 4) == (0.8, 0.2)


def test_long_sequences_are_seen_in_windows():
    """40 tokens of 4: windows of 10, 2**20 cells each; a fault of the last token alone is found."""

    def long(prompts, rng, last=0.25):
        tokens = rng.integers(4, size=(len(prompts), 40))
        tokens[:, -1] = np.where(rng.random(len(prompts)) < last, 0, tokens[:, -1])
        return tokens

    def fair(prompts, rng):
        return long(prompts, rng, 0.0)

    text = FROM_OUTSIDE.replace("horizon: 3", "horizon: 25")
    suite = parsed(text)
    ready = made_ready(suite.scenarios[0], suite, {"new": Made, "old": Made})
    windows = ("1 to 10", "11 to 20", "21 to 25")
    names = [*(f"joint [tokens {window}]" for window in windows), "output"]
    assert [view.name for view in ready.views] == names
    assert [view.law for view in ready.views][1:3] == [
        "tokens 11 to 20 alone",
        "tokens 21 to 25 alone",
    ]
    assert ready.scope == (
        "the first 25 tokens jointly, bonus token included, but in windows of 10, not across them"
    )
    assert ready.views[0].label(4**10 - 1) == " ".join("D" * 10)
    text = FROM_OUTSIDE.replace("horizon: 3", "horizon: 21")
    (scenario,) = outside(
        Made(lambda *a: long(*a)[:, -21:]), Made(lambda *a: fair(*a)[:, -21:]), text
    ).scenarios
    assert scenario.verdict is Verdict.DIFFERS
    assert scenario.reason.startswith("joint [token 21]: A ")


def test_sequences_may_end_early():
    """After the end token there is nothing: -1 in both arms, and one cell for all of it."""

    def ending(prompts, rng):
        tokens = uniform(prompts, rng)
        over = np.cumsum(tokens == 3, axis=1) - (tokens == 3) > 0
        return np.where(over, -1, tokens)

    text = FROM_OUTSIDE.replace("horizon: 3", "horizon: 3\nend_token: D")
    (scenario,) = outside(Made(ending), Made(ending), text).scenarios
    assert scenario.verdict is Verdict.MATCHES
    joint = scenario.observable("joint")
    assert joint.cells[-1] == "D D D"
    assert joint.counts[-1] / joint.trials == pytest.approx(1 / 4, abs=0.05)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("target: {probs: [0.60, 0.30, 0.10]}\n", ""), "no target law"),
        (("{rule: autoregressive}", "{}"), "neither a rule nor a sampler"),
        (("{rule: autoregressive}", "{rule: autoregressive, sampler: x}"), "both a rule and"),
        (("{rule: autoregressive}", "{rule: autoregresive}"), "did you mean 'autoregressive'"),
        (("stop_early: true", "observe: [trace]"), "no trace of two samplers"),
    ],
)
def test_impossible_references_are_refused_with_their_place(change, complaint):
    """File, line and a way out."""
    with pytest.raises(ScenarioError, match=complaint):
        parse_suite(THREE_TOKEN.replace(*change), "made.yaml")
