"""The sections of a selfcheck that run samplers, with the stopping rule and levels of a suite."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, stats

from harness.checks import poisson_ceiling
from harness.engine.exact import exact_single
from harness.engine.judge import Outcome, judge
from harness.engine.misses import Detector, Missed, missed
from harness.engine.power import plan_scenario
from harness.engine.prepare import Prepared, prepare
from harness.engine.repeated import Repeated, repeated
from harness.engine.result import Verdict
from harness.engine.seen import by_law
from harness.engine.sequence import Levels, draw_until_decided
from harness.executors import InlineExecutor
from harness.laws.tables import one_context
from harness.protocols import Rule
from harness.rng import stream
from harness.rules import RULES
from harness.rules.mixture import MixtureRule
from harness.samplers.rule import RuleSampler
from harness.scenario.model import Scenario, Suite

__all__ = ["BAND", "Depth", "Line", "P", "Q"]

P, Q = np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.25, 0.25])
BAND = 1e-7  # of seeds leave a band; with all bands of a selfcheck below 1e-5
LEVELS = Levels(alpha=1e-6, delta=1e-6, family=1)
SUITE = Suite("selfcheck", (), ("A", "B", "C"))
CONTROLS = (
    ("resample-from-target", "output"),
    ("resample-from-target", "trace"),
    ("resample-from-draft", "output"),
    ("greedy-residual", "output"),
    ("inverted-ratio", "output"),
    ("ignore-draft", "trace"),
)
DOSED = 200_000  # trials of the dose-response control


@dataclass(frozen=True, slots=True)
class Depth:
    """How much of everything: draws of the enumeration, runs of every section."""

    name: str
    enumerated: int
    multinomials: int
    null_alpha: float
    sequences: int
    verdicts: int
    powers: int
    controls: int
    certified: int
    covered: int


@dataclass(frozen=True, slots=True)
class Line:
    """One claim: what is expected, what was seen, and whether that is within its band."""

    topic: str
    claim: str
    expected: str
    seen: str
    passed: bool
    seconds: float = 0.0


def _prepared(
    rule: str,
    *observe: str,
    trials: int,
    epsilon: float = 0.01,
    stop_early: bool = False,
) -> Prepared:
    scenario = Scenario(
        f"{rule} by {' '.join(observe)}",
        one_context(P, Q),
        rule,
        trials=trials,
        epsilon=epsilon,
        stop_early=stop_early,
        expect="matches" if rule == "speculative" else "differs",
        observe=observe,
    )
    return prepare(scenario, SUITE, {})


def _trials(prepared: Prepared, trials: float) -> Prepared:
    return replace(prepared, scenario=replace(prepared.scenario, trials=int(trials)))


def _runs(prepared: Prepared, levels: Levels, seed: int, n: int) -> Repeated:
    """As many runs, each with a seed of its own."""
    first = int(stream(seed, "selfcheck", prepared.scenario.name).integers(2**40))
    return repeated(prepared, range(first, first + n), levels)


def false_alarms(depth: Depth, seed: int) -> Iterator[Line]:
    """The exact rule under sequential looks: trials, tallies and evidence as in a run."""
    alpha, n = 0.05, depth.sequences
    observe = ("output", "trace", "acceptance")
    prepared = _prepared("speculative", *observe, trials=10_000, epsilon=1e-4, stop_early=True)
    levels = Levels(alpha, 1e-6, len(prepared.judged))
    seen = int(_runs(prepared, levels, seed, n).differs.sum())
    most = poisson_ceiling(alpha * n, BAND)
    claim = f"exact rule called `differs` at any look, {n:,} runs at {alpha:g}"
    yield Line("false alarms", claim, f"at most {most}", str(seen), seen <= most)


def wrong_verdicts(depth: Depth, seed: int) -> Iterator[Line]:
    """Verdicts on the exact rule, classical tests and correction over the suite included."""
    alpha, n = 0.05, depth.verdicts
    suite = replace(SUITE, alpha=alpha)
    prepared = _prepared("speculative", "output", "trace", "acceptance", trials=3_000)
    levels = Levels(alpha, 1e-6, len(prepared.judged))
    first = int(stream(seed, "selfcheck", "verdicts").integers(2**40))
    wrong = 0
    for number in range(first, first + n):
        pool = InlineExecutor()
        suite = replace(suite, seed=number)
        drawn = draw_until_decided(prepared, number, levels, pool, 1, lambda _: None)
        (found,) = judge([Outcome(prepared, by_law(prepared, drawn, suite))], suite)
        wrong += found.verdict is Verdict.DIFFERS
    most = poisson_ceiling(alpha * n, BAND)
    claim = f"exact rule's verdict `differs`, {n:,} whole runs at {alpha:g}"
    yield Line("false alarms", claim, f"at most {most}", str(wrong), wrong <= most)


def planned_controls(depth: Depth, seed: int) -> Iterator[Line]:
    """Every control at the trials that `plan` gives it: all must be caught."""
    for rule, observable in CONTROLS:
        prepared = _prepared(rule, observable, trials=1_000_000)
        needed = plan_scenario(prepared, LEVELS).needed or math.inf
        caught = int(_runs(_trials(prepared, needed), LEVELS, seed, depth.controls).differs.sum())
        claim = f"{rule} by its {observable}, caught in {needed:,.0f} planned trials"
        expected = f"{depth.controls} of {depth.controls}"
        yield Line("power", claim, expected, str(caught), caught == depth.controls)


def planned_power(depth: Depth, seed: int) -> Iterator[Line]:
    """Runs planned for a power of .9: neither fewer nor many more are caught."""
    n, power = depth.powers, 0.9
    for rule in ("resample-from-target", "greedy-residual"):
        prepared = _prepared(rule, "output", trials=1_000_000)
        needed = plan_scenario(prepared, LEVELS, power=power).needed or math.inf
        caught = int(_runs(_trials(prepared, needed), LEVELS, seed, n).differs.sum())
        # a plan adds three standard errors and a per cent: it may catch up to .94
        low, high = _band(n, power, 0.94)
        claim = f"{rule}, caught in {needed:,.0f} trials planned for a power of {power:g}, {n} runs"
        yield Line("power", claim, f"{low} to {high}", str(caught), low <= caught <= high)


def _band(n: int, least: float, most: float) -> tuple[int, int]:
    """Numbers of successes, of n, that a probability between two may give."""
    return int(stats.binom.ppf(BAND, n, least)), int(stats.binom.isf(BAND, n, most))


def planned_certificates(depth: Depth, seed: int) -> Iterator[Line]:
    """The exact rule at the trials that `plan` gives it for epsilon .01."""
    prepared = _prepared("speculative", "output", trials=1_000_000)
    needed = plan_scenario(prepared, LEVELS).needed or math.inf
    found = _runs(_trials(prepared, needed), LEVELS, seed, depth.certified)
    matched, (low, _) = int(found.matches.sum()), _band(depth.certified, 0.999, 0.999)
    claim = f"exact rule certified within .01 in {needed:,.0f} planned trials"
    expected = f"at least {low} of {depth.certified}"
    yield Line("certificate", claim, expected, str(matched), matched >= low)


def doses(depth: Depth, seed: int) -> Iterator[Line]:
    """A fault in doses, mixed into the exact rule: 1.2 times the smallest detectable is caught."""
    fault, exact = (RULES[name].prepare for name in ("resample-from-target", "speculative"))
    base = _prepared("speculative", "output", trials=DOSED)
    smallest = _smallest_dose(base)
    for share in (1.2, 0.5):
        rule = Rule(MixtureRule(fault, exact, share * smallest), "a dose")
        sampler = RuleSampler(rule.prepare, base.scenario.laws)
        caught = int(
            _runs(replace(base, sampler=sampler), LEVELS, seed, depth.controls).differs.sum()
        )
        power = 1.0 - _missed(base, share * smallest).probability
        if share > 1.0:
            low, high = depth.controls, depth.controls
        else:
            low, high = 0, int(stats.binom.isf(BAND, depth.controls, min(0.99, power + 0.02)))
        claim = (
            f"{share:g} times the smallest detectable bias (TV {0.015 * smallest:.2g} in "
            f"{DOSED:,} trials), caught of {depth.controls}"
        )
        yield Line("dose", claim, f"{low} to {high}", str(caught), low <= caught <= high)


def _smallest_dose(base: Prepared) -> float:
    """The share of the fault that the trials miss with probability 1e-6."""

    def surplus(dose: float) -> float:
        return math.log(max(_missed(base, dose).at_most, 1e-300) / 1e-6)

    return float(optimize.brentq(surplus, 0.1, 0.9, xtol=1e-3))


def _missed(base: Prepared, dose: float) -> Missed:
    """Law p + dose (m - p) of the output, m that of the fault."""
    (examiner,) = base.judged
    step = exact_single(RULES["resample-from-target"], base.scenario.laws)
    fault = P if step is None else step.output
    detector = Detector(P, examiner.log_e_at, LEVELS.log_threshold)
    rng = stream(0, "selfcheck", "dose")
    return missed(detector, P + dose * (fault - P), base.scenario.trials, rng)


def dependence(depth: Depth, seed: int) -> Iterator[Line]:
    """A stream replayed two and two has every law right; only neighbours show it."""
    n = max(5, depth.controls // 8)
    for rule, wanted in (("frozen-stream", n), ("speculative", 0)):
        prepared = _prepared(rule, "dependence", trials=20_000)
        caught = int(_runs(prepared, LEVELS, seed, n).differs.sum())
        claim = f"{rule}: dependence seen in 20,000 trials, of {n} runs"
        yield Line("dependence", claim, str(wanted), str(caught), caught == wanted)
