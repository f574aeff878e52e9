"""A scenario made ready to run: its sampler, its exact law, its observables, an empty tally."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from harness.arrays import Probs
from harness.engine.defaults import judged_observables
from harness.engine.exact import exact_single
from harness.engine.examine import Examiner
from harness.engine.facts import problems
from harness.engine.observe import FULL_TRACE_UP_TO, Observable, single_position
from harness.errors import UnknownName
from harness.laws.step import ExactStep
from harness.laws.tables import LawTables, one_context
from harness.protocols import Assignment, Rule, Sampler, SamplerFactory, Tally
from harness.registry import did_you_mean
from harness.rules import RULES
from harness.samplers.rule import RuleSampler
from harness.scenario.model import SamplerRef, Scenario, Suite
from harness.tallies import FactoredTrace, OutputTally, TraceTally

__all__ = ["Prepared", "prepare"]

FAULTS_UP_TO = 32  # tokens: exact laws of all known faults are cheap below this


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


def prepare(scenario: Scenario, suite: Suite, samplers: Mapping[str, SamplerFactory]) -> Prepared:
    """Raises UnknownName for a rule or sampler that nobody declared."""
    rule = RULES[scenario.rule] if scenario.rule is not None else None
    tokens = scenario.vocabulary or suite.vocabulary
    sampler = _sampler(scenario, rule, tokens, samplers)
    step = exact_single(rule, scenario.laws) if rule else None
    shows_trace = {"drafted", "n_accepted"} <= sampler.provides
    observables = single_position(
        scenario.laws,
        tokens,
        step,
        judged_observables(scenario, rule),
        shows_trace=shows_trace,
    )
    with_faults = _with_faults(observables, scenario.laws)
    return Prepared(
        scenario,
        sampler,
        step,
        tokens,
        tuple(Examiner.of(observable) for observable in with_faults),
        _empty_tally(scenario.laws.vocabulary, shows_trace=shows_trace),
        problems(scenario, tokens),
    )


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
        raise UnknownName(
            f"scenario {scenario.name!r}: nobody declared a sampler {named.name!r}"
            f"{did_you_mean(named.name, samplers)}; declare it in [tool.specharness.samplers] of "
            "pyproject.toml or with --sampler NAME=PACKAGE.MODULE:FUNCTION"
        )
    shape = scenario.laws, scenario.draft_length, scenario.horizon
    return samplers[named.name](Assignment(*shape, tokens, named.options))


def _empty_tally(vocabulary: int, *, shows_trace: bool) -> Tally:
    if not shows_trace:
        return OutputTally.empty(vocabulary)
    tally = TraceTally if vocabulary <= FULL_TRACE_UP_TO else FactoredTrace
    return tally.empty(vocabulary)


def _with_faults(observables: tuple[Observable, ...], laws: LawTables) -> tuple[Observable, ...]:
    """The output observable bets on the exact laws of all known faults."""
    if laws.vocabulary > FAULTS_UP_TO:
        return observables
    start = int(laws.contexts.starts[0])
    p, q = (law[start].astype(np.float64) for law in (laws.target, laws.q))
    known = _fault_laws(p.tobytes(), q.tobytes())
    return tuple(replace(o, faults=known) if o.name == "output" else o for o in observables)


@lru_cache(maxsize=64)
def _fault_laws(p: bytes, q: bytes) -> Mapping[str, Probs]:
    """Output laws of the known faults at one position, p and q as float64 bytes; without those
    that p and q cannot tell from p.
    """
    laws = one_context(np.frombuffer(p), np.frombuffer(q))
    faults = (name for name in RULES if RULES[name].discrete and not RULES[name].lossless)
    steps = {name: exact_single(RULES[name], laws) for name in faults}
    outputs = {name: step.output for name, step in steps.items() if step is not None}
    return {name: law for name, law in outputs.items() if (law != laws.target[0]).any()}
