"""Rows read from where a round should have moved on: contexts that also hold what it remembers.

A faulty round that reads its first row, or the row before, is a right round over pairs of what it
remembers and where it is. So such a fault is again a set of tables for the token rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Rows, readonly
from harness.errors import BadSetting
from harness.laws.contexts import MOST_CELLS
from harness.laws.step import ExactStep, RoundSteps
from harness.laws.tables import Contexts, LawTables
from harness.protocols import Source
from harness.rules.rounds import TokenProcedure
from harness.trials import Round

__all__ = [
    "Memory",
    "RememberingProcedure",
    "first_row",
    "opened",
    "previous_row",
    "rows",
    "widened",
]


@dataclass(frozen=True, slots=True)
class Memory:
    """What a round remembers: `begin` (contexts,) at first, `after` (memories, contexts) later."""

    begin: Rows
    after: Rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "begin", readonly(self.begin))
        object.__setattr__(self, "after", readonly(self.after))


def first_row(contexts: int) -> Memory:
    """The context in which the round began."""
    here = np.arange(contexts)
    return Memory(here, np.repeat(here[:, None], contexts, axis=1))


def previous_row(contexts: int) -> Memory:
    """The context one position back; at the start of a round the right one."""
    here = np.arange(contexts)
    return Memory(here, np.repeat(here[None], contexts, axis=0))


def opened(contexts: int) -> Memory:
    """0 at the first position of a round, then 1."""
    return Memory(np.zeros(contexts, np.intp), np.ones((2, contexts), np.intp))


def widened(laws: LawTables, memory: Memory) -> tuple[LawTables, Rows]:
    """Laws over pairs of memory and context, and the memory (pairs,) of each.

    Raises BadSetting where the pairs are too many for tables.
    """
    memories, contexts = memory.after.shape
    if memories * contexts * laws.vocabulary > MOST_CELLS:
        raise BadSetting(
            f"a fault that remembers one of {memories:,} rows in {contexts:,} contexts takes more "
            f"than {MOST_CELLS:,} probabilities; run it on laws with fewer contexts"
        )
    remembered, here = np.divmod(np.arange(memories * contexts), contexts)
    following = laws.contexts.successor[here] + contexts * memory.after[remembered, here][:, None]
    starts = laws.contexts.starts + contexts * memory.begin[laws.contexts.starts]
    pairs = Contexts(starts, following, laws.contexts.end)
    return rows(replace(laws, contexts=pairs), here), remembered


def rows(laws: LawTables, which: Rows) -> LawTables:
    """The laws with rows `which` in place of their own."""
    names = ("p", "q", "proposal", "target")
    return replace(laws, **{name: getattr(laws, name)[which] for name in names})


@dataclass(frozen=True, slots=True)
class RememberingProcedure:
    """Plays `procedure` over pairs for callers who know contexts only."""

    procedure: TokenProcedure
    memory: Memory

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        played = self.procedure(source, self._pairs(contexts), draft_length, room)
        if played.reached is None:
            return played
        return replace(played, reached=played.reached % len(self.memory.begin))

    def _pairs(self, contexts: Rows) -> Rows:
        begin = self.memory.begin
        return (begin * len(begin) + np.arange(len(begin))).take(contexts)

    def step_law(self, context: int) -> ExactStep:
        return self.procedure.step_law(int(self._pairs(np.array([context]))[0]))

    def steps(self) -> RoundSteps:
        here = np.arange(self.memory.after.size) % len(self.memory.begin)
        return replace(self.procedure.steps(), restart=self._pairs(here))
