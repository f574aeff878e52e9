"""Parquet files of tokens; the only file that imports pyarrow."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import BadSetting
from harness.samplers.table import PIECE_ROWS, Piece, Table

__all__ = ["parquet_table"]


def parquet_table(path: Path, tokens: tuple[str, ...]) -> Table:  # noqa: ARG001 (a reader)
    """Columns tokens (lists); draft, kept, emitted; token, count; or else a column a position.

    Raises BadSetting where pyarrow is not installed.
    """
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise BadSetting(f"{path}: pip install 'specharness[parquet]' to read it") from error
    try:
        file = parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        raise BadSetting(f"{path}: {error}") from error
    return _table(file)


def _table(file: Any) -> Table:  # noqa: ANN401 (pyarrow has no types)
    renamed = {"token": "tokens", "count": "counts"}
    stored = list(file.schema_arrow.names)
    known = {
        "tokens",
        "token",
        "draft",
        "drafted",
        "kept",
        "n_accepted",
        "emitted",
        "count",
        "counts",
    }
    names = {column: renamed.get(column, column) for column in stored if column in known}

    def pieces() -> Iterator[Piece]:
        for batch in file.iter_batches(batch_size=PIECE_ROWS):
            if names:
                yield {name: _column(batch.column(column)) for column, name in names.items()}
            else:
                yield {"tokens": np.stack([_column(c) for c in batch.columns], axis=1)}

    return Table(tuple(names.values()) or ("tokens",), file.metadata.num_rows, pieces)


def _column(column: Any) -> np.ndarray:  # noqa: ANN401 (pyarrow has no types)
    cells = column.to_pylist()
    if cells and isinstance(cells[0], list):
        width = max(map(len, cells))
        return np.array([cell + [-1] * (width - len(cell)) for cell in cells], np.int64)
    found = np.asarray(cells)
    if found.dtype.kind not in "iub":
        raise BadSetting(f"a column of {found.dtype}, not integers")
    return found.astype(np.int64)
