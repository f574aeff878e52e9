"""Counting codes: how often each of `size` codes occurs, whichever way is fastest."""

from __future__ import annotations

import numpy as np

from harness.arrays import Counts, Tokens

__all__ = ["count_codes"]

COMPARE_UP_TO = 20  # codes: one comparison a code beats a histogram below this


def count_codes(codes: Tokens, size: int) -> Counts:
    """Counts (size,) of `codes` (n,), each in 0..size-1."""
    if size <= COMPARE_UP_TO:
        return np.array([np.count_nonzero(codes == code) for code in range(size)], dtype=np.int64)
    return np.bincount(codes, minlength=size).astype(np.int64, copy=False)
