"""How often so many trials miss a law: the e-process itself, on draws tilted towards missing.

A miss of probability 1e-6 would need 1e8 plain draws. Draws from laws q^(1-s) p^s between the true
law q and the promised one p miss often; each is weighed by its probability under q over that under
the mixture of all these laws (Veach and Guibas 1995, the balance heuristic), which leaves the
estimate unbiased. No chi-square approximation takes part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from harness.arrays import Bits, Counts, Floats, Probs
from harness.rng import stream

__all__ = ["Detector", "Missed", "missed", "trials_to_catch"]

Evidence = Callable[[Counts], Floats]  # counts (draws, cells) -> ln E (draws,)

TILTS = np.linspace(0.0, 1.0, 11)  # s: a standard deviation or so apart at a miss of 1e-6
TOLERANCE = 0.01  # relative, of planned trials
TINY = 1e-300
SURE = 3.0  # standard errors that a plan adds to its estimate
MOST = 10**12  # trials: beyond this a plan says never
SAME = 1e-14  # relative entropy of laws that no run can tell apart


@dataclass(frozen=True, slots=True)
class Missed:
    """Probability that a run misses, estimated, and its standard error."""

    probability: float
    error: float

    @property
    def at_most(self) -> float:
        """Three standard errors above the estimate."""
        return self.probability + SURE * self.error


@dataclass(frozen=True, slots=True)
class Detector:
    """A test of the law `p` (cells,) that rejects where ln E of the counts reaches `threshold`."""

    p: Probs
    log_e: Evidence
    threshold: float
    draws: int = 1_100


def missed(detector: Detector, q: Probs, n: int, rng: np.random.Generator) -> Missed:
    """Probability that n draws from q stay below the threshold; an impossible draw never does."""
    both = (detector.p > 0.0) & (q > 0.0)
    inside = float(q[both].sum())
    if not both.any():
        return Missed(0.0, 0.0)
    laws = _between(detector.p, q, both)
    each = max(2, detector.draws // len(laws))
    counts = np.concatenate([rng.multinomial(n, law, size=each) for law in laws])
    logs = np.log(np.where(both, laws, 1.0))
    against = counts @ (logs - logs[0]).T
    weights = np.exp(math.log(len(laws)) - special.logsumexp(against, axis=1))
    values = weights * (detector.log_e(counts) < detector.threshold) * _power(inside, n)
    return Missed(float(values.mean()), float(values.std() / math.sqrt(len(values))))


def _between(p: Probs, q: Probs, both: Bits) -> Floats:
    """Laws (tilts, cells) from q, given that p allows the draw, to p, given that q does."""
    log_p, log_q = (np.log(np.where(both, law, 1.0)) for law in (p, q))
    logs = np.where(both, np.outer(1.0 - TILTS, log_q) + np.outer(TILTS, log_p), -np.inf)
    return np.asarray(special.softmax(logs, axis=1))


def _power(inside: float, n: int) -> float:
    """(mass inside)^n."""
    return math.exp(n * math.log(min(1.0, inside)))


def trials_to_catch(detector: Detector, q: Probs, beta: float, address: str) -> float:
    """Fewest draws from q, within one per cent, that miss with probability at most beta.

    Infinite where q is p, or where more than 1e12 would be needed.
    """
    divergence = float(special.rel_entr(q, detector.p).sum())
    if divergence < SAME:
        return math.inf

    def surplus(n: int) -> float:
        found = missed(detector, q, n, stream(0, "plan", address, n)).at_most
        return math.log(max(found, TINY) / beta)

    low, high = (
        0,
        8 if math.isinf(divergence) else max(8, math.ceil(detector.threshold / divergence)),
    )
    below, above = math.log(1.0 / beta), surplus(high)
    while above > 0.0:
        low, below = high, above
        high = math.ceil(high * min(2.0, 1.1 - above / math.log(beta)))
        if high > MOST:
            return math.inf
        above = surplus(high)
    while high - low > max(1, int(TOLERANCE * high)):
        middle = _between_two(low, high, below / (below - above))
        here = surplus(middle)
        if here > 0.0:
            low, below = middle, here
        else:
            high, above = middle, here
    return float(high)


def _between_two(low: int, high: int, share: float) -> int:
    """Where the logarithm of a miss, about linear in the trials, should cross; kept inside."""
    inside = min(max(share + 0.02, 0.1), 0.9)
    return min(max(low + int(inside * (high - low)), low + 1), high - 1)
