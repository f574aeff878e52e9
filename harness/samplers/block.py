"""What a verifier is asked: drafts, and the laws they were drafted from and are held against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Rows, Tokens, readonly
from harness.laws.tables import LawTables

__all__ = ["Block", "Generate", "LawRows", "Verify"]

AnyFloats: TypeAlias = npt.NDArray[np.floating[Any]]


class LawRows:
    """The tables q and p (contexts, V) in the float type that a verifier wants, converted once.

    With `shared`, blocks show laws as read-only views where all trials have the same, instead of
    copying them for each: for verifiers that neither write into them nor need them contiguous.
    """

    def __init__(self, laws: LawTables, dtype: str = "float64", *, shared: bool = False) -> None:
        self.q: AnyFloats = readonly(np.ascontiguousarray(laws.q, dtype=dtype))
        self.p: AnyFloats = readonly(np.ascontiguousarray(laws.p, dtype=dtype))
        self.shared = shared

    def bytes_per_trial(self, draft_length: int) -> int:
        """Memory that the laws of one trial take in a block."""
        return (2 * draft_length + 1) * self.p.shape[1] * self.p.itemsize


@dataclass(frozen=True)
class Block:
    """n drafts of k tokens: `draft` (n, k), `contexts` (n, k + 1) before each and after all."""

    draft: Tokens
    contexts: Rows
    rows: LawRows

    @cached_property
    def q(self) -> AnyFloats:
        """Draft laws (n, k, V)."""
        return self._laws(self.rows.q, self.contexts[:, :-1])

    @cached_property
    def p(self) -> AnyFloats:
        """Target laws (n, k + 1, V)."""
        return self._laws(self.rows.p, self.contexts)

    def _laws(self, table: AnyFloats, contexts: Rows) -> AnyFloats:
        if self.rows.shared and (contexts == contexts[0]).all():
            return np.broadcast_to(table[contexts[0]], (*contexts.shape, table.shape[1]))
        return table[contexts]


Verify: TypeAlias = Callable[[Block, int], Any]  # a block and a seed -> committed tokens (n, k + 1)
Generate: TypeAlias = Callable[[int, int, int], Any]  # n, horizon, seed -> tokens (n, horizon)
