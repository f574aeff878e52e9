"""The first impossible draw of a run, found again from the address of its chunk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness import parse_suite, run_suite
from harness.engine.draw import ChunkTask
from harness.engine.offender import Offender, first_offender
from harness.engine.plan import Chunk
from harness.engine.prepare import prepare
from harness.engine.sequence import Levels, draw_until_decided
from harness.executors import InlineExecutor

SUITE = """
version: 1
suite: offenders
vocabulary: [A, B, C]
target: {probs: [0.60, 0.30, 0.10]}
draft: {probs: [0.50, 0.25, 0.25]}
trials: 300_000
scenarios:
  - {name: resample, rule: resample-from-target, observe: [trace]}
  - {name: exact, rule: speculative, observe: [trace]}
  - {name: no C, rule: speculative, target: {probs: [0.7, 0.3, 0]}, draft: {probs: [0.5, 0.5, 0]}}
  - {name: C at times, rule: accept-everything, target: {probs: [0.7, 0.3, 0]},
     draft: {probs: [0.5, 0.49999, 0.00001]}}
"""


def run_of(name, seed, **changes):
    suite = parse_suite(SUITE, "made.yaml")
    (scenario,) = (s for s in suite.scenarios if s.name == name)
    prepared = prepare(replace(scenario, **changes), suite, {})
    levels = Levels(1e-6, 1e-6, 1)
    drawn = draw_until_decided(prepared, seed, levels, InlineExecutor(), 1, lambda _: None)
    return prepared, drawn


def first_in_order(prepared, drawn, seed, observable):
    """Oracle: every trial of the run, in order, one tally each."""
    task = ChunkTask(prepared.sampler, prepared.empty, seed, prepared.scenario.name)
    done = 0
    for number, size in enumerate(np.diff([0, *(trials for trials, _ in drawn.marks)])):
        for batch in task.batches(Chunk(number, int(size))):
            tokens, drafted, kept = batch.tokens[:, 0], batch.drafted[:, 0], batch.n_accepted > 0
            wrong = tokens == 2
            if observable == "trace":
                wrong &= (drafted == 2) & ~kept
            if wrong.any():
                return done + int(np.argmax(wrong)) + 1
            done += len(batch)
    return None


@pytest.mark.parametrize("stop_early", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("name", "observable", "label"),
    [("resample", "trace", "C replaced by C"), ("C at times", "output", "C")],
)
def test_the_first_impossible_draw_is_the_one_that_order_says(
    name, observable, label, seed, stop_early
):
    """Oracle: the run's trials one after the other."""
    prepared, drawn = run_of(name, seed, stop_early=stop_early)
    (one,) = (e.observable for e in prepared.examiners if e.observable.name == observable)
    found = first_offender(prepared, one, drawn, seed)
    wanted = first_in_order(prepared, drawn, seed, observable)
    assert (None if found is None else found.trial) == wanted
    if found is not None:
        assert str(found) == f"{label} in trial {wanted:,}"


def test_a_run_names_it_in_its_evidence_and_in_its_reason():
    """Oracle: the same run's trials one after the other."""
    whole = parse_suite(SUITE, "made.yaml")
    result = run_suite(replace(whole, scenarios=whole.scenarios[:1], seed=3))
    prepared, drawn = run_of("resample", 3)
    wanted = first_in_order(prepared, drawn, 3, "trace")
    (scenario,) = result.scenarios
    assert f"first in trial {wanted:,}" in scenario.reason
    (support,) = (e for e in scenario.observable("trace").evidence if e.result.check == "support")
    assert f"first C replaced by C in trial {wanted:,}" in support.result.detail


def test_where_nothing_impossible_happened_nothing_is_named():
    """The exact rule never hits a hard zero; nor does a law without zeros have one."""
    for name in ("exact", "no C"):
        prepared, drawn = run_of(name, 1)
        for examiner in prepared.examiners:
            assert first_offender(prepared, examiner.observable, drawn, 1) is None


def test_the_first_impossible_trace_falls_after_about_67_draws():
    """Resampling from p puts back the rejected C with probability .15 * .1 = .015 a trial.

    Mean of 400 geometric times against 66.7; five standard errors, 6e-7 of seeds beyond.
    """
    times = []
    for seed in range(400):
        prepared, drawn = run_of("resample", seed, trials=3_000)
        (trace,) = (e.observable for e in prepared.examiners if e.observable.judged)
        found = first_offender(prepared, trace, drawn, seed)
        assert isinstance(found, Offender)
        times.append(found.trial)
    assert abs(np.mean(times) - 1 / 0.015) < 5 * np.sqrt(0.985) / 0.015 / np.sqrt(400)
