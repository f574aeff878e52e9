"""Speed as a ratio: what a trial costs against the random numbers that it could not do without."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from harness.arrays import Probs
from harness.engine.draw import ChunkTask
from harness.engine.observe_step import FULL_TRACE_UP_TO
from harness.engine.plan import BATCH_TRIALS, CHUNK_TRIALS, Chunk, span_size
from harness.executors import processes
from harness.laws.contexts import markov_contexts
from harness.laws.made import make, perturbed
from harness.laws.tables import LawTables, one_context
from harness.rng import stream
from harness.rules import RULES
from harness.samplers.rule import RuleSampler
from harness.tallies import FactoredTrace, LengthTally, Together, TraceTally

__all__ = ["VOCABULARIES", "BenchRow", "bench_rows", "laws_of_size"]

VOCABULARIES = (3, 32, 1_000, 32_000, 128_256)
REPETITIONS = 7  # each times the floor and every row once, so that noise hits all alike
NOISE = 0.4  # standard deviation between target and draft logits: overlap about .85


@dataclass(frozen=True, slots=True)
class BenchRow:
    """Medians over repetitions. `floor_ns`: filling an array with two float64 uniforms a trial from
    SFC64, on one thread, in the same process. `threads` is the number of processes at work, of one
    thread each. `ns_per_trial` is wall time over all trials; for a
    draft longer than one both are per committed token.
    """

    vocabulary: int
    draft_length: int
    threads: int
    ns_per_trial: float
    floor_ns: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Subject:
    """What is timed: a task, and how many tokens a trial of it commits."""

    task: ChunkTask
    vocabulary: int
    draft_length: int = 1
    tokens: int = 1


def bench_rows(
    vocabularies: tuple[int, ...] = VOCABULARIES, threads: tuple[int, ...] = (1, 2)
) -> Iterator[BenchRow]:
    """The exact rule at one position, then in rounds of four on a chain whose rows all differ;
    trials simulated and tallied as a run does it, in as many processes of one thread.
    """
    with ExitStack() as stack:
        pools = {n: stack.enter_context(processes(n)) for n in threads}
        for vocabulary in vocabularies:
            yield from _rows(_one_position(vocabulary), pools)
        yield from _rows(_rounds(), pools)


def _rows(subject: Subject, pools: Mapping[int, Executor]) -> Iterator[BenchRow]:
    trials = CHUNK_TRIALS // subject.tokens
    size = span_size(subject.vocabulary)
    for n, pool in pools.items():
        _seconds_on(n, pool, subject.task, 1, 1)  # starts processes, builds tables
    floors: list[float] = []
    times: dict[int, list[float]] = {n: [] for n in pools}
    buffer = np.empty((2, BATCH_TRIALS))
    rng = stream(0, "bench")
    for _ in range(REPETITIONS):
        floors.append(_seconds(lambda: _fill(buffer, rng)) / CHUNK_TRIALS)
        for n, pool in pools.items():
            units = n * size * trials * subject.tokens
            times[n].append(_seconds_on(n, pool, subject.task, trials, size) / units)
    floor = statistics.median(floors) * 1e9
    for n in pools:
        cost = statistics.median(times[n]) * 1e9
        yield BenchRow(subject.vocabulary, subject.draft_length, n, cost, floor, cost / floor)


def _one_position(vocabulary: int) -> Subject:
    p, q = laws_of_size(vocabulary)
    sampler = RuleSampler(RULES["speculative"].prepare, one_context(p, q))
    tally = TraceTally if vocabulary <= FULL_TRACE_UP_TO else FactoredTrace
    task = ChunkTask(sampler, tally.empty(vocabulary), 0, f"bench {vocabulary}")
    return Subject(task, vocabulary)


def _rounds(vocabulary: int = 32, draft_length: int = 4, horizon: int = 16) -> Subject:
    """A chain of order one: after every token other laws, drafts near them."""
    p = make("dirichlet", vocabulary, rows=vocabulary + 1, concentration=1.0, seed=3)
    q = perturbed(p, noise=NOISE, seed=4)
    contexts = markov_contexts(vocabulary, 1)
    laws = LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)
    sampler = RuleSampler(RULES["speculative"].prepare, laws, draft_length, horizon)
    tally = Together((TraceTally.empty(vocabulary), LengthTally.empty(draft_length)))
    return Subject(ChunkTask(sampler, tally, 0, "bench rounds"), vocabulary, draft_length, horizon)


def laws_of_size(vocabulary: int) -> tuple[Probs, Probs]:
    """Target and draft (V,): the three-token example, or Zipf's law with a draft near it."""
    if vocabulary == 3:
        return np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.25, 0.25])
    target = make("zipf", vocabulary, exponent=1.0)
    return target[0], perturbed(target, noise=NOISE, seed=2)[0]


def _fill(buffer: Probs, rng: np.random.Generator) -> None:
    for _ in range(CHUNK_TRIALS // BATCH_TRIALS):
        rng.random(out=buffer[0])
        rng.random(out=buffer[1])


def _seconds_on(workers: int, pool: Executor, task: ChunkTask, trials: int, size: int) -> float:
    """Seconds of a span of `size` chunks for each worker."""
    spans = [
        [Chunk(worker * size + number, trials) for number in range(size)]
        for worker in range(workers)
    ]
    return _seconds(lambda: [done.result() for done in [pool.submit(task.span, s) for s in spans]])


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
