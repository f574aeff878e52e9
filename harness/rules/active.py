"""Bookkeeping of the trials that a round still works on."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from harness.arrays import Rows, Tokens, token_dtype
from harness.laws.tables import at
from harness.protocols import EVERYONE, Trials
from harness.trials import NO_TOKEN

__all__ = ["blank", "ended", "everything_kept", "of", "of_trials", "put", "until_end"]

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


def blank(contexts: Rows, draft_length: int, vocabulary: int) -> tuple[Tokens, Tokens, Tokens]:
    """A round before anything is rejected: no tokens (n, k) drafted or (n, k + 1) committed."""
    n, dtype = len(contexts), token_dtype(vocabulary)
    drafted = np.full((draft_length, n), NO_TOKEN, dtype).T
    committed = np.full((draft_length + 1, n), NO_TOKEN, dtype).T
    return drafted, committed, np.full(n, draft_length, dtype=np.int8)


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
