"""Token-by-token verification, of which the exact rule is one member and most faults others.

A member says what is drafted, when a drafted token is kept, what replaces a rejected one and what
follows a full block. Leviathan, Kalman and Matias (2023), algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.arrays import Exact, Rows, Tokens, token_dtype
from harness.laws.accounting import acceptance, residual
from harness.laws.categorical import Coin, Law
from harness.laws.tables import Contexts, LawTables
from harness.protocols import EVERYONE, Procedure, Source
from harness.rules.active import ended, everything_kept, of, those
from harness.trials import Round

__all__ = ["TokenRule", "draft_block", "the_draft", "the_residual", "the_target"]

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


def min_one_ratio(laws: LawTables) -> Exact:
    """min(1, p/q)."""
    return acceptance(laws.p, laws.q)


@dataclass(frozen=True, slots=True)
class TokenRule:
    """Draft from `propose`; keep x with probability `accept`(x); stop at the first rejection.

    The stopping token comes from `replace`, or from `bonus` when every drafted token was kept. The
    defaults are the exact rule.
    """

    propose: LawOf = the_proposal
    accept: LawOf = min_one_ratio
    replace: LawOf = the_residual
    bonus: LawOf = the_target

    def __call__(self, laws: LawTables) -> Procedure:
        return TokenProcedure(
            propose=Law(self.propose(laws)),
            accept=Coin(self.accept(laws)),
            replace=Law(self.replace(laws)),
            bonus=Law(self.bonus(laws)),
            contexts=laws.contexts,
        )


@dataclass(frozen=True, slots=True)
class TokenProcedure:
    """The round of a `TokenRule` over prepared tables."""

    propose: Law
    accept: Coin
    replace: Law
    bonus: Law
    contexts: Contexts

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        drafted, visited = draft_block(source, self.propose, self.contexts, contexts, draft_length)
        committed, n_accepted = everything_kept(drafted)
        active = EVERYONE
        for position in range(draft_length):
            here, tokens = of(visited[position], active), of(drafted[:, position], active)
            kept = source.flip(self.accept, here, tokens, active)
            rejected = those(active, ~kept)
            n_accepted[rejected] = position
            replacement = source.draw(self.replace, of(visited[position], rejected), rejected)
            committed[:, position][rejected] = replacement
            if position + 1 < max(draft_length, room):
                active = those(active, kept)
        if room > draft_length:
            bonus = source.draw(self.bonus, of(visited[draft_length], active), active)
            committed[:, draft_length][active] = bonus
        return Round(drafted, n_accepted, ended(committed, n_accepted))


def draft_block(
    source: Source, propose: Law, contexts: Contexts, start: Rows, draft_length: int
) -> tuple[Tokens, list[Rows]]:
    """Drafted tokens (n, k), and the contexts (n,) before each of them and after the last."""
    drafted = np.empty((draft_length, len(start)), dtype=token_dtype(propose.vocabulary)).T
    visited = [start]
    for position in range(draft_length):
        drafted[:, position] = source.draw(propose, visited[position], EVERYONE)
        visited.append(contexts.after(visited[position], drafted[:, position]))
    return drafted, visited
