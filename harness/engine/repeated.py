"""One scenario run under many seeds, all in step: what its stopping rule does, measured.

Each run draws the chunks and has the looks of `draw_until_decided` under its seed, and stops where
that stops; the evidence of all runs is worked out at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.arrays import Bits, Counts, Rows, readonly
from harness.checks import spent_per_look, total_variation
from harness.checks.certificate import excess_limits, reachable_counts
from harness.engine.draw import ChunkTask
from harness.engine.examine import Examiner
from harness.engine.observe import Kind
from harness.engine.plan import Chunk, chunks_of, looks_of
from harness.engine.prepare import Prepared
from harness.engine.sequence import Levels
from harness.protocols import Tally

__all__ = ["Repeated", "repeated"]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Runs (R,): trials drawn, whether the e-process said `differs`, whether all was certified.

    Classical tests at the last look take no part: a run catches at least what is caught here.
    """

    trials: Rows
    differs: Bits
    matches: Bits

    def __post_init__(self) -> None:
        for name in ("trials", "differs", "matches"):
            object.__setattr__(self, name, readonly(getattr(self, name)))


def repeated(prepared: Prepared, seeds: Sequence[int], levels: Levels) -> Repeated:
    """The scenario under every seed, until it is decided or its trials are spent."""
    scenario = prepared.scenario
    looks = looks_of(scenario.trials, stop_early=scenario.stop_early)
    delta = spent_per_look(levels.delta, len(looks))
    tallies = [prepared.empty] * len(seeds)
    trials = np.full(len(seeds), scenario.trials)
    differs, matches = np.zeros((2, len(seeds)), dtype=bool)
    going = np.arange(len(seeds))
    for look, chunks in zip(looks, chunks_of(looks), strict=True):
        for run in going:
            tallies[run] = _after(prepared, seeds[int(run)], tallies[run], chunks)
        counts = _counts(prepared, [tallies[run] for run in going])
        differs[going] = _differs(prepared, counts, levels)
        matches[going] = ~differs[going] & _certified(prepared, counts, delta, ~differs[going])
        decided = differs[going] | matches[going]
        trials[going[decided]] = look
        going = going[~decided]
        if not len(going):
            break
    return Repeated(trials, differs, matches)


def _after(prepared: Prepared, seed: int, tally: Tally, chunks: Sequence[Chunk]) -> Tally:
    task = ChunkTask(prepared.sampler, prepared.empty, seed, prepared.scenario.name)
    for chunk in chunks:
        tally = tally.merge(task(chunk))
    return tally


def _counts(prepared: Prepared, tallies: Sequence[Tally]) -> list[tuple[Examiner, Counts]]:
    """Counts (runs, cells) of each judged observable."""
    seen = [tally.counts() for tally in tallies]
    return [
        (examiner, np.stack([examiner.observable.counts(counts) for counts in seen]))
        for examiner in prepared.judged
    ]


def _differs(prepared: Prepared, counts: list[tuple[Examiner, Counts]], levels: Levels) -> Bits:
    found = np.zeros(len(counts[0][1]) if prepared.judged else 0, dtype=bool)
    for examiner, seen in counts:
        found |= examiner.log_e_at(seen) >= levels.log_threshold
    return found


def _certified(
    prepared: Prepared, counts: list[tuple[Examiner, Counts]], delta: float, asked: Bits
) -> Bits:
    """Runs whose laws are all within epsilon, among those asked."""
    laws = [(e, c) for e, c in counts if e.observable.kind is not Kind.PAIRS]
    found = asked & bool(laws)
    for examiner, seen in laws:
        for run in np.flatnonzero(found):
            found[run] = _within(examiner, seen[run], delta, prepared.scenario.epsilon)
    return found


def _within(examiner: Examiner, counts: Counts, delta: float, epsilon: float) -> bool:
    if not examiner.ladder and _least_bound(counts, examiner, delta) > epsilon:
        return False
    return examiner.certifies(counts, delta, epsilon)


def _least_bound(counts: Counts, examiner: Examiner, delta: float) -> float:
    """No more than the certificate's bound: its maximum taken over a single count."""
    n = int(counts.sum())
    if n == 0:
        return 1.0
    target = examiner.observable.target
    tv = float(total_variation(counts, target))
    spans = reachable_counts(tv, float(target.max()), n)
    some = [min(max(n // 2, first), last) for first, last in spans]
    return tv + float(excess_limits(np.array(some), n, delta).max(initial=0.0))
