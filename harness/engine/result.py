"""What a run found: frozen values, from which every file, table and picture is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harness.arrays import Counts, Probs
from harness.checks.result import CheckResult

__all__ = [
    "Acceptance",
    "Evidence",
    "ObservableResult",
    "ScenarioResult",
    "SuiteResult",
    "Verdict",
    "speaking",
]


class Verdict(StrEnum):
    """What may be said of a sampler; STATISTICS: not rejected is not the same as matches."""

    MATCHES = "matches"  # TV to the promised law is at most epsilon, proved at 1 - delta
    DIFFERS = "differs"  # evidence of bias within the suite's false-alarm budget
    INCONCLUSIVE = "inconclusive"  # the trials ran out first
    INVALID = "invalid"  # no law to speak of, or the sampler broke its contract


@dataclass(frozen=True, slots=True)
class Evidence:
    """One check of one observable. `share` is its part of the observable's level; `p_adjusted` is
    what is held against the suite's alpha: the p-value over its share, after Holm over the suite.
    """

    result: CheckResult
    share: float
    p_adjusted: float = 1.0


@dataclass(frozen=True, slots=True)
class ObservableResult:
    """One observable of one scenario: its laws, its counts, the evidence and the proof.

    `cells` label the cells (empty where there are more than 4,096); `target` is the promised law,
    `exact` the law of the rule itself where
    it is known, `counts` what was seen; all (cells,). `judged` says whether it counts towards the
    scenario's verdict. `tv` is the plug-in distance of counts to target, `tv_bound` its upper
    confidence bound at 1 - `delta`, of the law named by `bound_of` (coarse-grained for large V);
    `tv_detectable` the smallest bias that the trials drawn could have seen. `finding` is one clause
    for a title, such as "C is 15 % too frequent". Where a second sampler takes the law's place,
    `reference_counts` are its own, and `target` their shares.
    """

    observable: str
    judged: bool
    verdict: Verdict
    finding: str
    trials: int
    cells: tuple[str, ...]
    target: Probs
    exact: Probs | None
    counts: Counts
    tv: float
    tv_bound: float
    bound_of: str
    delta: float
    tv_detectable: float
    log_e: float
    evidence: tuple[Evidence, ...]
    reference_counts: Counts | None = None

    @property
    def p_adjusted(self) -> float:
        """The strongest evidence of bias, adjusted over the whole suite."""
        return min((e.p_adjusted for e in self.evidence), default=1.0)


def speaking(observables: Sequence[ObservableResult], verdict: Verdict) -> ObservableResult | None:
    """Of the observables that decided a verdict the one to show: where a sampler differs the
    simplest, where it matches the one that says most.
    """
    judged = [o for o in observables if o.judged]
    deciding = [o for o in judged if o.verdict is verdict] or judged or list(observables)
    order = ["output", "joint"] if verdict is Verdict.DIFFERS else ["joint", "output"]

    def rank(seen: ObservableResult) -> int:
        name = seen.observable.split(" [")[0]
        return order.index(name) if name in order else len(order)

    return min(deciding, key=rank, default=None)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Drafted tokens kept per drafted token verified: seen, and expected of the exact rule."""

    observed: float
    expected: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One scenario's verdict: the worst over what it observes. `scope` says which tokens were
    looked at, and whether the bonus token was among them. `growth` holds (trials, TV, bound,
    log E) at each look, for plots.
    """

    name: str
    sampler: str
    expect: str
    control: bool
    verdict: Verdict
    as_expected: bool
    reason: str
    trials: int
    epsilon: float
    observables: tuple[ObservableResult, ...]
    acceptance: Acceptance | None
    tokens: tuple[str, ...]
    p: Probs  # (V,) promised law of the first position
    q: Probs  # (V,) draft law of the first position
    growth: tuple[tuple[int, float, float, float], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    draft_length: int = 1
    horizon: int = 1
    scope: str = ""
    reference: str = ""  # the second sampler, where that took the law's place
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def headline(self) -> ObservableResult | None:
        """The observable that speaks for the scenario."""
        return speaking(self.observables, self.verdict)

    def observable(self, name: str) -> ObservableResult | None:
        """The result of one observable, of the first prompt where there are several; or None."""
        named = (o for o in self.observables if o.observable.split(" [")[0] == name)
        return next(named, None)


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A whole suite: its scenarios in order, and what is needed to judge or repeat the run."""

    suite: str
    description: str
    scenarios: tuple[ScenarioResult, ...]
    alpha: float
    delta: float
    seed: int
    exit_code: int
    started: str  # UTC, ISO 8601
    manifest: Mapping[str, Any] = field(default_factory=dict)
