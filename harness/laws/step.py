"""The exact law of one step: what is drafted and kept, what is rejected, what replaces it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from harness.arrays import Exact, Rows, readonly
from harness.laws.accounting import normalised
from harness.laws.tables import Contexts

__all__ = ["ExactStep", "RoundSteps", "StatesItsStep", "StatesItsSteps", "round_steps"]


@dataclass(frozen=True, slots=True)
class ExactStep:
    """Masses of one step, each (V,), float64 or Fractions.

    `kept`[x]: x is drafted and kept. `rejected`[x]: x is drafted and rejected. `replacement`[y]:
    y is emitted in place of a rejected token; it sums to what `rejected` sums to.
    `trace` (V, V + 1), where it was worked out: cell [x, y] has drafted x replaced by y, cell
    [x, V] drafted x kept.
    """

    kept: Exact
    rejected: Exact
    replacement: Exact
    trace: Exact | None = None

    def __post_init__(self) -> None:
        for name in ("kept", "rejected", "replacement"):
            object.__setattr__(self, name, readonly(getattr(self, name)))
        if self.trace is not None:
            object.__setattr__(self, "trace", readonly(self.trace))

    @property
    def output(self) -> Exact:
        """Law (V,) of the emitted token."""
        return self.kept + self.replacement

    @property
    def replacement_law(self) -> Exact:
        """`replacement` renormalised; all zero where nothing is ever rejected."""
        return np.asarray(normalised(self.replacement, otherwise=self.replacement))


@runtime_checkable
class StatesItsStep(Protocol):
    """A procedure that states the law of its first step in closed form, for any vocabulary."""

    def step_law(self, context: int) -> ExactStep:
        """The first step of a round of draft length 1 from `context`."""
        ...


@dataclass(frozen=True, slots=True)
class RoundSteps:
    """A token-by-token round as tables, each (contexts, V), over contexts of its own.

    `kept` and `replacement` are the masses of a step in each context, `bonus` the law after a full
    block. A round that has stopped in context c, its last token included, is followed by one that
    begins in `restart`[c].
    """

    kept: Exact
    replacement: Exact
    bonus: Exact
    contexts: Contexts
    restart: Rows


@runtime_checkable
class StatesItsSteps(Protocol):
    """A procedure whose rounds are steps that depend on the context alone."""

    def steps(self) -> RoundSteps: ...


def round_steps(
    step_law: Callable[[int], ExactStep], bonus: Exact, contexts: Contexts
) -> RoundSteps:
    """Tables of rounds that begin where the last one stopped."""
    laws = [step_law(context) for context in range(len(contexts))]
    kept = np.stack([law.kept for law in laws])
    replacement = np.stack([law.replacement for law in laws])
    return RoundSteps(kept, replacement, bonus, contexts, np.arange(len(contexts)))
