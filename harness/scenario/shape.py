"""The shape of a scenario file, and its JSON Schema for editors."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict

from harness.scenario.fields import (
    Flag,
    Name,
    SuiteName,
    Text,
    Token,
    anything,
    chosen,
    count,
    real,
    refuse,
    whole,
)
from harness.scenario.law_shape import LARGEST_SEED, AppliedShape, LawShape, PolicyOrNone, Shape
from harness.scenario.model import OBSERVABLES, Expectation

__all__ = [
    "FactsShape",
    "ReferenceShape",
    "SamplerShape",
    "ScenarioShape",
    "Settings",
    "SuiteShape",
    "schema",
]

LARGEST_VOCABULARY = 2**20
MOST_TRIALS = 10**12  # the statistics are held against references up to here
LONGEST_DRAFT = 16
LONGEST_HORIZON = 1024
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _names(value: object) -> object:
    """Names of the tokens; a whole number V stands for 0 to V - 1."""
    if isinstance(value, list):
        return value
    return [str(i) for i in range(whole(value, 1, LARGEST_VOCABULARY))]


def _distinct(names: list[str]) -> list[str]:
    if not names:
        raise refuse("an empty list", "name at least one")
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            raise refuse(f"{name[:40]!r} is named twice", "name each once", i)
        seen.add(name)
    return names


def _sampler(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _axes(value: object) -> object:
    if not isinstance(value, dict):
        raise refuse("not a mapping of axes", "write settings and values: {temperature: [0.7, 1]}")
    return value


def _version(value: object) -> int:
    if type(value) is not int or value != 1:
        raise refuse("not a version that this program reads", "write version: 1")
    return value


Unit = real(0, 1, lowest=False, highest=False)
Half = real(0, 0.5, lowest=False, highest=False)  # of which certificates are made
Mass = Annotated[Fraction, *real(0, 1)]
Observable = Annotated[str, *chosen("observable", *OBSERVABLES)]
Observables = Annotated[list[Observable], AfterValidator(_distinct)]
Vocabulary = Annotated[
    list[Token],
    BeforeValidator(_names, json_schema_input_type=int | list[Token]),
    AfterValidator(_distinct),
]
ByToken = dict[str, Mass]
Axes = Annotated[dict[str, Any], *anything({"type": "object"}, _axes)]


class SamplerShape(Shape):
    """A sampler's name as the user declared it; the other keys are options of that sampler."""

    model_config = ConfigDict(extra="allow")

    name: Name


SamplerNamed = Annotated[
    SamplerShape, BeforeValidator(_sampler, json_schema_input_type=str | SamplerShape)
]


class ReferenceShape(Shape):
    """The procedure that takes the place of a law: a rule or a sampler, one of them."""

    rule: Name | None = None
    sampler: SamplerNamed | None = None


class FactsShape(Shape):
    """Numbers that the laws must give exactly."""

    acceptance: Mass | None = None
    accepted_mass: ByToken | None = None
    residual: ByToken | None = None
    replacement_mass: ByToken | None = None
    law: ByToken | None = None


class Settings(Shape):
    """What a scenario takes from its suite where it does not say otherwise."""

    vocabulary: Vocabulary | None = None
    target: LawShape | None = None
    draft: LawShape | None = None
    policy: PolicyOrNone | None = None
    """The policy of target and draft where they state none of their own."""
    applied: AppliedShape | None = None
    prompts: list[list[Token]] | None = None
    """Prefixes that trials start from in turn, as lists of tokens."""
    end_token: Token | None = None
    """After this token there is nothing: a trial is over once it is committed."""
    rule: Name | None = None
    sampler: SamplerNamed | None = None
    reference: ReferenceShape | None = None
    """A second procedure that the output is held against, in place of the target law."""
    draft_length: Annotated[int, *count(1, LONGEST_DRAFT)] | None = None
    horizon: Annotated[int, *count(1, LONGEST_HORIZON)] | None = None
    trials: Annotated[int, *count(1, MOST_TRIALS)] | None = None
    epsilon: Annotated[Fraction, *Unit] | None = None
    stop_early: Flag | None = None
    observe: Observables | None = None
    matrix: Axes | None = None
    """Axes of a cross product: a setting (`draft_length`, `policy.temperature`, ...) with a list of
    values or a mapping of labelled values; the axis `cases` labels several settings at once."""


class ScenarioShape(Settings):
    """One procedure under test."""

    name: Name
    description: Text = ""
    expect: Annotated[Expectation, *chosen("expectation", "matches", "differs")] = "matches"
    control: Flag | None = None
    facts: FactsShape | None = None


class SuiteShape(Settings):
    """One file: scenarios that share a vocabulary, laws and a false-alarm budget."""

    version: Annotated[int, *anything({"const": 1}, _version)]
    suite: SuiteName
    description: Text = ""
    alpha: Annotated[Fraction, *Unit] = Fraction(1, 10**6)
    delta: Annotated[Fraction, *Half] = Fraction(1, 10**6)
    seed: Annotated[int, *count(0, LARGEST_SEED)] = 0
    scenarios: list[ScenarioShape]


def schema(rules: Iterable[str] = ()) -> dict[str, Any]:
    """JSON Schema (2020-12) of a scenario file; editors complete the names of `rules`."""
    found = SuiteShape.model_json_schema(mode="validation")
    for shape in (found, found["$defs"]["ScenarioShape"]):
        if names := list(rules):
            shape["properties"]["rule"] = {"enum": names}
    return {"$schema": DIALECT, **_without_null(found), "title": "specharness suite"}


def _without_null(schema: Any) -> Any:  # noqa: ANN401  # any part of a JSON document
    """The schema without null as a value: a key that says nothing is refused."""
    if isinstance(schema, list):
        return [_without_null(part) for part in schema if part != {"type": "null"}]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _without_null(part) for key, part in schema.items()}
    return {key: part for key, part in kept.items() if key != "default" or part is not None}
