"""The function that a user declared, as `package.module:function` or `path/to/file.py:function`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import BadSetting, SamplerFailure
from harness.samplers.contract import THEIRS

__all__ = ["imported"]


def imported(target: str, folder: Path) -> Callable[..., Any]:
    """The function; `folder` is where files are, and where modules may be besides `sys.path`.

    Raises BadSetting where there is no such thing, SamplerFailure where importing it goes wrong.
    """
    module_name, _, attribute = target.rpartition(":")
    if not module_name or not attribute:
        raise BadSetting(f"target {target!r} is not PACKAGE.MODULE:FUNCTION or FILE.py:FUNCTION")
    found: Any = _module(module_name, folder)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise BadSetting(f"{module_name} has no {attribute!r}")
        found = getattr(found, part)
    if not callable(found):
        raise BadSetting(f"{target} is a {type(found).__name__}, not a function")
    return found


def _module(name: str, folder: Path) -> ModuleType:
    _see(folder)
    try:
        return _of_file(folder / name) if name.endswith(".py") else importlib.import_module(name)
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise BadSetting(f"cannot import {name}: {error}") from error
    except THEIRS as error:  # whatever their module does when it is run
        raise SamplerFailure(f"importing {name}: {type(error).__name__}: {error}") from error


def _see(folder: Path) -> None:
    """Last on the path, so that a file of the user's hides no installed module."""
    if (place := str(folder.resolve())) not in sys.path:
        sys.path.append(place)


def _of_file(path: Path) -> ModuleType:
    """The module in a file, run once."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadSetting(f"{path} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
