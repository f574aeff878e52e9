"""A suite as the rest of the harness sees it: laws worked out, defaults filled in, all checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from harness.laws.tables import LawTables

__all__ = ["OBSERVABLES", "Expectation", "Facts", "Reference", "SamplerRef", "Scenario", "Suite"]

Expectation: TypeAlias = Literal["matches", "differs"]

OBSERVABLES = ("output", "joint", "trace", "acceptance", "committed_length", "dependence")


@dataclass(frozen=True, slots=True)
class SamplerRef:
    """The name of a sampler that the user has declared, and the options of this scenario."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reference:
    """A second procedure that takes the place of a law: a rule or a sampler, one of them."""

    rule: str | None = None
    sampler: SamplerRef | None = None

    @property
    def name(self) -> str:
        return self.rule or (self.sampler.name if self.sampler else "")


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbers that the scenario states; they are checked exactly, as fractions, before any draw."""

    acceptance: Fraction | None = None
    accepted_mass: Mapping[str, Fraction] | None = None
    residual: Mapping[str, Fraction] | None = None
    replacement_mass: Mapping[str, Fraction] | None = None
    law: Mapping[str, Fraction] | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """One procedure under test, with the laws it promises and what is expected of it.

    Exactly one of `rule` and `sampler` is given. `laws` holds float tables; `exact_laws` the same
    in Fractions where every number of the file is decimal or a fraction and V is small.
    `observe` is None where the defaults of the rule apply. `settings` is what the manifest records:
    the policies, generators and axes of a matrix in words. `vocabulary` is the suite's own unless
    the scenario has another. `prompts` are token ids, one prompt a start of `laws.contexts`; a
    trial is over once `end_token` is committed. With `reference` the output is held
    against that of a second procedure; where then no law is `promised`, `laws` are uniform and
    there for their vocabulary, prompts and end token.
    """

    name: str
    laws: LawTables
    rule: str | None = None
    sampler: SamplerRef | None = None
    exact_laws: LawTables | None = None
    draft_length: int = 1
    horizon: int = 1
    trials: int = 1_000_000
    epsilon: float = 0.01
    stop_early: bool = False
    expect: Expectation = "matches"
    control: bool = False
    observe: tuple[str, ...] | None = None
    facts: Facts = field(default_factory=Facts)
    description: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    vocabulary: tuple[str, ...] = ()
    prompts: tuple[tuple[int, ...], ...] = ((),)
    end_token: int | None = None
    reference: Reference | None = None
    promised: bool = True


@dataclass(frozen=True, slots=True)
class Suite:
    """One file: scenarios over one vocabulary, with one false-alarm budget.

    `alpha` is the chance that a right sampler anywhere in the suite comes out `differs`, `delta`
    the chance that a `matches` is wrong. `text` is the file as read, `source` its path.
    """

    name: str
    scenarios: tuple[Scenario, ...]
    vocabulary: tuple[str, ...]
    description: str = ""
    alpha: float = 1e-6
    delta: float = 1e-6
    seed: int = 0
    text: str = ""
    source: str = ""
