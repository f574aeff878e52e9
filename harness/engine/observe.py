"""What an observable is: one multinomial that the trials are reduced to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.arrays import Counts, Probs, readonly

__all__ = ["Kind", "Observable"]

CountsOf = Callable[[Mapping[str, Counts]], Counts]


class Kind(Enum):
    """What may be said of an observable."""

    LAW = "law"  # a law over tokens or sequences, with a bound on its distance from the promise
    RATE = "rate"  # two cells: something happened or it did not
    PAIRS = "pairs"  # neighbouring draws: dependence may be shown, independence not proved


@dataclass(frozen=True, slots=True)
class Observable:
    """One multinomial that the trials are reduced to.

    `target` (cells,) is the promised law, hard zeros as exact zeros; `exact` the law of the rule
    under test, None where it is not known; `draft` a law that orders the cells, for KS and for
    ratio bins. `counts` reads the tally. `label` names a cell by its number; where cells are
    sequences, `words` are what they are made of, the first one leading. What is `derived` from
    another observable is told with its bound and its e-value, without tests of its own.
    """

    name: str
    judged: bool
    target: Probs
    counts: CountsOf
    label: Callable[[int], str]
    exact: Probs | None = None
    draft: Probs | None = None
    faults: Mapping[str, Probs] = field(default_factory=dict)
    kind: Kind = Kind.LAW
    words: tuple[str, ...] = ()
    derived: bool = False

    def __post_init__(self) -> None:
        for name in ("target", "exact", "draft"):
            if (law := getattr(self, name)) is not None:
                object.__setattr__(self, name, readonly(law))
