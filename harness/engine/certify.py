"""Trials until a correct sampler is certified, and of which law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from harness.arrays import Probs
from harness.checks import certify_trials
from harness.engine.examine import Examiner
from harness.rng import stream

__all__ = ["CERTIFIED", "Certifiable", "certifiable"]

CERTIFIED = 0.999  # probability that a correct sampler is certified
FULL = "full alphabet"


@dataclass(frozen=True, slots=True)
class Certifiable:
    """Trials until the law named `of` is certified, and until the full alphabet is (by C1)."""

    trials: float
    of: str
    full: float

    def spread(self, trials_for: Callable[[float], float]) -> Certifiable:
        """For an observable that not every trial comes to."""
        return replace(self, trials=trials_for(self.trials), full=trials_for(self.full))


def certifiable(examiner: Examiner, epsilon: float, delta: float, n: int) -> Certifiable:
    """The law that a run of n draws will try to certify, else what comes nearest to it."""
    target = examiner.observable.target
    full = _trials(target.tobytes(), epsilon, delta)
    if full <= n or not examiner.ladder:
        return Certifiable(full, FULL, full)
    choice = examiner.finest.choose(n, delta, epsilon)
    if choice.dual:
        return Certifiable(n, FULL, full)
    parts = examiner.ladder if choice.part is None else (choice.part,)
    coarse = (
        Certifiable(_trials(part.gather(target).tobytes(), epsilon, delta), part.name, full)
        for part in parts
    )
    return min(coarse, key=lambda found: found.trials)


@lru_cache(maxsize=256)
def _trials(law: bytes, epsilon: float, delta: float) -> float:
    """Cached: the scenarios of a suite share their laws."""
    p: Probs = np.frombuffer(law)
    rng = stream(0, "certify", len(p))
    return float(certify_trials(p, epsilon, delta, rng, power=CERTIFIED))
