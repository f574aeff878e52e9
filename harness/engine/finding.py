"""What a reader should take away from an observable, in one clause."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from harness.arrays import Counts, Floats, Probs
from harness.checks import Certificate
from harness.engine.impossible import Offender
from harness.engine.observe import Kind, Observable
from harness.engine.result import Verdict

__all__ = ["finding", "scope"]

TINY = 1e-300  # in place of the mass of a prefix that cannot be


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
    if observable.words:
        return _after_a_prefix(counts, target, observable.words)
    cell = int(np.argmax(_deviations(counts.astype(np.float64), n * target)))
    return f"{observable.label(cell)} is {_off(counts[cell], n * target[cell])}"


def _after_a_prefix(counts: Counts, target: Probs, words: tuple[str, ...]) -> str:
    """The token furthest from its share of what follows some prefix: where, and after what."""
    told = max(_by_prefix(counts, target, len(words)), key=lambda found: found[0])
    _, position, prefix, token, seen, expected = told
    before = [words[prefix // len(words) ** i % len(words)] for i in reversed(range(position))]
    after = f"after {' '.join(before)}: " if before else ""
    return f"{after}{words[token]} is {_off(seen, expected)} (token {position + 1})"


def _by_prefix(
    counts: Counts, target: Probs, base: int
) -> Iterator[tuple[float, int, int, int, float, float]]:
    """At each position the largest deviation: itself, position, prefix, token, seen, expected."""
    positions = round(math.log(len(counts), base)) if base > 1 else 0
    for position in range(positions):
        shape = base**position, base, -1
        seen, mass = (values.reshape(shape).sum(axis=2) for values in (counts, target))
        promised = mass / np.maximum(mass.sum(axis=1, keepdims=True), TINY)
        expected = seen.sum(axis=1, keepdims=True) * promised
        distance = _deviations(seen.astype(np.float64), expected)
        prefix, token = divmod(int(np.argmax(distance)), base)
        cell = prefix, token
        yield (
            float(distance[cell]), position, prefix, token, float(seen[cell]), float(expected[cell])
        )  # fmt: skip


def _deviations(seen: Floats, expected: Floats) -> Floats:
    """Distances from what is expected, in standard deviations; 0 where nothing is."""
    possible = np.where(expected > 0.0, expected, 1.0)
    return np.where(expected > 0.0, abs(seen - expected) / np.sqrt(possible), 0.0)


def _off(seen: float, expected: float) -> str:
    change = seen / expected - 1.0
    return f"{_amount(change)} too {'frequent' if change > 0 else 'rare'}"


def _amount(change: float) -> str:
    """15 %, 0.42 %, or 12 times for what is beyond a percentage."""
    return f"{change + 1:.3g} times" if change > 1 else f"{float(f'{abs(change) * 100:.2g}'):g} %"
