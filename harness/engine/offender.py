"""The first draw that must never happen: which trial of a run it was.

Tallies keep no order, but a chunk's stream has an address: the chunk in which an impossible cell
was first hit is drawn again, and halved until one trial is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from harness.arrays import Counts
from harness.engine.draw import ChunkTask
from harness.engine.impossible import Offender
from harness.engine.observe import Observable
from harness.engine.plan import Chunk, chunks_of
from harness.engine.prepare import Prepared
from harness.engine.sequence import Drawn
from harness.protocols import Tally
from harness.samplers.rule import RuleSampler
from harness.samplers.verifier import VerifierSampler
from harness.trials import TrialBatch

__all__ = ["Offender", "first_offender"]

REPEATABLE = (RuleSampler, VerifierSampler)  # the same trials for the same stream


def first_offender(
    prepared: Prepared, observable: Observable, drawn: Drawn, seed: int
) -> Offender | None:
    """The first impossible draw of a run, None where there is none.

    Draws again the trials between two marks at most. None too for recordings and for engines of
    others: what they did cannot be had a second time.
    """
    if not isinstance(prepared.sampler, REPEATABLE) or not (observable.target == 0.0).any():
        return None
    task = ChunkTask(prepared.sampler, prepared.empty, seed, prepared.scenario.name)
    for before, batch in _drawn_again(task, observable, drawn):
        if _offends(observable, prepared.empty.add([batch])):
            row = _first_row(batch, lambda part: _offends(observable, prepared.empty.add([part])))
            one = observable.counts(prepared.empty.add([_rows(batch, row, row + 1)]).counts())
            cell = int(np.argmax(_hits(observable, one)))
            return Offender(before + row + 1, cell, observable.label(cell))
    return None


def _drawn_again(
    task: ChunkTask, observable: Observable, drawn: Drawn
) -> Iterator[tuple[int, TrialBatch]]:
    """Batches up to the first mark at which the tally offends, and the trials before each."""
    offending = [trials for trials, tally in drawn.marks if _offends(observable, tally)]
    if not offending:
        return
    marks = tuple(trials for trials, _ in drawn.marks)
    number = marks.index(offending[0])
    done = marks[number - 1] if number else 0
    chunks: tuple[Chunk, ...] = chunks_of(marks)[number]
    for chunk in chunks:
        for batch in task.batches(chunk):
            yield done, batch
            done += len(batch)


def _first_row(batch: TrialBatch, offends: Callable[[TrialBatch], bool]) -> int:
    """Number of the first row that offends, by halving; there is one."""
    low, high = 0, len(batch)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if offends(_rows(batch, low, middle)) else (middle, high)
    return low


def _rows(batch: TrialBatch, first: int, last: int) -> TrialBatch:
    part = slice(first, last)
    optional = (batch.drafted, batch.n_accepted, batch.prompts)
    return TrialBatch(batch.tokens[part], *(None if c is None else c[part] for c in optional))


def _offends(observable: Observable, tally: Tally) -> bool:
    return bool(_hits(observable, observable.counts(tally.counts())).any())


def _hits(observable: Observable, counts: Counts) -> Counts:
    return np.where(observable.target == 0.0, counts, 0)
