"""Trials to refute a fault and to certify a correct sampler, for the tests that decide."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from harness.arrays import Floats, Probs
from harness.checks.certificate import clopper_pearson_radius, hoeffding_radius, total_variation
from harness.checks.directed import Direction
from harness.checks.e_process import WEIGHTS, EProcess
from harness.checks.observed import checked_law
from harness.checks.power import MOST_TRIALS, support_trials

__all__ = [
    "certify_trials",
    "expected_tv",
    "guaranteed_trials",
    "smallest_dose",
    "stopping_times",
]

TILTS = np.linspace(0.02, 1.0, 50)  # exponents tried in the Chernoff bound
SIMULATED = 200_000
SIMULATED_CELLS = 2_000_000  # multinomial cells drawn for one plan: about .1 s
SIMULATED_ALPHABET = 1_000  # tokens up to which fluctuations are simulated rather than bounded


def expected_tv(p: npt.ArrayLike, n: int) -> float:
    """Mean total variation of n draws from p itself: de Moivre's mean absolute deviations."""
    law = checked_law(p)
    above = np.floor(n * law) + 1.0
    return float((above * (1.0 - law) * stats.binom.pmf(above, n, law)).sum() / n)


def chernoff_trials(bet: Direction, law: Probs, log_threshold: float, beta: float) -> float:
    """Trials after which some stake of a bet passes the threshold, but for probability beta.

    P(sum of gains < c) <= exp(s c) (E exp(-s gain))^n for every s > 0, under the true law.
    """
    possible = law > 0.0
    ruined = np.asarray((bet.ruin[:, possible] > 0).any(axis=1))
    best = math.inf
    for gains, lost in zip(bet.gains[:, possible], ruined, strict=True):
        if lost:
            continue
        decay = -np.log(np.exp(-np.outer(TILTS, gains)) @ law[possible])
        growing = decay > 0.0
        needed = (math.log(1.0 / beta) + TILTS * log_threshold)[growing] / decay[growing]
        best = min(best, float(needed.min(initial=math.inf)))
    return best


def guaranteed_trials(process: EProcess, law: npt.ArrayLike, alpha: float, beta: float) -> float:
    """Trials after which E >= 1/alpha has been reached under `law`, but for probability beta.

    Proved, for any vocabulary: by the bets of the process alone, whose other parts only add. Give
    the process the exact law of the fault among its `faults`. Infinite where no bet wins.
    """
    q = checked_law(law)
    by_support = support_trials(process.promised, q, beta)
    true = q[process.promised > 0.0]
    best = by_support
    for bet in process.bets:
        share = WEIGHTS["directed"] / (len(process.bets) * bet.gains.shape[0])
        threshold = math.log(1.0 / alpha) - math.log(share)
        best = min(best, chernoff_trials(bet, true, threshold, beta))
    return math.ceil(best) if best < MOST_TRIALS else math.inf


def smallest_dose(
    process: EProcess, fault: npt.ArrayLike, n: int, alpha: float, beta: float
) -> float:
    """Smallest share of a fault, mixed into the promised law, that n trials surely reveal.

    For the dose-response control; above one where even the pure fault may be missed.
    """
    p, q = process.promised, checked_law(fault)

    def log_surplus(log_dose: float) -> float:
        dose = math.exp(log_dose)
        trials = guaranteed_trials(process, (1.0 - dose) * p + dose * q, alpha, beta)
        return math.log(min(trials, MOST_TRIALS)) - math.log(n)

    if log_surplus(0.0) > 0.0:
        return math.inf
    if log_surplus(math.log(1e-6)) <= 0.0:
        return 1e-6
    return math.exp(optimize.brentq(log_surplus, math.log(1e-6), 0.0, xtol=1e-3) + 1e-3)


def stopping_times(
    process: EProcess,
    law: npt.ArrayLike,
    looks: Sequence[int],
    rng: np.random.Generator,
    *,
    alpha: float,
    runs: int,
) -> Floats:
    """Trials at the first look with E >= 1/alpha, in simulated runs of a sampler with `law`.

    (runs,), infinite where the last look did not suffice. The power at a look is the share of
    runs that stopped by then.
    """
    q = checked_law(law)
    counts = np.zeros((runs, q.size), dtype=np.int64)
    stopped = np.full(runs, np.inf)
    before = 0
    for look in looks:
        going = np.flatnonzero(np.isinf(stopped))
        if not going.size:
            break
        counts[going] += rng.multinomial(look - before, q, size=going.size)
        crossed = process.log_e(counts[going]).total >= math.log(1.0 / alpha)
        stopped[going[crossed]] = look
        before = look
    return stopped


def fluctuation(p: Probs, power: float, n: int, rng: np.random.Generator) -> float:
    """How far T exceeds its mean with probability 1 - power, times sqrt(n)."""
    bound = hoeffding_radius(n, 1.0 - power) * math.sqrt(n)
    if p.size > SIMULATED_ALPHABET:
        return bound
    draws = rng.multinomial(n, p, size=min(SIMULATED, SIMULATED_CELLS // p.size))
    excess = float(np.quantile(total_variation(draws, p), power)) - expected_tv(p, n)
    return min(bound, excess * math.sqrt(n))


def certify_trials(
    p: npt.ArrayLike,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    *,
    power: float = 0.999,
) -> int:
    """Trials after which C1 certifies epsilon for a sampler that is exact, with this power.

    The mean of T is exact; its fluctuation is simulated for up to 1,000 tokens and bounded by
    McDiarmid's inequality beyond.
    """
    law = checked_law(p)
    enough = int(16.0 / epsilon**2) + 1
    above = fluctuation(law, power, enough, rng)

    def bound(n: int) -> float:
        tv = max(0.0, expected_tv(law, n) + above / math.sqrt(n))
        return tv + clopper_pearson_radius(min(tv, 1.0), float(law.max()), n, delta)

    low, high = 1, enough
    while bound(high) > epsilon:
        low, high = high, 2 * high
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= epsilon else (middle, high)
    return high
