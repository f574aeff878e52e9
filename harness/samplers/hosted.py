"""A Python function in a process of its own: it may hang, crash, print, or need another Python."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import harness
from harness.samplers.command import Program
from harness.samplers.functions import Function
from harness.samplers.spec import SamplerSpec

__all__ = ["host_of"]

# Loads this very package, and nothing else from where it lives: the other Python has its own numpy.
START = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location(
    "harness", sys.argv[1] + "/__init__.py", submodule_search_locations=[sys.argv[1]])
sys.modules["harness"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from harness.samplers.host import main
main()
"""


def host_of(function: Function, spec: SamplerSpec) -> Program:
    """The program that serves `function`: this Python, or the interpreter that the user declared,
    which needs numpy and whatever the function imports.
    """
    package = str(Path(harness.__file__).parent)
    described = {**asdict(function), "folder": str(function.folder.resolve())}
    return Program(
        (_interpreter(spec), "-P", "-c", START, package),
        Path.cwd(),
        spec.timeout,
        described={
            "function": {**described, "packages": list(function.packages)},
            "dtype": spec.floats,
            "shared": spec.shared,
        },
    )


def _interpreter(spec: SamplerSpec) -> str:
    """Relative to the declaration's folder; links are kept, they say which environment."""
    if not spec.python:
        return sys.executable
    return str(spec.folder.absolute() / spec.python) if "/" in spec.python else spec.python
