"""Coarse-grainings of an alphabet, fixed by the laws p and q before any draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Probs, Rows, readonly
from harness.checks.observed import checked_law
from harness.checks.order import ratio_order

__all__ = ["BIN_COUNTS", "Coarsening", "coarse_grainings", "head_sizes", "ratio_bins"]

BIN_COUNTS = (2, 8, 32, 128)
SMALLEST_HEAD = 16


@dataclass(frozen=True, slots=True)
class Coarsening:
    """A partition of the vocabulary into named cells: the cell of every token, (V,).

    Cells are numbered without gaps; `order` lists the tokens cell by cell, from `starts` on.
    """

    name: str
    labels: Rows
    order: Rows = field(init=False)
    starts: Rows = field(init=False)

    def __post_init__(self) -> None:
        order = np.argsort(self.labels, kind="stable")
        starts = np.searchsorted(self.labels[order], np.arange(self.labels.max() + 1))
        for name, array in (("labels", self.labels), ("order", order), ("starts", starts)):
            object.__setattr__(self, name, readonly(array))

    @property
    def cells(self) -> int:
        return self.starts.size

    def gather(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Sums of (..., V) values over each cell: (..., cells)."""
        return np.add.reduceat(values[..., self.order], self.starts, axis=-1)


def head_sizes(vocabulary: int) -> tuple[int, ...]:
    """16, 64, 256, ... below V."""
    sizes, size = [], SMALLEST_HEAD
    while size < vocabulary - 1:  # a rest of one token is the full alphabet
        sizes.append(size)
        size *= 4
    return tuple(sizes)


def head_and_rest(p: Probs, head: int) -> Rows:
    """The `head` likeliest tokens stand alone, all others share the last cell."""
    labels = np.full(p.size, head, dtype=np.intp)
    labels[np.argsort(-p, kind="stable")[:head]] = np.arange(head)
    return labels


def ratio_bins(p: npt.ArrayLike, q: npt.ArrayLike | None, bins: int) -> Rows:
    """Cells of about equal target mass in decreasing order of q/p; equal ratios stay together.

    Without q the order is decreasing p. Tokens that cannot be drawn join the last cell.
    """
    target = checked_law(p)
    order = ratio_order(target, q)
    mass = order.gather(target)
    middle = np.cumsum(mass) - mass / 2
    of_rank = np.minimum(np.floor(bins * middle), bins - 1).astype(np.intp)
    _, of_rank = np.unique(of_rank, return_inverse=True)
    return np.where(order.ranks >= 0, of_rank[order.ranks], of_rank.max())


def canonical(labels: Rows) -> bytes:
    """Equal for two partitions with the same cells, however these are numbered."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].tobytes()


def distinct(candidates: list[Coarsening], possible: Rows) -> tuple[Coarsening, ...]:
    """One of each partition of the tokens that can be drawn."""
    seen: dict[bytes, Coarsening] = {}
    for candidate in candidates:
        if candidate.cells > 1:
            seen.setdefault(canonical(candidate.labels[possible]), candidate)
    return tuple(seen.values())


def coarse_grainings(p: npt.ArrayLike, q: npt.ArrayLike | None = None) -> tuple[Coarsening, ...]:
    """The full alphabet, its heads and its ratio bins; repeated and trivial ones left out."""
    target = checked_law(p)
    heads = [
        Coarsening(f"top {size} tokens and the rest", head_and_rest(target, size))
        for size in head_sizes(int(np.count_nonzero(target)))
    ]
    kind = "probability" if q is None else "ratio"
    bins = [
        Coarsening(f"{count} {kind} bins", ratio_bins(target, q, count)) for count in BIN_COUNTS
    ]
    full = Coarsening("full alphabet", np.arange(target.size, dtype=np.intp))
    return distinct([full, *heads, *bins], np.flatnonzero(target))
