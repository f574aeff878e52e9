"""What a suite's trials can show, worked out before any of them is drawn.

A control is planned by its exact law through the e-process and at the level of a run; the classical
tests of the last look only add to that. Rules without an exact law are planned by the law that a
pilot of their own shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from harness.arrays import Counts, Floats, Probs
from harness.checks import Coarsening, spent_per_look
from harness.checks.dirichlet import log_dirichlet_ratio, log_mean_exp
from harness.checks.e_process import WEIGHTS, EProcess
from harness.checks.power import support_trials
from harness.engine.certify import CERTIFIED, Certifiable, certifiable
from harness.engine.draw import ChunkTask
from harness.engine.examine import SHARES, Examiner
from harness.engine.judge import family_size
from harness.engine.misses import Detector, missed, trials_to_catch
from harness.engine.observe import Kind
from harness.engine.plan import Chunk, looks_of
from harness.engine.prepare import Prepared
from harness.engine.rooms import Ready, made_ready
from harness.engine.sequence import Levels
from harness.errors import BadSetting
from harness.executors import InlineExecutor
from harness.protocols import SamplerFactory
from harness.rng import stream
from harness.samplers.rule import RuleSampler
from harness.scenario.model import Scenario, Suite

__all__ = [
    "ObservablePlan",
    "ScenarioPlan",
    "SuitePlan",
    "detectors",
    "plan_scenario",
    "plan_suite",
    "power_at",
]

POWER = 1.0 - 1e-6  # of catching a control
PILOT, LONG_PILOT = 1 << 18, 1 << 22  # trials, of rules only
SIMULATED_UP_TO = 2_000  # cells; above, coarse-grainings and proved bounds stand in
CELLS_DRAWN = 1_000_000  # of multinomials, for one probability of missing
PAIR_DRAWS = 110  # the evidence of pairs is a millisecond each
SPREAD = 5.0  # standard deviations of how often an observable comes about
POINTS = 14  # of a power curve

Pilot = tuple[int, Mapping[str, Counts]]  # trials, and counts by name


@dataclass(frozen=True, slots=True)
class ObservablePlan:
    """One judged observable. `tv`: of the rule's own law from the promised one, None where unknown.

    `catch`: trials until that is shown, infinite where it is not to be seen; `how` says by what.
    `certify`: trials until a correct sampler is within epsilon, on the law named by `of`, None for
    dependence. `detectable`: the smallest TV, in any direction, that the declared trials would
    miss once in a hundred times.
    """

    name: str
    cells: int
    reach: float
    tv: float | None
    catch: float | None
    how: str
    certify: Certifiable | None
    detectable: float


@dataclass(frozen=True, slots=True)
class ScenarioPlan:
    """`needed` trials until the expected verdict, by the observable `by`; None where unknown."""

    name: str
    expect: str
    control: bool
    trials: int
    epsilon: float
    needed: float | None
    by: str
    note: str
    observables: tuple[ObservablePlan, ...]
    curve: tuple[tuple[int, float], ...] = ()

    @property
    def suffices(self) -> bool | None:
        """Whether the declared trials are enough; None where nothing is known."""
        return None if self.needed is None else self.needed <= self.trials


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """All scenarios of a suite, the levels they are held to, and the power they are promised."""

    suite: str
    alpha: float
    delta: float
    family: int
    power: float
    certified: float
    scenarios: tuple[ScenarioPlan, ...]

    @property
    def suffices(self) -> bool:
        """Whether no scenario is known to have too few trials."""
        return all(scenario.suffices is not False for scenario in self.scenarios)


def plan_suite(
    suite: Suite,
    *,
    samplers: Mapping[str, SamplerFactory] | None = None,
    power: float = POWER,
    curves: bool = False,
) -> SuitePlan:
    """Trials that each scenario of a suite needs. Raises BadSetting for a power outside (0, 1)."""
    if not 0.0 < power < 1.0:
        raise BadSetting(f"a power of {power}: must lie between 0 and 1")
    ready = [made_ready(scenario, suite, samplers or {}) for scenario in suite.scenarios]
    levels = Levels(suite.alpha, suite.delta, family_size(ready))
    planned = partial(plan_scenario, levels=levels, power=power, curve=curves)
    with InlineExecutor() as pool:
        plans = tuple(pool.map(planned, ready))
    return SuitePlan(suite.name, suite.alpha, suite.delta, levels.family, power, CERTIFIED, plans)


def plan_scenario(
    ready: Ready, levels: Levels, *, power: float = POWER, curve: bool = False
) -> ScenarioPlan:
    """Trials that one scenario needs at the levels of its suite."""
    if isinstance(ready, Prepared):
        return _by_law(ready, levels, power, curve=curve)
    s = ready.scenario
    told = s.name, s.expect, s.control, s.trials, s.epsilon
    return ScenarioPlan(*told, None, "", "two samplers and no law: nothing to plan by", ())


def _by_law(prepared: Prepared, levels: Levels, power: float, *, curve: bool) -> ScenarioPlan:
    scenario = prepared.scenario
    pilot = _pilot(prepared)
    plans = tuple(
        _observable(prepared, examiner, pilot, levels, power) for examiner in prepared.judged
    )
    needed, by = _needed(plans, scenario)
    drawn = curve and scenario.expect == "differs" and needed is not None
    return ScenarioPlan(
        name=scenario.name,
        expect=scenario.expect,
        control=scenario.control,
        trials=scenario.trials,
        epsilon=scenario.epsilon,
        needed=needed,
        by=by,
        note=_note(prepared, plans, needed),
        observables=plans,
        curve=_curve(prepared, pilot, levels, by, needed) if drawn and needed else (),
    )


def _needed(plans: Sequence[ObservablePlan], scenario: Scenario) -> tuple[float | None, str]:
    """All must be certified; one that is caught is enough. What is biased beyond epsilon is never
    certified.
    """
    if scenario.expect == "differs":
        known = [(p.catch, p.name) for p in plans if p.catch is not None]
        return min(known, default=(None, ""))
    certified = [
        (math.inf if (p.tv or 0.0) > scenario.epsilon else p.certify.trials, p.name)
        for p in plans
        if p.certify is not None
    ]
    return max(certified, default=(None, ""))


def _note(prepared: Prepared, plans: Sequence[ObservablePlan], needed: float | None) -> str:
    scenario = prepared.scenario
    biased = [p for p in plans if p.tv is not None and p.tv > 1e-12]
    if needed is None:
        return "no exact law: nothing to plan by"
    if scenario.expect == "matches":
        wrong = max(biased, key=lambda p: p.tv or 0.0, default=None)
        coarse = [p.certify.of for p in plans if p.certify and p.certify.of != "full alphabet"]
        told = [f"expected to match, but {wrong.name} has TV {wrong.tv:.2g}"] if wrong else []
        return "; ".join(told + [f"certified on the {of}" for of in dict.fromkeys(coarse)])
    if math.isinf(needed):
        return "these observables cannot see it"
    if scenario.stop_early and all(p.tv is not None and p.tv < scenario.epsilon for p in plans):
        return "TV below epsilon: early stopping may certify it first"
    return ""


def _observable(
    prepared: Prepared,
    examiner: Examiner,
    pilot: Pilot,
    levels: Levels,
    power: float,
) -> ObservablePlan:
    observable, scenario = examiner.observable, prepared.scenario
    reach, law = _reach(examiner, pilot), _law(examiner, pilot, levels)
    looks = looks_of(scenario.trials, stop_early=scenario.stop_early)
    delta = spent_per_look(levels.delta, len(looks))
    catch, how = _catch(examiner, law, levels, 1.0 - power, scenario.name)
    certify = None
    if observable.kind is not Kind.PAIRS:
        certify = certifiable(examiner, scenario.epsilon, delta, int(reach * scenario.trials))
        certify = certify.spread(lambda n: _spread(n, reach))
    strict = levels.alpha * SHARES["chi-square"] / levels.family
    return ObservablePlan(
        name=observable.name,
        cells=len(observable.target),
        reach=reach,
        tv=None if law is None else _tv(law, observable.target),
        catch=None if catch is None else _spread(catch, reach),
        how=how,
        certify=certify,
        detectable=examiner.detectable(int(reach * scenario.trials), strict),
    )


def _tv(law: Probs, target: Probs) -> float:
    return float(0.5 * np.abs(law - target).sum())


def _pilot(prepared: Prepared) -> Pilot:
    """Trials and counts of a pilot run of a rule, longer where it is all that shows its law; none
    of samplers from outside, which may be dear.
    """
    if not isinstance(prepared.sampler, RuleSampler):
        return 0, {}
    unknown = any(examiner.observable.exact is None for examiner in prepared.judged)
    n = max(PILOT, min(prepared.scenario.trials, LONG_PILOT)) if unknown else PILOT
    task = ChunkTask(prepared.sampler, prepared.empty, 0, f"pilot of {prepared.scenario.name}")
    return n, task(Chunk(0, n)).counts()


def _reach(examiner: Examiner, pilot: Pilot) -> float:
    """Observations a trial: below one where not every trial comes to this position."""
    n, counts = pilot
    return float(examiner.observable.counts(counts).sum()) / n if n else 1.0


def _spread(n: float, reach: float) -> float:
    """Trials for n observations."""
    if reach == 1.0 or math.isinf(n):
        return n
    if reach == 0.0:
        return math.inf
    return math.ceil((n + SPREAD * math.sqrt(n * max(0.0, 1.0 - reach))) / reach)


def _law(examiner: Examiner, pilot: Pilot, levels: Levels) -> Probs | None:
    """The exact law; else that of the pilot where it shows a bias, and the promise where not."""
    observable = examiner.observable
    if observable.exact is not None:
        return np.asarray(observable.exact / observable.exact.sum())
    n, tallied = pilot
    if n == 0:
        return None
    counts = observable.counts(tallied)
    if examiner.log_e(counts) < levels.log_threshold:
        return observable.target
    return np.asarray(counts / counts.sum())


def _catch(
    examiner: Examiner, law: Probs | None, levels: Levels, beta: float, name: str
) -> tuple[float | None, str]:
    """Trials until `law` is shown to be another, and what shows it."""
    if law is None:
        return None, ""
    target = examiner.observable.target
    if np.abs(law - target).max() < 1e-15:
        return math.inf, "the promised law"
    by_zero = support_trials(target, law, beta)
    found = [(by_zero, "an impossible draw")]
    for what, detector, q in detectors(examiner, law, levels):
        address = f"{name}/{examiner.observable.name}/{what}"
        if by_zero > 1.0:
            found.append((trials_to_catch(detector, q, beta, address), what))
    return min(found)


def detectors(examiner: Examiner, law: Probs, levels: Levels) -> list[tuple[str, Detector, Probs]]:
    """Tests that a run is at least as strong as, each with the law that it meets.

    The e-process itself; on large alphabets each of its ratio bins alone, with its share.
    """
    observable, process = examiner.observable, examiner.e_process
    cells = len(observable.target)
    if cells <= SIMULATED_UP_TO:
        most = PAIR_DRAWS if observable.kind is Kind.PAIRS else CELLS_DRAWN // cells
        whole = Detector(
            observable.target, examiner.log_e_at, levels.log_threshold, min(1_100, most)
        )
        return [("e-process", whole, law)]
    share = math.log(WEIGHTS["multi_resolution"] / (len(process.heads) + len(process.bins)))
    return [
        (part.name, _coarse(process, part, levels.log_threshold - share), part.gather(law))
        for part in process.bins
    ]


def _coarse(process: EProcess, part: Coarsening, threshold: float) -> Detector:
    target = part.gather(process.promised)

    def log_e(counts: Counts) -> Floats:
        return log_mean_exp(log_dirichlet_ratio(counts, target, process.kappas))

    return Detector(target, log_e, threshold)


def power_at(
    examiner: Examiner, law: Probs, levels: Levels, n: int, rng: np.random.Generator
) -> float:
    """Probability that n observations from `law` are caught: the best of the tests above."""
    return max(
        1.0 - min(1.0, missed(detector, q, n, rng).probability)
        for _, detector, q in detectors(examiner, law, levels)
    )


def _curve(
    prepared: Prepared, pilot: Pilot, levels: Levels, by: str, needed: float
) -> tuple[tuple[int, float], ...]:
    """(trials, power) of the observable that catches first."""
    if math.isinf(needed):
        return ()
    (examiner,) = (e for e in prepared.judged if e.observable.name == by)
    reach, law = _reach(examiner, pilot), _law(examiner, pilot, levels)
    if law is None:
        return ()
    grid = np.unique(np.geomspace(max(1.0, needed / 30), 1.2 * needed, POINTS).astype(np.int64))
    rng = stream(0, "power curve", prepared.scenario.name)
    powers = [power_at(examiner, law, levels, max(1, int(n * reach)), rng) for n in grid]
    rising = np.maximum.accumulate(powers)
    return tuple((int(n), float(power)) for n, power in zip(grid, rising, strict=True))
