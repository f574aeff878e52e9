"""Results as JSON values beside named arrays.

Whatever JSON has no word for becomes an object of one key that starts with `$`: `{"$tuple": []}`,
`{"$number": "inf"}`, `{"$array": NAME}`, `{"$ScenarioResult": {}}`. Arrays and long lists of words
go to `arrays` under the address of their place, such as `scenarios/0/observables/output/counts`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.engine.result import ObservableResult
from harness.errors import StoreError

__all__ = ["Arrays", "Json", "encoded"]

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Json: TypeAlias = Any  # what json.dumps takes

INLINE = 64  # words; a longer list, such as a vocabulary, is an array of its own


def encoded(value: object, arrays: Arrays, address: str = "") -> Json:
    """`value` in JSON's terms; what is large goes to `arrays`.

    Raises StoreError for a value that results do not hold, rather than write what can't be read.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {f"${type(value).__name__}": _mapping(fields, arrays, address)}
    if isinstance(value, np.ndarray):
        return _array(value, arrays, address)
    if isinstance(value, Mapping):
        return _mapping(value, arrays, address)
    if isinstance(value, tuple):
        return _tuple(value, arrays, address)
    if isinstance(value, list):
        return _items(value, arrays, address)
    return _atom(value)


def _array(value: npt.NDArray[Any], arrays: Arrays, address: str) -> dict[str, Any]:
    if value.dtype == object:  # Fractions: exact laws of rational suites
        return {"$exact": _items(value.tolist(), arrays, address)}
    return {"$array": _keep(value, arrays, address)}


def _mapping(value: Mapping[Any, Any], arrays: Arrays, address: str) -> dict[str, Any]:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {str(k): encoded(v, arrays, _at(address, k)) for k, v in value.items()}
    return {"$items": _items([list(item) for item in value.items()], arrays, address)}


def _tuple(value: tuple[Any, ...], arrays: Arrays, address: str) -> dict[str, Any]:
    if len(value) > INLINE and all(type(item) is str for item in value):
        words = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
        return {"$words": _keep(words, arrays, address)}
    return {"$tuple": _items(value, arrays, address)}


def _items(values: list[Any] | tuple[Any, ...], arrays: Arrays, address: str) -> list[Any]:
    return [encoded(v, arrays, _at(address, _label(v, i))) for i, v in enumerate(values)]


def _label(value: object, index: int) -> str:
    return value.observable if isinstance(value, ObservableResult) else str(index)


def _at(address: str, name: str) -> str:
    return f"{address}/{name}" if address else name


def _keep(value: npt.NDArray[Any], arrays: Arrays, address: str) -> str:
    if address in arrays:
        raise StoreError(f"two arrays are called {address!r}; give observables different names")
    arrays[address] = value
    return address


def _atom(value: object) -> Json:
    if isinstance(value, Enum):
        return {f"${type(value).__name__}": value.value}
    if isinstance(value, Fraction):
        return {"$fraction": str(value)}
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        return {"$number": repr(plain)}
    if plain is None or isinstance(plain, str | bool | int | float):
        return plain
    raise StoreError(f"a result holds a {type(value).__name__}, which no results folder can keep")
