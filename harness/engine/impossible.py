"""A draw that must never happen, by its place in the run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Offender"]


@dataclass(frozen=True, slots=True)
class Offender:
    """The first trial, counted from 1, that fell into a cell of probability zero."""

    trial: int
    cell: int
    label: str

    def __str__(self) -> str:
        return f"{self.label} in trial {self.trial:,}"
