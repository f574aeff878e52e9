"""Tallies of one position: what was drafted, whether it was kept, what was emitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from harness.arrays import Counts, Tokens, readonly, token_dtype
from harness.errors import SamplerFailure
from harness.tallies.counting import count_codes
from harness.trials import TrialBatch

__all__ = ["FactoredTrace", "OutputTally", "TraceTally"]


@dataclass(frozen=True, slots=True)
class TraceTally:
    """Joint counts of the first step, `trace` (V, V + 1).

    Cell (x, V): x was drafted and kept. Cell (x, y): x was drafted, rejected and replaced by y.
    """

    trace: Counts

    def __post_init__(self) -> None:
        object.__setattr__(self, "trace", readonly(self.trace))

    @classmethod
    def empty(cls, vocabulary: int) -> Self:
        return cls(np.zeros((vocabulary, vocabulary + 1), dtype=np.int64))

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        seen = sum(count_codes(self._cells(batch), self.trace.size) for batch in batches)
        return type(self)(self.trace + np.reshape(seen, self.trace.shape))

    def _cells(self, batch: TrialBatch) -> Tokens:
        """Cell (n,) of each trial, numbered row by row."""
        drafted, emitted, kept = _first_step(batch)
        cells = drafted.astype(token_dtype(self.trace.size))
        cells *= len(self.trace) + 1
        cells += emitted + (len(self.trace) - emitted) * kept
        return cells

    def merge(self, other: Self) -> Self:
        return type(self)(self.trace + other.trace)

    def counts(self) -> Mapping[str, Counts]:
        kept, replaced = self.trace[:, -1], self.trace[:, :-1]
        return {
            "trace": self.trace,
            "output": kept + replaced.sum(axis=0),
            "kept": kept,
            "rejected": replaced.sum(axis=1),
            "replacement": replaced.sum(axis=0),
        }


@dataclass(frozen=True, slots=True)
class FactoredTrace:
    """Counts of the first step where V squared cells are too many: `steps` (3, V).

    Rows: tokens emitted, tokens rejected, tokens that replaced a rejected one.
    """

    steps: Counts

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", readonly(self.steps))

    @classmethod
    def empty(cls, vocabulary: int) -> Self:
        return cls(np.zeros((3, vocabulary), dtype=np.int64))

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        seen = np.zeros(self.steps.shape, dtype=np.int32)  # of a chunk: half the cache of int64
        one = np.int32(1)
        for batch in batches:
            drafted, emitted, kept = _first_step(batch)
            lost = np.flatnonzero(kept == 0)
            np.add.at(seen[0], emitted, one)
            np.add.at(seen[1], drafted.take(lost), one)
            np.add.at(seen[2], emitted.take(lost), one)
        return type(self)(self.steps + seen)

    def merge(self, other: Self) -> Self:
        return type(self)(self.steps + other.steps)

    def counts(self) -> Mapping[str, Counts]:
        output, rejected, replacement = self.steps
        return {
            "output": output,
            "kept": output - replacement,
            "rejected": rejected,
            "replacement": replacement,
        }


@dataclass(frozen=True, slots=True)
class OutputTally:
    """Counts `output` (V,) of the first committed token, for samplers that show no draft."""

    output: Counts

    def __post_init__(self) -> None:
        object.__setattr__(self, "output", readonly(self.output))

    @classmethod
    def empty(cls, vocabulary: int) -> Self:
        return cls(np.zeros(vocabulary, dtype=np.int64))

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        output = self.output.copy()
        for batch in batches:
            np.add.at(output, batch.tokens[:, 0], 1)
        return type(self)(output)

    def merge(self, other: Self) -> Self:
        return type(self)(self.output + other.output)

    def counts(self) -> Mapping[str, Counts]:
        return {"output": self.output}


def _first_step(batch: TrialBatch) -> tuple[Tokens, Tokens, Tokens]:
    """Drafted and emitted tokens (n,) of the first position, and 1 where the draft was kept.

    Where something else was emitted the draft was not kept, whatever the sampler reports.
    """
    if batch.drafted is None or batch.n_accepted is None:
        raise SamplerFailure(
            "the trace was asked of a sampler that shows neither draft nor acceptance"
        )
    drafted, emitted = batch.drafted[:, 0], batch.tokens[:, 0]
    kept = (batch.n_accepted > 0) & (drafted == emitted)
    return drafted, emitted, kept.view(np.int8)
