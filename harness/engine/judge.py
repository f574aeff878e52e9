"""Tallies to results: evidence of every scenario first, then verdicts over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Counts
from harness.checks import Certificate, certify, clopper_pearson
from harness.engine.decide import adjusted, decide, family_adjusted, worst
from harness.engine.examine import Examiner
from harness.engine.finding import finding, scope
from harness.engine.observe import Kind
from harness.engine.prepare import Prepared
from harness.engine.result import (
    Acceptance,
    Evidence,
    ObservableResult,
    ScenarioResult,
    Verdict,
)
from harness.engine.sequence import Drawn
from harness.rng import stream
from harness.scenario.model import Scenario, Suite

__all__ = ["Outcome", "family_size", "judge"]

LABELLED_UP_TO = 4_096  # cells: beyond it a label is worked out when it is needed


@dataclass(frozen=True, slots=True)
class Outcome:
    """A scenario after its trials: what was drawn, or why nothing can be said (`failure`)."""

    prepared: Prepared
    drawn: Drawn | None
    failure: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """One observable with its evidence, before it is known what the rest of the suite shows."""

    examiner: Examiner
    counts: Counts
    certificate: Certificate
    log_e: float
    evidence: tuple[Evidence, ...]

    @property
    def p_value(self) -> float:
        return adjusted(self.evidence)


def family_size(prepared: Sequence[Prepared]) -> int:
    """Judged observables of all scenarios that are not controls; at least one."""
    return max(1, sum(len(p.judged) for p in prepared if not p.scenario.control))


def judge(outcomes: Sequence[Outcome], suite: Suite) -> tuple[ScenarioResult, ...]:
    """Verdicts at the suite's alpha, Holm over the family; controls at its strictest level."""
    seen = [tuple(_seen(outcome, suite)) for outcome in outcomes]
    judged = [
        (o.prepared.scenario, s)
        for o, all_ in zip(outcomes, seen, strict=True)
        for s in all_
        if s.examiner.observable.judged
    ]
    after = family_adjusted(
        [s.p_value for _, s in judged], [not scenario.control for scenario, _ in judged]
    )
    p_of = {id(s): p for (_, s), p in zip(judged, after, strict=True)}
    return tuple(
        _scenario(outcome, [_observable(s, p_of, outcome, suite) for s in all_], suite)
        for outcome, all_ in zip(outcomes, seen, strict=True)
    )


def _seen(outcome: Outcome, suite: Suite) -> Iterator[Seen]:
    if outcome.drawn is None:
        return
    scenario, drawn = outcome.prepared.scenario, outcome.drawn
    tallied = drawn.tally.counts()
    for examiner in outcome.prepared.examiners:
        counts = examiner.observable.counts(tallied)
        log_e = examiner.log_e(counts)
        rng = stream(suite.seed, "checks", scenario.name, examiner.observable.name)
        yield Seen(
            examiner,
            counts,
            examiner.certificate(counts, drawn.delta, scenario.epsilon),
            log_e,
            examiner.evidence(counts, log_e, rng, final=drawn.final),
        )


def _observable(
    seen: Seen, p_of: dict[int, float], outcome: Outcome, suite: Suite
) -> ObservableResult:
    observable, epsilon = seen.examiner.observable, outcome.prepared.scenario.epsilon
    factor = p_of.get(id(seen), seen.p_value) / seen.p_value if seen.p_value > 0 else 1.0
    p_adjusted = p_of.get(id(seen), seen.p_value)
    bound = 0.0 if observable.kind is Kind.PAIRS else seen.certificate.bound
    verdict = decide(p_adjusted, suite.alpha, bound, epsilon)
    cells = len(observable.target)
    return ObservableResult(
        observable=observable.name,
        judged=observable.judged,
        verdict=verdict,
        finding=finding(verdict, observable, seen.counts, seen.certificate, epsilon),
        trials=int(seen.counts.sum()),
        cells=tuple(map(observable.label, range(cells))) if cells <= LABELLED_UP_TO else (),
        target=observable.target,
        exact=observable.exact,
        counts=seen.counts,
        tv=seen.certificate.tv,
        tv_bound=seen.certificate.bound,
        bound_of=seen.certificate.law,
        delta=seen.certificate.delta,
        tv_detectable=seen.examiner.detectable(int(seen.counts.sum()), suite.alpha),
        log_e=seen.log_e,
        evidence=tuple(_adjusted(e, factor) for e in seen.evidence),
    )


