"""Laws that depend on the prefix: which context follows which, alone and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.arrays import Exact, Rows
from harness.errors import BadSetting
from harness.laws.tables import Contexts

__all__ = [
    "MOST_CELLS",
    "Chain",
    "absorbed",
    "fixed",
    "joined",
    "markov",
    "markov_contexts",
    "positions",
    "refuse_large",
]

MOST_CELLS = 2**24  # probabilities in one table: 128 MiB of float64


@dataclass(frozen=True, slots=True)
class Chain:
    """A raw law: `rows` (contexts, V) of probabilities or logits, and how contexts follow."""

    rows: Exact
    contexts: Contexts
    are_logits: bool = False


def refuse_large(contexts: int, vocabulary: int) -> None:
    """Raises `BadSetting` for tables over the memory limit."""
    if contexts * vocabulary > MOST_CELLS:
        raise BadSetting(
            f"{contexts:,} contexts of {vocabulary:,} tokens are more than {MOST_CELLS:,} "
            "probabilities in one table; lower the order, or use fewer tokens or positions"
        )


def fixed(vocabulary: int, prompts: int = 1) -> Contexts:
    """One context, whatever the prefix."""
    return Contexts(np.zeros(prompts, np.intp), np.zeros((1, vocabulary), np.intp))


def positions(n: int, vocabulary: int, prompts: int = 1) -> Contexts:
    """One context a position, counted from the end of the prompt; the last stays."""
    following = np.minimum(np.arange(1, n + 1), n - 1)
    successor = np.repeat(following[:, None], vocabulary, axis=1).astype(np.intp)
    return Contexts(np.zeros(prompts, np.intp), successor)


def markov_contexts(order: int, vocabulary: int) -> int:
    """How many prefixes of at most `order` tokens there are."""
    return sum(vocabulary**length for length in range(order + 1))


def markov(order: int, vocabulary: int, prompts: Sequence[Sequence[int]] = ((),)) -> Contexts:
    """One context for each of the last `order` tokens, shorter prefixes first.

    Prefixes of equal length are in the order of their tokens, the last token fastest.
    """
    n = markov_contexts(order, vocabulary)
    refuse_large(n, vocabulary)
    full = vocabulary**order
    first_full = n - full
    here = np.arange(n)[:, None]
    token = np.arange(vocabulary)[None, :]
    # prefix x of length l has id first(l) + code(x), and first(l + 1) = V first(l) + 1
    longer = here * vocabulary + 1 + token
    kept = ((here - first_full) * vocabulary + token) % full + first_full
    successor = np.where(here < first_full, longer, kept).astype(np.intp)
    starts = np.array([_end_of(prompt, successor) for prompt in prompts], np.intp)
    return Contexts(starts, successor)


def _end_of(prompt: Sequence[int], successor: Rows) -> int:
    context = 0
    for token in prompt:
        context = int(successor[context, token])
    return context


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
    contexts = Contexts(starts, number[np.searchsorted(known, successor)])
    return contexts, reached // len(b), reached % len(b)


def _reached(a: Contexts, b: Contexts) -> tuple[Rows, Rows]:
    """Codes a * len(b) + b of the pairs reached, breadth first, and the codes after each token."""
    frontier = np.unique(a.starts * len(b) + b.starts)
    reached, following = [frontier], []
    n, vocabulary = len(frontier), a.successor.shape[1]
    while len(frontier):
        refuse_large(n, vocabulary)
        left, right = np.divmod(frontier, len(b))
        following.append(a.successor[left] * len(b) + b.successor[right])
        frontier = np.setdiff1d(following[-1], np.concatenate(reached))
        reached.append(frontier)
        n += len(frontier)
    return np.concatenate(reached), np.concatenate(following)


def absorbed(contexts: Contexts, token: int) -> Contexts:
    """The contexts and one more, the last, which `token` leads to and nothing leaves."""
    n = len(contexts)
    successor = np.vstack([contexts.successor, np.full((1, contexts.successor.shape[1]), n)])
    successor[:, token] = n
    return Contexts(contexts.starts, successor.astype(np.intp))
