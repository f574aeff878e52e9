"""Raw laws with their contexts, and the contexts that several laws have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.arrays import Exact, Rows
from harness.laws.contexts import check_memory
from harness.laws.tables import Contexts

__all__ = ["Chain", "joined"]


@dataclass(frozen=True, slots=True)
class Chain:
    """A raw law: `rows` (contexts, V) of probabilities or logits, and how contexts follow."""

    rows: Exact
    contexts: Contexts
    are_logits: bool = False


def joined(several: Sequence[Contexts]) -> tuple[Contexts, list[Rows]]:
    """The contexts that tell apart what any of `several` tells apart, as far as they are reached.

    Returns them and, for each of `several`, its own context (contexts,) in each of the joint ones.
    """
    together, own = several[0], [np.arange(len(several[0]))]
    for i, more in enumerate(several[1:], start=1):
        before = next((j for j in range(i) if several[j] is more), None)
        if before is not None:
            own.append(own[before])
        else:
            together, left, right = _pairs(together, more)
            own = [*(column[left] for column in own), right]
    return together, own


def _pairs(a: Contexts, b: Contexts) -> tuple[Contexts, Rows, Rows]:
    """Pairs of contexts reached from the starts, and the contexts of a and of b in each."""
    if len(b) == 1:
        return a, np.arange(len(a)), np.zeros(len(a), np.intp)
    if len(a) == 1:
        return b, np.zeros(len(b), np.intp), np.arange(len(b))
    reached, successor = _reached(a, b)
    known, order = np.unique(reached, return_inverse=True)
    number = np.empty(len(known), np.intp)
    number[order] = np.arange(len(reached))
    starts = number[np.searchsorted(known, a.starts * len(b) + b.starts)]
    contexts = Contexts(starts, number[np.searchsorted(known, successor)], a.end)
    return contexts, reached // len(b), reached % len(b)


def _reached(a: Contexts, b: Contexts) -> tuple[Rows, Rows]:
    """Codes a * len(b) + b of the pairs reached, breadth first, and the codes after each token."""
    frontier = np.unique(a.starts * len(b) + b.starts)
    reached, following = [frontier], []
    n, vocabulary = len(frontier), a.successor.shape[1]
    while len(frontier):
        check_memory(vocabulary, n, "laws of different contexts together")
        left, right = np.divmod(frontier, len(b))
        following.append(a.successor[left] * len(b) + b.successor[right])
        frontier = np.setdiff1d(following[-1], np.concatenate(reached))
        reached.append(frontier)
        n += len(frontier)
    return np.concatenate(reached), np.concatenate(following)
