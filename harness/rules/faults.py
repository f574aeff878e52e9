"""Known faults of the token rule: each says only where it departs from the exact rule.

The mechanisms and where they were seen are in the table of `harness.rules`.
"""

from __future__ import annotations

import numpy as np

from harness.arrays import Exact
from harness.laws.accounting import acceptance, normalised, residual
from harness.laws.tables import LawTables

__all__ = [
    "absolute_residual",
    "always",
    "inverted_ratio",
    "most_likely",
    "most_likely_draft",
    "most_likely_residual",
    "most_likely_target",
    "never",
]


def always(laws: LawTables) -> Exact:
    """Every drafted token is kept."""
    return laws.p * 0 + 1


def never(laws: LawTables) -> Exact:
    """No drafted token is kept."""
    return laws.p * 0


def inverted_ratio(laws: LawTables) -> Exact:
    """min(1, q/p) in place of min(1, p/q)."""
    return acceptance(laws.q, laws.p)


def absolute_residual(laws: LawTables) -> Exact:
    """|p - q| renormalised: a token is replaced by one of which there was too much already."""
    return normalised(abs(laws.p - laws.q), otherwise=laws.p)


def most_likely(laws: Exact) -> Exact:
    """All mass on the first of the likeliest tokens."""
    return np.where(
        np.arange(laws.shape[-1]) == laws.argmax(axis=-1)[:, None], laws * 0 + 1, laws * 0
    )


def most_likely_target(laws: LawTables) -> Exact:
    return most_likely(laws.p)


def most_likely_draft(laws: LawTables) -> Exact:
    return most_likely(laws.proposal)


def most_likely_residual(laws: LawTables) -> Exact:
    """The argmax of the residual in place of a draw from it."""
    return most_likely(residual(laws.p, laws.q))
