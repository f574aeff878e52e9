"""Exact laws of whole procedures, from the lines that draw the trials.

One round is enumerated per context, and rounds are composed by dynamic programming over contexts.
Floats stay floats and Fractions stay Fractions.
"""

from __future__ import annotations

import numpy as np

from harness.errors import BadSetting
from harness.laws.step import ExactStep, StatesItsStep
from harness.laws.tables import LawTables
from harness.protocols import Procedure, Rule
from harness.sources.scripted import Outcomes, enumerate_rounds

__all__ = ["exact_round", "exact_single", "step_of"]

ENUMERATED_UP_TO = 32  # tokens: above it a step has more cells than a trace is worth


def exact_single(rule: Rule, laws: LawTables, *, context: int | None = None) -> ExactStep | None:
    """Law of one drafted token and what comes of it, from `context` (default: the first prompt's).

    Enumerated, with its trace, up to 32 tokens; above, as the rule states it. None where a rule is
    not discrete and states nothing, and where it has no law because it would retry for ever.
    """
    procedure = rule.prepare(laws)
    start = int(laws.contexts.starts[0]) if context is None else context
    try:
        if rule.discrete and laws.vocabulary <= ENUMERATED_UP_TO:
            return step_of(exact_round(procedure, start, laws, draft_length=1, room=1), laws)
        if isinstance(procedure, StatesItsStep):
            return procedure.step_law(start)
    except BadSetting:
        return None
    return None


def exact_round(
    procedure: Procedure, context: int, laws: LawTables, *, draft_length: int, room: int
) -> Outcomes:
    """Every outcome of one round from `context`; weights in the arithmetic of `laws`.

    Raises BadSetting where the rule is not discrete, retries for ever, or has too many outcomes.
    """
    outcomes = enumerate_rounds(
        lambda source, contexts: procedure(source, contexts, draft_length, room), context
    )
    return Outcomes(outcomes.weights.astype(laws.p.dtype), outcomes.round)


def step_of(outcomes: Outcomes, laws: LawTables) -> ExactStep:
    """The first position of enumerated rounds, as masses and as a trace."""
    vocabulary = laws.vocabulary
    kept = outcomes.round.n_accepted > 0
    emitted = np.where(kept, vocabulary, outcomes.round.committed[:, 0])
    trace = np.zeros((vocabulary, vocabulary + 1), laws.p.dtype)
    np.add.at(trace, (outcomes.round.drafted[:, 0], emitted), outcomes.weights)
    replaced = trace[:, :vocabulary]
    return ExactStep(trace[:, vocabulary], replaced.sum(axis=1), replaced.sum(axis=0), trace)
