"""Rules that are lossy on purpose: they trade the target law for acceptance."""

from __future__ import annotations

import numpy as np

from harness.arrays import Exact
from harness.laws.accounting import acceptance, residual
from harness.laws.tables import LawTables

__all__ = ["ensemble_ratio", "ensemble_residual", "lenient_ratio", "typical"]

TYPICAL_EPSILON, TYPICAL_DELTA = 0.3, 0.09  # Medusa's defaults


def lenient_ratio(laws: LawTables) -> Exact:
    """min(1, p / (l q)) with l = 1/2: lenience, Leviathan et al. (2023), appendix A.5."""
    return acceptance(laws.p * 2, laws.q)


def typical(laws: LawTables) -> Exact:
    """Keep x where p(x) > min(epsilon, delta exp(-entropy)); Cai et al. (2024), section 2.3.1."""
    p = laws.p.astype(np.float64)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1, keepdims=True)
    likely = p > np.minimum(TYPICAL_EPSILON, TYPICAL_DELTA * np.exp(-entropy))
    return np.where(likely, laws.p * 0 + 1, laws.p * 0)


def ensemble_ratio(laws: LawTables) -> Exact:
    """min(1, m/q) for the even mixture m = (p + q) / 2."""
    return acceptance(_mixture(laws), laws.q)


def ensemble_residual(laws: LawTables) -> Exact:
    """(m - q)+ renormalised."""
    return residual(_mixture(laws), laws.q)


def _mixture(laws: LawTables) -> Exact:
    return (laws.p + laws.q) / 2
