"""Ways of drawing one token a trial from a table of laws, in O(1) a trial."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from harness.arrays import Bits, Probs, Rows, Tokens, token_dtype
from harness.laws.alias import alias_table
from harness.laws.lazy import LEADING, Words, first_words, leading_bits, split

__all__ = ["Drawer", "drawer"]

THRESHOLDS_UP_TO = 8  # tokens: comparing with every threshold beats any search below this


class Drawer(Protocol):
    """Tokens (n,), the i-th from the row that `contexts[i]` names."""

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens: ...


def drawer(rows: Probs) -> Drawer:
    """The fastest drawer for laws `rows` (contexts, V)."""
    if rows.shape[1] > THRESHOLDS_UP_TO:
        return AliasDrawer(rows)
    return OneRowDrawer(rows[0]) if len(rows) == 1 else RowsDrawer(rows)


class OneRowDrawer:
    """One law, few tokens: count the cuts of its distribution that a uniform has passed."""

    def __init__(self, row: Probs) -> None:
        last = int(np.flatnonzero(row)[-1])
        self.cuts = np.cumsum(row)[:last]  # the last token of positive mass takes the rest
        self.coarse = split(self.cuts, LEADING)[0].astype(np.uint16)

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        r = leading_bits(len(contexts), rng)
        tokens = np.zeros(len(r), dtype=np.int8)
        undecided = np.zeros(len(r), dtype=bool)
        for cut in self.coarse:
            tokens += (r > cut).view(np.int8)
            undecided |= r == cut
        tied = np.flatnonzero(undecided)
        if len(tied):
            u = (r[tied] + rng.random(len(tied))) * 2.0**-LEADING
            tokens[tied] = np.searchsorted(self.cuts, u, side="right")
        return tokens


class RowsDrawer:
    """Many laws, few tokens: as above, each trial with the cuts of its own row."""

    def __init__(self, rows: Probs) -> None:
        cuts = np.cumsum(rows, axis=1)
        ends = cuts >= cuts[:, -1:]  # from the last token of positive mass on
        cuts[ends] = 1.0
        self.cuts = np.where(ends, np.inf, cuts)[:, :-1]
        coarse = split(cuts, LEADING)[0].astype(np.uint16)
        self.coarse = [np.ascontiguousarray(column) for column in coarse.T[:-1]]

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        r = leading_bits(len(contexts), rng)
        tokens = np.zeros(len(r), dtype=np.int8)
        undecided = np.zeros(len(r), dtype=bool)
        for column in self.coarse:
            cut = column.take(contexts, mode="clip")
            tokens += (r > cut).view(np.int8)
            undecided |= r == cut
        tied = np.flatnonzero(undecided)
        if len(tied):
            u = (r[tied] + rng.random(len(tied))) * 2.0**-LEADING
            tokens[tied] = (u[:, None] >= self.cuts[contexts[tied]]).sum(axis=1)
        return tokens


class AliasDrawer:
    """Many tokens: Walker's alias method over 2^b columns, b the bits of a token id.

    The first b bits of a uniform choose the column, evenly; the other 32 - b are compared with the
    share that the column keeps. One word of `table` holds both that share (high bits) and the
    alias (b low bits), so that a draw is a single look-up.
    """

    def __init__(self, rows: Probs) -> None:
        self.bits = max(1, int(rows.shape[1] - 1).bit_length())
        self.one_row = len(rows) == 1
        self.dtype = token_dtype(rows.shape[1])
        padded = np.zeros((len(rows), 1 << self.bits))
        padded[:, : rows.shape[1]] = rows
        keep, alias = alias_table(padded)
        coarse, rest = split(keep, 32 - self.bits)
        self.table = ((coarse << np.uint32(self.bits)) | alias.astype(np.uint32)).ravel()
        self.rest = rest.ravel()

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        bits, low = np.uint32(self.bits), np.uint32((1 << self.bits) - 1)
        r = first_words(len(contexts), rng)
        column = r >> (np.uint32(32) - bits)
        cell = column.astype(np.intp)
        if not self.one_row:
            cell += contexts << self.bits
        entry = self.table.take(cell, mode="clip")
        r <<= bits
        r |= low  # so that only the high bits of an entry are compared
        share = entry | low
        refused = r > share
        tied = np.flatnonzero(r == share)
        if len(tied):
            refused[tied] = rng.random(len(tied)) >= self.rest[cell[tied]]
        return self._chosen(column, entry, refused)

    def _chosen(self, column: Words, entry: Words, refused: Bits) -> Tokens:
        """The alias where refused, else the column: in token ids, as (column ^ alias) & refused."""
        columns, tokens = (self._ids(words) for words in (column, entry))
        tokens &= self.dtype((1 << self.bits) - 1)
        tokens ^= columns
        tokens &= np.negative(refused.view(np.int8), dtype=self.dtype)  # -1 has every bit set
        tokens ^= columns
        return tokens

    def _ids(self, words: Words) -> Tokens:
        """Words as token ids: without a copy where both have 32 bits."""
        return words.view(np.int32) if self.dtype is np.int32 else words.astype(self.dtype)
