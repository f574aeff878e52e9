"""The one-hot rule: what remains of the exact rule when the draft is taken for certain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Bits, Exact, Rows, Tokens
from harness.laws.accounting import acceptance
from harness.laws.categorical import Coin, Law
from harness.laws.step import ExactStep
from harness.laws.tables import LawTables
from harness.protocols import Procedure, Source, Trials
from harness.rules.active import of, of_trials
from harness.rules.rounds import TokenProcedure

__all__ = ["another_token", "one_hot"]


def one_hot(laws: LawTables) -> Procedure:
    """Keep d with probability p(d), otherwise draw from p without d: law p for any draft law.

    The exact rule with q read as the point mass at d; what engines do for n-gram drafts.
    """
    target = Law(laws.p)
    step = KeepOrAnother(Coin(laws.p), target)
    return TokenProcedure(Law(laws.proposal), step, target, laws.contexts)


def another_token(laws: LawTables) -> Procedure:
    """Keep x with min(1, p/q), otherwise draw from p without x, whatever else q has too much of."""
    target = Law(laws.p)
    step = KeepOrAnother(Coin(acceptance(laws.p, laws.q)), target)
    return TokenProcedure(Law(laws.proposal), step, target, laws.contexts)


@dataclass(frozen=True, slots=True)
class KeepOrAnother:
    accept: Coin
    target: Law

    def __call__(
        self, source: Source, contexts: Rows, tokens: Tokens, trials: Trials
    ) -> tuple[Bits, Rows, Tokens]:
        kept = source.flip(self.accept, contexts, tokens, trials)
        lost = np.flatnonzero(~kept)
        another = source.draw_other(
            self.target, of(contexts, lost), of(tokens, lost), of_trials(trials, lost)
        )
        return kept, lost, another

    def law(self, drafted: Exact, context: int) -> ExactStep:
        target = self.target.probs[context]
        kept = drafted * self.accept.heads[context]
        rejected = drafted - kept
        others = 1 - target
        odds = rejected / np.where(others == 0, others + 1, others)
        return ExactStep(kept, rejected, target * (odds.sum() - odds))
