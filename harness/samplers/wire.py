"""Messages between the harness and a sampler's process: a line of JSON, then raw arrays.

PROTOCOL.md, beside this file, is the page for who writes such a program.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

__all__ = [
    "LONGEST_HEADER",
    "VERSION",
    "WireError",
    "array_of",
    "described",
    "encoded",
    "header_of",
]

VERSION: Final = 1
LONGEST_HEADER: Final = 2**20
DTYPES: Final = {"<i1", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8"}


class WireError(Exception):
    """Bytes that are no message; the message says what is wrong with them."""


def encoded(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> list[bytes | memoryview]:
    """The message as pieces to be written one after the other, arrays in C order, little-endian."""
    plain = {name: _little(array) for name, array in arrays.items()}
    told = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)}
        for name, array in plain.items()
    ]
    line = json.dumps({**header, "arrays": told}, separators=(",", ":"), allow_nan=False)
    return [line.encode() + b"\n", *(_bytes_of(array) for array in plain.values())]


def header_of(line: bytes) -> dict[str, Any]:
    """The header in a line. Raises WireError for anything else."""
    try:
        found = json.loads(line)
    except (UnicodeDecodeError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise WireError(f"{_shown(line)} where a header was due")
    return found


def described(
    header: Mapping[str, Any], most_bytes: int
) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    """(name, dtype, shape) of the arrays that follow a header, together at most `most_bytes`."""
    told = header.get("arrays", [])
    if not isinstance(told, list):
        raise WireError("a header whose arrays are no list")
    found = [_described(entry) for entry in told]
    size = sum(dtype.itemsize * math.prod(shape) for _, dtype, shape in found)
    if size > most_bytes:
        raise WireError(f"arrays of {size:,} bytes announced, at most {most_bytes:,} are due")
    return found


def array_of(raw: bytes | bytearray, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    return np.frombuffer(raw, dtype).reshape(shape)


def _described(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...]]:  # noqa: ANN401 (JSON)
    match entry:
        case {"name": str(name), "dtype": str(dtype), "shape": [*shape]} if dtype in DTYPES:
            if all(type(size) is int and 0 <= size < 2**40 for size in shape):
                return name, np.dtype(dtype), tuple(shape)
    raise WireError(f"an array described as {str(entry)[:120]}")


def _little(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _bytes_of(array: np.ndarray) -> memoryview | bytes:
    return array.data.cast("B") if array.size else b""


def _shown(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace"))
