"""Observables of one position: the output, the trace of (drafted, kept?, emitted), acceptance."""

from __future__ import annotations

import numpy as np

from harness.arrays import Probs
from harness.engine.observe import Kind, Observable
from harness.laws.accounting import accepted_mass, overlap, positive_part, residual
from harness.laws.step import ExactStep
from harness.laws.tables import LawTables

__all__ = ["FULL_TRACE_UP_TO", "rejected_mass", "replacement_law", "scaled", "single_position"]

FULL_TRACE_UP_TO = 32  # tokens: V (V + 1) cells of (drafted, kept or replaced by)
FUZZY = 1e-6  # relative: where p and q are nearer than this, rounding may reject or replace
NEARLY_ZERO = 1e-12  # mass of such a cell, in place of a hard zero


def single_position(
    laws: LawTables,
    tokens: tuple[str, ...],
    exact: ExactStep | None,
    judged: frozenset[str],
    *,
    start: int,
    shows_trace: bool,
) -> tuple[Observable, ...]:
    """Observables of the first position after the prompt that starts in context `start`.

    The trace over more than 32 tokens, twice 2V cells, is examined only where it is judged.
    """
    p, q = laws.target[start].astype(np.float64), laws.q[start].astype(np.float64)
    found = [_output(p, q, tokens, exact, judged=bool(judged & {"output", "joint"}))]
    if shows_trace:
        judging = "trace" in judged
        if len(p) <= FULL_TRACE_UP_TO:
            found.append(_full_trace(p, q, tokens, exact, judged=judging))
        elif judging:
            halves = _kept_or_emitted, _kept_or_drafted
            found += [half(p, q, tokens, exact, judged=True) for half in halves]
        found.append(
            _acceptance(p, q, exact, judged=bool(judged & {"acceptance", "committed_length"}))
        )
    return tuple(found)


def _output(
    p: Probs, q: Probs, tokens: tuple[str, ...], exact: ExactStep | None, *, judged: bool
) -> Observable:
    return Observable(
        "output",
        judged,
        p,
        lambda counts: counts["output"],
        tokens.__getitem__,
        exact=_floats(exact.output) if exact else None,
        draft=q,
    )


def _acceptance(p: Probs, q: Probs, exact: ExactStep | None, *, judged: bool) -> Observable:
    rate = min(1.0, float(overlap(p, q)))  # rounding may pass one
    kept = min(1.0, float(exact.kept.sum())) if exact else None
    return Observable(
        "acceptance",
        judged,
        np.array([rate, _rest(rate)]),
        lambda counts: np.array([counts["kept"].sum(), counts["rejected"].sum()]),
        ("kept", "rejected").__getitem__,
        exact=None if kept is None else np.array([kept, _rest(kept)]),
        kind=Kind.RATE,
    )


def _rest(rate: float) -> float:
    return max(0.0, 1.0 - rate)


def _full_trace(
    p: Probs, q: Probs, tokens: tuple[str, ...], exact: ExactStep | None, *, judged: bool
) -> Observable:
    """(drafted, kept or replaced by): kept mass min(p, q), rejected (q - p)+, from the residual."""
    vocabulary = len(p)
    law = np.empty((vocabulary, vocabulary + 1))
    law[:, :-1] = np.outer(rejected_mass(p, q), replacement_law(p, q))
    law[:, -1] = accepted_mass(p, q)
    known = None if exact is None or exact.trace is None else _floats(exact.trace).ravel()
    return Observable(
        "trace",
        judged,
        scaled(law.ravel()),
        lambda counts: counts["trace"].ravel(),
        lambda cell: _trace_cell(tokens, *divmod(cell, vocabulary + 1)),
        exact=known,
    )


def _kept_or_emitted(
    p: Probs, q: Probs, tokens: tuple[str, ...], exact: ExactStep | None, *, judged: bool
) -> Observable:
    """(token kept) or (token that replaced a rejected one), 2V cells."""
    law = np.concatenate([accepted_mass(p, q), _fuzzy(positive_part(p, q), p, q)])
    return Observable(
        "trace",
        judged,
        scaled(law),
        lambda counts: np.concatenate([counts["kept"], counts["replacement"]]),
        lambda cell: _half_cell(tokens, cell, "kept", "as replacement"),
        exact=_floats(np.concatenate([exact.kept, exact.replacement])) if exact else None,
        draft=np.concatenate([q, q]) / 2,
    )


def _kept_or_drafted(
    p: Probs, q: Probs, tokens: tuple[str, ...], exact: ExactStep | None, *, judged: bool
) -> Observable:
    """(token kept) or (drafted token that was rejected), 2V cells."""
    law = np.concatenate([accepted_mass(p, q), rejected_mass(p, q)])
    return Observable(
        "trace of the draft",
        judged,
        scaled(law),
        lambda counts: np.concatenate([counts["kept"], counts["rejected"]]),
        lambda cell: _half_cell(tokens, cell, "kept", "rejected"),
        exact=_floats(np.concatenate([exact.kept, exact.rejected])) if exact else None,
        draft=np.concatenate([q, q]) / 2,
    )


def _trace_cell(tokens: tuple[str, ...], drafted: int, then: int) -> str:
    if then == len(tokens):
        return f"{tokens[drafted]} kept"
    return f"{tokens[drafted]} replaced by {tokens[then]}"


def _half_cell(tokens: tuple[str, ...], cell: int, first: str, second: str) -> str:
    half, token = divmod(cell, len(tokens))
    return f"{tokens[token]} {second if half else first}"


def rejected_mass(p: Probs, q: Probs) -> Probs:
    return _fuzzy(positive_part(q, p), q, p)


def replacement_law(p: Probs, q: Probs) -> Probs:
    return _fuzzy(residual(p, q), p, q)


def _fuzzy(mass: Probs, more: Probs, less: Probs) -> Probs:
    """Mass (more - less)+ with a trace of it where both are equal but for rounding."""
    close = (abs(more - less) <= FUZZY * np.maximum(more, less)) & (more > 0)
    return np.where(close, np.maximum(mass, NEARLY_ZERO * more), mass)


def scaled(law: Probs) -> Probs:
    return law / law.sum()


def _floats(law: np.ndarray) -> Probs:
    return law.astype(np.float64)
