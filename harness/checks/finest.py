"""Which law to certify, and how: decided by p, the number of draws and epsilon, never by counts.

A large alphabet may be certified whole by C1 or by C2, or after a coarse-graining. Trying them all
would cost a share of delta each; but what a correct sampler can be expected to prove is known
beforehand. So one certificate is chosen, and it alone spends delta: given the number of draws the
choice is fixed, and the bound fails with probability delta at most, whatever the sampler.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy.typing as npt

from harness.arrays import Probs, readonly
from harness.checks.certificate import (
    Certificate,
    certify,
    certify_coarse,
    hoeffding_radius,
    least_radius,
)
from harness.checks.coarse import Coarsening
from harness.checks.dual import certify_dual, promised_by_dual, promised_by_sets
from harness.checks.observed import checked_counts, checked_law

__all__ = ["Choice", "FinestCertificate"]

# How far T of a correct sampler exceeds its mean, times sqrt(n): three times its deviation of .3
# (two even tokens, or many). It chooses what to try; no bound rests on it.
SPREAD = 0.93


@dataclass(frozen=True, slots=True)
class Choice:
    """A coarse-graining, or None for the full alphabet, and whether C2 bounds it."""

    part: Coarsening | None = None
    dual: bool = False


@dataclass(frozen=True, slots=True)
class FinestCertificate:
    """Certificates of one law p, (V,), or of its coarse-grainings, listed finest first.

    `dual` allows C2, which takes seconds for large V.
    """

    law: Probs
    parts: tuple[Coarsening, ...] = ()
    dual: bool = True
    coarse: tuple[Probs, ...] = field(init=False)

    def __post_init__(self) -> None:
        gathered = tuple(readonly(part.gather(self.law)) for part in self.parts)
        object.__setattr__(self, "coarse", gathered)

    @classmethod
    def of(
        cls, law: npt.ArrayLike, parts: tuple[Coarsening, ...] = (), *, dual: bool = True
    ) -> Self:
        return cls(checked_law(law), parts, dual)

    def choose(self, n: int, delta: float, epsilon: float) -> Choice:
        """What to certify with n draws: the finest law that a correct sampler would prove within
        epsilon; the full alphabet by C1 where there is none, so that some bound can be told.
        """
        if not self.parts or n < 2:
            return Choice()
        if self._sets(self.law, n, delta, epsilon):
            return Choice()
        if self.dual and self._dual(n, delta, epsilon):
            return Choice(dual=True)
        pairs = zip(self.parts, self.coarse, strict=True)
        provable = (part for part, law in pairs if self._sets(law, n, delta, epsilon))
        return Choice(next(provable, None))

    def certify(self, counts: npt.ArrayLike, delta: float, epsilon: float) -> Certificate:
        """The chosen certificate for counts (V,), at the whole of delta."""
        observed = checked_counts(counts, self.law.size)
        choice = self.choose(int(observed.sum()), delta, epsilon)
        if choice.part is not None:
            return certify_coarse(observed, self.law, choice.part, delta)
        return (certify_dual if choice.dual else certify)(observed, self.law, delta)

    def hopeless(self, n: int, delta: float, epsilon: float) -> bool:
        """Whether no counts of n draws can be certified within epsilon: the radius is too large."""
        if self.parts and self.dual and hoeffding_radius(max(n, 1), delta) <= epsilon:
            return False
        laws = (self.law, *self.coarse)
        return all(least_radius(float(p.max()), n, delta, epsilon) > epsilon for p in laws)

    def _sets(self, law: Probs, n: int, delta: float, epsilon: float) -> bool:
        if least_radius(float(law.max()), n, delta, epsilon) > epsilon:
            return False
        return promised_by_sets(law, n, delta, SPREAD / math.sqrt(n)) <= epsilon

    def _dual(self, n: int, delta: float, epsilon: float) -> bool:
        if hoeffding_radius(n, delta) > epsilon:
            return False
        return promised_by_dual(self.law, n, delta, SPREAD / math.sqrt(n)) <= epsilon
