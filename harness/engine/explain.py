"""Which known rule would have drawn what a finished run saw, and where the promise is broken.

The ranking is by likelihood under the rules' exact laws. Of two candidates that both fit, the
likelier comes first; a candidate that the counts refute is never offered as an explanation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Counts, Exact, Probs
from harness.checks import cells_check, chi_square_check
from harness.engine.candidates import Candidate, candidates, scenario_of
from harness.engine.lookalikes import lookalikes
from harness.engine.places import Place, held_against_a_law, places
from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult
from harness.rng import stream
from harness.rules import RULES

__all__ = ["Explanation", "Fit", "explain"]

LEVEL = 1e-6  # p-value at which a candidate is refuted by the counts
TRIED = 12  # candidates, likeliest first, that are held against the counts
SAME = 12  # decimals: laws that agree to these cannot be told apart


@dataclass(frozen=True, slots=True)
class Fit:
    """One known rule against the counts.

    `log_likelihoods` by observable, minus infinity where the rule cannot produce the counts.
    `p_value` of its own fit, None where it was not tried. `also` are rules whose laws cannot be
    told from its own here.
    """

    rule: str
    about: str
    lossless: bool
    log_likelihoods: Mapping[str, float]
    p_value: float | None
    also: tuple[str, ...]

    @property
    def refuted(self) -> bool | None:
        return None if self.p_value is None else self.p_value <= LEVEL


@dataclass(frozen=True, slots=True)
class Explanation:
    """Places that break the promise, and rules that might explain it: those that fit come first.

    `by` is the observable that ranks them, the one that refutes the promise most; `promise` holds
    the promised law's log likelihoods by observable; `not_ranked` are rules without an exact law,
    and `alike` those of them whose simulated draws look the same, where nothing else fits.
    """

    scenario: str
    verdict: str
    places: tuple[Place, ...]
    by: str
    trials: int
    promise: Mapping[str, float]
    promise_fits: bool
    fits: tuple[Fit, ...]
    not_ranked: tuple[str, ...]
    alike: tuple[str, ...] = ()

    @property
    def best(self) -> Fit | None:
        """The likeliest rule that the counts do not refute; None: none of the known ones."""
        return next((fit for fit in self.fits if fit.refuted is False), None)


@dataclass(frozen=True, slots=True)
class _Scored:
    candidate: Candidate
    likelihoods: Mapping[str, float]  # logarithms, by observable

    def rank(self, witness: str) -> tuple[float, float]:
        """By the observable that tells most; of equals there, by all together."""
        return self.likelihoods[witness], math.fsum(self.likelihoods.values())


def explain(result: SuiteResult, scenario: ScenarioResult) -> Explanation:
    """Where `scenario` of the run breaks its promise, and which known rule fits best."""
    seen = [o for o in scenario.observables if held_against_a_law(o)]
    known, unranked = candidates(result, scenario, seen)
    told = [o for o in seen if _explainable(o, known)]
    found = _explanation(scenario, told, known, unranked)
    if found.best is not None or found.promise_fits or not told:
        return found
    others = [name for name in unranked if name in RULES]
    asked = scenario_of(result, scenario)
    return replace(found, alike=lookalikes(others, asked, scenario, seen))


def _explanation(
    scenario: ScenarioResult,
    told: Sequence[ObservableResult],
    known: Sequence[Candidate],
    unranked: tuple[str, ...],
) -> Explanation:
    """From exact laws alone, of the observables that they tell of."""
    promise = {o.observable: o.target for o in told}
    witness = _witness(told)
    return Explanation(
        scenario=scenario.name,
        verdict=scenario.verdict.value,
        places=places(scenario),
        by=witness.observable if witness else "",
        trials=witness.trials if witness else 0,
        promise={o.observable: _log_likelihood(o.counts, o.target) for o in told},
        promise_fits=bool(told) and _p_value(promise, told) > LEVEL,
        fits=tuple(_ranked(known, told, witness)) if witness else (),
        not_ranked=unranked,
    )


def _explainable(seen: ObservableResult, known: Sequence[Candidate]) -> bool:
    return any(seen.observable in candidate.laws for candidate in known)


def _witness(told: Sequence[ObservableResult]) -> ObservableResult | None:
    """The observable on which the promise fares worst against the counts' own shares."""
    return max(told, key=lambda o: -_log_likelihood(o.counts, o.target, own=True), default=None)


