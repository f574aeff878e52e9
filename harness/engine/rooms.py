"""Which room a scenario is judged in: against the law it promises, or against a second sampler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import TypeAlias

from harness.engine.pairs import TwoArms
from harness.engine.prepare import Prepared, prepare, prepare_two_arms
from harness.engine.seen import Examined, by_law
from harness.engine.sequence import Levels, draw_until_decided
from harness.engine.two_arms import by_reference
from harness.executors import InlineExecutor
from harness.protocols import SamplerFactory
from harness.scenario.model import Scenario, Suite

__all__ = ["Ready", "examined", "made_ready"]

Ready: TypeAlias = Prepared | TwoArms


def made_ready(scenario: Scenario, suite: Suite, samplers: Mapping[str, SamplerFactory]) -> Ready:
    """Raises UnknownName for a rule or sampler that nobody declared."""
    room = prepare if scenario.reference is None else prepare_two_arms
    return room(scenario, suite, samplers)


def examined(
    ready: Ready,
    suite: Suite,
    levels: Levels,
    executor: Executor,
    workers: int,
    tell: Callable[[int], None],
) -> Examined:
    """Draws the scenario's trials and works out what they show. Raises SamplerFailure."""
    if not ready.concurrent:
        executor, workers = InlineExecutor(), 1
    if isinstance(ready, TwoArms):
        return by_reference(ready, suite, levels, executor, workers, tell)
    drawn = draw_until_decided(ready, suite.seed, levels, executor, workers, tell)
    return by_law(ready, drawn, suite)
