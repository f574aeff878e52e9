"""The shape of laws and sampling policies in a scenario file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator

from harness.errors import BadSetting
from harness.laws import orders
from harness.laws.orders import EDGES, ORDERS
from harness.laws.policy import TIES
from harness.registry import did_you_mean
from harness.scenario.fields import (
    Flag,
    Logit,
    Probability,
    anything,
    chosen,
    count,
    real,
    refuse,
)

__all__ = [
    "LARGEST_SEED",
    "SOURCES",
    "AppliedShape",
    "GenerateShape",
    "LawShape",
    "MarkovShape",
    "PolicyOrNone",
    "PolicyShape",
    "RowsShape",
    "Shape",
    "check_sum",
]

LARGEST_SEED = 2**63 - 1
SUM_TOLERANCE = 1e-9
PROJECTS = ", ".join(ORDERS)
ORDER_SCHEMA: Mapping[str, Any] = {
    "anyOf": [{"enum": list(ORDERS)}, {"type": "array", "items": {"enum": list(orders.STEPS)}}]
}
ROWS_SCHEMA: Mapping[str, Any] = {
    "anyOf": [{"type": "array", "minItems": 1}, {"type": "object", "required": ["generate"]}]
}
SOURCES = ("probs", "logits", "generate", "markov", "rows")


class Shape(BaseModel):
    """A mapping with known keys, none of them empty."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def known_keys(cls, data: object) -> object:
        if not isinstance(data, dict):
            keys = ", ".join(cls.model_fields)
            raise refuse("not a mapping", f"write keys and values (known: {keys})")
        for key, value in data.items():
            if key not in cls.model_fields and cls.model_config["extra"] == "forbid":
                hint = did_you_mean(key[:40], tuple(cls.model_fields)).removeprefix("; ")
                raise refuse(f"unknown key {key[:40]!r}", hint, key)
            if value is None:
                raise refuse(f"{key!r} has no value", "give it one, or remove the key", key)
        for key, known in cls.model_fields.items():
            if known.is_required() and key not in data:
                raise refuse(f"no {key!r}", f"add {key}:")
        return data


def check_sum(row: list[Fraction]) -> list[Fraction]:
    """The row itself, or a complaint where it does not sum to one within 1e-9."""
    if not row:
        raise refuse("a law without probabilities", "give one for every token")
    total = math.fsum(map(float, row))
    if abs(total - 1) > SUM_TOLERANCE:
        raise refuse(f"the probabilities sum to {total:.12g}, not to 1", "mend or normalise them")
    return row


def _check_logits(row: list[Fraction | float]) -> list[Fraction | float]:
    if all(value == -math.inf for value in row):
        raise refuse("no finite logit", "give at least one token a finite logit")
    return row


def _order(value: object) -> str | tuple[str, ...]:
    """A project's order by name, or the steps named one by one."""
    try:
        orders.order_of(steps := _steps(value))
    except BadSetting as error:
        problem, _, remedy = str(error).partition("; ")
        raise refuse(problem, remedy) from None
    return steps


def _steps(value: object) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(step, str) for step in value):
        return tuple(value)
    raise refuse(
        "neither a project's order nor a list of steps", f"name one of {PROJECTS}, or steps"
    )


def _no_policy(value: object) -> object:
    return {} if value == "none" else value


class PolicyShape(Shape):
    """Temperature, top-k, top-p, min-p in a stated order, or greedy. Omitted: does nothing."""

    temperature: Annotated[Fraction, *real(0, 1e6, lowest=False)] = Fraction(1)
    top_k: Annotated[int, *count(1, 2**20)] | None = None
    top_p: Annotated[Fraction, *real(0, 1, lowest=False)] = Fraction(1)
    min_p: Annotated[Fraction, *real(0, 1, highest=False)] = Fraction(0)
    greedy: Flag = False
    ties: Annotated[str, *chosen("rule for ties", *TIES)] = "first"
    order: Annotated[str | tuple[str, ...], *anything(ORDER_SCHEMA, _order)] = "transformers"
    """A project's order by name, or a list of the steps."""
    edges: Annotated[str, *chosen("edge rules", *EDGES)] | None = None


