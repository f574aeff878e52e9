"""Block verification: keeps the longest run that the draft as a whole allows.

Sun, Mendlovic, Leviathan, Aharoni, Ro, Beirami and Suresh (2024), "Block verification accelerates
speculative decoding", algorithm 2. The law of the committed tokens is p, and the expected length of
the kept run is at least that of the token rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Exact, Rows, Tokens
from harness.laws.accounting import accepted_mass, positive_part
from harness.laws.categorical import Coin, Law
from harness.laws.scaled_residual import ScaledResidual, SortedByRatio
from harness.laws.step import ExactStep
from harness.laws.tables import Contexts, LawTables, at
from harness.protocols import Source
from harness.rules.active import ended, everything_kept, until_end
from harness.rules.rounds import draft_block
from harness.trials import Round

__all__ = ["BlockProcedure", "block_verification"]


def block_verification(laws: LawTables) -> BlockProcedure:
    """Keep a prefix of the draft by a coin of its own, the longest first."""
    rest = SortedByRatio(laws.p, laws.q)
    return BlockProcedure(Law(laws.proposal), Law(laws.p), rest, laws.contexts)


@dataclass(frozen=True, slots=True)
class BlockProcedure:
    """`rest` holds p and q, and knows the masses of (w p - q)+."""

    propose: Law
    target: Law
    rest: SortedByRatio
    contexts: Contexts

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        drafted, visited = draft_block(source, self.propose, self.contexts, contexts, draft_length)
        weights = self._weights(drafted, visited)
        n_accepted = self._longest_kept(source, visited, weights)
        committed, _ = everything_kept(drafted)
        stopped = np.flatnonzero(n_accepted < draft_length)
        length = n_accepted[stopped]
        left = ScaledResidual(
            self.rest, np.stack(visited)[length, stopped], np.stack(weights)[length, stopped]
        )
        committed[stopped, length] = source.draw(left, np.arange(len(stopped)), stopped)
        if room > draft_length:
            whole = np.flatnonzero(n_accepted == draft_length)
            bonus = source.draw(self.target, at(visited[draft_length], whole), whole)
            committed[whole, draft_length] = bonus
        committed = ended(committed, n_accepted)
        return Round(drafted, *until_end(committed, n_accepted, self.contexts.end))

    def _weights(self, drafted: Tokens, visited: list[Rows]) -> list[Exact]:
        """For each prefix of the draft (n,): w = min(1, w p/q), from 1 for the empty one."""
        weights = [np.ones(len(drafted), self.rest.p.dtype)]
        for tokens, here in zip(drafted.T, visited, strict=False):
            p, q = weights[-1] * self.rest.p[here, tokens], self.rest.q[here, tokens]
            certain = p >= q
            weights.append(np.where(certain, 1, p / np.where(certain, q * 0 + 1, q)))
        return weights

    def _longest_kept(self, source: Source, visited: list[Rows], weights: list[Exact]) -> Tokens:
        """Length (n,) of the longest prefix whose coin falls heads."""
        longest = len(weights) - 1
        n_accepted = np.zeros(len(weights[0]), dtype=np.int8)
        pending = np.arange(len(n_accepted))
        for length in range(longest, 0, -1):
            here, w = at(visited[length], pending), weights[length][pending]
            heads = w if length == longest else self._continues(here, w)
            nothing = np.zeros(len(pending), dtype=np.int8)
            coin = Coin(heads[:, None])
            kept = source.flip(coin, np.arange(len(pending)), nothing, pending)
            n_accepted[pending[kept]] = length
            pending = pending[~kept]
        return n_accepted

    def _continues(self, contexts: Rows, weights: Exact) -> Exact:
        """Heads h = S / (S + 1 - w), S the mass of (w p - q)+ one position on; 1 where w is 1."""
        mass = np.maximum(self.rest.mass(contexts, weights), 0)
        total = mass + (1 - weights)
        certain = weights == 1
        return np.where(certain, weights, mass / np.where(certain, total * 0 + 1, total))

    def step_law(self, context: int) -> ExactStep:
        """A block of one token is the token rule."""
        p, q = self.rest.p[context], self.rest.q[context]
        drafted, never = self.propose.probs[context], q == 0
        kept = np.where(never, q * 0, drafted * accepted_mass(p, q) / np.where(never, q + 1, q))
        rejected = drafted - kept
        excess = positive_part(p, q)
        total = excess.sum()
        replacement = excess / total if total > 0 else p
        return ExactStep(kept, rejected, rejected.sum() * replacement)
