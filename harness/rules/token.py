"""The token rule, of which the exact rule is one member and most faults are others.

A member says what is drafted, when a drafted token is kept, what replaces a rejected one and what
follows a full block. Leviathan, Kalman and Matias (2023), algorithm 1; Chen et al. (2023),
algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.arrays import Bits, Exact, Rows, Tokens
from harness.laws.accounting import acceptance, residual
from harness.laws.categorical import Coin, Law
from harness.laws.step import ExactStep
from harness.laws.tables import LawTables
from harness.protocols import Source, Trials
from harness.rules.active import of, of_trials
from harness.rules.rounds import TokenProcedure

__all__ = ["LawOf", "TokenRule"]

LawOf = Callable[[LawTables], Exact]


def the_target(laws: LawTables) -> Exact:
    return laws.p


def the_draft(laws: LawTables) -> Exact:
    return laws.q


def the_proposal(laws: LawTables) -> Exact:
    return laws.proposal


def the_residual(laws: LawTables) -> Exact:
    """(p - q)+ renormalised."""
    return residual(laws.p, laws.q)


def the_ratio(laws: LawTables) -> Exact:
    """min(1, p/q)."""
    return acceptance(laws.p, laws.q)


@dataclass(frozen=True, slots=True)
class TokenRule:
    """Draft from `propose`; keep x with probability `accept`(x); stop at the first rejection.

    The stopping token comes from `replace`, or from `bonus` when every drafted token was kept. The
    defaults are the exact rule.
    """

    propose: LawOf = the_proposal
    accept: LawOf = the_ratio
    replace: LawOf = the_residual
    bonus: LawOf = the_target

    def __call__(self, laws: LawTables) -> TokenProcedure:
        step = AcceptOrReplace(Coin(self.accept(laws)), Law(self.replace(laws)))
        return TokenProcedure(Law(self.propose(laws)), step, Law(self.bonus(laws)), laws.contexts)


@dataclass(frozen=True, slots=True)
class AcceptOrReplace:
    """Keep the token by a coin; otherwise draw its replacement."""

    accept: Coin
    replace: Law

    def __call__(
        self, source: Source, contexts: Rows, tokens: Tokens, trials: Trials
    ) -> tuple[Bits, Rows, Tokens]:
        kept = source.flip(self.accept, contexts, tokens, trials)
        lost = np.flatnonzero(~kept)
        replacement = source.draw(self.replace, of(contexts, lost), of_trials(trials, lost))
        return kept, lost, replacement

    def law(self, drafted: Exact, context: int) -> ExactStep:
        kept = drafted * self.accept.heads[context]
        rejected = drafted - kept
        return ExactStep(kept, rejected, rejected.sum() * self.replace.probs[context])
