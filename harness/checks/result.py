"""What a check reports: evidence, never a decision."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.errors import BadLaw

__all__ = ["CheckResult"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One test of one tally.

    `p_value` is the one that decides: P(p_value <= a) <= a under the promised law, for every
    a and every number of trials. `approximate_p` is the textbook large-sample value beside it,
    for the reader only. A p-value that is not a number in [0, 1] is refused: NaN compares false
    with everything and would pass for agreement.
    """

    check: str
    statistic: float
    p_value: float
    detail: str = ""
    approximate_p: float | None = None

    def __post_init__(self) -> None:
        given = (
            (self.p_value,) if self.approximate_p is None else (self.p_value, self.approximate_p)
        )
        if math.isnan(self.statistic) or not all(0.0 <= p <= 1.0 for p in given):
            raise BadLaw(f"{self.check}: statistic {self.statistic}, p-value {self.p_value}")
