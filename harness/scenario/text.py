"""The text of a scenario file: size, kind and encoding are looked at before anything is parsed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from harness.errors import ScenarioError
from harness.registry import did_you_mean

__all__ = ["LARGEST_FILE", "SUFFIXES", "FilePath", "read_text", "suite_files"]

LARGEST_FILE = 4_000_000  # bytes: a vocabulary of 128,256 tokens with its law fits
FilePath = str | os.PathLike[str]
SUFFIXES = (".yaml", ".yml")


def read_text(path: FilePath) -> str:
    """The file's text. Raises `ScenarioError` for what is no readable UTF-8 text of modest size."""
    file = os.fspath(path)
    text = _decoded(file, _content(file))
    line = _first_line_with("\t", text)
    if line is not None:
        raise ScenarioError(file, "a tab", "use spaces; inside quotes write \\t", line=line)
    return text


def suite_files(path: FilePath) -> tuple[Path, ...]:
    """The file itself, or the suites directly inside a folder, by name.

    Raises `ScenarioError` for a path that is not there and for a folder without suites.
    """
    place = Path(path)
    if not os.path.exists(place):  # noqa: PTH110  # Path.exists raises for impossible names
        raise ScenarioError(
            str(place).replace("\0", "\\0"), "no such file or folder", _nearest(place)
        )
    if not place.is_dir():
        return (place,)
    files = tuple(sorted(f for f in place.iterdir() if f.suffix in SUFFIXES and f.is_file()))
    if not files:
        raise ScenarioError(
            str(place), "a folder without suites", "put a .yaml file there, or name another folder"
        )
    return files


def _content(file: str) -> bytes:
    try:
        facts = os.stat(file)  # noqa: PTH116  # a Path would turn a bad name into ValueError too
        if not stat.S_ISREG(facts.st_mode):
            raise ScenarioError(file, "not a regular file", "name a .yaml file or a folder of them")
        if facts.st_size > LARGEST_FILE:
            raise ScenarioError(
                file,
                f"{facts.st_size:,} bytes, more than {LARGEST_FILE:,}",
                "split the suite, or make large laws with generate:",
            )
        with open(file, "rb") as stream:  # noqa: PTH123  # same
            return stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        shown = file.replace("\0", "\\0")
        raise ScenarioError(shown, f"cannot be read ({reason})", "check the path") from error


def _decoded(file: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            file, f"byte {error.start} is not UTF-8", "save the file as UTF-8 text", line=line
        ) from None
    line_of_nul = _first_line_with("\0", text)
    if line_of_nul is not None:
        raise ScenarioError(
            file, "a NUL byte: a binary file", "name a text file in YAML", line=line_of_nul
        )
    return text


def _first_line_with(character: str, text: str) -> int | None:
    where = text.find(character)
    return None if where < 0 else text.count("\n", 0, where) + 1


def _nearest(place: Path) -> str:
    """What to do about a path that is not there: the nearest name in its folder."""
    folder = place.parent
    if "\0" in str(place) or not folder.is_dir():
        return "check the path"
    names = sorted(f.name for f in folder.iterdir() if f.suffix in SUFFIXES or f.is_dir())
    return did_you_mean(place.name, names[:20]).removeprefix("; ") if names else "check the path"
