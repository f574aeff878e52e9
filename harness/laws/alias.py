"""Alias tables (Walker 1977; Vose 1991): a draw from any law for one uniform and two look-ups."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.arrays import Probs

__all__ = ["alias_table"]


def alias_table(rows: Probs) -> tuple[Probs, npt.NDArray[np.int32]]:
    """Tables `keep` and `alias`, both (contexts, V).

    Column j, chosen evenly, gives token j with probability keep[j], otherwise token alias[j].
    A token of probability zero is never given: its column keeps nothing.
    """
    keep = np.empty(rows.shape)
    alias = np.empty(rows.shape, dtype=np.int32)
    for row, kept, other in zip(rows, keep, alias, strict=True):
        _fill(row * (len(row) / row.sum()), kept, other)
    return keep, alias


def _fill(scaled: Probs, keep: Probs, alias: npt.NDArray[np.int32]) -> None:
    """Vose's algorithm: every short column is filled up by one long column."""
    keep[:] = 1.0
    alias[:] = np.arange(len(scaled))
    heights = scaled.tolist()
    short = np.flatnonzero(scaled < 1.0).tolist()
    long = np.flatnonzero(scaled >= 1.0).tolist()
    filler: dict[int, tuple[float, int]] = {}
    while short and long:
        low, high = short.pop(), long[-1]
        filler[low] = (heights[low], high)
        heights[high] -= 1.0 - heights[low]
        if heights[high] < 1.0:
            short.append(long.pop())
    if filler:
        columns = np.fromiter(filler, dtype=np.intp, count=len(filler))
        keep[columns] = [height for height, _ in filler.values()]
        alias[columns] = [token for _, token in filler.values()]
    _close_empty_columns(scaled, keep, alias)


def _close_empty_columns(scaled: Probs, keep: Probs, alias: npt.NDArray[np.int32]) -> None:
    """What rounding left over goes to the likeliest token, never to one of probability zero."""
    left = (scaled == 0.0) & (keep > 0.0)
    keep[left] = 0.0
    alias[left] = scaled.argmax()
