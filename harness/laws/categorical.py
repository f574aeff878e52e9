"""A table of next-token laws, one row a context, and the drawing of tokens from it."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from harness.arrays import Bits, Exact, Floats, Probs, Rows, Tokens, readonly
from harness.laws.alias import alias_table
from harness.laws.tables import at

__all__ = ["Coin", "Law"]

THRESHOLDS_UP_TO = 8  # tokens: comparing with every threshold beats any search below this


MOST_REDRAWS = 32


class _Drawer(Protocol):
    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens: ...


class Law:
    """Next-token laws `probs` (contexts, V), as float64 or as Fractions in an object array.

    `draw` takes one token a trial from the row its context names, in O(1) a trial.
    """

    def __init__(self, probs: Exact) -> None:
        self.probs = readonly(probs)

    @cached_property
    def floats(self) -> Probs:
        return readonly(self.probs.astype(np.float64))

    @property
    def vocabulary(self) -> int:
        return int(self.probs.shape[1])

    def draw(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        """Tokens (n,), the i-th from row `contexts[i]`."""
        return self._drawer(contexts, rng)

    def draw_other(self, contexts: Rows, tokens: Tokens, rng: np.random.Generator) -> Tokens:
        """As `draw`, given that the i-th token is not `tokens[i]`: drawn again until it is another.

        Where that is rarely so (`tokens[i]` has nearly all the mass) the rest of its row is searched.
        """
        drawn = self.draw(contexts, rng).copy()
        same = np.flatnonzero(drawn == tokens)
        for _ in range(MOST_REDRAWS):
            drawn[same] = self.draw(at(contexts, same), rng)
            same = same[drawn[same] == tokens[same]]
            if not len(same):
                return drawn
        for trial in same:
            row = np.delete(self.floats[contexts[trial]], tokens[trial])
            found = np.searchsorted(np.cumsum(row), rng.random() * row.sum(), side="right")
            drawn[trial] = found + (found >= tokens[trial])
        return drawn

    @cached_property
    def _drawer(self) -> _Drawer:
        if self.vocabulary > THRESHOLDS_UP_TO:
            return _Alias(self.floats)
        return _OneSmall(self.floats) if len(self.probs) == 1 else _ManySmall(self.floats)


class Coin:
    """Probabilities `heads` (contexts, V) of keeping a token, by context and token."""

    def __init__(self, heads: Exact) -> None:
        self.heads = readonly(heads)

    @cached_property
    def floats(self) -> Probs:
        return readonly(np.ascontiguousarray(self.heads, dtype=np.float64))

    @property
    def vocabulary(self) -> int:
        return int(self.heads.shape[1])

    def flip(self, contexts: Rows, tokens: Tokens, rng: np.random.Generator) -> Bits:
        """Bits (n,): u < heads[context, token], with a fresh uniform u in [0, 1) for each trial.

        Strictly less, so that a token of acceptance zero is never kept.
        """
        u = rng.random(len(tokens))
        if len(self.floats) > 1:
            return u < self.floats.ravel().take(contexts * self.vocabulary + tokens, mode="clip")
        if self.vocabulary > THRESHOLDS_UP_TO:
            return u < self.floats[0].take(tokens, mode="clip")
        return _flip_small(u, self.floats[0], tokens)


def _flip_small(u: Floats, heads: Probs, tokens: Tokens) -> Bits:
    """Heads by comparing with each token's probability: cheaper than a gather for few tokens."""
    lost = np.zeros(len(u), dtype=bool)
    for token in np.flatnonzero(heads < 1.0).tolist():
        lost |= (tokens == token) & (u >= heads[token])
    return ~lost


class _OneSmall:
    """One row, few tokens: count the thresholds that the uniform has passed."""

    def __init__(self, rows: Probs) -> None:
        row = rows[0]
        last = int(np.flatnonzero(row)[-1])
        self.cuts = np.cumsum(row)[:last]  # the last token of positive mass takes the rest

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        u = rng.random(len(contexts))
        tokens = np.zeros(len(u), dtype=np.int8)
        for cut in self.cuts:
            tokens += (u >= cut).view(np.int8)
        return tokens


class _ManySmall:
    """Many rows, few tokens: as above, with each trial's own thresholds."""

    def __init__(self, rows: Probs) -> None:
        cuts = np.cumsum(rows, axis=1)
        cuts[cuts >= cuts[:, -1:]] = np.inf  # no token after the last of positive mass
        self.cuts = [np.ascontiguousarray(cut) for cut in cuts.T[:-1]]

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        u = rng.random(len(contexts))
        tokens = np.zeros(len(u), dtype=np.int8)
        for cut in self.cuts:
            tokens += (u >= cut.take(contexts, mode="clip")).view(np.int8)
        return tokens


class _Alias:
    """Many tokens: Walker's alias method, one uniform and one look-up a token.

    A cell is context * V + column. Its look-up gives the share that the column keeps, and in that
    number's lowest bits the alias: they are below the resolution of a uniform times V anyway.
    """

    def __init__(self, rows: Probs) -> None:
        self.size = rows.shape[1]
        self.one_row = len(rows) == 1
        self.low_bits = np.int64((1 << (self.size - 1).bit_length()) - 1)
        keep, alias = alias_table(rows)
        never = np.where(keep > 0.0, keep, -1.0)  # 0.0 with an alias in it would be above a u of 0
        packed = (never.view(np.int64) & ~self.low_bits) | alias
        self.packed = readonly(packed.view(np.float64).ravel())

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        u = rng.random(len(contexts))
        u *= self.size
        column = u.astype(np.intp)
        u -= column
        cell = column if self.one_row else column + contexts * self.size
        share = self.packed.take(cell, mode="clip")
        refused = (u >= share).view(np.int8)
        alias = share.view(np.int64)
        alias &= self.low_bits
        alias -= column
        alias *= refused
        alias += column
        return alias
