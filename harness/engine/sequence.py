"""Drawing one scenario, look by look, until it is decided or its trials are spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import chain

from harness.checks import spent_per_look
from harness.engine.draw import ChunkTask, in_order
from harness.engine.examine import SHARES, Examiner
from harness.engine.plan import chunks_of, looks_of
from harness.engine.prepare import Prepared
from harness.protocols import Tally

__all__ = ["Drawn", "Levels", "draw_until_decided"]

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Levels:
    """Error levels of one scenario: `alpha` over the family of `family` observables, `delta` of a
    certificate, over all its looks."""

    alpha: float
    delta: float
    family: int

    @property
    def log_threshold(self) -> float:
        """ln E at which an observable differs, whatever else the suite holds."""
        return math.log(self.family / (SHARES["e-process"] * self.alpha))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Trials of a scenario: their tally, `delta` left for a certificate, the growth of evidence
    (trials, TV, bound, ln E) of the first observable, and whether the last declared look was reached."""

    tally: Tally
    trials: int
    delta: float
    growth: tuple[tuple[int, float, float, float], ...]
    final: bool


def draw_until_decided(
    prepared: Prepared,
    seed: int,
    levels: Levels,
    executor: Executor,
    workers: int,
    progress: Progress,
) -> Drawn:
    """Draws chunk by chunk; with `stop_early` a look decides as soon as it can."""
    scenario = prepared.scenario
    looks = looks_of(scenario.trials, stop_early=scenario.stop_early)
    delta = spent_per_look(levels.delta, len(looks))
    growth: list[tuple[int, float, float, float]] = []
    tally, done = prepared.empty, 0
    for done, tally in _looks(prepared, seed, looks, executor, workers, progress):
        growth.append(_grown(prepared.examiners[0], tally, done, delta, scenario.epsilon))
        if done < scenario.trials and _decided(prepared, tally, delta, levels):
            break
    return Drawn(tally, done, delta, tuple(growth), final=done == scenario.trials)


def _looks(
    prepared: Prepared,
    seed: int,
    looks: tuple[int, ...],
    executor: Executor,
    workers: int,
    progress: Progress,
) -> Iterator[tuple[int, Tally]]:
    """(trials, tally) at each look; chunks are drawn ahead of the look that is being decided."""
    scenario = prepared.scenario
    task = ChunkTask(prepared.sampler, prepared.empty, seed, scenario.name)
    chunks = chain.from_iterable(chunks_of(looks))
    tally, done = prepared.empty, 0
    for chunk, drawn in in_order(task, chunks, executor, workers):
        tally, done = tally.merge(drawn), done + chunk.trials
        progress(done)
        if done in looks:
            yield done, tally


def _grown(
    examiner: Examiner, tally: Tally, done: int, delta: float, epsilon: float
) -> tuple[int, float, float, float]:
    counts = examiner.observable.counts(tally.counts())
    certificate = examiner.certificate(counts, delta, epsilon)
    return done, certificate.tv, certificate.bound, examiner.log_e(counts)


def _decided(prepared: Prepared, tally: Tally, delta: float, levels: Levels) -> bool:
    """One observable differs, or all are within epsilon; infinite ln E is an impossible draw."""
    counts = tally.counts()
    seen = [(e, e.observable.counts(counts)) for e in prepared.judged]
    if any(e.log_e(c) >= levels.log_threshold for e, c in seen):
        return True
    epsilon = prepared.scenario.epsilon
    return all(e.certificate(c, delta, epsilon).bound <= epsilon for e, c in seen)
