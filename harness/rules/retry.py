"""Starting over after a rejection: the law becomes one of the accepted trials only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Bits, Rows, Tokens
from harness.errors import BadSetting, SamplerFailure
from harness.laws.step import ExactStep, StatesItsStep
from harness.laws.tables import LawTables, at
from harness.protocols import Procedure, Source, VerificationRule
from harness.trials import NO_TOKEN, Round

__all__ = ["RetryRule"]

MOST_ATTEMPTS = 100_000  # of a trial; the overlap would have to be below about 1e-4
MOST_IN_VAIN = 5_000_000  # rounds in a row without one that is kept whole


@dataclass(frozen=True, slots=True)
class RetryRule:
    """Plays rounds of `rule` until one keeps every drafted token; the others are thrown away.

    A rejection anywhere in the block starts the whole round over, from its first position.
    """

    rule: VerificationRule

    def __call__(self, laws: LawTables) -> Procedure:
        return RetryProcedure(self.rule(laws))


@dataclass(frozen=True, slots=True)
class RetryProcedure:
    """Raises SamplerFailure where a round is never kept whole, as with laws that share no token."""

    once: Procedure

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        first = self.once(source, contexts, draft_length, room)
        played = Round(first.drafted, first.n_accepted, first.committed)
        pending = source.again(np.flatnonzero(_rejects(first)))
        attempts = in_vain = 0
        while len(pending):
            if attempts >= MOST_ATTEMPTS or in_vain >= MOST_IN_VAIN:
                raise SamplerFailure(f"no round was kept whole in {in_vain:,} attempts")
            redone = self.once(source, at(contexts, pending), draft_length, room)
            for column, fresh in zip(_columns(played), _columns(redone), strict=True):
                column[pending] = fresh
            again = pending[_rejects(redone)]
            attempts, in_vain = attempts + 1, in_vain + len(pending)
            in_vain *= len(again) == len(pending)
            pending = again
        return played

    def step_law(self, context: int) -> ExactStep:
        """The step of `once`, given that it keeps; raises BadSetting where it never does."""
        if not isinstance(self.once, StatesItsStep):
            raise BadSetting("a rule that does not state its step cannot be retried in closed form")
        kept = self.once.step_law(context).kept
        if not kept.sum():
            raise BadSetting("the rule retries for ever: no outcome of it has positive probability")
        return ExactStep(kept / kept.sum(), kept * 0, kept * 0)


def _rejects(played: Round) -> Bits:
    """Trials (n,) whose last token replaces a drafted one."""
    draft_length = played.drafted.shape[1]
    n_accepted = played.n_accepted.astype(np.intp)
    after_run = played.committed[np.arange(len(n_accepted)), n_accepted]
    return (n_accepted < draft_length) & (after_run != NO_TOKEN)


def _columns(played: Round) -> tuple[Tokens, Tokens, Tokens]:
    return played.drafted, played.n_accepted, played.committed