def _ranked(
    known: Sequence[Candidate], told: Sequence[ObservableResult], witness: ObservableResult
) -> Iterator[Fit]:
    """Those that fit, then those that do not; the likelier first."""
    scored = [_Scored(c, _likelihoods(c, told)) for c in _told_apart(known)]
    scored.sort(key=lambda s: s.rank(witness.observable), reverse=True)
    fits = [_fit(s, told if place < TRIED else ()) for place, s in enumerate(scored)]
    yield from (fit for fit in fits if fit.refuted is False)
    yield from (fit for fit in fits if fit.refuted is not False)


def _likelihoods(candidate: Candidate, told: Sequence[ObservableResult]) -> dict[str, float]:
    """Of every observable; by the promised law where the rule has none."""
    laws = ((o, candidate.laws.get(o.observable, o.target)) for o in told)
    return {o.observable: _log_likelihood(o.counts, law) for o, law in laws}


def _fit(scored: _Scored, seen: Sequence[ObservableResult]) -> Fit:
    rule = scored.candidate
    own = {name: scored.likelihoods[name] for name in rule.laws}
    p_value = _p_value(rule.laws, seen) if seen else None
    return Fit(rule.name, rule.about, rule.lossless, own, p_value, rule.also)


def _log_likelihood(counts: Counts, law: Exact, *, own: bool = False) -> float:
    """Logarithm of the probability of the counts, less (with `own`) that by their own shares."""
    hit = counts > 0
    if (law[hit] <= 0.0).any():
        return -math.inf
    against = counts[hit] / counts.sum() if own else 1.0
    return float((counts[hit] * np.log(law[hit] / against)).sum())


def _p_value(laws: Mapping[str, Probs], seen: Sequence[ObservableResult]) -> float:
    """The smallest p-value over two checks and all observables, Bonferroni.

    Single cells first: where they refute, the rest is not worked out.
    """
    tested = [(o, laws[o.observable]) for o in seen if o.observable in laws]
    checks = 2 * len(tested)
    worst = min((_of_cells(o, law) for o, law in tested), default=1.0)
    if checks * worst > LEVEL:
        worst = min(worst, *(_of_the_whole(o, law) for o, law in tested))
    return min(1.0, checks * worst)


def _of_cells(seen: ObservableResult, law: Probs) -> float:
    """P-value of the worst cell; 0 where something impossible was seen."""
    if (law[seen.counts > 0] <= 0.0).any():
        return 0.0
    return cells_check(seen.counts, law / law.sum()).p_value


def _of_the_whole(seen: ObservableResult, law: Probs) -> float:
    """P-value of the goodness of fit; of two cells the worst one says it all."""
    if len(law) == 2:
        return 1.0
    rng = stream(0, "explain", seen.observable)
    return chi_square_check(seen.counts, law / law.sum(), rng).p_value


def _told_apart(known: Sequence[Candidate]) -> Iterator[Candidate]:
    """One candidate for all whose laws agree, with the names of the others."""
    groups: dict[tuple[tuple[str, bytes], ...], list[Candidate]] = {}
    for candidate in known:
        laws = candidate.laws.items()
        address = tuple((name, np.round(law, SAME).tobytes()) for name, law in laws)
        groups.setdefault(address, []).append(candidate)
    for first, *others in groups.values():
        yield replace(first, also=tuple(other.name for other in others))
