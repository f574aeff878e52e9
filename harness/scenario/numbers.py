"""Scalars of a scenario file: YAML 1.2, with numbers kept as they are written."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

__all__ = ["NotANumber", "Value", "number", "scalar"]

Value: TypeAlias = "str | int | bool | float | Fraction | None"

LONGEST = 60  # characters of a number: more digits than any law needs, and never slow
LARGEST_POWER = 300  # of ten: beyond it a float64 overflows or vanishes

_DECIMAL = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*(?:_[0-9]+)*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([-+]?[0-9]{1,4}))?"
)
_FRACTION = re.compile(r"([-+]?[0-9]{1,30})/([0-9]{1,30})")
_NOT_FINITE = {".inf", "-.inf", "+.inf", ".nan"}
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


class NotANumber(Exception):  # a problem with its remedy, not a failure
    """A value where a number should be: what is wrong with it and what to write."""

    def __init__(self, problem: str, remedy: str) -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem}; {remedy}")


def scalar(text: str) -> Value:
    """The value of an unquoted scalar.

    Whole numbers are int, decimals are the Fraction that their digits say. What only looks like
    a number (0x10, 0o7, 012) stays text, so that it is refused wherever a number is wanted.
    """
    lowered = text.lower()
    if lowered in _WORDS and text in {lowered, text.upper(), text.capitalize()}:
        return _WORDS[lowered]
    if lowered in _NOT_FINITE:
        return float(lowered.replace(".", ""))
    match = _DECIMAL.fullmatch(text) if len(text) <= LONGEST else None
    if match is None or abs(int(match[1] or 0)) > LARGEST_POWER:
        return text
    whole = re.fullmatch(r"[-+]?[0-9_]+", text)
    return int(text) if whole else Fraction(text.replace("_", ""))


def number(value: object) -> Fraction:
    """The exact number of a scalar's value; text may be a fraction such as 2/3.

    Raises `NotANumber` for everything else: truth values, text, what is not finite.
    """
    if isinstance(value, bool):
        raise NotANumber(f"{str(value).lower()} is not a number", "write a decimal or a fraction")
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, float):
        raise NotANumber(f"{value} is not finite", "write a finite number")
    if isinstance(value, str):
        return _fraction(value)
    raise NotANumber(f"{_kind(value)} where a number should be", "write one number")


def _fraction(text: str) -> Fraction:
    match = _FRACTION.fullmatch(text)
    if match is not None and int(match[2]) != 0:
        return Fraction(int(match[1]), int(match[2]))
    if match is not None:
        raise NotANumber(f"{text!r} divides by zero", "give a denominator of at least 1")
    shown = repr(text[:40])
    if isinstance(scalar(text), int | Fraction):
        raise NotANumber(f"{shown} is quoted text", "write the number without quotes")
    raise NotANumber(f"{shown} is not a number", "write a decimal such as 0.25, or a fraction 1/4")


def _kind(value: object) -> str:
    return {list: "a list", dict: "a mapping", type(None): "nothing"}.get(type(value), "something")
