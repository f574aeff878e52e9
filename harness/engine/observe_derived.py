"""Facts that the joint law and the lengths hold already: a position by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from harness.arrays import Counts, Exact
from harness.engine.observe import Kind, Observable

__all__ = ["acceptances", "outputs"]


def outputs(joint: Observable, tokens: tuple[str, ...], horizon: int) -> Iterator[Observable]:
    """Law of the token at each position after the first, whatever came before it. Never judged:
    the joint law says all that they say.
    """
    for position in range(1, horizon):
        marginal = _marginal_of(len(tokens), horizon, position)
        yield Observable(
            f"output at position {position + 1}",
            judged=False,
            derived=True,
            target=marginal(joint.target),
            counts=_of(joint.counts, marginal),
            label=tokens.__getitem__,
            exact=None if joint.exact is None else marginal(joint.exact),
            draft=None if joint.draft is None else marginal(joint.draft),
        )


def acceptances(lengths: Observable) -> Iterator[Observable]:
    """Share of drafted tokens kept at each position after the first, of those that are verified."""
    for position in range(1, len(lengths.target) - 1):
        kept_of = _kept_at(position)
        promised = kept_of(lengths.target)
        if not promised.sum():
            return  # the token rule never gets there
        known = None if lengths.exact is None else kept_of(lengths.exact)
        yield Observable(
            f"acceptance at position {position + 1}",
            judged=False,
            derived=True,
            target=promised / promised.sum(),
            counts=_of(lengths.counts, kept_of),
            label=("kept", "rejected").__getitem__,
            exact=None if known is None or not known.sum() else known / known.sum(),
            kind=Kind.RATE,
        )


def _marginal_of(vocabulary: int, horizon: int, position: int) -> Callable[[Exact], Exact]:
    shape = (vocabulary**position, vocabulary, vocabulary ** (horizon - position - 1))

    def marginal(cells: Exact) -> Exact:
        return np.asarray(cells.reshape(shape).sum(axis=(0, 2)))

    return marginal


def _kept_at(position: int) -> Callable[[Exact], Exact]:
    """Of the lengths (k + 1,): mass that is kept at `position`, and mass that is rejected there."""

    def kept(lengths: Exact) -> Exact:
        return np.array([lengths[position + 1 :].sum(), lengths[position]])

    return kept


def _of(
    counts: Callable[[Mapping[str, Counts]], Counts], part: Callable[[Exact], Exact]
) -> Callable[[Mapping[str, Counts]], Counts]:
    return lambda tallied: part(counts(tallied))
