"""A suite from plan to verdicts. Reports, files and pictures are made from what this returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.engine.decide import exit_code
from harness.engine.judge import Outcome, family_size, judge
from harness.engine.manifest import manifest_of
from harness.engine.result import SuiteResult
from harness.engine.rooms import Ready, examined, made_ready
from harness.engine.sequence import Levels
from harness.errors import SamplerFailure
from harness.executors import processes
from harness.protocols import SamplerFactory, Versioned
from harness.scenario.model import Suite

__all__ = ["Progress", "run_suite"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Told after every chunk: `done` of `trials` trials of a scenario, the `number`-th of `of`."""

    suite: str
    scenario: str
    number: int
    of: int
    done: int
    trials: int


Listener = Callable[[Progress], None]


def run_suite(
    suite: Suite,
    *,
    workers: int = 1,
    samplers: Mapping[str, SamplerFactory] | None = None,
    executor: Executor | None = None,
    listener: Listener | None = None,
) -> SuiteResult:
    """Draws every scenario of `suite`, examines it and decides over the whole suite.

    The result is the same for any `workers` and any `executor`. More than one worker are processes,
    for which a script needs its `if __name__ == "__main__":`; `executor` is anything else with that
    interface, such as a cluster's, and is left open.
    `samplers` gives the samplers that scenarios may name. Raises UnknownName for a name that
    nobody declared; a sampler that fails makes its scenario invalid and the others go on.
    """
    started, wall, cpu = datetime.now(UTC), time.perf_counter(), time.process_time()
    ready = [made_ready(scenario, suite, samplers or {}) for scenario in suite.scenarios]
    with processes(workers) if executor is None else nullcontext(executor) as pool:
        levels = Levels(suite.alpha, suite.delta, family_size(ready))
        outcomes = [
            _outcome(one, suite, levels, pool, workers, _teller(listener, suite, number))
            for number, one in enumerate(ready)
        ]
    scenarios = judge(outcomes, suite)
    manifest = manifest_of(
        suite,
        workers=workers,
        wall=time.perf_counter() - wall,
        cpu=time.process_time() - cpu,
        trials=sum(scenario.trials for scenario in scenarios),
        tested=_tested(ready),
    )
    return SuiteResult(
        suite=suite.name,
        description=suite.description,
        scenarios=scenarios,
        alpha=suite.alpha,
        delta=suite.delta,
        seed=suite.seed,
        exit_code=exit_code(scenarios),
        started=started.isoformat(timespec="seconds"),
        manifest=manifest,
    )


def _outcome(
    ready: Ready,
    suite: Suite,
    levels: Levels,
    executor: Executor,
    workers: int,
    tell: Callable[[int], None],
) -> Outcome:
    """One scenario's trials, or the reason why its sampler gave none."""
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        found = examined(ready, suite, levels, executor, workers, tell)
    except SamplerFailure as failure:
        return Outcome(ready, None, str(failure))
    return Outcome(
        ready,
        found,
        wall_seconds=time.perf_counter() - wall,
        cpu_seconds=time.process_time() - cpu,
    )


def _tested(ready: Sequence[Ready]) -> dict[str, str]:
    """Versions of the packages under test, as their samplers tell them."""
    told = (one.sampler.versions for one in ready if isinstance(one.sampler, Versioned))
    return {package: version for versions in told for package, version in versions.items()}


def _teller(listener: Listener | None, suite: Suite, number: int) -> Callable[[int], None]:
    scenario = suite.scenarios[number]

    def tell(done: int) -> None:
        if listener is not None:
            told = suite.name, scenario.name, number + 1, len(suite.scenarios)
            listener(Progress(*told, done, scenario.trials))

    return tell
