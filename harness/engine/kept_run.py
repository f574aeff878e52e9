"""How many drafted tokens a round keeps: acceptance by position and by kind of context."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.arrays import Counts, Floats
from harness.errors import BadSetting

__all__ = ["KeptRun", "Kind", "kept_run_of_lengths"]

ROUNDING = 1e-9  # how far weights may be from summing to one


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of round: `rates`[j] is the probability of keeping the token at position j, given
    that all before it were kept. The last rate stands for all later positions.
    """

    rates: tuple[float, ...]
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.rates or not all(0.0 <= rate <= 1.0 for rate in self.rates):
            raise BadSetting(f"acceptance {_list(self.rates)}: each must lie between 0 and 1")
        if not 0.0 < self.weight <= 1.0:
            raise BadSetting(f"weight {self.weight:g} of a kind of context: must lie in (0, 1]")

    def reaches(self, draft_length: int) -> Floats:
        """Probabilities (k + 1,) that at least 0, 1, ..., k drafted tokens are kept."""
        rates = np.full(draft_length, self.rates[-1])
        given = min(draft_length, len(self.rates))
        rates[:given] = self.rates[:given]
        return np.concatenate([[1.0], np.cumprod(rates)])


@dataclass(frozen=True, slots=True)
class KeptRun:
    """Rounds of one or several kinds; the kinds of successive rounds are independent.

    One kind with one rate is the model of Leviathan et al. (2023), section 3.1.
    """

    kinds: tuple[Kind, ...]

    def __post_init__(self) -> None:
        if abs(math.fsum(kind.weight for kind in self.kinds) - 1.0) > ROUNDING:
            weights = _list(tuple(kind.weight for kind in self.kinds))
            raise BadSetting(f"weights {weights} of the kinds of contexts must sum to 1")

    @classmethod
    def constant(cls, acceptance: float) -> KeptRun:
        """Every drafted token is kept with the same probability, whatever came before."""
        return cls((Kind((acceptance,)),))

    def reaches(self, draft_length: int) -> Floats:
        """Probabilities (k + 1,) that at least 0, 1, ..., k drafted tokens are kept."""
        parts = [kind.weight * kind.reaches(draft_length) for kind in self.kinds]
        return np.asarray(np.sum(parts, axis=0))

    def length_law(self, draft_length: int) -> Floats:
        """Probabilities (k + 1,) that exactly 0, 1, ..., k drafted tokens are kept."""
        reached = self.reaches(draft_length)
        return reached - np.append(reached[1:], 0.0)

    def draw(self, draft_length: int, n_rounds: int, rng: np.random.Generator) -> Counts:
        """Kept drafted tokens of n_rounds simulated rounds, coin by coin: (n_rounds,)."""
        weights = np.array([kind.weight for kind in self.kinds])
        which = rng.choice(len(weights), n_rounds, p=weights / weights.sum())
        reached = np.stack([kind.reaches(draft_length) for kind in self.kinds])
        before = np.where(reached[:, :-1] > 0.0, reached[:, :-1], 1.0)
        rates = (reached[:, 1:] / before)[which]
        flips = rng.random(rates.shape) < rates
        return np.asarray(np.logical_and.accumulate(flips, axis=1).sum(axis=1), np.int64)


def kept_run_of_lengths(counts: Counts) -> KeptRun:
    """The rates by position that were seen: `counts`[j] rounds kept exactly j of k drafted tokens.

    A position that no round reached takes the rate of the one before it.
    """
    reached = np.cumsum(counts[::-1])[::-1]
    if len(counts) < 2 or reached[0] == 0:
        raise BadSetting("no round with a drafted token was seen: nothing says what is accepted")
    rates = [float(after / before) for before, after in pairwise(reached) if before]
    return KeptRun((Kind(tuple(rates)),))


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values) or "(none)"
