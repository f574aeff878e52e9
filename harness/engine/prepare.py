"""A scenario made ready to run: its sampler, its exact law, its observables, an empty tally."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from harness.engine.defaults import judged_observables
from harness.engine.exact import exact_single
from harness.engine.examine import Examiner
from harness.engine.facts import problems
from harness.engine.finding import scope
from harness.engine.observation import Geometry, observation
from harness.engine.pairs import TwoArms, two_arms
from harness.errors import UnknownName
from harness.laws.step import ExactStep
from harness.protocols import Assignment, Finite, Rule, Sampler, SamplerFactory, Tally
from harness.registry import did_you_mean
from harness.rules import RULES
from harness.samplers.rule import RuleSampler
from harness.scenario.model import Reference, SamplerRef, Scenario, Suite

__all__ = ["Prepared", "prepare", "prepare_two_arms", "undeclared"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a run needs of one scenario; `problems` are stated facts that the laws contradict."""

    scenario: Scenario
    sampler: Sampler
    step: ExactStep | None
    tokens: tuple[str, ...]
    examiners: tuple[Examiner, ...]
    empty: Tally
    problems: tuple[str, ...]

    @property
    def judged(self) -> tuple[Examiner, ...]:
        return tuple(e for e in self.examiners if e.observable.judged)

    @property
    def concurrent(self) -> bool:
        return self.sampler.concurrent

    @property
    def scope(self) -> str:
        return scope(self.scenario.draft_length, self.scenario.horizon)


def prepare(scenario: Scenario, suite: Suite, samplers: Mapping[str, SamplerFactory]) -> Prepared:
    """Raises UnknownName for a rule or sampler that nobody declared."""
    rule = RULES[scenario.rule] if scenario.rule is not None else None
    tokens = scenario.vocabulary or suite.vocabulary
    sampler = _sampler(scenario, rule, tokens, samplers)
    if isinstance(sampler, Finite):
        scenario = replace(scenario, trials=max(1, min(scenario.trials, sampler.trials)))
    geometry = Geometry(
        scenario.laws,
        tokens,
        scenario.draft_length,
        scenario.horizon,
        shows_trace={"drafted", "n_accepted"} <= sampler.provides,
    )
    observables, empty = observation(geometry, rule, judged_observables(scenario, rule))
    return Prepared(
        scenario,
        sampler,
        exact_single(rule, scenario.laws, draft_length=scenario.draft_length) if rule else None,
        tokens,
        tuple(Examiner.of(observable) for observable in observables),
        empty,
        problems(scenario, tokens),
    )


def prepare_two_arms(
    scenario: Scenario, suite: Suite, samplers: Mapping[str, SamplerFactory]
) -> TwoArms:
    """A scenario with a reference in place of a law; raises as `prepare` does."""
    tokens = scenario.vocabulary or suite.vocabulary
    other = scenario.reference or Reference()
    procedures = (scenario.rule, scenario.sampler), (other.rule, other.sampler)
    sampler, reference = (
        _sampler(
            replace(scenario, rule=rule, sampler=named),
            RULES[rule] if rule is not None else None,
            tokens,
            samplers,
        )
        for rule, named in procedures
    )
    return two_arms(scenario, (sampler, reference), tokens, problems(scenario, tokens))


def _sampler(
    scenario: Scenario,
    rule: Rule | None,
    tokens: tuple[str, ...],
    samplers: Mapping[str, SamplerFactory],
) -> Sampler:
    if rule is not None:
        return RuleSampler(rule.prepare, scenario.laws, scenario.draft_length, scenario.horizon)
    named = scenario.sampler or SamplerRef("")
    if named.name not in samplers:
        raise UnknownName(undeclared(scenario.name, named.name, samplers))
    shape = scenario.laws, scenario.draft_length, scenario.horizon
    return samplers[named.name](Assignment(*shape, tokens, named.options))


def undeclared(scenario: str, name: str, samplers: Iterable[str]) -> str:
    """What is said of a sampler that a scenario names and nobody declared."""
    return (
        f"scenario {scenario!r}: nobody declared a sampler {name!r}{did_you_mean(name, samplers)}; "
        "declare it in [tool.specharness.samplers] of pyproject.toml or with "
        "--sampler NAME=PACKAGE.MODULE:FUNCTION"
    )
