"""The scripted source: a rule run with it follows every outcome, with its weight.

A script is a list of choices. The rule runs over a batch of scripts at once; where it asks for one
choice more than a script holds, that script is replaced by its continuations, one an outcome of
positive weight, and the rule runs again. What comes out is the exact law of a round, in floats, or
in Fractions where the laws are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Bits, Exact, Floats, Rows, Tokens
from harness.errors import BadSetting
from harness.laws.accounting import normalised
from harness.laws.categorical import Coin, Law
from harness.protocols import EVERYONE, Trials
from harness.trials import Round

__all__ = ["Outcomes", "enumerate_rounds"]

MOST_OUTCOMES = 1_000_000  # a few seconds; beyond it enumeration is refused
MOST_CELLS = 2**25  # probabilities of outcomes that wait to be followed, 256 MiB


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Every outcome of one round, each with its probability; the weights sum to one."""

    weights: Exact
    round: Round


def enumerate_rounds(run: Callable[[ScriptedSource, Rows], Round], context: int) -> Outcomes:
    """Exact law of the round that `run(source, contexts)` plays from `context`."""
    finished: list[Outcomes] = []
    scripts = np.zeros((1, 0), dtype=np.int32)
    weights: Exact = np.ones(1, dtype=object)
    while len(scripts):
        source = ScriptedSource(scripts)
        played = run(source, np.full(len(scripts), context, dtype=np.intp))
        whole = ~source.unfinished & ~source.dropped
        finished.append(Outcomes(weights[whole], _select(played, whole)))
        scripts, weights = source.continuations(weights)
    return _gathered(finished)


class ScriptedSource:
    """Chances from scripts `choices` (n, depth): the j-th choice of a trial is its column j."""

    def __init__(self, choices: npt.NDArray[np.int32]) -> None:
        self.choices = choices
        self.asked = np.zeros(len(choices), dtype=np.intp)
        self.unfinished = np.zeros(len(choices), dtype=bool)
        self.dropped = np.zeros(len(choices), dtype=bool)
        self._open: list[tuple[Rows, Exact]] = []

    def draw(self, law: Law, contexts: Rows, trials: Trials) -> Tokens:
        return self._choose(law.probs, contexts, self._rows(trials))

    def flip(self, coin: Coin, contexts: Rows, tokens: Tokens, trials: Trials) -> Bits:
        heads = coin.heads[contexts, tokens]
        laws = np.stack([1 - heads, heads], axis=1)
        return self._choose(laws, np.arange(len(laws)), self._rows(trials)) == 1

    def draw_other(self, law: Law, contexts: Rows, tokens: Tokens, trials: Trials) -> Tokens:
        laws = law.probs[contexts].copy()
        everyone = np.arange(len(laws))
        laws[everyone, tokens] = laws[everyone, tokens] * 0
        laws = normalised(laws, otherwise=law.probs[contexts])
        return self._choose(laws, everyone, self._rows(trials))

    def uniforms(self, n: int, size: int) -> Floats:
        raise BadSetting(
            f"{n * size} uniforms cannot be enumerated; mark the rule as not discrete, simulate it"
        )

    def again(self, trials: Rows) -> Rows:
        self.dropped[trials] = True
        return trials[:0]

    def _rows(self, trials: Trials) -> Rows:
        return np.arange(len(self.choices)) if trials is EVERYONE else trials

    def _choose(self, laws: Exact, which: Rows, rows: Rows) -> npt.NDArray[np.int32]:
        """Each trial's next choice; a possible outcome stands in where its script has ended."""
        depth = self.choices.shape[1]
        at, known = self.asked[rows], self.asked[rows] < depth
        self.asked[rows] += 1
        ended = rows[~known & ~self.unfinished[rows] & ~self.dropped[rows]]
        if len(ended):
            _refuse_more_than(MOST_CELLS, len(ended) * laws.shape[1])
            self._open.append((ended, laws[which[np.isin(rows, ended)]]))
            self.unfinished[ended] = True
        chosen = laws.argmax(axis=1).astype(np.int32)[which]
        if depth:
            chosen[known] = self.choices[rows[known], at[known]]
        return chosen

    def continuations(self, weights: Exact) -> tuple[npt.NDArray[np.int32], Exact]:
        """The unfinished scripts, each lengthened by every outcome of positive weight."""
        _refuse_more_than(MOST_OUTCOMES, sum(int(np.count_nonzero(laws)) for _, laws in self._open))
        longer: list[npt.NDArray[np.int32]] = []
        heavier: list[Exact] = []
        for rows, laws in self._open:
            script, outcome = np.nonzero(laws)
            lengthened = np.column_stack([self.choices[rows[script]], outcome.astype(np.int32)])
            longer.append(lengthened)
            heavier.append(weights[rows[script]] * laws[script, outcome])
        return _stacked(longer, heavier)


def _refuse_more_than(limit: int, outcomes: int) -> None:
    if outcomes > limit:
        raise BadSetting(
            f"one round has {outcomes:,} outcomes to follow, more than {limit:,}; "
            "enumerate a smaller vocabulary or draft length"
        )


def _stacked(
    longer: list[npt.NDArray[np.int32]], weights: list[Exact]
) -> tuple[npt.NDArray[np.int32], Exact]:
    if not longer:
        return np.zeros((0, 0), dtype=np.int32), np.zeros(0)
    return np.concatenate(longer), np.concatenate(weights)


def _select(played: Round, rows: npt.NDArray[Any]) -> Round:
    return Round(played.drafted[rows], played.n_accepted[rows], played.committed[rows])


def _gathered(parts: list[Outcomes]) -> Outcomes:
    weights = np.concatenate([part.weights for part in parts])
    rounds = [part.round for part in parts]
    total = weights.sum()
    if total == 0:
        raise BadSetting("the rule retries for ever: no outcome of it has positive probability")
    return Outcomes(
        weights / total,
        Round(
            np.concatenate([r.drafted for r in rounds]),
            np.concatenate([r.n_accepted for r in rounds]),
            np.concatenate([r.committed for r in rounds]),
        ),
    )
