"""Scenario files become suites, or a complaint of one line that says where and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from harness.errors import ScenarioError
from harness.rules import RULES
from harness.scenario.build import Names, built
from harness.scenario.model import Suite
from harness.scenario.places import Place, complaints, shaped
from harness.scenario.shape import SuiteShape
from harness.scenario.text import FilePath, read_text, suite_files
from harness.scenario.tree import grow

__all__ = ["load_suite", "load_suites", "parse_suite", "validate"]


def load_suite(path: FilePath, *, rules: Names = RULES, samplers: Names | None = None) -> Suite:
    """The suite in a file. Raises `ScenarioError` for the first thing that is wrong with it.

    `samplers` are the names that the user has declared; with None, whoever runs the suite checks.
    """
    return parse_suite(read_text(path), os.fspath(path), rules=rules, samplers=samplers)


def load_suites(
    paths: Iterable[FilePath], *, rules: Names = RULES, samplers: Names | None = None
) -> list[Suite]:
    """The suites in files and folders, each file once, in the order given.

    Raises `ScenarioError` as `load_suite` does, for a folder without suites, and for two suites
    of one name.
    """
    suites: dict[str, Suite] = {}
    for file in _files(paths):
        suite = load_suite(file, rules=rules, samplers=samplers)
        if suite.name.lower() in suites:
            first = suites[suite.name.lower()].source
            raise ScenarioError(
                file, f"a second suite {suite.name!r}, after {first}", "rename one", path="suite"
            )
        suites[suite.name.lower()] = suite
    return list(suites.values())


def parse_suite(
    text: str, source: str, *, rules: Names = RULES, samplers: Names | None = None
) -> Suite:
    """The suite in a text; `source` is the file that complaints name."""
    place = Place(source, grow(text, source))
    return built(shaped(SuiteShape, place), place, text, rules=rules, samplers=samplers)


def validate(
    paths: Iterable[FilePath], *, rules: Names = RULES, samplers: Names | None = None
) -> list[ScenarioError]:
    """What is wrong with the files: of each all that is misshapen, else its first other problem."""
    try:
        files = list(_files(paths))
        found = [error for file in files for error in _misshapen(file)]
        if not found:
            load_suites(files, rules=rules, samplers=samplers)
    except ScenarioError as error:
        return [error]
    return found


def _misshapen(file: str) -> list[ScenarioError]:
    try:
        place = Place(file, grow(read_text(file), file))
        SuiteShape.model_validate(place.value)
    except ScenarioError as error:
        return [error]
    except ValidationError as error:
        return complaints(error, place)
    return []


def _files(paths: Iterable[FilePath]) -> Iterator[str]:
    """Files of all paths, each once however it is spelled."""
    seen: set[str] = set()
    for file in (file for path in paths for file in suite_files(path)):
        if (real := os.path.realpath(file)) not in seen:
            seen.add(real)
            yield str(file)
