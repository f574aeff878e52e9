"""Chunks to tallies: the only place where trials are drawn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from harness.engine.plan import BATCH_TRIALS, Chunk
from harness.protocols import Sampler, Tally
from harness.rng import chunk_rng
from harness.trials import TrialBatch

__all__ = ["ChunkTask", "in_order"]

T = TypeVar("T")

IN_FLIGHT = 8  # chunks a worker ahead of the one that is merged; bounds memory and waste


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """Everything a worker needs: call it with a chunk and it returns the chunk's tally."""

    sampler: Sampler
    empty: Tally
    seed: int
    scenario: str

    def __call__(self, chunk: Chunk) -> Tally:
        return self.empty.add(self.batches(chunk))

    def batches(self, chunk: Chunk) -> Iterator[TrialBatch]:
        """The trials of a chunk, the same each time, in the order in which they are drawn."""
        rng = chunk_rng(self.seed, self.scenario, chunk.number)
        for start in range(0, chunk.trials, BATCH_TRIALS):
            yield self.sampler.sample(min(BATCH_TRIALS, chunk.trials - start), rng)


def in_order(
    task: Callable[[Chunk], T], chunks: Iterable[Chunk], executor: Executor, workers: int
) -> Iterator[tuple[Chunk, T]]:
    """What `task` makes of chunks, such as tallies: in their order, a bounded number ahead.

    Chunks that nobody will ask for, since the run is decided, failed or interrupted, are cancelled.
    """
    waiting: deque[tuple[Chunk, Future[T]]] = deque()
    coming = iter(chunks)
    for chunk in islice(coming, 1 if workers == 1 else IN_FLIGHT * workers):
        waiting.append((chunk, executor.submit(task, chunk)))
    try:
        while waiting:
            chunk, future = waiting.popleft()
            drawn = future.result()
            for following in islice(coming, 1):
                waiting.append((following, executor.submit(task, following)))
            yield chunk, drawn
    finally:
        for _, future in waiting:
            future.cancel()
