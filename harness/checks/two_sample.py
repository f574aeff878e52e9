"""Two samplers and no known law: a sequential e-value.

For each pair, x from A and y from B, and estimates a, b made from earlier pairs alone, the factor
a(x) b(y) / (m(x) m(y)) with m = (a + b)/2 has mean at most one under every common law: it is u v
with u + v = 2 (Turner, Ly and Gruenwald 2024). The estimates are shrunk towards the pool.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from harness.arrays import Counts, Floats, Rows, readonly
from harness.checks.dirichlet import log_mean_exp
from harness.errors import BadSetting

__all__ = ["STRENGTHS", "BlockEValue", "block_factors"]

STRENGTHS = (30.0, 300.0, 3e3, 3e4)  # pairs that the pool counts for
PRIOR = 0.5  # draws of every token that the pool starts with


def block_factors(a_of_x: Floats, b_of_x: Floats, a_of_y: Floats, b_of_y: Floats) -> Floats:
    """Logarithm of a(x) b(y) / (m(x) m(y)) for estimates at the two drawn tokens."""
    of_x, of_y = 0.5 * (a_of_x + b_of_x), 0.5 * (a_of_y + b_of_y)
    return np.log(a_of_x / of_x) + np.log(b_of_y / of_y)


def seen_before(stream: Rows, wanted: Rows) -> Counts:
    """For each time t how often wanted[t] occurred in stream before t."""
    length = stream.size + 1
    keys = np.sort(stream * length + np.arange(stream.size))
    now = np.searchsorted(keys, wanted * length + np.arange(wanted.size))
    return now - np.searchsorted(keys, wanted * length)


@dataclass(frozen=True, slots=True)
class BlockEValue:
    """Running evidence that two arms differ: counts (C, V) of each arm, ln E of each strength.

    C is the number of contexts (prompts): a pair shares its context, and each context has its
    own estimates.
    """

    of_a: Counts
    of_b: Counts
    logs: Floats

    def __post_init__(self) -> None:
        for name in ("of_a", "of_b", "logs"):
            object.__setattr__(self, name, readonly(getattr(self, name)))

    @classmethod
    def empty(cls, vocabulary: int, contexts: int = 1) -> Self:
        none = np.zeros((contexts, vocabulary), dtype=np.int64)
        return cls(none, none, np.zeros(len(STRENGTHS)))

    @property
    def log_e(self) -> float:
        return float(log_mean_exp(self.logs))

    def update(
        self, x: npt.ArrayLike, y: npt.ArrayLike, contexts: npt.ArrayLike = 0
    ) -> tuple[Self, Floats]:
        """After more pairs, tokens (n,) of each arm: the new state, and ln E after each pair.

        Pairs are bet on in their order, so a run may stop after any of them.
        """
        context, first, second = self._checked(x, y, contexts)
        logs = self.logs[:, None] + np.cumsum(self._factors(context, first, second), axis=1)
        state = replace(
            self,
            of_a=self.of_a + self._count(context, first),
            of_b=self.of_b + self._count(context, second),
            logs=logs[:, -1] if first.size else self.logs,
        )
        return state, log_mean_exp(logs, axis=0)

    def _checked(
        self, x: npt.ArrayLike, y: npt.ArrayLike, contexts: npt.ArrayLike
    ) -> tuple[Rows, Rows, Rows]:
        first, second = np.asarray(x, dtype=np.intp), np.asarray(y, dtype=np.intp)
        if first.ndim != 1 or first.shape != second.shape:
            raise BadSetting(f"arms of {first.shape} and {second.shape} draws do not pair up")
        size, drawn = self.of_a.shape[1], np.concatenate([first, second])
        if ((drawn < 0) | (drawn >= size)).any():
            raise BadSetting(f"a token is outside the vocabulary of {size}")
        return np.broadcast_to(np.asarray(contexts, dtype=np.intp), first.shape), first, second

    def _count(self, context: Rows, tokens: Rows) -> Counts:
        size = self.of_a.size
        keys = context * self.of_a.shape[1] + tokens
        return np.bincount(keys, minlength=size).reshape(self.of_a.shape).astype(np.int64)

    def _factors(self, context: Rows, x: Rows, y: Rows) -> Floats:
        """Logarithm of the factor of every pair for every strength: (strengths, n)."""
        size = self.of_a.shape[1]
        key_x, key_y = context * size + x, context * size + y
        pairs = self.of_a.sum(axis=1)[context] + seen_before(context, context)
        past = {
            (arm, token): counts.ravel()[wanted] + seen_before(stream, wanted)
            for arm, counts, stream in (("a", self.of_a, key_x), ("b", self.of_b, key_y))
            for token, wanted in (("x", key_x), ("y", key_y))
        }
        pool = {
            token: (past["a", token] + past["b", token] + PRIOR) / (2 * pairs + PRIOR * size)
            for token in ("x", "y")
        }
        return np.stack(
            [
                block_factors(
                    *(
                        (past[arm, token] + strength * pool[token]) / (pairs + strength)
                        for token in ("x", "y")
                        for arm in ("a", "b")
                    )
                )
                for strength in STRENGTHS
            ]
        )
