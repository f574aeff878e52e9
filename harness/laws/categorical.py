"""Tables of next-token laws and of coins, one row a context, and draws from them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from harness.arrays import Bits, Exact, Probs, Rows, Tokens, readonly
from harness.laws.drawers import Drawer, drawer
from harness.laws.lazy import LEADING, leading_bits, split
from harness.laws.tables import at

__all__ = ["Coin", "Law"]

MOST_REDRAWS = 32
FEW_COINS = 4  # tokens that may be refused: comparing with each beats a look-up below this


class Law:
    """Next-token laws `probs` (contexts, V), as float64 or as Fractions in an object array."""

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

        Where that is rare (`tokens[i]` has nearly all the mass) the rest of its row is searched.
        """
        drawn = self.draw(contexts, rng).copy()
        same = np.flatnonzero(drawn == tokens)
        for _ in range(MOST_REDRAWS):
            if not len(same):
                return drawn
            drawn[same] = self.draw(at(contexts, same), rng)
            same = same[drawn[same] == tokens[same]]
        for trial in same:
            row = self.floats[contexts[trial]].copy()
            row[tokens[trial]] = 0.0
            drawn[trial] = np.searchsorted(np.cumsum(row), rng.random() * row.sum(), side="right")
        return drawn

    @cached_property
    def _drawer(self) -> Drawer:
        return drawer(self.floats)


class Coin:
    """Probabilities `heads` (contexts, V) of keeping a token, by context and token."""

    def __init__(self, heads: Exact) -> None:
        self.heads = readonly(heads)

    @property
    def vocabulary(self) -> int:
        return int(self.heads.shape[1])

    def flip(self, contexts: Rows, tokens: Tokens, rng: np.random.Generator) -> Bits:
        """Bits (n,): u < heads[context, token], with a fresh uniform u in [0, 1) for each trial.

        Strictly less, so that a token of acceptance zero is never kept.
        """
        r = leading_bits(len(tokens), rng)
        if len(self.heads) == 1 and len(self._refusable) <= FEW_COINS:
            kept, tied = self._compared(r, tokens)
        else:
            coarse = self._coarse.take(self._cells(contexts, tokens), mode="clip")
            kept, tied = r < coarse, np.flatnonzero(r == coarse)
        if len(tied):
            cells = self._cells(at(contexts, tied), tokens[tied])
            kept[tied] = rng.random(len(tied)) < self._rest[cells]
        return kept

    def _compared(self, r: np.ndarray, tokens: Tokens) -> tuple[Bits, Rows]:
        """Bits (n,) by comparing with each refusable token, and the trials still undecided."""
        lost = np.zeros(len(r), dtype=bool)
        undecided = np.zeros(len(r), dtype=bool)
        for token in self._refusable:
            mine, cut = tokens == token, self._coarse[token]
            lost |= mine & (r > cut)
            undecided |= mine & (r == cut)
        return ~lost, np.flatnonzero(undecided)

    def _cells(self, contexts: Rows, tokens: Tokens) -> Rows | Tokens:
        return tokens if len(self.heads) == 1 else contexts * self.vocabulary + tokens

    @cached_property
    def _refusable(self) -> list[int]:
        return np.flatnonzero(self.heads[0] != 1).tolist()

    @cached_property
    def _split(self) -> tuple[np.ndarray, np.ndarray]:
        coarse, rest = split(self.heads.astype(np.float64).ravel(), LEADING)
        return readonly(coarse.astype(np.uint16)), readonly(rest)

    @property
    def _coarse(self) -> np.ndarray:
        return self._split[0]

    @property
    def _rest(self) -> np.ndarray:
        return self._split[1]
