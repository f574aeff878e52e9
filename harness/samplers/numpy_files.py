"""NPY and NPZ files, never unpickled: NPY mapped into memory, members of NPZ streamed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np

from harness.errors import BadSetting
from harness.samplers.table import PIECE_ROWS, Piece, Table

__all__ = ["npy_table", "npz_table"]


def npy_table(path: Path, tokens: tuple[str, ...]) -> Table:  # noqa: ARG001 (a reader)
    """Tokens (n,) or (n, horizon)."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise BadSetting(f"{path}: {error}") from error
    _check(found.dtype, found.shape, str(path))

    def pieces() -> Iterator[Piece]:
        for start in range(0, len(found), PIECE_ROWS):
            yield {"tokens": np.array(found[start : start + PIECE_ROWS])}

    return Table(("tokens",), len(found), pieces)


def npz_table(path: Path, tokens: tuple[str, ...]) -> Table:  # noqa: ARG001 (a reader)
    """Arrays `tokens`, and `drafted` with `n_accepted` (or `kept`); or `counts`."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            members = {name: _Member(archive, name) for name in names}
            for name, member in members.items():
                member.close()
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
        members = {name: _Member(archive, name) for name in names}
        for member in members.values():
            stack.callback(member.close)
        rows = next(iter(members.values())).shape[0]
        for start in range(0, rows, PIECE_ROWS):
            n = min(PIECE_ROWS, rows - start)
            yield {name: member.rows(n) for name, member in members.items()}


class _Member:
    """One array of an archive, its rows in order."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.stream: IO[bytes] = archive.open(f"{name}.npy")
        version = np.lib.format.read_magic(self.stream)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        self.shape, fortran, self.dtype = read(self.stream)
        if fortran and len(self.shape) > 1:
            raise BadSetting(f"{name} is in Fortran order; save np.ascontiguousarray of it")

    def rows(self, n: int) -> np.ndarray[Any, Any]:
        shape = (n, *self.shape[1:])
        raw = self.stream.read(int(np.prod(shape)) * self.dtype.itemsize)
        return np.frombuffer(raw, self.dtype).reshape(shape)

    def close(self) -> None:
        self.stream.close()


def _check(dtype: np.dtype[Any], shape: tuple[int, ...], what: str) -> None:
    if dtype.kind not in "iub":
        raise BadSetting(f"{what}: dtype {dtype}, not integers")
    if not len(shape) >= 1 or 0 in shape:
        raise BadSetting(f"{what}: shape {shape}; give rows of tokens")
