"""Tallies to results: evidence of every scenario first, then verdicts over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Exact, Probs
from harness.checks import clopper_pearson
from harness.engine.decide import decide, family_adjusted, worst
from harness.engine.result import (
    Acceptance,
    Evidence,
    ObservableResult,
    ScenarioResult,
    Verdict,
    speaking,
)
from harness.engine.rooms import Ready
from harness.engine.seen import Examined, Seen
from harness.scenario.model import Scenario, Suite

__all__ = ["Outcome", "family_size", "judge"]

LABELLED_UP_TO = 4_096  # cells: beyond it a label is worked out when it is needed


@dataclass(frozen=True, slots=True)
class Outcome:
    """A scenario after its trials: what they show, or why nothing can be said (`failure`)."""

    ready: Ready
    examined: Examined | None
    failure: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def seen(self) -> tuple[Seen, ...]:
        return () if self.examined is None else self.examined.seen


def family_size(ready: Sequence[Ready]) -> int:
    """Judged observables of all scenarios that are not controls; at least one."""
    return max(1, sum(len(r.judged) for r in ready if not r.scenario.control))


def judge(outcomes: Sequence[Outcome], suite: Suite) -> tuple[ScenarioResult, ...]:
    """Verdicts at the suite's alpha, Holm over the family; controls at its strictest level."""
    judged = [(o.ready.scenario, s) for o in outcomes for s in o.seen if s.observable.judged]
    after = family_adjusted(
        [s.p_value for _, s in judged], [not scenario.control for scenario, _ in judged]
    )
    in_turn = iter(after)
    return tuple(
        _scenario(
            outcome,
            [
                _observable(s, next(in_turn) if s.observable.judged else s.p_value, outcome, suite)
                for s in outcome.seen
            ],
            suite,
        )
        for outcome in outcomes
    )


def _observable(seen: Seen, p_adjusted: float, outcome: Outcome, suite: Suite) -> ObservableResult:
    observable, epsilon = seen.observable, outcome.ready.scenario.epsilon
    factor = p_adjusted / seen.p_value if seen.p_value > 0 else 1.0
    verdict = decide(p_adjusted, suite.alpha, seen.proved, epsilon)
    cells = len(observable.target)
    return ObservableResult(
        observable=observable.name,
        judged=observable.judged,
        verdict=verdict,
        finding=seen.tell(verdict),
        trials=int(seen.counts.sum()),
        cells=tuple(map(observable.label, range(cells))) if cells <= LABELLED_UP_TO else (),
        target=observable.target,
        exact=observable.exact,
        counts=seen.counts,
        tv=seen.certificate.tv,
        tv_bound=seen.certificate.bound,
        bound_of=seen.certificate.law,
        delta=seen.certificate.delta,
        tv_detectable=seen.detectable,
        log_e=seen.log_e,
        evidence=tuple(_adjusted(e, factor) for e in seen.evidence),
        reference_counts=seen.reference_counts,
    )


def _adjusted(evidence: Evidence, factor: float) -> Evidence:
    """A check's own adjusted p-value; checks without a share decide nothing."""
    if evidence.share == 0.0:
        return evidence
    return replace(evidence, p_adjusted=min(1.0, evidence.result.p_value / evidence.share * factor))


def _scenario(
    outcome: Outcome, observables: list[ObservableResult], suite: Suite
) -> ScenarioResult:
    ready, scenario = outcome.ready, outcome.ready.scenario
    verdict, reason = _verdict(outcome, observables)
    return ScenarioResult(
        name=scenario.name,
        sampler=_name(scenario),
        reference=scenario.reference.name if scenario.reference else "",
        expect=scenario.expect,
        control=scenario.control,
        verdict=verdict,
        as_expected=verdict.value == scenario.expect,
        reason=reason,
        trials=outcome.examined.trials if outcome.examined else 0,
        epsilon=scenario.epsilon,
        observables=tuple(observables),
        acceptance=_acceptance(observables, suite.delta),
        tokens=ready.tokens,
        p=_row(scenario, scenario.laws.target),
        q=_row(scenario, scenario.laws.q),
        growth=outcome.examined.growth if outcome.examined else (),
        facts=_facts(scenario),
        settings=scenario.settings,
        draft_length=scenario.draft_length,
        horizon=scenario.horizon,
        scope=ready.scope,
        wall_seconds=outcome.wall_seconds,
        cpu_seconds=outcome.cpu_seconds,
    )


def _verdict(outcome: Outcome, observables: list[ObservableResult]) -> tuple[Verdict, str]:
    if outcome.failure:
        return Verdict.INVALID, outcome.failure
    if outcome.ready.problems:
        return Verdict.INVALID, "stated facts are wrong: " + "; ".join(outcome.ready.problems)
    judged = [o for o in observables if o.judged]
    if not judged:
        return Verdict.INVALID, "nothing that this sampler shows is judged; see `observe:`"
    verdict = worst(o.verdict for o in judged)
    deciding = speaking(judged, verdict)
    return verdict, f"{deciding.observable}: {deciding.finding}" if deciding else ""


def _acceptance(observables: list[ObservableResult], delta: float) -> Acceptance | None:
    """First drafted tokens kept, over all prompts; expected of the rule itself."""
    found = [o for o in observables if o.observable.split(" [")[0] == "acceptance" and o.trials]
    if not found:
        return None
    kept, trials = sum(int(o.counts[0]) for o in found), sum(o.trials for o in found)
    means = [o.trials * float(o.exact[0]) for o in found if o.exact is not None]
    expected = sum(means) / trials if len(means) == len(found) else None
    low, high = clopper_pearson(kept, trials, delta)
    return Acceptance(kept / trials, expected, low, high)


def _name(scenario: Scenario) -> str:
    return scenario.rule or (scenario.sampler.name if scenario.sampler else "")


def _row(scenario: Scenario, laws: Exact) -> Probs:
    """The law (V,) of the first position; not numbers where the scenario promises none."""
    row = laws[int(scenario.laws.contexts.starts[0])].astype(np.float64)
    return row if scenario.promised else np.full_like(row, np.nan)


def _facts(scenario: Scenario) -> dict[str, object]:
    stated = {name: getattr(scenario.facts, name) for name in scenario.facts.__slots__}
    return {name: value for name, value in stated.items() if value is not None}
