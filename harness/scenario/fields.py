"""Kinds of values in a scenario file, each with its check, its complaint and its JSON Schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness.registry import did_you_mean
from harness.scenario.numbers import NotANumber, number

__all__ = [
    "Flag",
    "Logit",
    "Name",
    "Probability",
    "SuiteName",
    "Text",
    "Token",
    "anything",
    "chosen",
    "count",
    "probability",
    "real",
    "refuse",
    "whole",
]

LONGEST_NAME = 100
NUMBER_SCHEMA: Mapping[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^[-+]?[0-9]+/[0-9]+$"}]
}
_SUITE_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?"
_DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}
_NAME = r"[^\W_][\w .,;=+()'%:-]*"


def refuse(problem: str, remedy: str, *at: str | int) -> PydanticCustomError:
    """A complaint about the value being checked, or about what lies `at` inside it."""
    context = {"problem": problem, "remedy": remedy, "at": list(at)}
    return PydanticCustomError("refused", "{problem}; {remedy}", context)


def _typed(check: Callable[[Any], Any], schema: Mapping[str, Any]) -> tuple[Any, Any]:
    return PlainValidator(check), WithJsonSchema(dict(schema))


def _number(value: object) -> Fraction:
    try:
        return number(value)
    except NotANumber as error:
        raise refuse(error.problem, error.remedy) from None


def count(low: int, high: int) -> tuple[Any, Any]:
    """Metadata of a whole number from `low` to `high`; 1e6 and 4_000_000 are whole numbers."""

    def check(value: object) -> int:
        return whole(value, low, high)

    return _typed(check, {"type": "integer", "minimum": low, "maximum": high})


def whole(value: object, low: int, high: int) -> int:
    """The whole number that a value is, or a complaint."""
    found, way_out = _number(value), f"give a whole number from {low:,} to {high:,}"
    if found.denominator != 1:
        raise refuse(f"{float(found):g} is not a whole number", way_out)
    if not low <= found <= high:
        raise refuse(f"{_short(found)} is out of range", way_out)
    return int(found)


def real(low: float, high: float, *, lowest: bool = True, highest: bool = True) -> tuple[Any, Any]:
    """Metadata of an exact number between `low` and `high`, which belong to it or do not."""
    span = f"{'[' if lowest else '('}{low:g}, {high:g}{']' if highest else ')'}"

    def check(value: object) -> Fraction:
        found = _number(value)
        if found < low or found > high or (found == low and not lowest):
            raise refuse(f"{_short(found)} is out of range", f"give a number in {span}")
        if found == high and not highest:
            raise refuse(f"{_short(found)} is out of range", f"give a number in {span}")
        return found

    return _typed(check, NUMBER_SCHEMA)


def chosen(kind: str, *names: str) -> tuple[Any, Any]:
    """Metadata of one of a few names."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in names:
            return value
        hint = did_you_mean(str(value)[:40], names).removeprefix("; ")
        raise refuse(f"no {kind} {str(value)[:40]!r}", hint)

    return _typed(check, {"enum": list(names)})


def probability(value: object) -> Fraction:
    found = _number(value)
    if found < 0:
        raise refuse(f"probability {_short(found)} is negative", "give numbers of at least 0")
    if found > 1:
        raise refuse(f"probability {_short(found)} is above 1", "give numbers of at most 1")
    return found


def _logit(value: object) -> Fraction | float:
    """A finite number, or -.inf for a token that cannot be drawn."""
    return -math.inf if value == -math.inf else _number(value)


def _token(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise refuse(f"{_spelled(value)} is no token name", "put it in quotes")
    if not 1 <= len(value) <= LONGEST_NAME:
        raise refuse(f"a token name of {len(value)} characters", f"use 1 to {LONGEST_NAME}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise refuse(f"{_spelled(value)} where text should be", "write text, in quotes if need be")
    if any(not (c.isprintable() or c == "\n") for c in value):
        raise refuse("a control character in the text", "remove it")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise refuse(f"{_spelled(value)} is neither true nor false", "write true or false")
    return value


def _name(value: object) -> str:
    text = _text(value)
    if len(text) > LONGEST_NAME or not re.fullmatch(_NAME, text) or text != text.strip():
        raise refuse(
            f"{text[:40]!r} cannot be a name",
            f"use at most {LONGEST_NAME} letters, digits, spaces and . , ; = + ( ) ' % : - _",
        )
    return text


def _suite_name(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(_SUITE_NAME, text):
        raise refuse(
            f"{text[:40]!r} cannot name a results folder",
            "use at most 64 of A-Z a-z 0-9 . _ -, a letter or digit first and last",
        )
    if text.lower().split(".")[0] in _DEVICES:
        raise refuse(f"{text!r} is the name of a device on Windows", "choose another name")
    return text


def _anything(value: object) -> object:
    return value


def anything(schema: Mapping[str, Any], check: Callable[[Any], Any] = _anything) -> tuple[Any, Any]:
    """Metadata of a part with a check of its own, or that is read later; editors see `schema`."""
    return _typed(check, schema)


def _short(value: Fraction) -> str:
    return str(value) if value.denominator == 1 and abs(value) < 10**9 else f"{float(value):g}"


def _spelled(value: object) -> str:
    """A value as a complaint shows it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    return _short(value) if isinstance(value, Fraction) else repr(str(value)[:40])


Probability = Annotated[Fraction, *_typed(probability, NUMBER_SCHEMA)]
Logit = Annotated[Fraction | float, *_typed(_logit, {"type": "number"})]
Token = Annotated[str, *_typed(_token, {"type": ["string", "integer"]})]
Text = Annotated[str, *_typed(_text, {"type": "string"})]
Flag = Annotated[bool, *_typed(_flag, {"type": "boolean"})]
Name = Annotated[str, *_typed(_name, {"type": "string", "maxLength": LONGEST_NAME})]
SuiteName = Annotated[str, *_typed(_suite_name, {"type": "string", "pattern": f"^{_SUITE_NAME}$"})]
