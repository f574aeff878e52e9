"""One error budget over many tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import BadLaw, BadSetting

__all__ = ["benjamini_hochberg", "bonferroni", "e_to_p", "holm"]

Weights = npt.ArrayLike | None


def checked_p_values(p_values: npt.ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0.0) & (p <= 1.0)).all():
        raise BadLaw("p-values are one row of numbers in [0, 1]; NaN is not one")
    return p


def checked_weights(weights: Weights, tests: int) -> Floats:
    if weights is None:
        return np.full(tests, 1.0 / max(tests, 1))
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (tests,) or not np.isfinite(w).all() or (w <= 0).any():
        raise BadSetting(f"{tests} tests need as many positive weights")
    return w / w.sum()


def bonferroni(p_values: npt.ArrayLike, weights: Weights = None) -> Floats:
    """Adjusted p-values p_i / w_i, weights summing to one; equal weights unless given."""
    p = checked_p_values(p_values)
    return np.minimum(1.0, p / checked_weights(weights, p.size))


def holm(p_values: npt.ArrayLike, weights: Weights = None) -> Floats:
    """Holm's (1979) adjusted p-values, weighted: family-wise error under any dependence."""
    p = checked_p_values(p_values)
    w = checked_weights(weights, p.size)
    order = np.argsort(p / w, kind="stable")
    still_open = np.cumsum(w[order][::-1])[::-1]
    stepped = np.maximum.accumulate(np.minimum(1.0, (p / w)[order] * still_open))
    adjusted = np.empty_like(p)
    adjusted[order] = stepped
    return adjusted


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """Adjusted p-values for the false discovery rate: which tokens, which prefixes; no verdict."""
    p = checked_p_values(p_values)
    order = np.argsort(-p, kind="stable")
    ranks = np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, p[order] * p.size / ranks))
    return adjusted


def e_to_p(log_e: npt.ArrayLike) -> Floats:
    """min(1, 1/E) is a p-value, valid at any stopping time (Ville's inequality)."""
    log = np.asarray(log_e, dtype=np.float64)
    if np.isnan(log).any():
        raise BadLaw("an e-value is not a number")
    return np.exp(np.minimum(0.0, -log))
