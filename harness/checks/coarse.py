"""Coarse-grainings of an alphabet, fixed by the laws p and q before any draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Probs, Rows, readonly
from harness.checks.observed import checked_law
from harness.checks.order import CellOrder, ratio_order

__all__ = ["BIN_COUNTS", "Coarsening", "coarse_grainings", "head_sizes", "ratio_bins"]

BIN_COUNTS = (2, 8, 32, 128)
SMALLEST_HEAD = 16


def narrow(labels: Rows) -> npt.NDArray[np.integer[Any]]:
    """The same numbers in 16 bits where they fit: these are sorted by radix, ten times as fast."""
    return labels.astype(np.uint16) if labels.max() < 2**16 else labels


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
        order = np.argsort(narrow(self.labels), kind="stable")
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


def head_and_rest(ranked: Rows, head: int) -> Rows:
    """The first `head` tokens stand alone, all others share the last cell."""
    labels = np.full(ranked.size, head, dtype=np.intp)
    labels[ranked[:head]] = np.arange(head)
    return labels


def ratio_bins(p: npt.ArrayLike, q: npt.ArrayLike | None, bins: int) -> Rows:
    """Cells of about equal target mass in decreasing order of q/p; equal ratios stay together.

    Without q the order is decreasing p. Tokens that cannot be drawn join the last cell.
    """
    target = checked_law(p)
    return equal_bins(target, ratio_order(target, q), bins)


def equal_bins(target: Probs, order: CellOrder, bins: int) -> Rows:
    """Cells of about equal target mass in a given order."""
    mass = order.gather(target)
    middle = np.cumsum(mass) - mass / 2
    of_rank = np.minimum(np.floor(bins * middle), bins - 1).astype(np.intp)
    used = np.bincount(of_rank, minlength=bins) > 0
    of_rank = (np.cumsum(used) - 1)[of_rank]
    return np.where(order.ranks >= 0, of_rank[order.ranks], of_rank.max())


def canonical(labels: Rows) -> bytes:
    """Equal for two partitions with the same cells, however these are numbered: each token's cell,
    named by its first token.
    """
    first = np.full(int(labels.max()) + 1, labels.size, dtype=np.intp)
    np.minimum.at(first, labels, np.arange(labels.size))
    return first[labels].tobytes()


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
    ranked = np.argsort(-target, kind="stable")
    heads = [
        Coarsening(f"top {size} tokens and the rest", head_and_rest(ranked, size))
        for size in head_sizes(int(np.count_nonzero(target)))
    ]
    kind, order = "probability" if q is None else "ratio", ratio_order(target, q)
    bins = [
        Coarsening(f"{count} {kind} bins", equal_bins(target, order, count)) for count in BIN_COUNTS
    ]
    full = Coarsening("full alphabet", np.arange(target.size, dtype=np.intp))
    return distinct([full, *heads, *bins], np.flatnonzero(target))
