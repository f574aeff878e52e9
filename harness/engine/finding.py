"""What a reader should take away from an observable, in one clause."""

from __future__ import annotations

import numpy as np

from harness.arrays import Counts
from harness.checks import Certificate
from harness.engine.impossible import Offender
from harness.engine.observe import Kind, Observable
from harness.engine.result import Verdict

__all__ = ["finding", "scope"]


def finding(
    verdict: Verdict,
    observable: Observable,
    counts: Counts,
    certificate: Certificate,
    epsilon: float,
    offender: Offender | None = None,
) -> str:
    """Such as "C is 15 % too frequent", or "TV at most 0.0017"."""
    if observable.kind is Kind.PAIRS and verdict is not Verdict.DIFFERS:
        return "no dependence seen (which is no proof of independence)"
    if verdict is Verdict.DIFFERS and offender is not None:
        return _first_impossible(offender, counts)
    if verdict is Verdict.DIFFERS:
        return _largest_deviation(observable, counts)
    of = "" if certificate.law == "full alphabet" else f" on the {certificate.law}"
    if verdict is Verdict.MATCHES:
        return f"TV at most {certificate.bound:.2g}{of}"
    return f"TV at most {certificate.bound:.2g}{of}, not yet {epsilon:g}"


def scope(draft_length: int, horizon: int) -> str:
    """Which tokens a verdict speaks of: a fault of the bonus token hides from a short horizon."""
    seen = "the first token" if horizon == 1 else f"the first {horizon} tokens jointly"
    if horizon > draft_length:
        return f"{seen}, bonus token included"
    return f"{seen}; the bonus token is not looked at"


def _first_impossible(offender: Offender, counts: Counts) -> str:
    times = f"{counts[offender.cell]:,} times" if counts[offender.cell] > 1 else "once"
    return f"{offender.label}: first in trial {offender.trial:,}, {times}, must never happen"


def _largest_deviation(observable: Observable, counts: Counts) -> str:
    """The cell whose count is furthest from its expectation, in standard deviations."""
    target, n = observable.target, int(counts.sum())
    impossible = (target == 0.0) & (counts > 0)
    if impossible.any():
        cell = int(np.argmax(np.where(impossible, counts, -1)))
        return f"{observable.label(cell)}: {counts[cell]:,} times, must never happen"
    possible = np.where(target > 0.0, target, 1.0)
    distance = np.where(target > 0.0, abs(counts - n * target) / np.sqrt(n * possible), 0.0)
    cell = int(np.argmax(distance))
    change = counts[cell] / (n * target[cell]) - 1.0
    return (
        f"{observable.label(cell)} is {_amount(change)} too {'frequent' if change > 0 else 'rare'}"
    )


def _amount(change: float) -> str:
    """15 %, 0.42 %, or 12 times for what is beyond a percentage."""
    return f"{change + 1:.3g} times" if change > 1 else f"{float(f'{abs(change) * 100:.2g}'):g} %"
