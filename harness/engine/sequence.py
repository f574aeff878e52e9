"""Drawing one scenario, look by look, until it is decided or its trials are spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

from harness.checks import spent_per_look
from harness.engine.draw import ChunkTask, in_order
from harness.engine.examine import SHARES
from harness.engine.observe import Kind
from harness.engine.plan import chunks_of, looks_of, marks_of, span_size, spans_of
from harness.engine.prepare import Prepared
from harness.protocols import Tally

__all__ = ["Drawn", "Levels", "draw_until_decided"]

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Levels:
    """Error levels of one scenario: `alpha` over the family of `family` observables, `delta` of a
    certificate, over all its looks.
    """

    alpha: float
    delta: float
    family: int

    @property
    def log_threshold(self) -> float:
        """Ln E at which an observable differs, whatever else the suite holds."""
        return math.log(self.family / (SHARES["e-process"] * self.alpha))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Trials of a scenario: their tally, `delta` left for a certificate, whether the last declared
    look was reached, and the tally at each mark on the way.
    """

    tally: Tally
    trials: int
    delta: float
    final: bool
    marks: tuple[tuple[int, Tally], ...]


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
    marks: list[tuple[int, Tally]] = []
    for done, tally in _marks(prepared, seed, executor, workers, progress):
        marks.append((done, tally))
        if done in looks[:-1] and _decided(prepared, tally, delta, levels):
            break
    done, tally = marks[-1]
    return Drawn(tally, done, delta, done == scenario.trials, tuple(marks))


def _marks(
    prepared: Prepared, seed: int, executor: Executor, workers: int, progress: Progress
) -> Iterator[tuple[int, Tally]]:
    """(trials, tally) at each mark; chunks are drawn ahead of the look that is being decided."""
    scenario = prepared.scenario
    marks = marks_of(scenario.trials, stop_early=scenario.stop_early)
    task = ChunkTask(prepared.sampler, prepared.empty, seed, scenario.name)
    size = 1 if workers == 1 else span_size(scenario.laws.p.size)
    spans = spans_of(chunks_of(marks), size)
    tally, done = prepared.empty, 0
    for span, drawn in in_order(task.span, spans, executor, workers):
        tally, done = tally.merge(drawn), done + sum(chunk.trials for chunk in span)
        progress(done)
        if done in marks:
            yield done, tally


def _decided(prepared: Prepared, tally: Tally, delta: float, levels: Levels) -> bool:
    """One observable differs, or all are within epsilon; infinite ln E is an impossible draw."""
    counts = tally.counts()
    seen = [(e, e.observable.counts(counts)) for e in prepared.judged]
    if any(e.log_e(c) >= levels.log_threshold for e, c in seen):
        return True
    epsilon = prepared.scenario.epsilon
    laws = [(e, c) for e, c in seen if e.observable.kind is not Kind.PAIRS]
    return bool(laws) and all(e.certifies(c, delta, epsilon) for e, c in laws)
