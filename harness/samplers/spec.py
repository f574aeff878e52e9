"""The declaration of a sampler: what a user, and never a scenario file, says it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from harness.errors import BadSetting
from harness.registry import did_you_mean
from harness.samplers.signature import FORMS

__all__ = ["KIND_NAMES", "SamplerSpec", "spec_from"]

KIND_NAMES: Final = ("python", "command", "recorded", "transformers", "vllm")
CHOICES: Final = {
    "kind": KIND_NAMES,
    "level": ("verifier", "generator"),
    "arrays": ("numpy", "torch"),
    "dtype": ("", "float32", "float64"),
    "random": ("", *FORMS),
}


@dataclass(frozen=True, slots=True)
class SamplerSpec:
    """One declared sampler.

    `kind`: python, command, recorded, transformers or vllm. `target`: the function of a python
    sampler, the call of an adapter (see its module), the path of a recording. `command`: the
    program and its arguments. `level`: verifier or generator. `arrays`, `dtype`: what a python
    verifier is given (by default float64, or float32 with torch). `random`: numpy, torch, seed or
    global, where the function's signature does not say. `factory`: the target is called with the
    Assignment and returns the function. `shared`: q and p may be read-only views that trials share.
    `timeout` in seconds a call; with it, with `isolate` or with a `python` interpreter of its own a
    function runs in a process of its own. `batch_size`: most trials a call. `options` are defaults
    for those of a scenario. `packages`: whose versions go into the manifest.
    """

    name: str
    kind: str = "python"
    target: str = ""
    command: tuple[str, ...] = ()
    level: str = "verifier"
    arrays: str = "numpy"
    dtype: str = ""
    random: str = ""
    factory: bool = False
    shared: bool = False
    isolate: bool = False
    python: str = ""
    timeout: float | None = None
    batch_size: int | None = None
    packages: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()

    @property
    def isolated(self) -> bool:
        """Whether a function runs in a process of its own."""
        return self.isolate or bool(self.python) or self.timeout is not None

    @property
    def floats(self) -> str:
        return self.dtype or ("float32" if self.arrays == "torch" else "float64")


def spec_from(name: str, entry: Mapping[str, Any], folder: Path, where: str) -> SamplerSpec:
    """A declaration out of plain data. Raises BadSetting, which names `where`, for a wrong one."""
    known = [f.name for f in fields(SamplerSpec) if f.name not in {"name", "folder"}]
    for key in entry:
        if key not in known:
            raise BadSetting(f"{where}: unknown key {key!r}{did_you_mean(key, known)}")
    values = {key: _converted(key, value, where) for key, value in entry.items()}
    spec = SamplerSpec(name=name, folder=folder, **values)
    _check(spec, where)
    return spec


def _converted(key: str, value: Any, where: str) -> Any:  # noqa: ANN401 (plain data)
    wanted = get_type_hints(SamplerSpec)[key]
    if key in {"command", "packages"}:
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise BadSetting(f"{where}: {key} is not a list of strings")
    kinds = (Mapping,) if key == "options" else get_args(wanted) or (wanted,)
    if float in kinds and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise BadSetting(f"{where}: {key} is {value!r}, a {type(value).__name__}")
    if key in CHOICES and value not in CHOICES[key]:
        raise BadSetting(f"{where}: no {key} {value!r}{did_you_mean(value, CHOICES[key])}")
    return value


def _check(spec: SamplerSpec, where: str) -> None:
    if spec.kind == "command" and not spec.command:
        raise BadSetting(f"{where}: a command sampler without a command; add command = [...]")
    if spec.kind in {"python", "recorded"} and not spec.target:
        raise BadSetting(f"{where}: a {spec.kind} sampler without a target; add target = ...")
    for key in ("timeout", "batch_size"):
        number = getattr(spec, key)
        if number is not None and not number > 0:
            raise BadSetting(f"{where}: {key} is {number}; give a number above zero")
