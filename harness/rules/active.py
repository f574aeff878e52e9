"""Bookkeeping of the trials that a round still works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from harness.arrays import Rows, Tokens, token_dtype
from harness.laws.tables import at
from harness.protocols import EVERYONE, Trials
from harness.trials import NO_TOKEN

__all__ = [
    "blank",
    "ended",
    "everything_kept",
    "of",
    "of_trials",
    "put",
    "stopped_drafts",
    "until_end",
]

Column = TypeVar("Column", Rows, Tokens)


def of(column: Column, trials: Trials) -> Column:
    """Entries of `column` (n,) that belong to `trials`."""
    return column if trials is EVERYONE else at(column, trials)


def put(column: Tokens, trials: Trials, tokens: Tokens) -> None:
    """Writes the tokens of `trials` into `column` (n,)."""
    if trials is EVERYONE:
        column[:] = tokens
    else:
        column[trials] = tokens


def of_trials(trials: Trials, chosen: Rows) -> Rows:
    """The trials at places `chosen` among `trials`."""
    return chosen if trials is EVERYONE else trials.take(chosen)


def blank(contexts: Rows, draft_length: int, vocabulary: int) -> tuple[Tokens, Tokens]:
    """A round before it starts: nothing drafted yet (n, k), and nothing rejected."""
    shape = draft_length, len(contexts)
    drafted = np.empty(shape, token_dtype(vocabulary)).T
    drafted[:, 1:] = NO_TOKEN  # every trial drafts a first token
    return drafted, np.full(len(contexts), draft_length, dtype=np.int8)


def stopped_drafts(drafted: Tokens, stops: Sequence[tuple[Rows, Tokens]]) -> Tokens:
    """Tokens (n, k + 1) of drafts that went no further than their first rejection; no bonus yet.

    For each position `stops` holds the trials that were rejected there and what replaces the draft.
    """
    n, draft_length = drafted.shape
    committed = np.empty((draft_length + 1, n), dtype=drafted.dtype).T
    committed[:, :draft_length] = drafted
    committed[:, draft_length] = NO_TOKEN
    for position, (rejected, replacement) in enumerate(stops):
        committed[:, position][rejected] = replacement
    return committed


def everything_kept(drafted: Tokens) -> tuple[Tokens, Tokens]:
    """A round before verification: the draft committed (n, k + 1), no bonus yet, and its length."""
    n, draft_length = drafted.shape
    committed = np.empty((draft_length + 1, n), dtype=drafted.dtype).T
    committed[:, :draft_length] = drafted
    committed[:, draft_length] = NO_TOKEN
    return committed, np.full(n, draft_length, dtype=np.int8)


def ended(committed: Tokens, n_accepted: Tokens) -> Tokens:
    """The committed tokens with -1 after the kept run and the one token that follows it."""
    for position in range(1, committed.shape[1] - 1):
        after = (n_accepted < position).view(np.int8)
        committed[:, position] |= -after  # -1 has every bit set: no branch
    return committed


def until_end(committed: Tokens, n_accepted: Tokens, end: int | None) -> tuple[Tokens, Tokens]:
    """Length of the kept run (n,) and tokens (n, k + 1) without what follows the token `end`."""
    if end is None:
        return n_accepted, committed
    length = np.ones(len(committed), dtype=np.int8)
    over = committed[:, 0] == end
    for position in range(1, committed.shape[1]):
        column = committed[:, position]
        column |= -over.view(np.int8)
        length += (column != NO_TOKEN).view(np.int8)
        over |= column == end
    return np.minimum(n_accepted, length), committed
