"""Chunks and looks: addressed, complete, and merged to the same tallies however they are drawn."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from harness.engine.draw import ChunkTask, in_order
from harness.engine.plan import CHUNK_TRIALS, chunks_of, looks_of, marks_of
from harness.errors import SamplerFailure
from harness.executors import InlineExecutor
from harness.laws.tables import one_context
from harness.rules import RULES
from harness.samplers.rule import RuleSampler
from harness.tallies import TraceTally

P, Q = np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.25, 0.25])


def task() -> ChunkTask:
    sampler = RuleSampler(RULES["speculative"].prepare, one_context(P, Q))
    return ChunkTask(sampler, TraceTally.empty(3), 7, "the scenario")


def drawn(executor, workers, trials=3_000_000):
    chunks = [c for group in chunks_of(marks_of(trials, stop_early=False)) for c in group]
    total = TraceTally.empty(3)
    for _, tally in in_order(task(), chunks, executor, workers):
        total = total.merge(tally)
    return total.counts()["trace"]


@pytest.mark.parametrize("trials", [1, 63, 64, 1_000, CHUNK_TRIALS, 3 * CHUNK_TRIALS + 17])
@pytest.mark.parametrize("stop_early", [True, False])
def test_chunks_cover_the_trials_once_and_are_numbered_throughout(trials, stop_early):
    """The chunks of a plan add up to the trials, and marks end with the last trial."""
    marks = marks_of(trials, stop_early=stop_early)
    chunks = [chunk for group in chunks_of(marks) for chunk in group]
    assert marks[-1] == trials
    assert sum(chunk.trials for chunk in chunks) == trials
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert max(chunk.trials for chunk in chunks) <= CHUNK_TRIALS


def test_without_early_stopping_there_is_one_look():
    """The level of a certificate is spent at looks, not where growth is merely recorded."""
    assert looks_of(10_000, stop_early=False) == (10_000,)
    assert set(looks_of(10_000, stop_early=True)) == set(marks_of(10_000, stop_early=True))


@pytest.mark.parametrize("workers", [2, 3, 5])
def test_tallies_do_not_depend_on_the_number_of_threads(workers):
    """Bit for bit the same as one worker: a stream is an address."""
    with ThreadPoolExecutor(workers) as threads:
        np.testing.assert_array_equal(drawn(threads, workers), drawn(InlineExecutor(), 1))


def test_chunks_run_in_other_processes_give_the_same_tallies():
    """Anything with the interface of an executor will do: here processes."""
    chunks = [c for group in chunks_of((40_000, 90_000)) for c in group]
    with ProcessPoolExecutor(2) as processes:
        there = [t.counts()["trace"] for _, t in in_order(task(), chunks, processes, 2)]
    here = [t.counts()["trace"] for _, t in in_order(task(), chunks, InlineExecutor(), 1)]
    for a, b in zip(there, here, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SamplerFailure])
def test_chunks_ahead_are_not_drawn_once_a_run_has_ended(end):
    """An interrupted run does not wait for the 14 chunks that two workers had ahead."""
    first_two, drawn = threading.Barrier(2, timeout=30), []

    def failing(chunk):
        drawn.append(chunk.number)
        if chunk.number < 2:
            first_two.wait()
        if chunk.number == 0:
            raise end
        time.sleep(0.2)

    chunks = [c for group in chunks_of((32 * CHUNK_TRIALS,)) for c in group]
    with pytest.raises(end), ThreadPoolExecutor(2) as threads:
        list(in_order(failing, chunks, threads, 2))
    assert len(drawn) < 8


def test_chunks_in_any_order_merge_to_the_same_tally():
    """What a resume or a cluster relies on."""
    chunks = [c for group in chunks_of((5_000, 20_000, 50_000)) for c in group]
    forwards = backwards = TraceTally.empty(3)
    for chunk in chunks:
        forwards = forwards.merge(task()(chunk))
    for chunk in reversed(chunks):
        backwards = backwards.merge(task()(chunk))
    np.testing.assert_array_equal(forwards.counts()["trace"], backwards.counts()["trace"])


def test_another_scenario_or_seed_has_other_numbers():
    """Adding a scenario changes no other; its own stream differs by its name and the seed."""
    chunk = chunks_of((50_000,))[0][0]
    ours = task()
    others = [
        ChunkTask(ours.sampler, ours.empty, 7, "another scenario"),
        ChunkTask(ours.sampler, ours.empty, 8, "the scenario"),
    ]
    for other in others:
        assert (other(chunk).counts()["trace"] != ours(chunk).counts()["trace"]).any()
