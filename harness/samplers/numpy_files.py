"""NPY and NPZ files, read a few rows at a time and never unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np

from harness.errors import BadSetting, SamplerFailure
from harness.samplers.table import PIECE_ROWS, Piece, Table

__all__ = ["npy_table", "npz_table"]


def npy_table(path: Path, tokens: tuple[str, ...]) -> Table:  # noqa: ARG001 (a reader)
    """Tokens (n,) or (n, horizon)."""
    try:
        with path.open("rb") as stream:
            found = _Rows(stream, path.name)
    except (ValueError, OSError, EOFError) as error:
        raise BadSetting(f"{path}: {error}") from error
    _check(found.dtype, found.shape, str(path))

    def pieces() -> Iterator[Piece]:
        with path.open("rb") as stream:
            rows = _Rows(stream, path.name)
            for n in _cut(rows.shape[0]):
                yield {"tokens": rows.take(n)}

    return Table(("tokens",), found.shape[0], pieces)


def npz_table(path: Path, tokens: tuple[str, ...]) -> Table:  # noqa: ARG001 (a reader)
    """Arrays `tokens`, and `drafted` with `n_accepted` (or `kept`); or `counts`."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            members = {name: _header(archive, name) for name in names}
            for name, member in members.items():
                _check(member.dtype, member.shape, f"{path}: {name}")
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise BadSetting(f"{path}: {error}") from error
    if "counts" in members:
        counts = members["counts"]
        return Table(("counts",), counts.shape[0], lambda: _pieces(path, ["counts"]))
    lengths = {member.shape[0] for member in members.values()}
    if len(lengths) != 1:
        raise BadSetting(f"{path}: arrays of {sorted(lengths)} rows; give all the same")
    return Table(tuple(names), lengths.pop(), lambda: _pieces(path, names))


def _pieces(path: Path, names: list[str]) -> Iterator[Piece]:
    with zipfile.ZipFile(path) as archive, ExitStack() as stack:
        streams = {name: stack.enter_context(archive.open(f"{name}.npy")) for name in names}
        members = {name: _Rows(stream, name) for name, stream in streams.items()}
        for n in _cut(next(iter(members.values())).shape[0]):
            yield {name: member.take(n) for name, member in members.items()}


def _header(archive: zipfile.ZipFile, name: str) -> _Rows:
    with archive.open(f"{name}.npy") as stream:
        return _Rows(stream, name)


def _cut(rows: int) -> Iterator[int]:
    for start in range(0, rows, PIECE_ROWS):
        yield min(PIECE_ROWS, rows - start)


class _Rows:
    """One array of a stream in NPY format, its rows in order."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.stream = stream
        version = np.lib.format.read_magic(self.stream)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        self.shape, fortran, self.dtype = read(self.stream)
        if fortran and len(self.shape) > 1:
            raise BadSetting(f"{name} is in Fortran order; save np.ascontiguousarray of it")

    def take(self, n: int) -> np.ndarray[Any, Any]:
        shape = (n, *self.shape[1:])
        size = int(np.prod(shape)) * self.dtype.itemsize
        raw = self.stream.read(size)
        if len(raw) < size:
            raise SamplerFailure("the file ends before its last row")
        return np.frombuffer(raw, self.dtype).reshape(shape)


def _check(dtype: np.dtype[Any], shape: tuple[int, ...], what: str) -> None:
    if dtype.kind not in "iub":
        raise BadSetting(f"{what}: dtype {dtype}, not integers")
    if not len(shape) >= 1 or 0 in shape:
        raise BadSetting(f"{what}: shape {shape}; give rows of tokens")
