"""Counts of one observable to evidence and proof; the decision over the suite comes later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Counts, Floats
from harness.checks import (
    Certificate,
    CheckResult,
    Coarsening,
    EProcess,
    FinestCertificate,
    acceptance_check,
    cells_check,
    chi_square_check,
    coarse_grainings,
    dependence_log_e,
    e_to_p,
    ks_check,
    ratio_order,
    support_check,
)
from harness.checks.power import detectable_tv
from harness.engine.observe import Kind, Observable
from harness.engine.result import Evidence

__all__ = ["Examiner"]

COARSE_ABOVE = 1_000  # cells: a larger alphabet may be certified by a coarse-graining, and says so

FACTS_UP_TO = 4_096  # cells: larger observables that decide nothing go without classical tests
PAIR_CELLS = 64
MISSED = 0.01  # probability of missing what is called detectable

# Parts of an observable's level: STATISTICS, "Evidence of bias".
SHARES = {"e-process": 0.5, "chi-square": 0.2, "cells": 0.2, "ks": 0.1}
SHARES_OF_TWO = {"e-process": 0.5, "acceptance": 0.5}


@dataclass(frozen=True, slots=True)
class Examiner:
    """Everything about one observable that depends on the laws alone, worked out once."""

    observable: Observable
    e_process: EProcess
    finest: FinestCertificate

    @classmethod
    def of(cls, observable: Observable) -> Examiner:
        target, draft = observable.target, observable.draft
        parts = coarse_grainings(target, draft)
        coarse = parts if len(target) > COARSE_ABOVE else ()
        finest_first = sorted(
            (part for part in coarse if part.cells < len(target)), key=lambda part: -part.cells
        )
        return cls(
            observable,
            EProcess.of(target, draft, observable.faults, parts=parts),
            # C2 takes seconds for large vocabularies: facts do without
            FinestCertificate.of(target, tuple(finest_first), dual=observable.judged),
        )

    @property
    def ladder(self) -> tuple[Coarsening, ...]:
        """Coarse-grainings that may be certified in place of a large alphabet, finest first."""
        return self.finest.parts

    def log_e(self, counts: Counts) -> float:
        """Natural logarithm of the e-value: evidence of bias, valid at any look."""
        return float(self.log_e_at(counts[None])[0])

    def log_e_at(self, counts: Counts) -> Floats:
        """The same for counts (looks, cells): (looks,)."""
        if self.observable.kind is Kind.PAIRS:
            return np.array([pairs_log_e(look) for look in counts])
        return self.e_process.log_e(counts).total

    def certificate(self, counts: Counts, delta: float, epsilon: float) -> Certificate:
        """Bound of the finest law that so many draws of a correct sampler bring within epsilon.

        Which law that is depends on the promised law and the number of draws alone, so the one
        certificate may spend the whole of delta.
        """
        if self.observable.kind is Kind.PAIRS:
            return Certificate(0.0, 1.0, delta, "none", "nothing: independence is not proved")
        return self.finest.certify(counts, delta, epsilon)

    def certifies(self, counts: Counts, delta: float, epsilon: float) -> bool:
        """Whether the bound is within epsilon; told at once where no counts could bring it so."""
        if self.finest.hopeless(int(counts.sum()), delta, epsilon):
            return False
        return self.certificate(counts, delta, epsilon).bound <= epsilon

    def evidence(
        self, counts: Counts, log_e: float, rng: np.random.Generator, *, final: bool
    ) -> tuple[Evidence, ...]:
        """Checks with their shares. Classical tests decide only at the last declared look; before
        it they are reported with a share of nothing.
        """
        kind = self.observable.kind
        if kind is Kind.PAIRS:
            return (Evidence(self._e_value(log_e), SHARES["e-process"]),)
        results = [self._support(counts), self._e_value(log_e), *self._classical(counts, rng)]
        shares = SHARES_OF_TWO if kind is Kind.RATE else SHARES
        return tuple(Evidence(r, _share(r.check, shares, final=final)) for r in results)

    def detectable(self, n: int, alpha: float) -> float:
        """Smallest total variation, in any direction, that n trials miss once in 100 times."""
        return detectable_tv(n, int(np.count_nonzero(self.observable.target)), alpha, MISSED)

    def _support(self, counts: Counts) -> CheckResult:
        offending = np.flatnonzero((self.observable.target == 0.0) & (counts > 0))
        if not len(offending):
            return support_check(counts, self.observable.target)
        cell = int(offending[np.argmax(counts[offending])])
        told = f"{self.observable.label(cell)} was seen {counts[cell]:,} times"
        return support_check(counts, self.observable.target, first_offender=told)

    def _e_value(self, log_e: float) -> CheckResult:
        return CheckResult("e-process", log_e, float(e_to_p(log_e)), "valid at any look")

    def _classical(self, counts: Counts, rng: np.random.Generator) -> list[CheckResult]:
        target = self.observable.target
        fact = len(target) > FACTS_UP_TO and not self.observable.judged
        if fact or self.observable.derived:
            return []
        if self.observable.kind is Kind.RATE:
            return [acceptance_check(int(counts[0]), int(counts.sum()), float(target[0]))]
        order = ratio_order(target, self.observable.draft)
        return [
            chi_square_check(counts, target, rng),
            cells_check(counts, target),
            ks_check(counts, target, order),
        ]


def pairs_log_e(counts: Counts) -> float:
    """The average e-value over the tables of pairs, 64 cells each."""
    tables = counts.reshape(-1, PAIR_CELLS)
    return dependence_log_e({str(number): table for number, table in enumerate(tables)})[0]


def _share(check: str, shares: dict[str, float], *, final: bool) -> float:
    if check == "support":
        return 1.0  # its p-value is 0 or 1: it takes nothing from the others
    if check == "e-process":
        return shares[check]
    return shares["chi-square" if check in {"g-test", "pearson"} else check] if final else 0.0
