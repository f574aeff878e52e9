"""A table of next-token laws, one row a context, and the drawing of tokens from it."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from harness.arrays import Exact, Probs, Rows, Tokens, readonly, token_dtype
from harness.laws.alias import alias_table

__all__ = ["Coin", "Law"]

THRESHOLDS_UP_TO = 8  # tokens: comparing with every threshold beats any search below this


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

    @cached_property
    def _drawer(self) -> _Drawer:
        small = self.vocabulary <= THRESHOLDS_UP_TO
        if len(self.probs) == 1:
            return _OneSmall(self.floats[0]) if small else _OneLarge(self.floats)
        return _ManySmall(self.floats) if small else _ManyLarge(self.floats)


class Coin:
    """Probabilities `heads` (contexts, V) of keeping a token, by context and token."""

    def __init__(self, heads: Exact) -> None:
        self.heads = readonly(heads)

    @cached_property
    def floats(self) -> Probs:
        return readonly(np.ascontiguousarray(self.heads, dtype=np.float64))

    def flip(self, contexts: Rows, tokens: Tokens, rng: np.random.Generator) -> np.ndarray:
        """Bits (n,): u < heads[context, token], with a fresh uniform u in [0, 1) for each trial.

        Strictly less, so that a token of acceptance zero is never kept.
        """
        u = rng.random(len(tokens))
        if len(self.floats) > 1:
            return u < self.floats.ravel().take(contexts * self.floats.shape[1] + tokens)
        if self.floats.shape[1] > THRESHOLDS_UP_TO:
            return u < self.floats[0].take(tokens)
        return _flip_small(u, self.floats[0], tokens)


def _flip_small(u: Probs, heads: Probs, tokens: Tokens) -> np.ndarray:
    """Heads by comparing with each token's probability: cheaper than a gather for few tokens."""
    kept = np.ones(len(u), dtype=bool)
    for token in np.flatnonzero(heads < 1.0):
        kept &= (tokens != token) | (u < heads[token])
    return kept


class _OneSmall:
    """One row, few tokens: count the thresholds that the uniform has passed."""

    def __init__(self, row: Probs) -> None:
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
            tokens += (u >= cut.take(contexts)).view(np.int8)
        return tokens


class _OneLarge:
    """One row, many tokens: Walker's alias method, one uniform a token."""

    def __init__(self, rows: Probs) -> None:
        self.size = rows.shape[1]
        self.keep, self.alias = (table[0] for table in alias_table(rows))
        self.dtype = token_dtype(self.size)

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        u = rng.random(len(contexts))
        u *= self.size
        column = u.astype(np.int32)
        u -= column
        return np.where(u < self.keep.take(column), column, self.alias.take(column))


class _ManyLarge:
    """Many rows, many tokens: one alias table a row, laid end to end."""

    def __init__(self, rows: Probs) -> None:
        self.size = rows.shape[1]
        keep, alias = alias_table(rows)
        self.keep, self.alias = keep.ravel(), alias.ravel()

    def __call__(self, contexts: Rows, rng: np.random.Generator) -> Tokens:
        u = rng.random(len(contexts))
        u *= self.size
        column = u.astype(np.int32)
        u -= column
        cell = contexts * self.size + column
        return np.where(u < self.keep.take(cell), column, self.alias.take(cell))
