"""Known faults of whole rounds: rows, positions, bonus. The first token is often right.

Each says only where it departs from the exact rule; the mechanisms and where they were seen are in
the table of `harness.rules`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.arrays import Exact
from harness.laws.accounting import acceptance, residual
from harness.laws.tables import Contexts, LawTables
from harness.protocols import Procedure
from harness.rules.remembered import (
    RememberingProcedure,
    first_row,
    opened,
    previous_row,
    rows,
    widened,
)
from harness.rules.token import TokenRule

__all__ = [
    "first_draft_unverified",
    "residual_of_row_0",
    "stale_context",
    "stale_q",
    "the_promise",
    "tokens_after_stop",
]


def the_promise(laws: LawTables) -> Exact:
    """The promised law, policies applied, whatever the verifier reads as p."""
    return laws.target


def residual_of_row_0(laws: LawTables) -> Procedure:
    """Replacement and bonus read the round's first row."""
    memory = first_row(len(laws.contexts))
    here, first = widened(laws, memory)
    stale = rows(laws, first)
    rule = TokenRule(replace=lambda _: residual(stale.p, stale.q), bonus=lambda _: stale.p)
    return RememberingProcedure(rule(here), memory)


def stale_context(laws: LawTables) -> Procedure:
    """Every position is verified, replaced and followed by the round's first row."""
    memory = first_row(len(laws.contexts))
    here, first = widened(laws, memory)
    stale = rows(laws, first)
    return RememberingProcedure(TokenRule()(replace(here, p=stale.p, q=stale.q)), memory)


def stale_q(laws: LawTables) -> Procedure:
    """Drafts are scored with the draft law of the position before."""
    memory = previous_row(len(laws.contexts))
    here, before = widened(laws, memory)
    return RememberingProcedure(TokenRule()(replace(here, q=laws.q[before])), memory)


def first_draft_unverified(laws: LawTables) -> Procedure:
    """The first drafted token of a round is committed before any row of the target is read."""
    memory = opened(len(laws.contexts))
    here, is_open = widened(laws, memory)
    heads = np.where(is_open[:, None] == 1, acceptance(here.p, here.q), here.p * 0 + 1)
    return RememberingProcedure(TokenRule(accept=lambda _: heads)(here), memory)


def tokens_after_stop(laws: LawTables) -> Procedure:
    """The end token is looked for when a round is over: what it drafted beyond is kept.

    Beyond the end token the laws are those of a new beginning.
    """
    successor = laws.contexts.successor.copy()
    if laws.contexts.end is not None:
        successor[:, laws.contexts.end] = laws.contexts.starts[0]
    endless = Contexts(laws.contexts.starts, successor)
    return TokenRule()(replace(laws, contexts=endless))
