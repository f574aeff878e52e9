"""The round that all token-by-token rules share: draft, verify in order, commit.

What follows the first rejection would belong to a history that no longer exists, so it is never
looked at: the loop goes on with the trials that have kept everything so far, and since no law or
coin of theirs depends on a later draft, each draft is drawn only where it will be verified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.arrays import Bits, Exact, Rows, Tokens, token_dtype
from harness.laws.categorical import Law
from harness.laws.step import ExactStep, RoundSteps, round_steps
from harness.laws.tables import Contexts, at
from harness.protocols import EVERYONE, Source, Trials
from harness.rules.active import blank, of_trials, put, stopped_drafts, until_end
from harness.trials import Round

__all__ = ["Step", "TokenProcedure", "draft_block"]


class Step(Protocol):
    """The verification of one drafted token."""

    def __call__(
        self, source: Source, contexts: Rows, tokens: Tokens, trials: Trials
    ) -> tuple[Bits, Rows, Tokens]:
        """Which of `tokens` (m,) are kept; the places of the others; what replaces those."""
        ...

    def law(self, drafted: Exact, context: int) -> ExactStep:
        """The exact law of the step where the token is drafted from `drafted` (V,)."""
        ...


@dataclass(frozen=True, slots=True)
class TokenProcedure:
    """Draft from `propose`, verify by `step`, and after a full block draw the bonus token."""

    propose: Law
    step: Step
    bonus: Law
    contexts: Contexts

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        drafted, n_accepted = blank(contexts, draft_length, self.propose.vocabulary)
        stops: list[tuple[Rows, Tokens]] = []
        reached = contexts.copy() if self._is_followed(room) else None
        active, here = EVERYONE, contexts
        for position in range(draft_length):
            tokens = source.draw(self.propose, here, active)
            put(drafted[:, position], active, tokens)
            kept, lost, replacement = self.step(source, here, tokens, active)
            rejected = of_trials(active, lost)
            n_accepted[rejected] = position
            stops.append((rejected, replacement))
            if reached is not None:
                reached[rejected] = self.contexts.after(at(here, lost), replacement)
            if position + 1 < max(draft_length, room):
                going = np.flatnonzero(kept)
                active = of_trials(active, going)
                here = self.contexts.after(at(here, going), tokens.take(going))
        committed = stopped_drafts(drafted, stops)
        if room > draft_length:
            bonus = source.draw(self.bonus, here, active)
            committed[:, draft_length][active] = bonus
            if reached is not None:
                reached[active] = self.contexts.after(here, bonus)
        return Round(drafted, *until_end(committed, n_accepted, self.contexts.end), reached)

    def _is_followed(self, room: int) -> bool:
        """Whether further rounds will want to know where this one led."""
        return room > 1 and len(self.contexts) > 1

    def step_law(self, context: int) -> ExactStep:
        return self.step.law(self.propose.probs[context], context)

    def steps(self) -> RoundSteps:
        return round_steps(self.step_law, self.bonus.probs, self.contexts)


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
