"""Tallies made of tallies: several of the same trials, and one for each prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from harness.arrays import Counts
from harness.protocols import Tally
from harness.trials import TrialBatch, selected

__all__ = ["Strata", "Together"]


@dataclass(frozen=True, slots=True)
class Together:
    """Several tallies of the same trials; their counts have different names."""

    parts: tuple[Tally, ...]

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        parts = self.parts
        for batch in batches:
            parts = tuple(part.add([batch]) for part in parts)
        return type(self)(parts)

    def merge(self, other: Self) -> Self:
        pairs = zip(self.parts, other.parts, strict=True)
        return type(self)(tuple(mine.merge(theirs) for mine, theirs in pairs))

    def counts(self) -> Mapping[str, Counts]:
        return {name: counts for part in self.parts for name, counts in part.counts().items()}


@dataclass(frozen=True, slots=True)
class Strata:
    """One tally for each prompt; the counts of prompt j are named `j/...`."""

    parts: tuple[Tally, ...]

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        parts = self.parts
        for batch in batches:
            parts = tuple(part.add([_of(batch, j)]) for j, part in enumerate(parts))
        return type(self)(parts)

    def merge(self, other: Self) -> Self:
        pairs = zip(self.parts, other.parts, strict=True)
        return type(self)(tuple(mine.merge(theirs) for mine, theirs in pairs))

    def counts(self) -> Mapping[str, Counts]:
        return {
            f"{j}/{name}": counts
            for j, part in enumerate(self.parts)
            for name, counts in part.counts().items()
        }


def _of(batch: TrialBatch, prompt: int) -> TrialBatch:
    """Trials of one prompt; all of them where the batch knows of no prompts."""
    if batch.prompts is None:
        return batch
    return selected(batch, np.flatnonzero(batch.prompts == prompt))
