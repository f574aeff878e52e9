"""A file's columns, read a piece at a time: no more of it is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

__all__ = ["PIECE_ROWS", "Piece", "Table"]

PIECE_ROWS: Final = 1 << 16
Piece: TypeAlias = Mapping[str, np.ndarray[Any, Any]]  # columns (n,) or (n, width) by name


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` rows of columns `names`."""

    names: tuple[str, ...]
    rows: int
    pieces: Callable[[], Iterator[Piece]]
