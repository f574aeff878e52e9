"""Exact laws of whole procedures, from the lines that draw the trials.

One round is enumerated per context, and rounds are composed by dynamic programming over contexts;
rules that work token by token state their steps, and need no enumeration for joint laws. Floats
stay floats and Fractions stay Fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from harness.arrays import Bits, Exact, Tokens
from harness.engine.exact_steps import joint_of_steps, kept_length_of_steps
from harness.errors import BadSetting
from harness.laws.joint import joint_cells, joint_size
from harness.laws.step import ExactStep, RoundSteps, StatesItsStep, StatesItsSteps
from harness.laws.tables import LawTables
from harness.protocols import Procedure, Rule
from harness.sources.scripted import Outcomes, enumerate_rounds
from harness.trials import NO_TOKEN, Round

__all__ = ["ExactRounds", "RoundLaw", "exact_joint", "exact_kept_length", "exact_single"]

ENUMERATED_UP_TO = 32  # tokens: above it a step has more cells than a trace is worth
MOST_DRAFTS = 4_096  # blocks V**k of a rule that is enumerated; a few seconds each


def exact_single(
    rule: Rule, laws: LawTables, *, draft_length: int = 1, context: int | None = None
) -> ExactStep | None:
    """Law of a round's first drafted token and what comes of it.

    From `context`, default the first prompt's. Enumerated, with its trace, up to 32 tokens; above,
    as the rule states it. None where a rule is not discrete and states nothing; where it looks at
    the whole block, of more than one token, and that cannot be enumerated; and where it has no law
    because it would retry for ever.
    """
    start = int(laws.contexts.starts[0]) if context is None else context
    procedure = rule.prepare(laws)
    if isinstance(procedure, StatesItsSteps):
        draft_length = 1  # what comes later in the block does not matter
    try:
        if rule.discrete and laws.vocabulary <= ENUMERATED_UP_TO:
            _refuse_many_drafts(laws, draft_length)
            return ExactRounds(procedure, laws, draft_length).step(start)
        if draft_length == 1 and isinstance(procedure, StatesItsStep):
            return procedure.step_law(start)
    except BadSetting:
        return None
    return None


def exact_joint(
    rule: Rule, laws: LawTables, *, draft_length: int, horizon: int, start: int | None = None
) -> Exact | None:
    """Law (V**horizon,) of the first committed tokens, in the cells of `harness.laws.joint`.

    From `start`, default the first prompt's context. Composed of the rule's steps where it states
    them, else enumerated. None where neither is possible: a rule that is not discrete, retries for
    ever, or has too many outcomes to follow; and where there are too many cells.
    """
    begin = int(laws.contexts.starts[0]) if start is None else start
    procedure = rule.prepare(laws)
    try:
        joint_size(laws.vocabulary, horizon)
        if (steps := _steps(procedure, laws)) is not None:
            return joint_of_steps(steps, draft_length, horizon, begin)
        _refuse_many_drafts(laws, draft_length)
        return ExactRounds(procedure, laws, draft_length).joint(horizon, begin)
    except BadSetting:
        return None


def exact_kept_length(
    rule: Rule, laws: LawTables, *, draft_length: int, start: int | None = None
) -> Exact | None:
    """Law (k + 1,) of `n_accepted` as the first round reports it; None as for `exact_joint`."""
    begin = int(laws.contexts.starts[0]) if start is None else start
    procedure = rule.prepare(laws)
    try:
        if (steps := _steps(procedure, laws)) is not None:
            return kept_length_of_steps(steps, draft_length, begin)
        _refuse_many_drafts(laws, draft_length)
        return ExactRounds(procedure, laws, draft_length).kept_length(begin)
    except BadSetting:
        return None


def _refuse_many_drafts(laws: LawTables, draft_length: int) -> None:
    drafts = laws.vocabulary**draft_length
    if drafts > MOST_DRAFTS:
        raise BadSetting(
            f"{drafts:,} drafts are more than the {MOST_DRAFTS:,} that are enumerated; "
            "lower the draft length or the vocabulary"
        )


def _steps(procedure: Procedure, laws: LawTables) -> RoundSteps | None:
    """The rule's steps, where they stop at the same end token as the trials."""
    if not isinstance(procedure, StatesItsSteps):
        return None
    steps = procedure.steps()
    return steps if steps.contexts.end == laws.contexts.end else None


@dataclass(frozen=True, slots=True)
class RoundLaw:
    """Law of one round: distinct `committed` (m, k + 1), `n_accepted` (m,) and their weights."""

    committed: Tokens
    n_accepted: Tokens
    weights: Exact

    @property
    def length(self) -> Tokens:
        """How many tokens (m,) are committed."""
        return np.asarray((self.committed != NO_TOKEN).sum(axis=1))


