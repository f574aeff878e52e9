"""Contexts for laws that depend on the prefix: Markov of any order, one row a position, prompts.

A context names a row of every law table; `Contexts.successor` says where the next token leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from harness.arrays import Exact, Rows
from harness.errors import BadSetting
from harness.laws.tables import Contexts, LawTables

__all__ = [
    "MOST_CELLS",
    "check_memory",
    "fixed_contexts",
    "markov_contexts",
    "markov_rows",
    "over_prompts",
    "position_contexts",
    "position_rows",
]

MOST_CELLS = 2**24  # probabilities a table: 128 MiB, about a gigabyte with what a rule prepares


def check_memory(vocabulary: int, contexts: int, what: str) -> None:
    """Raises BadSetting for tables of more than 2**24 probabilities; `what` names them."""
    if contexts * vocabulary > MOST_CELLS:
        raise BadSetting(
            f"{what} over {vocabulary:,} tokens takes {contexts:,} rows of laws, more than the "
            f"{MOST_CELLS:,} probabilities a table may hold; lower the order, rows or vocabulary"
        )


def fixed_contexts(vocabulary: int, prompts: int = 1, *, end: int | None = None) -> Contexts:
    """One context, whatever the prefix."""
    return Contexts(np.zeros(prompts, np.intp), np.zeros((1, vocabulary), np.intp), end)


def markov_contexts(
    vocabulary: int,
    order: int,
    *,
    prompts: Sequence[Sequence[int]] = ((),),
    end: int | None = None,
) -> Contexts:
    """Contexts that are the last `order` tokens, or all of them while there are fewer.

    Strings are numbered by length, then as numbers in base V, the oldest token first: 0 is the
    empty prefix, 1 + x the prefix x. A trial starts from the last tokens of its prompt. Raises
    BadSetting where the tables would hold more than 2**24 probabilities.
    """
    check_memory(vocabulary, _strings(vocabulary, order), f"order {order}")
    starts = [_named(prompt[max(0, len(prompt) - order) :], vocabulary) for prompt in prompts]
    return Contexts(np.array(starts, np.intp), _appended(vocabulary, order), end)


def markov_rows(initial: Sequence[Exact], transition: Exact) -> Exact:
    """Laws (contexts, V) in the numbering of `markov_contexts`.

    `initial`[l] holds the laws after l tokens, (V,) * l + (V,); `transition` those after the last
    `order` = len(initial) tokens, (V,) * order + (V,). A transition of lower order is repeated for
    what it does not look at; so is a single law (V,).
    """
    vocabulary = transition.shape[-1]
    levels = [*initial, transition]
    return np.concatenate([_level(law, length, vocabulary) for length, law in enumerate(levels)])


def position_contexts(
    vocabulary: int, positions: int, *, prompts: int = 1, end: int | None = None
) -> Contexts:
    """Contexts that are the number of tokens since the prompt; the last one stays."""
    check_memory(vocabulary, positions, f"{positions} rows")
    following = np.minimum(np.arange(positions) + 1, positions - 1)
    successor = np.broadcast_to(following[:, None], (positions, vocabulary))
    return Contexts(np.zeros(prompts, np.intp), np.ascontiguousarray(successor), end)


def position_rows(rows: Exact, positions: int) -> Exact:
    """Laws (positions, V): `rows`, the last of them repeated."""
    return np.asarray(rows[np.minimum(np.arange(positions), len(rows) - 1)])


def over_prompts(strata: Sequence[LawTables]) -> LawTables:
    """Tables of several prompts, each with laws of its own, side by side in one.

    Raises BadSetting for prompts that differ in vocabulary or end token, or with too many rows.
    """
    first, sizes = strata[0], [len(laws.contexts) for laws in strata]
    if any(laws.vocabulary != first.vocabulary for laws in strata):
        raise BadSetting("prompts differ in vocabulary; give all their laws over the same tokens")
    if any(laws.contexts.end != first.contexts.end for laws in strata):
        raise BadSetting("prompts differ in their end token; give all of them the same one")
    check_memory(first.vocabulary, sum(sizes), f"{len(strata)} prompts")
    shifts = np.cumsum([0, *sizes[:-1]])
    starts = [laws.contexts.starts + shift for laws, shift in zip(strata, shifts, strict=True)]
    after = [laws.contexts.successor + shift for laws, shift in zip(strata, shifts, strict=True)]
    contexts = Contexts(np.concatenate(starts), np.concatenate(after), first.contexts.end)
    rows = {name: np.concatenate([getattr(laws, name) for laws in strata]) for name in _law_names()}
    return LawTables(**rows, contexts=contexts)


def _law_names() -> list[str]:
    return [field.name for field in fields(LawTables) if field.name != "contexts"]


def _strings(vocabulary: int, longest: int) -> int:
    """How many strings of at most `longest` tokens there are."""
    return sum(vocabulary**length for length in range(longest + 1))


def _named(string: Sequence[int], vocabulary: int) -> int:
    """Number of a string among those of `markov_contexts`."""
    number = 0
    for token in string:
        number = number * vocabulary + token
    return _strings(vocabulary, len(string) - 1) + number


def _appended(vocabulary: int, order: int) -> Rows:
    """Successors (contexts, V): the string with the token at its end, cut to the last `order`."""
    longest = np.arange(vocabulary**order)
    numbers = (longest[:, None] * vocabulary + np.arange(vocabulary)) % vocabulary**order
    full = _strings(vocabulary, order - 1) + numbers
    growing = np.arange(1, _strings(vocabulary, order)).reshape(-1, vocabulary)
    return np.concatenate([growing, full])


def _level(law: Exact, length: int, vocabulary: int) -> Exact:
    """Laws (V**length, V) of all strings of `length` tokens; the oldest tokens vary slowest."""
    known = law.reshape(-1, vocabulary)
    repeats, rest = divmod(vocabulary**length, len(known))
    if rest or not repeats:
        raise BadSetting(
            f"{len(known)} laws do not fit {vocabulary**length} prefixes of {length} tokens; "
            f"give {' x '.join(['V'] * (length + 1))} probabilities, V = {vocabulary}"
        )
    return np.tile(known, (repeats, 1))
