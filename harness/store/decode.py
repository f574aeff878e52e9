"""JSON values and named arrays as the results they were: the inverse of `encode`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import readonly
from harness.checks.result import CheckResult
from harness.engine.result import (
    Acceptance,
    Evidence,
    ObservableResult,
    ScenarioResult,
    SuiteResult,
    Verdict,
)
from harness.store.encode import Json

__all__ = ["decoded"]

Stored: TypeAlias = Mapping[str, npt.NDArray[Any]]

RECORDS: Final[Mapping[str, Callable[..., Any]]] = {
    f"${record.__name__}": record
    for record in (
        Acceptance,
        CheckResult,
        Evidence,
        ObservableResult,
        ScenarioResult,
        SuiteResult,
    )
}


def decoded(value: Json, arrays: Stored) -> Json:
    """The value that `encoded` wrote; ValueError, TypeError or KeyError for anything else."""
    if isinstance(value, list):
        return [decoded(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (tag := next(iter(value))).startswith("$"):
        return _tagged(tag, value[tag], arrays)
    return {key: decoded(item, arrays) for key, item in value.items()}


def _tagged(tag: str, content: Json, arrays: Stored) -> Json:
    if tag in RECORDS:
        return RECORDS[tag](**decoded(content, arrays))
    return READERS[tag](content, arrays)


def _array(name: str, arrays: Stored) -> npt.NDArray[Any]:
    return readonly(arrays[name])


def _words(name: str, arrays: Stored) -> tuple[str, ...]:
    return tuple(json.loads(arrays[name].tobytes()))


def _exact(items: list[Any], arrays: Stored) -> npt.NDArray[Any]:
    return readonly(np.array(decoded(items, arrays), dtype=object))


def _tuple(items: list[Any], arrays: Stored) -> tuple[Any, ...]:
    return tuple(decoded(items, arrays))


def _items(pairs: list[Any], arrays: Stored) -> dict[Any, Any]:
    return dict(decoded(pairs, arrays))


READERS: Final[Mapping[str, Callable[[Any, Stored], Any]]] = {
    "$array": _array,
    "$words": _words,
    "$exact": _exact,
    "$tuple": _tuple,
    "$items": _items,
    "$fraction": lambda text, _: Fraction(text),
    "$number": lambda text, _: float(text),
    "$Verdict": lambda text, _: Verdict(text),
}