@dataclass(frozen=True, slots=True)
class ExactRounds:
    """Rounds of `procedure` over `laws` with `draft_length`, each context enumerated once.

    Raises BadSetting where the rule is not discrete, retries for ever, or has too many outcomes.
    """

    procedure: Procedure
    laws: LawTables
    draft_length: int
    _outcomes: dict[int, Outcomes] = field(default_factory=dict, repr=False, compare=False)
    _joints: dict[tuple[int, int], Exact] = field(default_factory=dict, repr=False, compare=False)

    def outcomes(self, context: int) -> Outcomes:
        """Every outcome of a round from `context`, drafts included."""
        if context not in self._outcomes:
            found = enumerate_rounds(self._play, context)
            weights = found.weights.astype(self.laws.p.dtype)
            self._outcomes[context] = Outcomes(weights, found.round)
        return self._outcomes[context]

    def round_law(self, context: int) -> RoundLaw:
        """Law of what a round from `context` commits, and of the kept run's length."""
        found = self.outcomes(context)
        table = np.column_stack([found.round.committed, found.round.n_accepted])
        distinct, which = np.unique(table, axis=0, return_inverse=True)
        weights = _summed(found.weights, which.ravel(), len(distinct))
        return RoundLaw(distinct[:, :-1], distinct[:, -1], weights)

    def joint(self, horizon: int, context: int) -> Exact:
        """Law (V**horizon,) of the first `horizon` tokens committed from `context`."""
        if (context, horizon) not in self._joints:
            joint_size(self.laws.vocabulary, horizon)
            self._joints[context, horizon] = self._composed(horizon, context)
        return self._joints[context, horizon]

    def committed_length(self, context: int) -> Exact:
        """Law (k + 2,) of the number of tokens that a round from `context` commits."""
        law = self.round_law(context)
        return _summed(law.weights, law.length, self.draft_length + 2)

    def kept_length(self, context: int) -> Exact:
        """Law (k + 1,) of `n_accepted` as a round from `context` reports it."""
        law = self.round_law(context)
        return _summed(law.weights, law.n_accepted, self.draft_length + 1)

    def trace(self, context: int) -> Exact:
        """Masses (k, V, V + 1) of each drafted position of a round, where it is verified.

        Cell [j, x, y] has x drafted at position j and replaced by y, cell [j, x, V] has it kept.
        """
        found, vocabulary = self.outcomes(context), self.laws.vocabulary
        trace = np.zeros((self.draft_length, vocabulary, vocabulary + 1), self.laws.p.dtype)
        for position in range(self.draft_length):
            kept, verified = _verified(found.round, position)
            emitted = np.where(kept, vocabulary, found.round.committed[:, position])
            cells = found.round.drafted[verified, position], emitted[verified]
            np.add.at(trace[position], cells, found.weights[verified])
        return trace

    def acceptance(self, context: int) -> Exact:
        """Probabilities (k,) that the draft at a position is kept, given that it is verified.

        0 where a position is never verified.
        """
        trace = self.trace(context)
        kept, verified = trace[:, :, -1].sum(axis=1), trace.sum(axis=(1, 2))
        return np.asarray(kept / np.where(verified == 0, verified + 1, verified))

    def step(self, context: int) -> ExactStep:
        """The first position of a round, with its trace."""
        trace = self.trace(context)[0]
        replaced = trace[:, :-1]
        return ExactStep(trace[:, -1], replaced.sum(axis=1), replaced.sum(axis=0), trace)

    def _play(self, source: object, contexts: object) -> Round:
        return self.procedure(source, contexts, self.draft_length, self.draft_length + 1)  # type: ignore[arg-type]

    def _composed(self, horizon: int, context: int) -> Exact:
        """The first round, and after each of its outcomes the joint law of what is still wanted."""
        law, vocabulary, end = self.round_law(context), self.laws.vocabulary, self.laws.contexts.end
        length, over = law.length, (law.committed == end).any(axis=1)
        joint = np.zeros(vocabulary**horizon, self.laws.p.dtype)
        final = over | (length >= horizon)
        whole = law.committed[final, :horizon]
        if (missing := horizon - whole.shape[1]) > 0:
            whole = np.pad(whole, ((0, 0), (0, missing)), constant_values=NO_TOKEN)
        np.add.at(joint, joint_cells(whole, vocabulary, end), law.weights[final])
        for row in np.flatnonzero(~final):
            string = law.committed[row, : length[row]]
            rest = self.joint(horizon - len(string), self._after(context, string))
            first = int(joint_cells(string[None], vocabulary, end)[0]) * len(rest)
            joint[first : first + len(rest)] += law.weights[row] * rest
        return joint

    def _after(self, context: int, string: Tokens) -> int:
        for token in string:
            context = int(self.laws.contexts.successor[context, token])
        return context


def _verified(played: Round, position: int) -> tuple[Bits, Bits]:
    """Where the draft at `position` was kept, and where it was verified at all.

    What was not emitted was not kept, whatever the rule reports.
    """
    emitted = played.committed[:, position]
    reported = played.n_accepted > position
    kept = reported & (emitted == played.drafted[:, position])
    replaced = (played.n_accepted >= position) & ~kept & (emitted != NO_TOKEN)
    return kept, kept | replaced


def _summed(weights: Exact, which: Tokens, size: int) -> Exact:
    """Sums (size,) of the weights by number."""
    sums = np.zeros(size, weights.dtype)
    np.add.at(sums, which, weights)
    return sums
