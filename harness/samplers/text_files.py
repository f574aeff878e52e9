"""CSV and JSON lines of tokens, rows of any length, read some lines at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from harness.arrays import Tokens
from harness.errors import BadSetting
from harness.samplers.table import PIECE_ROWS, Piece, Table
from harness.trials import NO_TOKEN

__all__ = ["csv_table", "jsonl_table"]

TRACE = {"draft", "drafted", "kept", "n_accepted", "emitted"}
ENCODING = "utf-8-sig"  # a mark at the start, as spreadsheets write it, is no part of a token
LARGEST = np.iinfo(np.int64).max
YES_OR_NO = {"true": 1, "True": 1, "yes": 1, "false": 0, "False": 0, "no": 0}


def csv_table(path: Path, tokens: tuple[str, ...]) -> Table:
    """A row a trial, tokens by number or name; or columns draft, kept, emitted; or token, count.

    A first row that is not of tokens is a header.
    """
    ids = _ids(tokens)
    first = _first(path)
    header = [] if _all_tokens(first, ids) else [name.strip().lower() for name in first]
    rows = _count_lines(path) - bool(header)
    if "count" in header or "counts" in header:
        names = ["counts" if name in {"count", "counts"} else "tokens" for name in header]
    elif TRACE & set(header):
        names = [name for name in header if name in TRACE]
        header = [name if name in TRACE else "" for name in header]
    else:
        return Table(("tokens",), rows, lambda: _rows(path, ids, skip=bool(header)))
    return Table(tuple(names), rows, lambda: _named(path, ids, _placed(header, names)))


def jsonl_table(path: Path, tokens: tuple[str, ...]) -> Table:
    """Lists of tokens; or objects with tokens, or draft, kept, emitted, or token and count."""
    ids = _ids(tokens)
    with path.open(encoding=ENCODING) as lines:
        first = _parsed(next(lines, ""), path)
    rows = _count_lines(path)
    if isinstance(first, list):
        return Table(("tokens",), rows, lambda: _json_pieces(path, ids, None))
    if not isinstance(first, dict):
        raise BadSetting(f"{path}: a line is neither a list nor an object")
    renamed = {"token": "tokens", "count": "counts"}
    keys = {str(key): renamed.get(key, str(key)) for key in first}
    return Table(tuple(keys.values()), rows, lambda: _json_pieces(path, ids, keys))


def _rows(path: Path, ids: Mapping[str, int], *, skip: bool) -> Iterator[Piece]:
    with path.open(encoding=ENCODING, newline="") as lines:
        if skip:
            next(lines)
        while piece := [line for line in islice(lines, PIECE_ROWS) if line.strip()]:
            yield {"tokens": _block(piece, ids, path)}


def _block(lines: list[str], ids: Mapping[str, int], path: Path) -> Tokens:
    """Numbers in rows of one length are read by numpy; names and ragged rows one by one."""
    if not any(name.isdecimal() and int(name) != number for name, number in ids.items()):
        with suppress(ValueError):
            return np.loadtxt(lines, delimiter=",", dtype=np.int64, ndmin=2, comments=None)
    return _padded([[_id(cell, ids, path) for cell in row if cell] for row in csv.reader(lines)])


def _named(path: Path, ids: Mapping[str, int], placed: Mapping[str, int]) -> Iterator[Piece]:
    with path.open(encoding=ENCODING, newline="") as lines:
        next(lines)
        rows = csv.reader(lines)
        while piece := [row for row in islice(rows, PIECE_ROWS) if row]:
            yield {
                name: _column([_cell(row, at, path) for row in piece], name, ids, path)
                for name, at in placed.items()
            }


def _json_pieces(
    path: Path, ids: Mapping[str, int], keys: Mapping[str, str] | None
) -> Iterator[Piece]:
    with path.open(encoding=ENCODING) as lines:
        while piece := [line for line in islice(lines, PIECE_ROWS) if line.strip()]:
            rows = [_parsed(line, path) for line in piece]
            if keys is None:
                yield {"tokens": _column(rows, "tokens", ids, path)}
            else:
                yield {
                    name: _column([_cell(row, key, path) for row in rows], name, ids, path)
                    for key, name in keys.items()
                }


def _column(cells: Sequence[Any], name: str, ids: Mapping[str, int], path: Path) -> Tokens:
    if isinstance(cells[0], list):
        return _padded([[_id(cell, ids, path) for cell in row] for row in cells])
    known = YES_OR_NO if name in {"kept", "n_accepted"} else {} if name == "counts" else ids
    return np.array([_id(cell, known, path) for cell in cells], np.int64)


def _padded(rows: list[list[int]]) -> Tokens:
    found = np.full((len(rows), max(map(len, rows))), NO_TOKEN, np.int64)
    for row, tokens in zip(found, rows, strict=True):
        row[: len(tokens)] = tokens
    return found


def _id(cell: Any, ids: Mapping[str, int], path: Path) -> int:  # noqa: ANN401 (text or JSON)
    if isinstance(cell, int) and abs(cell) <= LARGEST:
        return int(cell)
    if isinstance(cell, str):
        text = cell.strip()
        if text in ids:
            return ids[text]
        if text.removeprefix("-").isdecimal() and abs(int(text)) <= LARGEST:
            return int(text)
    raise BadSetting(f"{path}: {str(cell)[:40]!r} is no token")


def _ids(tokens: tuple[str, ...]) -> Mapping[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def _all_tokens(cells: list[str], ids: Mapping[str, int]) -> bool:
    texts = [cell.strip() for cell in cells if cell.strip()]
    return all(text in ids or text.removeprefix("-").isdecimal() for text in texts)


def _placed(header: list[str], names: list[str]) -> Mapping[str, int]:
    columns = [at for at, name in enumerate(header) if name]
    return dict(zip(names, columns, strict=True))


def _cell(row: Any, key: int | str, path: Path) -> Any:  # noqa: ANN401 (text or JSON)
    try:
        return row[key]
    except (LookupError, TypeError):
        raise BadSetting(f"{path}: a row without {key!r}: {str(row)[:60]}") from None


def _parsed(line: str, path: Path) -> Any:  # noqa: ANN401 (JSON)
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"{path}: {error}: {line[:60]!r}") from error


def _first(path: Path) -> list[str]:
    try:
        with path.open(encoding=ENCODING, newline="") as lines:
            return next(csv.reader(lines), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadSetting(f"{path}: {error}") from error


def _count_lines(path: Path) -> int:
    """Lines that hold something, without reading the file into memory."""
    with path.open("rb") as lines:
        return sum(1 for line in lines if line.strip())
