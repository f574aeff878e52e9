"""Tables of laws that nest one list, or one mapping by token, for each token of the prefix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
from pydantic_core import PydanticCustomError

from harness.arrays import Exact, readonly
from harness.scenario.fields import probability
from harness.scenario.law_shape import check_sum
from harness.scenario.places import Place

__all__ = ["LARGEST_EXACT_VOCABULARY", "array_of", "laws_by_prefix", "one_law"]

T = TypeVar("T")

LARGEST_EXACT_VOCABULARY = 64
LARGEST_DENOMINATOR = 10**64  # common to a law; powers up to the 64th are still quick
MOST_EXACT_CELLS = 2**14  # Fractions in one table


def laws_by_prefix(
    place: Place, length: int, vocabulary: Sequence[str]
) -> Iterator[list[Fraction]]:
    """The laws after every prefix of a length, in order of its tokens, the last token fastest."""
    if length == 0:
        yield one_law(place, len(vocabulary))
        return
    for part in _by_token(place, vocabulary):
        yield from laws_by_prefix(part, length - 1, vocabulary)


def one_law(place: Place, vocabulary: int) -> list[Fraction]:
    """A list of probabilities, one a token, that sums to one."""
    if not place.is_list:
        raise place.complaint("not a list of probabilities", "write one: [0.5, 0.5]")
    check_length(place, vocabulary)
    law = [_checked(part, lambda part: probability(part.value)) for part in place]
    return _checked(place, lambda _: check_sum(law))


def check_length(place: Place, vocabulary: int) -> None:
    """Raises `ScenarioError` for a law with more or fewer entries than tokens."""
    n = len(place.keys)
    if n != vocabulary:
        raise place.complaint(
            f"{n:,} numbers for a vocabulary of {vocabulary:,}", "give one for every token"
        )


def array_of(laws: Sequence[Sequence[Fraction]]) -> Exact:
    """Laws (rows, V) that sum to one: Fractions where they are few and simple, else float64."""
    vocabulary = len(laws[0])
    if _are_simple(laws):
        rows = np.empty((len(laws), vocabulary), object)
        rows[:] = [[value / total for value in law] for law in laws for total in [sum(law)]]
        return readonly(rows)
    floats = np.array([[float(value) for value in law] for law in laws])
    return readonly(floats / np.array([[math.fsum(law)] for law in floats]))


def _are_simple(laws: Sequence[Sequence[Fraction]]) -> bool:
    """Whether a law is few enough numbers, of few enough digits, for exact arithmetic."""
    vocabulary = len(laws[0])
    if vocabulary > LARGEST_EXACT_VOCABULARY or len(laws) * vocabulary > MOST_EXACT_CELLS:
        return False
    denominators = (math.lcm(*(value.denominator for value in law)) for law in laws)
    return max(denominators) <= LARGEST_DENOMINATOR


def _by_token(place: Place, vocabulary: Sequence[str]) -> Iterator[Place]:
    if place.is_list:
        check_length(place, len(vocabulary))
        return iter(place)
    for token in vocabulary:
        if token not in place:
            raise place.complaint(f"no law after {token[:40]!r}", "give one after every token")
    for key in place.keys:
        if key not in vocabulary:
            raise (place / key).complaint(f"no token {key[:40]!r}", "name tokens of the vocabulary")
    return (place / token for token in vocabulary)


def _checked(place: Place, check: Callable[[Place], T]) -> T:
    try:
        return check(place)
    except PydanticCustomError as error:
        context = error.context or {}
        raise place.complaint(context["problem"], context["remedy"]) from None
