"""Uniforms whose bits are drawn as they are needed.

A uniform is compared by its first 16 bits; where those equal the threshold's, and only there (once
in 65,536 comparisons), the rest is drawn. The comparison is as exact as with 64 bits, at a quarter
of the cost in random numbers and of the size of the tables.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Probs

__all__ = ["LEADING", "Coarse", "Words", "first_words", "leading_bits", "split"]

Coarse = npt.NDArray[np.uint16]
Words = npt.NDArray[np.uint32]

LEADING = 16  # bits


def leading_bits(n: int, rng: np.random.Generator) -> Coarse:
    """The first 16 bits (n,) of n uniforms; a 64-bit number serves four of them."""
    return rng.integers(0, 1 << 64, (n + 3) // 4, dtype=np.uint64).view(np.uint16)[:n]


def first_words(n: int, rng: np.random.Generator) -> Words:
    """The first 32 bits (n,) of n uniforms; a 64-bit number serves two of them."""
    return rng.integers(0, 1 << 64, (n + 1) // 2, dtype=np.uint64).view(np.uint32)[:n]


def split(thresholds: Probs, bits: int) -> tuple[Words, Floats]:
    """Thresholds in [0, 1] as whole multiples of 2^-bits, and what is left, in [0, 1].

    With r the first bits of a uniform u: u < threshold where r < coarse, or where r == coarse and
    a fresh uniform is below the rest. A threshold of 1 has rest 1 (always), of 0 rest 0 (never).
    """
    scaled = np.asarray(thresholds, dtype=np.float64) * 2.0**bits
    coarse = np.clip(np.floor(scaled), 0, 2**bits - 1)
    return coarse.astype(np.uint32), scaled - coarse
