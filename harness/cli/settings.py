"""What a command runs: suites from paths, with the user's own settings, and declared samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.engine.prepare import undeclared
from harness.errors import ScenarioError, UnknownName
from harness.protocols import SamplerFactory
from harness.samplers.declared import declared
from harness.scenario import Suite, load_suites

__all__ = ["DEFAULT_FOLDER", "declared_samplers", "refuse_undeclared", "suites_at"]

DEFAULT_FOLDER = Path("scenarios")


def suites_at(
    paths: Sequence[Path], *, seed: int | None = None, trials: int | None = None
) -> list[Suite]:
    """Suites of files and folders; `seed` and `trials` in place of what they state."""
    if not paths and not DEFAULT_FOLDER.is_dir():
        raise ScenarioError(
            str(DEFAULT_FOLDER),
            "there is no such folder here",
            "name a suite or a folder of suites",
        )
    return [_set(suite, seed, trials) for suite in load_suites(paths or [DEFAULT_FOLDER])]


def _set(suite: Suite, seed: int | None, trials: int | None) -> Suite:
    scenarios = suite.scenarios
    if trials is not None:
        scenarios = tuple(replace(scenario, trials=trials) for scenario in scenarios)
    return replace(suite, scenarios=scenarios, seed=suite.seed if seed is None else seed)


def declared_samplers(given: Sequence[str], replay: Path) -> Mapping[str, SamplerFactory]:
    """Samplers of the command line, of the nearest pyproject.toml, and of installed packages; what
    makes one fail is kept below `replay`.
    """
    return declared(given, replay=replay)


def refuse_undeclared(suites: Sequence[Suite], known: Mapping[str, SamplerFactory]) -> None:
    """Raises UnknownName before anything is drawn where a suite names what nobody declared."""
    for suite in suites:
        for scenario in suite.scenarios:
            for named in (scenario.sampler, scenario.reference and scenario.reference.sampler):
                if named and named.name not in known:
                    raise UnknownName(
                        f"{suite.source}: {undeclared(scenario.name, named.name, known)}"
                    )
