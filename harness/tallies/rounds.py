"""Tallies of sequences and of whole rounds, for one prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from harness.arrays import Counts, Rows, Tokens, readonly
from harness.errors import SamplerFailure
from harness.laws.joint import joint_cells
from harness.laws.tables import Contexts
from harness.trials import NO_TOKEN, TrialBatch

__all__ = ["GroupedTally", "JointTally", "LengthTally", "PositionTally"]


@dataclass(frozen=True, slots=True)
class JointTally:
    """Counts `joint` (V ** horizon,) of the committed tokens, in the cells of `laws.joint`."""

    joint: Counts
    vocabulary: int
    end: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", readonly(self.joint))

    @classmethod
    def empty(cls, vocabulary: int, horizon: int, end: int | None) -> Self:
        return cls(np.zeros(vocabulary**horizon, dtype=np.int64), vocabulary, end)

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        joint = self.joint.copy()
        for batch in batches:
            np.add.at(joint, joint_cells(batch.tokens, self.vocabulary, self.end), 1)
        return replace(self, joint=joint)

    def merge(self, other: Self) -> Self:
        return replace(self, joint=self.joint + other.joint)

    def counts(self) -> Mapping[str, Counts]:
        return {"joint": self.joint}


@dataclass(frozen=True, slots=True)
class GroupedTally:
    """Counts `joint` (B ** horizon,) of groups of tokens, where single tokens are too many.

    `groups` (horizon, V) is the group of every token at every position.
    """

    joint: Counts
    groups: Rows
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", readonly(self.joint))
        object.__setattr__(self, "groups", readonly(self.groups))

    @classmethod
    def empty(cls, groups: Rows) -> Self:
        size = int(groups.max()) + 1
        return cls(np.zeros(size ** len(groups), dtype=np.int64), groups, size)

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        joint = self.joint.copy()
        for batch in batches:
            np.add.at(joint, self._cells(batch.tokens), 1)
        return replace(self, joint=joint)

    def _cells(self, tokens: Tokens) -> Rows:
        cells = np.zeros(len(tokens), dtype=np.intp)
        for groups, column in zip(self.groups, tokens.T, strict=True):
            cells *= self.size
            cells += groups.take(column)
        return cells

    def merge(self, other: Self) -> Self:
        return replace(self, joint=self.joint + other.joint)

    def counts(self) -> Mapping[str, Counts]:
        return {"joint": self.joint}


@dataclass(frozen=True, slots=True)
class LengthTally:
    """Counts `committed_length` (k + 1,) of how many drafted tokens the first round kept."""

    lengths: Counts

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", readonly(self.lengths))

    @classmethod
    def empty(cls, draft_length: int) -> Self:
        return cls(np.zeros(draft_length + 1, dtype=np.int64))

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        lengths = self.lengths.copy()
        for batch in batches:
            lengths += np.bincount(_accepted(batch), minlength=len(lengths))
        return type(self)(lengths)

    def merge(self, other: Self) -> Self:
        return type(self)(self.lengths + other.lengths)

    def counts(self) -> Mapping[str, Counts]:
        return {"committed_length": self.lengths}


@dataclass(frozen=True, slots=True)
class PositionTally:
    """The step at one position of the first round, of the trials that reach it.

    Counts `position i` (contexts, V, V + 1): in context c, x was drafted and replaced by y (cell
    [c, x, y]) or kept (cell [c, x, V]). At the position after the block: counts `bonus`
    (contexts, V).
    """

    position: int
    steps: Counts
    contexts: Contexts
    start: int
    draft_length: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", readonly(self.steps))

    @classmethod
    def empty(cls, position: int, contexts: Contexts, start: int, draft_length: int) -> Self:
        size, vocabulary = contexts.successor.shape
        bonus = position == draft_length
        shape = (size, vocabulary) if bonus else (size, vocabulary, vocabulary + 1)
        return cls(position, np.zeros(shape, dtype=np.int64), contexts, start, draft_length)

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        steps = self.steps.copy()
        for batch in batches:
            np.add.at(steps.reshape(-1), self._cells(batch), 1)
        return replace(self, steps=steps)

    def _cells(self, batch: TrialBatch) -> Rows:
        """Cells of the trials that reach the position with a token there."""
        emitted = batch.tokens[:, self.position]
        reached = np.flatnonzero((_accepted(batch) >= self.position) & (emitted != NO_TOKEN))
        here, emitted = self._contexts(batch, reached), emitted[reached]
        vocabulary = self.steps.shape[1]
        if self.position == self.draft_length:
            return here * vocabulary + emitted
        drafted = _drafted(batch)[reached, self.position]
        kept = (_accepted(batch)[reached] > self.position) & (drafted == emitted)
        then = np.where(kept, vocabulary, emitted)
        return (here * vocabulary + drafted) * (vocabulary + 1) + then

    def _contexts(self, batch: TrialBatch, reached: Rows) -> Rows:
        here = np.full(len(reached), self.start, dtype=np.intp)
        for position in range(self.position):
            here = self.contexts.after(here, _drafted(batch)[reached, position])
        return here

    def merge(self, other: Self) -> Self:
        return replace(self, steps=self.steps + other.steps)

    def counts(self) -> Mapping[str, Counts]:
        bonus = self.position == self.draft_length
        return {"bonus" if bonus else f"position {self.position}": self.steps}


def _drafted(batch: TrialBatch) -> Tokens:
    if batch.drafted is None:
        raise SamplerFailure("its first round was asked of a sampler that does not show its draft")
    return batch.drafted


def _accepted(batch: TrialBatch) -> Tokens:
    if batch.n_accepted is None:
        raise SamplerFailure("lengths were asked of a sampler that does not show its acceptance")
    return batch.n_accepted