PolicyOrNone = Annotated[
    PolicyShape, BeforeValidator(_no_policy, json_schema_input_type=str | PolicyShape)
]


class DirichletShape(Shape):
    concentration: Annotated[Fraction, *real(0, 1e6, lowest=False)] = Fraction(1)


class ZipfShape(Shape):
    exponent: Annotated[Fraction, *real(0, 100)] = Fraction(1)
    shuffle: Flag = False


class SoftmaxNormalShape(Shape):
    scale: Annotated[Fraction, *real(0, 100)] = Fraction(1)


class NearTargetShape(Shape):
    noise: Annotated[Fraction, *real(0, 100)]


class GenerateShape(Shape):
    """A made law: one kind with its options, and a seed."""

    dirichlet: DirichletShape | None = None
    zipf: ZipfShape | None = None
    softmax_normal: SoftmaxNormalShape | None = None
    near_target: NearTargetShape | None = None
    """The target's law with normal noise on its logits; for drafts only."""
    seed: Annotated[int, *count(0, LARGEST_SEED)] = 0

    @model_validator(mode="after")
    def one_kind(self) -> GenerateShape:
        kinds = tuple(name for name in type(self).model_fields if name != "seed")
        given = [name for name in kinds if getattr(self, name) is not None]
        if len(given) != 1:
            what = f"{given[0]} and {given[1]}" if given else "no kind of made law"
            raise refuse(what, f"name one of {', '.join(kinds)}")
        return self

    @property
    def kind(self) -> str:
        return next(name for name, value in self if name != "seed" and value is not None)

    @property
    def options(self) -> Mapping[str, float | bool]:
        options = dict(getattr(self, self.kind))
        return {k: v if isinstance(v, bool) else float(v) for k, v in options.items()}


class MarkovShape(Shape):
    """Laws by the last `order` tokens: stated, or made.

    `transition` nests one list (or one mapping by token) for each token of the prefix;
    `initial` is the law of the first token, for order m > 1 a list of m such tables, the j-th
    for prefixes of j - 1 tokens.
    """

    order: Annotated[int, *count(1, 8)] = 1
    initial: Annotated[Any, *anything({"type": "array"})] = None
    transition: Annotated[Any, *anything({"type": ["array", "object"]})] = None
    generate: GenerateShape | None = None

    @model_validator(mode="after")
    def stated_or_made(self) -> MarkovShape:
        stated = (self.initial is not None, self.transition is not None)
        if self.generate is None and not all(stated):
            raise refuse("an incomplete chain", "give initial: and transition:, or generate:")
        if self.generate is not None and any(stated):
            raise refuse(
                "a chain both stated and made", "keep generate:, or initial: and transition:"
            )
        return self


class RowsShape(Shape):
    """Made laws, one a position."""

    generate: GenerateShape


class LawShape(Shape):
    """A next-token law and the policy it is sampled with."""

    probs: Annotated[list[Probability], AfterValidator(check_sum)] | None = None
    logits: Annotated[list[Logit], AfterValidator(_check_logits)] | None = None
    generate: GenerateShape | None = None
    markov: MarkovShape | None = None
    rows: Annotated[Any, *anything(ROWS_SCHEMA)] = None
    """One law a position, each a list of probabilities; the last holds for later positions. Or
    `generate:`, for as many made laws as there are positions to look at."""
    policy: PolicyOrNone | None = None

    @model_validator(mode="after")
    def at_most_one_source(self) -> LawShape:
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if len(given) > 1:
            raise refuse(f"both {given[0]} and {given[1]}", "keep one of them")
        return self

    @property
    def source(self) -> str | None:
        """Which key states the numbers; None where they are taken from elsewhere."""
        return next((name for name in SOURCES if getattr(self, name) is not None), None)


class AppliedShape(Shape):
    """What the system really does where that is not what it promises.

    `target` is what the verifier reads as the target law, `draft` what it is told of the draft
    law, `proposal` what drafts are really drawn from.
    """

    target: LawShape | None = None
    draft: LawShape | None = None
    proposal: LawShape | None = None
