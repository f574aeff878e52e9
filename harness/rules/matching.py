"""Token matching: the target draws for itself and the draft is kept where the two agree.

What follows a mismatch makes all the difference: keeping the target's draw gives p exactly, drawing
afresh gives pq + (1 - sum pq) p, starting over (`retry`) gives a law proportional to pq.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Bits, Exact, Rows, Tokens
from harness.laws.categorical import Law
from harness.laws.step import ExactStep
from harness.laws.tables import LawTables
from harness.protocols import Procedure, Source, Trials
from harness.rules.active import of, of_trials
from harness.rules.rounds import TokenProcedure

__all__ = ["match_or_keep_target", "match_or_redraw"]


def match_or_keep_target(laws: LawTables) -> Procedure:
    """Keep the draft where a draw from p equals it; otherwise that draw stands. Law p."""
    return _matching(MatchOrKeepTarget(Law(laws.p)), laws)


def match_or_redraw(laws: LawTables) -> Procedure:
    """Keep the draft where a draw from p equals it; otherwise draw from p once more."""
    return _matching(MatchOrRedraw(Law(laws.p)), laws)


def _matching(step: MatchOrKeepTarget | MatchOrRedraw, laws: LawTables) -> Procedure:
    return TokenProcedure(Law(laws.proposal), step, step.target, laws.contexts)


@dataclass(frozen=True, slots=True)
class MatchOrKeepTarget:
    target: Law

    def __call__(
        self, source: Source, contexts: Rows, tokens: Tokens, trials: Trials
    ) -> tuple[Bits, Rows, Tokens]:
        wanted = source.draw(self.target, contexts, trials)
        kept = wanted == tokens
        lost = np.flatnonzero(~kept)
        return kept, lost, wanted[lost]

    def law(self, drafted: Exact, context: int) -> ExactStep:
        target = self.target.probs[context]
        kept = drafted * target
        return ExactStep(kept, drafted - kept, target - kept)


@dataclass(frozen=True, slots=True)
class MatchOrRedraw:
    target: Law

    def __call__(
        self, source: Source, contexts: Rows, tokens: Tokens, trials: Trials
    ) -> tuple[Bits, Rows, Tokens]:
        kept = source.draw(self.target, contexts, trials) == tokens
        lost = np.flatnonzero(~kept)
        fresh = source.draw(self.target, of(contexts, lost), of_trials(trials, lost))
        return kept, lost, fresh

    def law(self, drafted: Exact, context: int) -> ExactStep:
        target = self.target.probs[context]
        kept = drafted * target
        rejected = drafted - kept
        return ExactStep(kept, rejected, rejected.sum() * target)
