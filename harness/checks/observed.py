"""The border of the checks: laws and counts are examined once, here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Bits, Counts, Probs, readonly
from harness.errors import BadLaw, BadSetting

__all__ = ["checked_counts", "checked_law", "impossible", "on_support"]

LAW_SLACK = 1e-9  # a sum further from one than this is another law, or float32


def checked_law(law: npt.ArrayLike) -> Probs:
    """The law in float64, divided by its correctly rounded sum.

    Raises `BadLaw` for anything but non-negative finite numbers that sum to one within 1e-9.
    """
    p = np.asarray(law, dtype=np.float64)
    if p.ndim != 1 or p.size == 0:
        raise BadLaw(f"a law is one row of probabilities, not an array of shape {p.shape}")
    if not np.isfinite(p).all() or (p < 0.0).any():
        raise BadLaw("a law has a probability that is negative or not finite")
    total = math.fsum(p.tolist())
    if abs(total - 1.0) > LAW_SLACK:
        raise BadLaw(f"a law sums to {total!r}, not to one within {LAW_SLACK}")
    return readonly(p / total)


def checked_counts(counts: npt.ArrayLike, vocabulary: int) -> Counts:
    """Counts as int64, tokens along the last axis; a draw outside the vocabulary has no cell.

    Raises `BadSetting` for another length, and for counts that are negative or not whole.
    """
    given: npt.NDArray[Any] = np.asarray(counts)
    if given.ndim == 0 or given.shape[-1] != vocabulary:
        raise BadSetting(f"counts of shape {given.shape} for a vocabulary of {vocabulary}")
    if not np.isfinite(given).all() or (given < 0).any() or (given != np.floor(given)).any():
        raise BadSetting("counts must be whole and not negative")
    return readonly(given.astype(np.int64))


def impossible(counts: Counts, law: Probs) -> Bits:
    """Tokens that were drawn although their probability is zero."""
    return (law == 0.0) & (counts > 0)


def on_support(counts: Counts, law: Probs) -> tuple[Counts, Probs]:
    """Counts and probabilities of the tokens that can be drawn at all."""
    possible = law > 0.0
    return counts[..., possible], law[possible]
