"""Draws that cannot happen: one of them is proof."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.checks.observed import checked_counts, checked_law, impossible
from harness.checks.result import CheckResult

__all__ = ["support_check", "token_name"]


def token_name(token: int, names: Sequence[str] | None) -> str:
    """How a report calls a token."""
    return f"token {token}" if names is None else str(names[token])


def support_check(
    counts: npt.ArrayLike,
    law: npt.ArrayLike,
    *,
    names: Sequence[str] | None = None,
    first_offender: str = "",
) -> CheckResult:
    """Hits on tokens of target probability zero: p-value 0 with one, 1 without.

    `first_offender` says where in the run the first such draw was seen, where that is known;
    otherwise the lowest offending token is named.
    """
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    offending = np.flatnonzero(impossible(observed, p))
    hits = float(observed[offending].sum())
    if not offending.size:
        return CheckResult("support", 0.0, 1.0, "no draw has target probability zero")
    token = token_name(int(offending[0]), names)
    told = first_offender or f"{token} was drawn {observed[offending[0]]} times"
    return CheckResult("support", hits, 0.0, f"{told}, target probability 0")
