"""A rule that is another one now and then: the dose of a fault, drawn as such and enumerable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from harness.arrays import Bits, Exact, Floats, Rows, Tokens
from harness.errors import BadSetting
from harness.laws.categorical import Coin, Law
from harness.laws.step import ExactStep, StatesItsStep
from harness.laws.tables import LawTables, at
from harness.protocols import EVERYONE, Procedure, Source, Trials, VerificationRule
from harness.rules.active import of_trials
from harness.trials import Round

__all__ = ["MixtureRule"]


@dataclass(frozen=True, slots=True)
class MixtureRule:
    """Each round of each trial goes by `first` with probability `weight`, else by `second`.

    The law of a single round is the mixture of theirs. Raises BadSetting for a weight outside
    [0, 1]; a Fraction keeps laws in Fractions exact.
    """

    first: VerificationRule
    second: VerificationRule
    weight: float | Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise BadSetting(f"a mixture of weight {self.weight}: must be from 0 to 1")

    def __call__(self, laws: LawTables) -> Procedure:
        heads = laws.p * 0 + (self.weight if laws.p.dtype == object else float(self.weight))
        return MixtureProcedure(Coin(heads), self.first(laws), self.second(laws))


@dataclass(frozen=True, slots=True)
class MixtureProcedure:
    """A coin for every trial of a round, then the round of one procedure or of the other."""

    coin: Coin
    first: Procedure
    second: Procedure

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        blank = np.zeros(len(contexts), np.int8)
        chosen = source.flip(self.coin, contexts, blank, EVERYONE)
        parts = [
            (rows, procedure(ForSome(source, rows), at(contexts, rows), draft_length, room))
            for rows, procedure in self._shares(chosen)
        ]
        return _woven(parts, len(contexts), draft_length)

    def _shares(self, chosen: Bits) -> Iterator[tuple[Rows, Procedure]]:
        """The trials of each procedure; one that has none is not played."""
        for side, procedure in ((chosen, self.first), (~chosen, self.second)):
            if len(rows := np.flatnonzero(side)):
                yield rows, procedure

    def step_law(self, context: int) -> ExactStep:
        """Raises BadSetting where one of the two does not state its step."""
        if not (isinstance(self.first, StatesItsStep) and isinstance(self.second, StatesItsStep)):
            raise BadSetting("a rule that does not state its step cannot be mixed in closed form")
        t = self.coin.heads[context, 0]
        a, b = self.first.step_law(context), self.second.step_law(context)
        return ExactStep(
            t * a.kept + (1 - t) * b.kept,
            t * a.rejected + (1 - t) * b.rejected,
            t * a.replacement + (1 - t) * b.replacement,
        )


@dataclass(frozen=True, slots=True)
class ForSome:
    """The chances of `source` for the trials `rows` of its batch, numbered anew from zero."""

    source: Source
    rows: Rows

    def draw(self, law: Law, contexts: Rows, trials: Trials) -> Tokens:
        return self.source.draw(law, contexts, self._there(trials))

    def flip(self, coin: Coin, contexts: Rows, tokens: Tokens, trials: Trials) -> Bits:
        return self.source.flip(coin, contexts, tokens, self._there(trials))

    def draw_other(self, law: Law, contexts: Rows, tokens: Tokens, trials: Trials) -> Tokens:
        return self.source.draw_other(law, contexts, tokens, self._there(trials))

    def uniforms(self, n: int, size: int) -> Floats:
        return self.source.uniforms(n, size)

    def again(self, trials: Rows) -> Rows:
        """Raises BadSetting from a scripted source: dropping a trial would drop its coin too."""
        going = self.source.again(self.rows[trials])
        if len(going) < len(trials):
            raise BadSetting(
                "a rule that starts over cannot be enumerated within a mixture; "
                "mark the mixture as not discrete, its stated step is right"
            )
        return trials

    def _there(self, trials: Trials) -> Rows:
        return self.rows if trials is EVERYONE else of_trials(self.rows, trials)


def _woven(parts: list[tuple[Rows, Round]], n: int, draft_length: int) -> Round:
    """One round of n trials, each column contiguous, from the rounds of some of them."""
    kind = parts[0][1].committed.dtype if parts else np.dtype(np.int8)
    drafted: Exact = np.empty((draft_length, n), kind).T
    committed: Exact = np.empty((draft_length + 1, n), kind).T
    n_accepted = np.empty(n, np.int8)
    for rows, played in parts:
        for place in range(draft_length):
            drafted[rows, place] = played.drafted[:, place]
            committed[rows, place] = played.committed[:, place]
        committed[rows, draft_length] = played.committed[:, draft_length]
        n_accepted[rows] = played.n_accepted
    return Round(drafted, n_accepted, committed)
