"""What a user can mend. Everything else is a bug and shows its traceback."""

from __future__ import annotations

__all__ = [
    "BadLaw",
    "BadSetting",
    "HarnessError",
    "SamplerFailure",
    "ScenarioError",
    "StoreError",
    "UnknownName",
]


class HarnessError(Exception):
    """A problem outside the harness: the command line prints it as one line and exits 2."""


class ScenarioError(HarnessError):
    """A scenario file that cannot be used: its place, the problem and the way out."""

    def __init__(
        self, file: str, problem: str, remedy: str, *, line: int | None = None, path: str = ""
    ) -> None:
        self.file, self.line, self.path = file, line, path
        self.problem, self.remedy = problem, remedy
        place = ":".join(str(part) for part in (file, line) if part is not None)
        where = f"{place}: {path}" if path else place
        super().__init__(f"{where}: {problem}; {remedy}" if remedy else f"{where}: {problem}")


class UnknownName(HarnessError):
    """A name that no table holds; the message offers the nearest ones."""


class BadLaw(HarnessError):
    """Numbers that are not a probability law: negative, not finite, or not summing to one."""


class BadSetting(HarnessError):
    """A setting outside its range, or settings that exclude each other."""


class SamplerFailure(HarnessError):
    """A sampler under test broke its contract; the scenario ends `invalid`, the suite goes on."""


class StoreError(HarnessError):
    """A results folder that cannot be read or written."""
