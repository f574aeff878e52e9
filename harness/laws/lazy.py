"""Uniforms whose bits are drawn as they are needed.

A uniform is compared by its first 32 bits; where those equal the threshold's, and only there (once
in 2^32 comparisons), the rest is drawn. The comparison is as exact as with 64 bits, at half the
cost in random numbers and half the size of the tables.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Probs

__all__ = ["Coarse", "leading_bits", "split"]

Coarse = npt.NDArray[np.uint32]


def leading_bits(n: int, rng: np.random.Generator) -> Coarse:
    """The first 32 bits (n,) of n uniforms; a 64-bit number serves two of them."""
    words = rng.integers(0, 1 << 64, (n + 1) // 2, dtype=np.uint64)
    return words.view(np.uint32)[:n]


def split(thresholds: Probs, bits: int = 32) -> tuple[Coarse, Floats]:
    """Thresholds in [0, 1] as whole multiples of 2^-bits, and what is left, in [0, 1].

    With r the first bits of a uniform u: u < threshold where r < coarse, or where r == coarse and
    a fresh uniform is below the rest. A threshold of 1 has rest 1 (always), of 0 rest 0 (never).
    """
    scaled = np.asarray(thresholds, dtype=np.float64) * 2.0**bits
    coarse = np.clip(np.floor(scaled), 0, 2**bits - 1)
    return coarse.astype(np.uint32), scaled - coarse
