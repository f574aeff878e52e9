"""One folder a run: `manifest.json` and `tallies.npz` hold the result; the rest is made of them."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from harness.engine.result import SuiteResult
from harness.errors import HarnessError, StoreError
from harness.store.decode import decoded
from harness.store.encode import Arrays, encoded

__all__ = ["FORMAT", "add", "load", "make_ready", "pictures", "save"]

FORMAT: Final = 1
MANIFEST, TALLIES = "manifest.json", "tallies.npz"


def save(result: SuiteResult, root: Path, files: Mapping[str, str]) -> Path:
    """Write `root/<suite>-<utc time>-<short id>/` and return it; it appears whole or not at all.

    `files` are the texts that go with it by name, made from the same result: `results.json`,
    `summary.csv`. Raises StoreError where the suite's name is no folder's name, where the folder
    is there already, and where the disk refuses.
    """
    tallies, manifest = _contents(result)
    name = _folder_name(result, hashlib.sha256(manifest).hexdigest()[:8])
    with _appearing(root, name) as folder:
        (folder / TALLIES).write_bytes(tallies)
        (folder / MANIFEST).write_bytes(manifest)
        for file, text in files.items():
            (folder / _plain(file)).write_text(text, encoding="utf-8", newline="")
    return root / name


def make_ready(root: Path) -> None:
    """Make the folder that results go to; StoreError, before a trial is drawn, where none can."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as error:
        raise StoreError(f"{root}: results cannot be written there: {error.strerror}") from error


def load(folder: Path) -> SuiteResult:
    """The result that `save` wrote to `folder`; StoreError says what is missing or damaged."""
    manifest = _manifest(folder)
    arrays = _arrays(folder / TALLIES, manifest.get("tallies_sha256"))
    try:
        result = decoded(manifest["result"], arrays)
    except (LookupError, TypeError, ValueError, AttributeError, HarnessError) as error:
        raise StoreError(f"{folder}: {MANIFEST} does not describe a run: {error!r}") from error
    if not isinstance(result, SuiteResult):
        raise StoreError(f"{folder}: {MANIFEST} holds a {type(result).__name__}, not a run")
    return result


def add(folder: Path, name: str, text: str) -> Path:
    """Write one more file into a results folder, such as `report.html`; replaces it at once."""
    path = folder / _plain(name)
    try:
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as part:
            part.write(text)
        Path(part.name).chmod(0o644)  # a temporary file is its owner's alone
        Path(part.name).replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    return path


def pictures(folder: Path) -> dict[str, bytes]:
    """The PNG files of `folder/plots` by name without suffix, in order; {} where there are none."""
    return {path.stem: path.read_bytes() for path in sorted((folder / "plots").glob("*.png"))}


def _contents(result: SuiteResult) -> tuple[bytes, bytes]:
    arrays: Arrays = {}
    run = encoded(result, arrays)
    tallies = _packed(arrays)
    digest = hashlib.sha256(tallies).hexdigest()
    manifest = {"format": FORMAT, "tallies_sha256": digest, "result": run}
    return tallies, json.dumps(manifest, indent=1, allow_nan=False).encode()


def _packed(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _folder_name(result: SuiteResult, identity: str) -> str:
    try:
        started = datetime.fromisoformat(result.started).astimezone(UTC)
    except ValueError:
        raise StoreError(f"{result.started!r} is no time in ISO 8601") from None
    return _plain(f"{result.suite}-{started:%Y%m%dT%H%M%SZ}-{identity}")


def _plain(name: str) -> str:
    """The name, if it names something inside a folder: no separator, no hidden file, printable."""
    if not name.isprintable() or name.startswith(".") or "/" in name or "\\" in name or not name:
        raise StoreError(f"{name!r} is no name for a file; use letters, digits and dashes")
    return name


@contextmanager
def _appearing(root: Path, name: str) -> Iterator[Path]:
    """A folder to be filled, renamed to `root/name` when all went well, and removed otherwise."""
    if (root / name).exists():
        raise StoreError(f"{root / name}: is there already; a run is never overwritten")
    part: Path | None = None
    try:
        root.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".partial-", dir=root))
        (part / name).mkdir()  # inside, so that it has the permissions of any other folder
        yield part / name
        (part / name).rename(root / name)
    except OSError as error:
        raise StoreError(f"{root / name}: cannot be written: {error.strerror}") from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        document = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{folder}: no results folder: it has no {MANIFEST}") from None
    except OSError as error:
        raise StoreError(f"{folder}: {MANIFEST} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{folder}: {MANIFEST} is no JSON: {error}") from error
    if not isinstance(document, dict) or "format" not in document or "result" not in document:
        raise StoreError(f"{folder}: {MANIFEST} was not written by specharness run")
    if document["format"] != FORMAT:
        found = document["format"]
        raise StoreError(f"{folder}: format {found!r}, this release reads {FORMAT}; run it again")
    return document


def _arrays(path: Path, digest: object) -> dict[str, npt.NDArray[Any]]:
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    if hashlib.sha256(packed).hexdigest() != digest:
        raise StoreError(f"{path}: is damaged or belongs to another run")
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path}: holds no arrays: {error}") from error
