"""The round that all token-by-token rules share: draft, verify in order, commit.

What is verified after the first rejection would belong to a history that no longer exists, so it
is never looked at: the loop goes on with the trials that have kept everything so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.arrays import Bits, Exact, Rows, Tokens, token_dtype
from harness.laws.categorical import Law
from harness.laws.step import ExactStep
from harness.laws.tables import Contexts
from harness.protocols import EVERYONE, Source, Trials
from harness.rules.active import ended, everything_kept, of, of_trials, until_end
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
        drafted, visited = draft_block(source, self.propose, self.contexts, contexts, draft_length)
        committed, n_accepted = everything_kept(drafted)
        active: Trials = EVERYONE
        stopped_at = visited[draft_length]
        follow = room > 1 and len(self.contexts) > 1
        if follow:
            stopped_at = stopped_at.copy()
        for position in range(draft_length):
            here, tokens = of(visited[position], active), of(drafted[:, position], active)
            kept, lost, replacement = self.step(source, here, tokens, active)
            rejected = of_trials(active, lost)
            n_accepted[rejected] = position
            committed[:, position][rejected] = replacement
            if follow:
                stopped_at[rejected] = of(here, lost)
            if position + 1 < max(draft_length, room):
                active = of_trials(active, np.flatnonzero(kept))
        if room > draft_length:
            bonus = source.draw(self.bonus, of(visited[draft_length], active), active)
            committed[:, draft_length][active] = bonus
        kept_run = until_end(ended(committed, n_accepted), n_accepted, self.contexts.end)
        return Round(drafted, *kept_run, stopped_at)

    def step_law(self, context: int) -> ExactStep:
        return self.step.law(self.propose.probs[context], context)


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
