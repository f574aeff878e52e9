"""Known faults in what a round commits and reports, with every chance drawn as it should be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Bits, Rows, Tokens
from harness.laws.accounting import acceptance, residual
from harness.laws.categorical import Coin, Law
from harness.laws.step import ExactStep, RoundSteps
from harness.laws.tables import Contexts, LawTables, at
from harness.protocols import EVERYONE, Procedure, Source
from harness.rules.active import ended, everything_kept, until_end
from harness.rules.rounds import TokenProcedure, draft_block
from harness.rules.token import AcceptOrReplace, TokenRule
from harness.trials import NO_TOKEN, Round

__all__ = ["frozen_stream", "rejected_token_kept", "row_swap", "spliced_suffix", "sum_of_flags"]


def rejected_token_kept(laws: LawTables) -> Procedure:
    """The rejected token stays, and its replacement is appended after it."""
    return KeepsRejected(TokenRule()(laws), laws.contexts.end)


@dataclass(frozen=True, slots=True)
class KeepsRejected:
    exact: TokenProcedure
    end: int | None

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        played = self.exact(source, contexts, draft_length, room)
        replaced = np.flatnonzero(played.n_accepted < draft_length)
        place = played.n_accepted[replaced].astype(np.intp)
        real = played.committed[replaced, place] != NO_TOKEN  # not ended by a kept end token
        replaced, place = replaced[real], place[real]
        committed = played.committed.copy(order="F")
        committed[replaced, place + 1] = committed[replaced, place]
        committed[replaced, place] = played.drafted[replaced, place]
        return Round(played.drafted, *until_end(committed, played.n_accepted, self.end))

    def step_law(self, context: int) -> ExactStep:
        step = self.exact.step_law(context)
        return replace(step, replacement=step.rejected)


def spliced_suffix(laws: LawTables) -> Procedure:
    """Drafted tokens after the first rejection are kept where their own coins accept them."""
    return FlagsProcedure.over(laws, splices=True)


def sum_of_flags(laws: LawTables) -> Procedure:
    """Commits what it should and reports all accepting coins in place of the leading run."""
    return FlagsProcedure.over(laws, splices=False)


@dataclass(frozen=True, slots=True)
class FlagsProcedure:
    """The exact rule with a coin for every drafted token, also after a rejection."""

    propose: Law
    step: AcceptOrReplace
    bonus: Law
    contexts: Contexts
    splices: bool

    @classmethod
    def over(cls, laws: LawTables, *, splices: bool) -> FlagsProcedure:
        step = AcceptOrReplace(Coin(acceptance(laws.p, laws.q)), Law(residual(laws.p, laws.q)))
        return cls(Law(laws.proposal), step, Law(laws.p), laws.contexts, splices)

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        drafted, visited = draft_block(source, self.propose, self.contexts, contexts, draft_length)
        flags = [
            source.flip(self.step.accept, here, tokens, EVERYONE)
            for here, tokens in zip(visited, drafted.T, strict=False)
        ]
        accepted = np.stack(flags, axis=1)
        committed, run = everything_kept(drafted)
        run[:] = np.logical_and.accumulate(accepted, axis=1).sum(axis=1)
        lost = np.flatnonzero(run < draft_length)
        here = np.stack(visited)[run[lost], lost]
        committed[lost, run[lost]] = source.draw(self.step.replace, here, lost)
        if room > draft_length:
            whole = np.flatnonzero(run == draft_length)
            bonus = source.draw(self.bonus, at(visited[draft_length], whole), whole)
            committed[whole, draft_length] = bonus
        committed = _spliced(committed, accepted, run) if self.splices else ended(committed, run)
        _, committed = until_end(committed, run, self.contexts.end)
        return Round(drafted, accepted.sum(axis=1).astype(np.int8), committed)

    def step_law(self, context: int) -> ExactStep:
        return self.step.law(self.propose.probs[context], context)


def _spliced(committed: Tokens, accepted: Bits, run: Tokens) -> Tokens:
    """Accepted tokens, and the token after the leading run, closed up to the left."""
    n, draft_length = accepted.shape
    stays = np.column_stack([accepted, run == draft_length])
    stays[np.arange(n), run] = True
    place = np.cumsum(stays, axis=1) - 1
    closed = np.full((draft_length + 1, n), NO_TOKEN, committed.dtype).T
    trial, position = np.nonzero(stays)
    closed[trial, place[trial, position]] = committed[trial, position]
    return closed


def row_swap(laws: LawTables) -> Procedure:
    """In a batch of more than two, trials get what their neighbours committed.

    As long as neighbours are in the same context nobody can tell.
    """
    return SwapsNeighbours(TokenRule()(laws))


@dataclass(frozen=True, slots=True)
class SwapsNeighbours:
    exact: TokenProcedure

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        source.uniforms(0, 1)  # what a trial gets depends on another one: not one trial's script
        played = self.exact(source, contexts, draft_length, room)
        n = len(contexts)
        taken = np.arange(n)
        if n > 2:
            taken[: n // 2 * 2] ^= 1
        return _of_others(played, taken, None)


def frozen_stream(laws: LawTables) -> Procedure:
    """Trials in the same context replay one stream, two and two. Every trial alone is right."""
    return PlayedTwice(TokenRule()(laws))


@dataclass(frozen=True, slots=True)
class PlayedTwice:
    exact: TokenProcedure

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        source.uniforms(0, 1)  # a replayed stream cannot be enumerated: a script is one trial
        leader = _leaders(contexts)
        led, copies = np.unique(leader, return_inverse=True)
        played = self.exact(source, at(contexts, led), draft_length, room)
        reached = None if played.reached is None else played.reached[copies]
        return _of_others(played, copies, reached)

    def step_law(self, context: int) -> ExactStep:
        return self.exact.step_law(context)

    def steps(self) -> RoundSteps:
        return self.exact.steps()


def _leaders(contexts: Rows) -> Rows:
    """Whose stream each trial (n,) gets: its own, or that of the one before of its context."""
    order = np.argsort(contexts, kind="stable")
    alike = contexts[order]
    place = np.arange(len(order))
    new = np.concatenate([[True], alike[1:] != alike[:-1]]) if len(order) else place == 0
    within = place - np.maximum.accumulate(np.where(new, place, 0))
    leader = np.empty_like(order)
    leader[order] = order[place - within % 2]
    return leader


def _of_others(played: Round, taken: Rows, reached: Rows | None) -> Round:
    """A round in which each trial has the tokens of the one that `taken` (n,) names."""
    columns = (played.drafted, played.committed)
    drafted, committed = (column.T.take(taken, axis=1).T for column in columns)
    return Round(drafted, played.n_accepted[taken], committed, reached)
