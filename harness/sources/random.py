"""The random source: a rule run with it draws trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Bits, Floats, Rows, Tokens
from harness.laws.categorical import Coin, Law
from harness.protocols import Trials

__all__ = ["RandomSource"]


@dataclass(frozen=True, slots=True)
class RandomSource:
    """Chances from a generator."""

    rng: np.random.Generator

    def draw(self, law: Law, contexts: Rows, trials: Trials) -> Tokens:  # noqa: ARG002 (Source)
        return law.draw(contexts, self.rng)

    def flip(self, coin: Coin, contexts: Rows, tokens: Tokens, trials: Trials) -> Bits:  # noqa: ARG002
        return coin.flip(contexts, tokens, self.rng)

    def draw_other(self, law: Law, contexts: Rows, tokens: Tokens, trials: Trials) -> Tokens:  # noqa: ARG002
        return law.draw_other(contexts, tokens, self.rng)

    def uniforms(self, n: int, size: int) -> Floats:
        return self.rng.random((n, size))

    def again(self, trials: Rows) -> Rows:
        return trials
