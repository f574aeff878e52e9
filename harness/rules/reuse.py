"""Faults of reused randomness: one number decides two things. Not discrete: simulated only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Bits, Exact, Floats, Probs, Rows, Tokens
from harness.laws.accounting import acceptance, residual
from harness.laws.categorical import Law
from harness.laws.step import ExactStep
from harness.laws.tables import Contexts, LawTables
from harness.protocols import Procedure, Source, Trials
from harness.rules.active import ended, everything_kept, of, of_trials, until_end
from harness.rules.rounds import TokenProcedure
from harness.trials import Round

__all__ = ["reused_coin", "shared_gumbel"]


def reused_coin(laws: LawTables) -> Procedure:
    """The coin that rejected also inverts the residual's distribution (flashinfer #424)."""
    p, q = laws.p.astype(float), laws.q.astype(float)
    step = CoinInverts(acceptance(p, q), np.cumsum(residual(p, q), axis=1))
    return TokenProcedure(Law(laws.proposal), step, Law(laws.p), laws.contexts)


@dataclass(frozen=True, slots=True)
class CoinInverts:
    heads: Probs
    cumulative: Probs

    def __call__(
        self,
        source: Source,
        contexts: Rows,
        tokens: Tokens,
        trials: Trials,  # noqa: ARG002 (Step)
    ) -> tuple[Bits, Rows, Tokens]:
        u = source.uniforms(len(tokens), 1)[:, 0]
        kept = u < self.heads[contexts, tokens]
        lost = np.flatnonzero(~kept)
        return kept, lost, _inverted(self.cumulative[of(contexts, lost)], u[lost])

    def law(self, drafted: Exact, context: int) -> ExactStep:
        """Rejected x leaves a coin even on [a(x), 1): it meets the residual's steps in part."""
        drafted = drafted.astype(np.float64)
        heads, ends = self.heads[context], self.cumulative[context] / self.cumulative[context, -1]
        order = np.argsort(heads)
        drafts = np.concatenate([[0.0], np.cumsum(drafted[order])])
        shares = np.concatenate([[0.0], np.cumsum(drafted[order] * heads[order])])
        known = np.searchsorted(heads[order], ends, side="right")
        below = drafts[known] * ends - shares[known]  # mass of coins in [a(x), end)
        kept = drafted * heads
        return ExactStep(kept, drafted - kept, np.diff(below, prepend=0.0))


def _inverted(cumulative: Probs, u: Floats) -> Tokens:
    """The first token whose cumulative probability exceeds u times the total."""
    return (cumulative <= u[:, None] * cumulative[:, -1:]).sum(axis=1)


def shared_gumbel(laws: LawTables) -> Procedure:
    """The Gumbel noise that drew the draft also draws its replacement (vLLM #47386, #54282)."""
    p, q, proposal = (law.astype(float) for law in (laws.p, laws.q, laws.proposal))
    with np.errstate(divide="ignore"):
        scores = np.log(proposal), np.log(residual(p, q))
    return SharedGumbel(*scores, acceptance(p, q), Law(laws.p), laws.contexts)


@dataclass(frozen=True, slots=True)
class SharedGumbel:
    log_draft: Floats
    log_residual: Floats
    heads: Probs
    bonus: Law
    contexts: Contexts

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        noise: list[Floats] = []
        drafted, visited = self._drafts(source, contexts, draft_length, noise)
        committed, n_accepted = everything_kept(drafted)
        active = np.arange(len(contexts))
        for position in range(draft_length):
            here, tokens = of(visited[position], active), of(drafted[:, position], active)
            kept = source.uniforms(len(active), 1)[:, 0] < self.heads[here, tokens]
            lost = np.flatnonzero(~kept)
            rejected = of_trials(active, lost)
            n_accepted[rejected] = position
            scores = self.log_residual[of(here, lost)] + noise[position][rejected]
            committed[:, position][rejected] = scores.argmax(axis=1)
            active = active[kept]
        if room > draft_length:
            bonus = source.draw(self.bonus, of(visited[draft_length], active), active)
            committed[:, draft_length][active] = bonus
        committed = ended(committed, n_accepted)
        return Round(drafted, *until_end(committed, n_accepted, self.contexts.end))

    def _drafts(
        self, source: Source, start: Rows, draft_length: int, noise: list[Floats]
    ) -> tuple[Tokens, list[Rows]]:
        """The drafted block, and in `noise` what drew it: Gumbel noise (n, V) of each position."""
        n, vocabulary = len(start), self.log_draft.shape[1]
        drafted = np.empty((draft_length, n), dtype=np.int32).T
        visited = [start]
        for position in range(draft_length):
            noise.append(-np.log(-np.log(source.uniforms(n, vocabulary))))
            scores = self.log_draft[visited[position]] + noise[position]
            drafted[:, position] = scores.argmax(axis=1)
            visited.append(self.contexts.after(visited[position], drafted[:, position]))
        return drafted, visited
