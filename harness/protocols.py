"""The one page a plug-in author reads: what rules, samplers and tallies promise each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from harness.arrays import Bits, Counts, Floats, Rows, Tokens
from harness.laws.categorical import Coin, Law
from harness.laws.tables import LawTables
from harness.trials import Round, TrialBatch

__all__ = [
    "EVERYONE",
    "Assignment",
    "Finite",
    "Procedure",
    "Rule",
    "Sampler",
    "SamplerFactory",
    "Source",
    "Tally",
    "Trials",
    "VerificationRule",
    "Versioned",
]

EVERYONE: Final = None
Trials: TypeAlias = Rows | None  # which trials of a batch; EVERYONE costs no indices


class Source(Protocol):
    """Where a rule takes its chances from: a random one draws trials, a scripted one enumerates.

    `trials` (m,) are those of the batch that ask; the other arguments are theirs, in that order.
    """

    def draw(self, law: Law, contexts: Rows, trials: Trials) -> Tokens:
        """Tokens (m,), each from the row of `law` that its context names."""
        ...

    def flip(self, coin: Coin, contexts: Rows, tokens: Tokens, trials: Trials) -> Bits:
        """Bits (m,), each true with the probability that `coin` gives its context and token."""
        ...

    def draw_other(self, law: Law, contexts: Rows, tokens: Tokens, trials: Trials) -> Tokens:
        """Tokens (m,) as by `draw`, given that each is not the one of `tokens` (m,)."""
        ...

    def uniforms(self, n: int, size: int) -> Floats:
        """Uniforms (n, size) in [0, 1), for rules whose randomness is not discrete.

        Raises BadSetting from a scripted source: such a rule cannot be enumerated.
        """
        ...

    def again(self, trials: Rows) -> Rows:
        """Those of `trials` that must start over; a scripted source drops them and renormalises."""
        ...


class Procedure(Protocol):
    """One round of a rule around prepared tables, vectorised over trials."""

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:
        """Draft, verify and commit from `contexts` (n,).

        `room` is the number of tokens still wanted: the bonus token need not be drawn where it
        does not exceed `draft_length`.
        """
        ...


class VerificationRule(Protocol):
    """Prepares everything that depends on the laws alone: tables of acceptance, of replacements."""

    def __call__(self, laws: LawTables, /) -> Procedure: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """An entry of the rules' table.

    `lossless`: the output law is p by design. `token_accounting`: the rule promises the token
    rule's own trace (accepted mass min(p, q), rejected mass (p - q)+) and acceptance. `discrete`:
    its randomness is draws and coins, so that it can be enumerated. `about`: one line for the
    catalogue, with the source of the rule or the report of the fault.
    """

    prepare: VerificationRule
    about: str
    lossless: bool = False
    token_accounting: bool = False
    discrete: bool = True


class Sampler(Protocol):
    """A procedure under test: ours around a rule, or an adapter around somebody else's."""

    @property  # a frozen dataclass does not satisfy a writable attribute
    def provides(self) -> frozenset[str]:
        """Which optional columns of TrialBatch it fills: `drafted`, `n_accepted`."""
        ...

    @property
    def concurrent(self) -> bool:
        """Whether several threads may call `sample` at once, each with its own generator."""
        ...

    def sample(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:
        """n_trials independent trials; raises SamplerFailure for a broken contract."""
        ...


@runtime_checkable
class Finite(Protocol):
    """A sampler that has only so many trials, such as a recording."""

    @property
    def trials(self) -> int: ...


@runtime_checkable
class Versioned(Protocol):
    """A sampler that tells the versions of the packages under test, for the manifest."""

    @property
    def versions(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a scenario asks of a sampler: the laws, the shape of a trial, and its options."""

    laws: LawTables
    draft_length: int
    horizon: int
    tokens: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


SamplerFactory: TypeAlias = Callable[[Assignment], Sampler]


class Tally(Protocol):
    """Mergeable sufficient statistics of trials: a commutative monoid."""

    def add(self, batches: Iterable[TrialBatch]) -> Self:
        """With the trials of all `batches`, none of which is kept."""
        ...

    def merge(self, other: Self) -> Self: ...

    def counts(self) -> Mapping[str, Counts]:
        """Counts by observable name, as they are stored in `tallies.npz`."""
        ...
