"""Two finished runs side by side: verdicts, effects, settings and speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.checks import expected_tv
from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult

__all__ = ["Comparison", "ObservableChange", "ScenarioChange", "compare"]


@dataclass(frozen=True, slots=True)
class ObservableChange:
    """One observable in both runs; `before` and `after` are (verdict, TV, bound, ln E, trials).

    `tv_between` is the plug-in TV of the two runs' counts, `tv_by_chance` what it would be on
    average if both had drawn from one law; None where the cells are not the same.
    """

    observable: str
    before: dict[str, str | float | int]
    after: dict[str, str | float | int]
    tv_between: float | None
    tv_by_chance: float | None


@dataclass(frozen=True, slots=True)
class ScenarioChange:
    """One scenario in both runs. `status`: same, changed, better, worse, added, missing.

    `worse`: it came out as expected before and does not now; `better` the reverse; `changed`:
    another verdict, as expected or not as before. `settings` tells what was asked differently.
    `speed` is trials a second before and after, 0 where no time was taken.
    """

    name: str
    status: str
    before: str | None
    after: str | None
    acceptance: tuple[float | None, float | None]
    speed: tuple[float, float]
    settings: tuple[str, ...]
    observables: tuple[ObservableChange, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed; `settings` are those of the runs as a whole."""

    suites: tuple[str, str]
    started: tuple[str, str]
    exit_codes: tuple[int, int]
    speed: tuple[float, float]
    settings: tuple[str, ...]
    scenarios: tuple[ScenarioChange, ...]

    @property
    def worse(self) -> bool:
        """Whether something that came out as expected no longer does, or is not there any more."""
        return any(change.status in {"worse", "missing"} for change in self.scenarios)


def compare(before: SuiteResult, after: SuiteResult) -> Comparison:
    """Scenarios are matched by name, in the order of the first run; new ones come last."""
    first = {scenario.name: scenario for scenario in before.scenarios}
    second = {scenario.name: scenario for scenario in after.scenarios}
    names = [*first, *(name for name in second if name not in first)]
    return Comparison(
        suites=(before.suite, after.suite),
        started=(before.started, after.started),
        exit_codes=(before.exit_code, after.exit_code),
        speed=(_suite_speed(before), _suite_speed(after)),
        settings=tuple(_run_settings(before, after)),
        scenarios=tuple(_scenario(name, first.get(name), second.get(name)) for name in names),
    )


def _scenario(
    name: str, before: ScenarioResult | None, after: ScenarioResult | None
) -> ScenarioChange:
    both = (before, after) if before and after else None
    return ScenarioChange(
        name=name,
        status=_status(before, after),
        before=before.verdict.value if before else None,
        after=after.verdict.value if after else None,
        acceptance=(_kept(before), _kept(after)),
        speed=(_speed(before), _speed(after)),
        settings=tuple(_scenario_settings(*both)) if both else (),
        observables=tuple(_observables(*both)) if both else (),
    )


def _status(before: ScenarioResult | None, after: ScenarioResult | None) -> str:
    if before is None or after is None:
        return "added" if before is None else "missing"
    if before.as_expected != after.as_expected:
        return "better" if after.as_expected else "worse"
    return "same" if before.verdict is after.verdict else "changed"


def _observables(before: ScenarioResult, after: ScenarioResult) -> Iterator[ObservableChange]:
    for seen in before.observables:
        again = after.observable(seen.observable)
        if again is not None:
            between, by_chance = _distances(seen, again)
            yield ObservableChange(
                seen.observable, _effect(seen), _effect(again), between, by_chance
            )


def _effect(seen: ObservableResult) -> dict[str, str | float | int]:
    return {
        "verdict": seen.verdict.value,
        "tv": seen.tv,
        "tv_bound": seen.tv_bound,
        "log_e": seen.log_e,
        "trials": seen.trials,
    }


def _distances(
    before: ObservableResult, after: ObservableResult
) -> tuple[float | None, float | None]:
    """TV of the two empirical laws, and its mean where both are drawn from the pooled law.

    The difference of two shares, of n and m trials, spreads like the share of nm/(n + m) trials.
    """
    n, m = int(before.counts.sum()), int(after.counts.sum())
    if before.cells != after.cells or len(before.counts) != len(after.counts) or not n * m:
        return None, None
    between = float(np.abs(before.counts / n - after.counts / m).sum() / 2)
    pooled = (before.counts + after.counts) / (n + m)
    return between, expected_tv(pooled, max(1, n * m // (n + m)))


def _scenario_settings(before: ScenarioResult, after: ScenarioResult) -> Iterator[str]:
    for name in ("sampler", "expect", "epsilon", "trials", "draft_length", "horizon"):
        yield from _told(name.replace("_", " "), getattr(before, name), getattr(after, name))
    for name, law in (("target law", "p"), ("draft law", "q")):
        if not np.array_equal(getattr(before, law), getattr(after, law), equal_nan=True):
            yield f"{name}: another one"


def _run_settings(before: SuiteResult, after: SuiteResult) -> Iterator[str]:
    for name in ("suite", "alpha", "delta", "seed"):
        yield from _told(name, getattr(before, name), getattr(after, name))
    for name in ("workers", "git_commit", "machine", "versions"):
        if before.manifest.get(name) != after.manifest.get(name):
            yield f"{name.replace('_', ' ')}: not the same"


def _told(name: str, before: object, after: object) -> Iterator[str]:
    if before != after:
        yield f"{name}: {before} -> {after}"


def _kept(scenario: ScenarioResult | None) -> float | None:
    return scenario.acceptance.observed if scenario and scenario.acceptance else None


def _speed(scenario: ScenarioResult | None) -> float:
    timed = scenario is not None and scenario.wall_seconds > 0
    return scenario.trials / scenario.wall_seconds if scenario and timed else 0.0


def _suite_speed(result: SuiteResult) -> float:
    return float(result.manifest.get("trials_per_second", 0.0))