def _adjusted(evidence: Evidence, factor: float) -> Evidence:
    """A check's own adjusted p-value; checks without a share decide nothing."""
    if evidence.share == 0.0:
        return evidence
    return replace(evidence, p_adjusted=min(1.0, evidence.result.p_value / evidence.share * factor))


def _scenario(
    outcome: Outcome, observables: list[ObservableResult], suite: Suite
) -> ScenarioResult:
    prepared, scenario = outcome.prepared, outcome.prepared.scenario
    verdict, reason = _verdict(outcome, observables)
    start = int(scenario.laws.contexts.starts[0])
    return ScenarioResult(
        name=scenario.name,
        sampler=scenario.rule or (scenario.sampler.name if scenario.sampler else ""),
        expect=scenario.expect,
        control=scenario.control,
        verdict=verdict,
        as_expected=verdict.value == scenario.expect,
        reason=reason,
        trials=outcome.drawn.trials if outcome.drawn else 0,
        epsilon=scenario.epsilon,
        observables=tuple(observables),
        acceptance=_acceptance(observables, suite.delta),
        tokens=prepared.tokens,
        p=scenario.laws.target[start].astype(np.float64),
        q=scenario.laws.q[start].astype(np.float64),
        growth=_growth(outcome),
        facts=_facts(scenario),
        settings=scenario.settings,
        draft_length=scenario.draft_length,
        horizon=scenario.horizon,
        scope=scope(scenario.draft_length, scenario.horizon),
        wall_seconds=outcome.wall_seconds,
        cpu_seconds=outcome.cpu_seconds,
    )


def _verdict(outcome: Outcome, observables: list[ObservableResult]) -> tuple[Verdict, str]:
    if outcome.failure:
        return Verdict.INVALID, outcome.failure
    if outcome.prepared.problems:
        return Verdict.INVALID, "stated facts are wrong: " + "; ".join(outcome.prepared.problems)
    judged = [o for o in observables if o.judged]
    verdict = worst(o.verdict for o in judged)
    deciding = next((o for o in judged if o.verdict is verdict), None)
    if deciding is None:
        return Verdict.INVALID, "nothing that this sampler shows is judged; see `observe:`"
    return verdict, f"{deciding.observable}: {deciding.finding}"


def _acceptance(observables: list[ObservableResult], delta: float) -> Acceptance | None:
    found = next((o for o in observables if o.observable.startswith("acceptance")), None)
    if found is None or found.trials == 0:
        return None
    kept = int(found.counts[0])
    expected = None if found.exact is None else float(found.exact[0])
    low, high = clopper_pearson(kept, found.trials, delta)
    return Acceptance(kept / found.trials, expected, low, high)


def _growth(outcome: Outcome) -> tuple[tuple[int, float, float, float], ...]:
    """(trials, TV, bound, ln E) of the first observable at each mark."""
    examiner, drawn = outcome.prepared.examiners[0], outcome.drawn
    if drawn is None:
        return ()
    counts = np.stack([examiner.observable.counts(tally.counts()) for _, tally in drawn.marks])
    log_e = examiner.log_e_at(counts)
    bounds = [certify(c, examiner.observable.target, drawn.delta) for c in counts]
    return tuple(
        (trials, bound.tv, bound.bound, float(e))
        for (trials, _), bound, e in zip(drawn.marks, bounds, log_e, strict=True)
    )


def _facts(scenario: Scenario) -> dict[str, object]:
    stated = {name: getattr(scenario.facts, name) for name in scenario.facts.__slots__}
    return {name: value for name, value in stated.items() if value is not None}
