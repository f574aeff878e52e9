"""How a scenario's trials are cut into chunks, and when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.checks import look_schedule

__all__ = [
    "BATCH_TRIALS",
    "CHUNK_TRIALS",
    "Chunk",
    "chunks_of",
    "looks_of",
    "marks_of",
    "span_size",
    "spans_of",
]

# Both are part of the random stream's address: changing one changes every result.
CHUNK_TRIALS = 1 << 20  # a few milliseconds of work, and the unit of a resume
BATCH_TRIALS = 1 << 17  # simulated at once: long enough for numpy, short enough for its caches

# Probabilities: tables beyond the first take as long to send as a chunk takes to draw, beyond the
# second several times as long.
SMALL_TABLES, LARGE_TABLES = 1 << 13, 1 << 16

FIRST_LOOK = 64  # trials; an impossible trace is refuted within a hundred or so
FIRST_MARK, MARK_GROWTH = 1_000, 4.0  # where a run that decides nothing early is still recorded


@dataclass(frozen=True, slots=True)
class Chunk:
    """`trials` trials with a stream of their own, the address of which is `number`."""

    number: int
    trials: int


def looks_of(trials: int, *, stop_early: bool) -> tuple[int, ...]:
    """Numbers of trials at which a verdict may fall, the last of them `trials`."""
    return look_schedule(min(FIRST_LOOK, trials), trials) if stop_early else (trials,)


def marks_of(trials: int, *, stop_early: bool) -> tuple[int, ...]:
    """Numbers of trials at which the growth of the evidence is recorded: the looks, and more."""
    if stop_early:
        return looks_of(trials, stop_early=True)
    return look_schedule(min(FIRST_MARK, trials), trials, growth=MARK_GROWTH)


def chunks_of(marks: tuple[int, ...]) -> tuple[tuple[Chunk, ...], ...]:
    """For each mark the chunks that lead up to it from the one before, numbered throughout."""
    plan: list[tuple[Chunk, ...]] = []
    number = 0
    for before, mark in pairwise((0, *marks)):
        sizes = _cut(mark - before)
        plan.append(tuple(Chunk(number + i, size) for i, size in enumerate(sizes)))
        number += len(sizes)
    return tuple(plan)


def span_size(probabilities: int) -> int:
    """Chunks that go to a process together: more where large tables travel with them."""
    if probabilities <= SMALL_TABLES:
        return 8
    return 32 if probabilities <= LARGE_TABLES else 96


def spans_of(groups: tuple[tuple[Chunk, ...], ...], size: int) -> Iterator[tuple[Chunk, ...]]:
    """Runs of at most `size` chunks, none across a mark."""
    for group in groups:
        for start in range(0, len(group), size):
            yield group[start : start + size]


def _cut(trials: int) -> list[int]:
    whole, rest = divmod(trials, CHUNK_TRIALS)
    return [CHUNK_TRIALS] * whole + ([rest] if rest else [])
