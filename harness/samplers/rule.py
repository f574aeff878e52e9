"""Our own sampler: rounds of a verification rule until every trial has its horizon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.arrays import Bits, Rows, Tokens
from harness.laws.tables import Contexts, LawTables, at, one_for_all
from harness.protocols import Procedure, VerificationRule
from harness.sources.random import RandomSource
from harness.trials import NO_TOKEN, Round, TrialBatch, concatenated

__all__ = ["RuleSampler"]

# Trials whose rounds are played together. Part of the random stream's address: changing it changes
# results. Fewer cost more for the stragglers of late rounds, more fall out of the cache.
TRIALS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class RuleSampler:
    """Runs rounds of `rule` over `laws` with `draft_length` until `horizon` tokens are committed.

    A trial that commits the end token is over: -1 follows it.
    """

    rule: VerificationRule
    laws: LawTables
    draft_length: int = 1
    horizon: int = 1

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"drafted", "n_accepted"})

    @property
    def concurrent(self) -> bool:
        return True

    @cached_property
    def procedure(self) -> Procedure:
        return self.rule(self.laws)

    def sample(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:
        if self.horizon == 1:
            return self._together(n_trials, rng)
        starts = range(0, max(n_trials, 1), TRIALS_AT_ONCE)
        sizes = [min(TRIALS_AT_ONCE, n_trials - start) for start in starts]
        return concatenated([self._together(size, rng) for size in sizes])

    def _together(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:
        prompts = _in_turn(n_trials, len(self.laws.contexts.starts))
        contexts = self.laws.contexts.begin(prompts)
        first = self.procedure(RandomSource(rng), contexts, self.draft_length, self.horizon)
        tokens = self._continued(first, contexts, rng)
        return TrialBatch(tokens, first.drafted, first.n_accepted, prompts)

    def _continued(self, first: Round, contexts: Rows, rng: np.random.Generator) -> Tokens:
        """Tokens (n, horizon): the first round's, then those of further rounds."""
        if self.horizon == 1:
            return first.committed[:, :1]
        source, played = RandomSource(rng), first
        page = _Page(first, self.horizon, self.laws.contexts)
        while len(contexts := page.turned(played, contexts)):
            played = self.procedure(source, contexts, self.draft_length, page.room)
            page.write(played)
        return page.tokens


class _Page:
    """The tokens of every trial so far, and the trials that want more of them."""

    def __init__(self, first: Round, horizon: int, contexts: Contexts) -> None:
        self.horizon, self.contexts = horizon, contexts
        self.n_trials, width = first.committed.shape
        # a round may run over the horizon: it is written whole, and the rest of the page cut off
        shape = horizon + width - 1, self.n_trials
        self.by_position = np.full(shape, NO_TOKEN, dtype=first.committed.dtype)
        self.by_position[:width] = first.committed.T
        self.places = np.arange(self.n_trials)  # of the next token of each active trial

    @property
    def tokens(self) -> Tokens:
        return self.by_position[: self.horizon].T

    @property
    def room(self) -> int:
        """The most tokens that an active trial still wants."""
        return self.horizon - int(self.places.min()) // self.n_trials

    def write(self, played: Round) -> None:
        """Puts down a round of the active trials, to be written over after its last token."""
        page, places = self.by_position.ravel(), self.places.copy()
        for column in played.committed.T:
            page[places] = column
            places += self.n_trials

    def turned(self, played: Round, began: Rows) -> Rows:
        """After a round that began in `began` (m,): the contexts of the trials that go on."""
        length = np.zeros(len(began), dtype=np.int8)
        for column in played.committed.T:
            length += (column != NO_TOKEN).view(np.int8)
        self.places += length.astype(np.intp) * self.n_trials
        going = np.flatnonzero(self._goes_on(played))
        self.places = self.places.take(going)
        return _following(played, began, going, self.contexts)

    def _goes_on(self, played: Round) -> Bits:
        """Active trials (m,) that have neither reached the horizon nor the end token."""
        goes_on = self.places < self.horizon * self.n_trials
        if self.contexts.end is not None:
            for column in played.committed.T:
                goes_on &= column != self.contexts.end
        return goes_on


def _following(played: Round, began: Rows, going: Rows, contexts: Contexts) -> Rows:
    """Contexts after the rounds of the trials `going`."""
    if len(contexts) == 1:
        return one_for_all(len(going))
    if played.reached is not None:
        return played.reached.take(going)
    here = at(began, going).copy()
    for column in played.committed.T:
        tokens = column.take(going)
        there = np.flatnonzero(tokens != NO_TOKEN)
        here[there] = contexts.after(here.take(there), tokens.take(there))
    return here


def _in_turn(n_trials: int, n_prompts: int) -> Rows:
    """Prompts (n,) of trials that take them in turn."""
    return one_for_all(n_trials) if n_prompts == 1 else np.arange(n_trials) % n_prompts
