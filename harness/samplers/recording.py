"""Files of recorded tokens: which columns they have, and their rows piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from harness.arrays import Counts, Tokens
from harness.errors import BadSetting, SamplerFailure
from harness.registry import did_you_mean
from harness.samplers.numpy_files import npy_table, npz_table
from harness.samplers.parquet import parquet_table
from harness.samplers.table import Table
from harness.samplers.text_files import csv_table, jsonl_table

__all__ = ["READERS", "Columns", "Recording", "recording"]

READERS: Final[Mapping[str, Callable[[Path, tuple[str, ...]], Table]]] = {
    ".npy": npy_table,
    ".npz": npz_table,
    ".csv": csv_table,
    ".jsonl": jsonl_table,
    ".parquet": parquet_table,
}
MOST_TRIALS: Final = 10**12  # as many as a scenario may ask for
DRAFT, KEPT, EMITTED = ("draft", "drafted"), ("kept", "n_accepted"), ("emitted", "tokens")


@dataclass(frozen=True, slots=True)
class Columns:
    """Some rows: `tokens` (n, length), -1 after the end; the first round's draft and kept run."""

    tokens: Tokens
    drafted: Tokens | None = None
    n_accepted: Tokens | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of `trials` rows, or of `counts` (cells,)."""

    path: Path
    trials: int
    traced: bool
    batches: Callable[[], Iterator[Columns]]
    counts: Counts | None = None


def recording(path: Path, tokens: tuple[str, ...], horizon: int) -> Recording:
    """What is in a file, by its suffix. Raises BadSetting for what cannot be read."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise BadSetting(f"{path}: no reader for {suffix!r}{did_you_mean(suffix, READERS)}")
    if not path.is_file():
        raise BadSetting(f"{path}: no such file")
    table = READERS[suffix](path, tokens)
    counts = _counts(table, len(tokens) ** horizon) if "counts" in table.names else None
    _refuse_too_many(path, table.rows if counts is None else sum(counts.tolist()))
    traced = _one_of(DRAFT, table) is not None and _one_of(KEPT, table) is not None
    return Recording(path, table.rows, traced, lambda: _batches(table, traced=traced), counts)


def _refuse_too_many(path: Path, trials: int) -> None:
    """A damaged header may promise any number of rows."""
    if trials > MOST_TRIALS:
        raise BadSetting(f"{path}: {trials:,} trials, more than {MOST_TRIALS:,}")


def _batches(table: Table, *, traced: bool) -> Iterator[Columns]:
    emitted = _one_of(EMITTED, table)
    if emitted is None:
        raise SamplerFailure(f"no column of tokens among {', '.join(table.names)}")
    for rows in table.pieces():
        tokens = _wide(rows[emitted])
        if traced:
            drafted, kept = rows[str(_one_of(DRAFT, table))], rows[str(_one_of(KEPT, table))]
            yield Columns(tokens, _wide(drafted), kept.astype(np.int64).reshape(len(tokens)))
        else:
            yield Columns(tokens)


def _counts(table: Table, cells: int) -> Counts:
    """Counts of all cells; a column of tokens beside them says which cell each is of."""
    pieces = list(table.pieces())
    counts = np.concatenate([piece["counts"] for piece in pieces]).ravel()
    if "tokens" in table.names:
        where = np.concatenate([piece["tokens"] for piece in pieces]).ravel()
        if len(where) and not (where.min() >= 0 and where.max() < cells):
            raise BadSetting(f"a count of token {where.max()}, of {cells} tokens")
        found = np.zeros(cells, np.int64)
        np.add.at(found, where, counts)
        counts = found
    if counts.shape != (cells,) or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise BadSetting(f"{len(counts)} counts of {cells} cells; give one whole number for each")
    return counts.astype(np.int64)


def _one_of(names: tuple[str, ...], table: Table) -> str | None:
    return next((name for name in names if name in table.names), None)


def _wide(column: Tokens) -> Tokens:
    return column[:, None] if column.ndim == 1 else column
