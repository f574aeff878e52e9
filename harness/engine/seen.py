"""What one scenario's trials show, observable by observable, before the suite is decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from harness.arrays import Counts
from harness.checks import Certificate, certify
from harness.engine.decide import adjusted
from harness.engine.examine import SHARES, Examiner
from harness.engine.finding import finding
from harness.engine.impossible import Offender
from harness.engine.observe import Kind, Observable
from harness.engine.offender import first_offender
from harness.engine.prepare import Prepared
from harness.engine.result import Evidence, Verdict
from harness.engine.sequence import Drawn
from harness.rng import stream
from harness.scenario.model import Suite

__all__ = ["Examined", "Growth", "Seen", "by_law"]

Growth = tuple[tuple[int, float, float, float], ...]  # (trials, TV, bound, ln E) at each mark


@dataclass(frozen=True, slots=True)
class Seen:
    """One observable with its evidence, before it is known what the rest of the suite shows.

    `proved` is the bound that a match needs within epsilon, `tell` the finding that goes with a
    verdict. `reference_counts` are those of a second sampler, where that took the law's place.
    """

    observable: Observable
    counts: Counts
    certificate: Certificate
    proved: float
    log_e: float
    evidence: tuple[Evidence, ...]
    detectable: float
    tell: Callable[[Verdict], str]
    reference_counts: Counts | None = None

    @property
    def p_value(self) -> float:
        return adjusted(self.evidence)


@dataclass(frozen=True, slots=True)
class Examined:
    """A scenario after its trials."""

    trials: int
    seen: tuple[Seen, ...]
    growth: Growth


def by_law(prepared: Prepared, drawn: Drawn, suite: Suite) -> Examined:
    """The trials held against the scenario's laws."""
    return Examined(drawn.trials, tuple(_seen(prepared, drawn, suite)), _growth(prepared, drawn))


def _seen(prepared: Prepared, drawn: Drawn, suite: Suite) -> Iterator[Seen]:
    scenario, tallied = prepared.scenario, drawn.tally.counts()
    for examiner in prepared.examiners:
        observable = examiner.observable
        counts = observable.counts(tallied)
        log_e = examiner.log_e(counts)
        rng = stream(suite.seed, "checks", scenario.name, observable.name)
        certificate = examiner.certificate(counts, drawn.delta, scenario.epsilon)
        offender = first_offender(prepared, observable, drawn, suite.seed)
        yield Seen(
            observable,
            counts,
            certificate,
            0.0 if observable.kind is Kind.PAIRS else certificate.bound,
            log_e,
            _told(examiner.evidence(counts, log_e, rng, final=drawn.final), offender),
            examiner.detectable(int(counts.sum()), SHARES["chi-square"] * suite.alpha),
            partial(
                finding,
                observable=observable,
                counts=counts,
                certificate=certificate,
                epsilon=scenario.epsilon,
                offender=offender,
            ),
        )


def _told(evidence: tuple[Evidence, ...], offender: Offender | None) -> tuple[Evidence, ...]:
    """The evidence, with the first impossible draw named where it is known."""
    if offender is None:
        return evidence
    return tuple(
        replace(e, result=replace(e.result, detail=f"{e.result.detail}; first {offender}"))
        if e.result.check == "support"
        else e
        for e in evidence
    )


def _growth(prepared: Prepared, drawn: Drawn) -> Growth:
    """Of the first observable."""
    examiner: Examiner = prepared.examiners[0]
    counts = np.stack([examiner.observable.counts(tally.counts()) for _, tally in drawn.marks])
    log_e = examiner.log_e_at(counts)
    bounds = [certify(c, examiner.observable.target, drawn.delta) for c in counts]
    return tuple(
        (trials, bound.tv, bound.bound, float(e))
        for (trials, _), bound, e in zip(drawn.marks, bounds, log_e, strict=True)
    )
