"""Neighbouring draws: pairs of randomised PIT values across trials and positions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from harness.arrays import Counts, Floats, Rows, Tokens
from harness.laws.tables import Contexts
from harness.rng import stream
from harness.trials import TrialBatch

__all__ = ["PairTally", "PitOf"]

PitOf = Callable[[Tokens, Rows, np.random.Generator], Floats]
PairsOf = Callable[[Floats], Mapping[str, Counts]]


@dataclass(frozen=True, slots=True)
class PairTally:
    """Counts of PIT pairs by direction and lag, each (64,).

    `pit` gives the value of a token in its context, `pairs` sorts pairs into cells. The uniforms
    that spread a token over its interval come from a stream whose address is the digest of the
    tokens: no chunk needs to know another.
    """

    pairs_seen: Mapping[str, Counts]
    pit: PitOf
    pairs: PairsOf
    contexts: Contexts

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        seen = dict(self.pairs_seen)
        for batch in batches:
            for name, counts in self.pairs(self._values(batch)).items():
                seen[name] = seen[name] + counts if name in seen else counts
        return replace(self, pairs_seen=seen)

    def _values(self, batch: TrialBatch) -> Floats:
        tokens = np.ascontiguousarray(batch.tokens)
        rng = stream(0, "pit", hashlib.sha256(tokens.tobytes()).hexdigest())
        return self.pit(tokens, self._before(batch), rng)

    def _before(self, batch: TrialBatch) -> Rows:
        """Context (n, horizon) before every token."""
        prompts = np.zeros(len(batch), np.intp) if batch.prompts is None else batch.prompts
        here = self.contexts.begin(prompts)
        before = np.empty(batch.tokens.shape, dtype=np.intp)
        for position, column in enumerate(batch.tokens.T):
            before[:, position] = here
            here = self.contexts.after(here, column)
        return before

    def merge(self, other: Self) -> Self:
        merged = dict(self.pairs_seen)
        for name, counts in other.pairs_seen.items():
            merged[name] = merged[name] + counts if name in merged else counts
        return replace(self, pairs_seen=merged)

    def counts(self) -> Mapping[str, Counts]:
        return {f"pairs across {name}": np.asarray(c) for name, c in self.pairs_seen.items()}
