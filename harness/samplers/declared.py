"""Where declarations come from: `pyproject.toml`, the command line, installed packages.

A scenario file names a sampler and gives it options. What runs under that name is declared here,
by the user, and nowhere else: no part of a scenario file is a module, a path or a command.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from harness.errors import BadSetting
from harness.protocols import Assignment, Sampler, SamplerFactory
from harness.samplers.kinds import factory_of
from harness.samplers.spec import SamplerSpec, spec_from

__all__ = ["declared", "from_command_line", "from_entry_points", "from_pyproject", "samplers_of"]

RECORDINGS = (".npy", ".npz", ".csv", ".jsonl", ".parquet")


def declared(
    arguments: Iterable[str] = (), *, folder: Path | None = None, replay: Path | None = None
) -> Mapping[str, SamplerFactory]:
    """Every sampler that scenarios may name; the command line goes before the file, and that
    before installed packages.

    `folder` is where `pyproject.toml` and relative targets are looked for (default: the working
    folder); `replay` where a failed call leaves its input. Raises BadSetting for a wrong one.
    """
    here = folder or Path.cwd()
    specs = {**from_pyproject(here), **from_command_line(arguments, here)}
    return {**from_entry_points(), **samplers_of(specs, replay=replay)}


def samplers_of(
    specs: Mapping[str, SamplerSpec], *, replay: Path | None = None
) -> Mapping[str, SamplerFactory]:
    """Factories of declarations; nothing is imported or started before one is called."""
    return {name: factory_of(spec, replay) for name, spec in specs.items()}


def from_pyproject(folder: Path) -> Mapping[str, SamplerSpec]:
    """`[tool.specharness.samplers]` of the nearest `pyproject.toml` in `folder` or above it."""
    for place in (folder.resolve(), *folder.resolve().parents):
        if (path := place / "pyproject.toml").is_file():
            return from_toml(path)
    return {}


def from_toml(path: Path) -> Mapping[str, SamplerSpec]:
    """`[tool.specharness.samplers]` of a TOML file; paths are relative to its folder."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"{path}: {error}") from error
    entries: Any = document
    for key in ("tool", "specharness", "samplers"):
        entries = entries.get(key, {}) if isinstance(entries, Mapping) else {}
    return {name: _entry(name, entry, path) for name, entry in entries.items()}


def _entry(name: str, entry: Any, path: Path) -> SamplerSpec:  # noqa: ANN401 (plain data)
    where = f"{path}: [tool.specharness.samplers] {name}"
    if isinstance(entry, str):
        return spec_from(name, _guessed(entry), path.parent, where)
    if not isinstance(entry, Mapping):
        raise BadSetting(f"{where}: not a table; write {name} = {{target = 'package:function'}}")
    return spec_from(name, entry, path.parent, where)


def from_command_line(arguments: Iterable[str], folder: Path) -> Mapping[str, SamplerSpec]:
    """`NAME=TARGET[,key=value...]`; a later one of the same name replaces the earlier."""
    specs = {}
    for argument in arguments:
        name, equals, rest = argument.partition("=")
        if not equals or not name or not rest:
            raise BadSetting(f"--sampler {argument}: not NAME=PACKAGE.MODULE:FUNCTION")
        target, *settings = rest.split(",")
        entry = {**_guessed(target), **dict(_setting(s, argument) for s in settings)}
        specs[name] = spec_from(name, entry, folder, f"--sampler {argument}")
    return specs


def _guessed(target: str) -> dict[str, Any]:
    """A recording by its suffix, an adapter by its kind, a function by its colon; a program."""
    if target.lower().endswith(RECORDINGS):
        return {"kind": "recorded", "target": target}
    kind, _, call = target.partition(":")
    if kind in {"transformers", "vllm"}:
        return {"kind": kind, "target": call}
    if call:
        return {"kind": "python", "target": target}
    return {"kind": "command", "command": shlex.split(target)}


def _setting(text: str, argument: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise BadSetting(f"--sampler {argument}: {text!r} is not key=value")
    if value in {"true", "false"}:
        return key, value == "true"
    if key == "batch_size" and value.isdigit():
        return key, int(value)
    if key == "packages":
        return key, value.split("+")
    return key, _number(value) if key == "timeout" else value


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def from_entry_points() -> Mapping[str, SamplerFactory]:
    """Samplers of installed packages, group `harness.samplers`: each a `SamplerFactory`, imported
    when a scenario first asks for it.
    """
    return {point.name: partial(_loaded, point) for point in entry_points(group="harness.samplers")}


def _loaded(point: EntryPoint, assignment: Assignment) -> Sampler:
    factory: SamplerFactory = point.load()
    return factory(assignment)
