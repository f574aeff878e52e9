"""What a sampler hands over: trials from the prompt to the horizon, and their first round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from harness.arrays import Rows, Tokens, readonly

__all__ = ["NO_TOKEN", "Round", "TrialBatch", "concatenated", "selected"]

NO_TOKEN = -1
Column = TypeVar("Column", Tokens, Rows)


@dataclass(frozen=True, slots=True)
class Round:
    """One draft, verify, commit cycle of n trials.

    `drafted` (n, k) are the draft's tokens, -1 where a rule that has stopped does not look at them;
    `n_accepted` (n,) is the length of the kept leading run;
    `committed` (n, k + 1) the kept run and one more token, then -1. The bonus token is -1 where
    the caller asked for no more than k tokens and every drafted one was kept. Nothing follows the
    end token: kept as the j-th drafted token, it is the last one, and `n_accepted` is j.
    `reached` (n,) are the contexts after it, where the rule knows them.
    """

    drafted: Tokens
    n_accepted: Tokens
    committed: Tokens
    reached: Rows | None = None


@dataclass(frozen=True, slots=True)
class TrialBatch:
    """n independent trials.

    `tokens` (n, horizon): what was committed, -1 after the end. `prompts` (n,): which prompt a
    trial started from. The first round's draft and kept run are there where the sampler shows
    them: `drafted` (n, k) and `n_accepted` (n,); the tokens of that round are then
    `tokens[:, : n_accepted + 1]`.
    Columns are contiguous in memory (Fortran order): work is done a position at a time.
    """

    tokens: Tokens
    drafted: Tokens | None = None
    n_accepted: Tokens | None = None
    prompts: Rows | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, readonly(column))

    def __len__(self) -> int:
        return len(self.tokens)


def concatenated(batches: Sequence[TrialBatch]) -> TrialBatch:
    """Batches one after the other, as one batch; a column is there where all have it."""
    if len(batches) == 1:
        return batches[0]
    return TrialBatch(
        np.concatenate([batch.tokens for batch in batches]),
        _joined([batch.drafted for batch in batches]),
        _joined([batch.n_accepted for batch in batches]),
        _joined([batch.prompts for batch in batches]),
    )


def _joined(columns: Sequence[Column | None]) -> Column | None:
    known = [column for column in columns if column is not None]
    return np.concatenate(known) if len(known) == len(columns) else None


def selected(batch: TrialBatch, rows: Rows) -> TrialBatch:
    """Some trials of a batch."""
    return TrialBatch(
        batch.tokens[rows],
        None if batch.drafted is None else batch.drafted[rows],
        None if batch.n_accepted is None else batch.n_accepted[rows],
        None if batch.prompts is None else batch.prompts[rows],
    )
