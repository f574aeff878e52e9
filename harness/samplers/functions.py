"""From a declaration and an assignment to the two functions that samplers call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.errors import BadSetting, HarnessError, SamplerFailure
from harness.protocols import Assignment
from harness.samplers.block import Generate, Verify
from harness.samplers.contract import THEIRS
from harness.samplers.imported import imported
from harness.samplers.python import generate_by, verify_by

__all__ = ["Function", "function_of", "installed"]


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function as it was declared; with `factory` it is called once with the Assignment
    and returns the verifier or generator. `packages` are those whose versions are told.
    """

    target: str
    folder: Path
    level: str = "verifier"
    arrays: str = "numpy"
    random: str = ""
    factory: bool = False
    packages: tuple[str, ...] = ()

    def calls(self, assignment: Assignment) -> Verify | Generate:
        """Raises BadSetting for a target that is not there, or options it does not take."""
        found, options = imported(self.target, self.folder), assignment.options
        if self.factory:
            found, options = self._made(found, assignment), {}
        adapted = verify_by if self.level == "verifier" else generate_by
        return adapted(found, arrays=self.arrays, form=self.random, options=options)

    def _made(self, factory: Any, assignment: Assignment) -> Any:  # noqa: ANN401 (theirs)
        try:
            made = factory(assignment)
        except HarnessError:
            raise
        except THEIRS as error:
            raise SamplerFailure(f"{self.target}: {type(error).__name__}: {error}") from error
        if not callable(made):
            raise BadSetting(f"{self.target} made a {type(made).__name__}, not a function")
        return made


def function_of(described: Mapping[str, Any]) -> Function:
    """The function that a message describes (see `host`)."""
    fields = {**described, "folder": Path(described["folder"])}
    return Function(**{**fields, "packages": tuple(described["packages"])})


def installed(packages: tuple[str, ...]) -> Mapping[str, str]:
    """Versions of packages, those that are there."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
