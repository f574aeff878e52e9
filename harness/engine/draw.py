"""Chunks to tallies: the only place where trials are drawn."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np

from harness.engine.plan import BATCH_TRIALS, Chunk
from harness.protocols import Sampler, Tally
from harness.rng import chunk_rng
from harness.trials import TrialBatch

__all__ = ["ChunkTask", "in_order"]

T = TypeVar("T")
Work = TypeVar("Work")

KEPT_BYTES = 24 << 20  # above this a block is the system's in any case
IN_FLIGHT = 4  # pieces of work a worker ahead of the one that is merged; bounds memory and waste


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """Everything a worker needs: call it with a chunk and it returns the chunk's tally."""

    sampler: Sampler
    empty: Tally
    seed: int
    scenario: str

    def __call__(self, chunk: Chunk) -> Tally:
        _keep_freed_memory()
        return self.empty.add(self.batches(chunk))

    def span(self, chunks: Sequence[Chunk]) -> Tally:
        """The merged tally of several chunks: less to send between processes."""
        return functools.reduce(lambda total, chunk: total.merge(self(chunk)), chunks, self.empty)

    def batches(self, chunk: Chunk) -> Iterator[TrialBatch]:
        """The trials of a chunk, the same each time, in the order in which they are drawn."""
        rng = chunk_rng(self.seed, self.scenario, chunk.number)
        for start in range(0, chunk.trials, BATCH_TRIALS):
            yield self.sampler.sample(min(BATCH_TRIALS, chunk.trials - start), rng)


def _keep_freed_memory() -> None:
    """Frees a large block that was never touched: glibc then keeps smaller ones for the next batch,
    which would otherwise be given back to the system and faulted in again, page by page.
    """
    np.empty(KEPT_BYTES, dtype=np.int8)


def in_order(
    task: Callable[[Work], T], pieces: Iterable[Work], executor: Executor, workers: int
) -> Iterator[tuple[Work, T]]:
    """What `task` makes of chunks or spans of them: in their order, a bounded number ahead.

    Work that nobody will ask for, since the run is decided, failed or interrupted, is cancelled.
    """
    waiting: deque[tuple[Work, Future[T]]] = deque()
    coming = iter(pieces)
    for piece in islice(coming, 1 if workers == 1 else IN_FLIGHT * workers):
        waiting.append((piece, executor.submit(task, piece)))
    try:
        while waiting:
            piece, future = waiting.popleft()
            drawn = future.result()
            for following in islice(coming, 1):
                waiting.append((following, executor.submit(task, following)))
            yield piece, drawn
    finally:
        for _, future in waiting:
            future.cancel()
