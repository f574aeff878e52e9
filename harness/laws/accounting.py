"""The accounting of one step: what is accepted, what is rejected, what replaces it.

Leviathan, Kalman and Matias (2023), section 2.3 and appendix A.1; Chen et al. (2023), theorem 1.
Every function works on float64 and on Fractions (object arrays), vocabulary last.
"""

from __future__ import annotations

import numpy as np

from harness.arrays import Exact

__all__ = [
    "acceptance",
    "accepted_mass",
    "normalised",
    "overlap",
    "positive_part",
    "residual",
    "total_variation",
]


def accepted_mass(p: Exact, q: Exact) -> Exact:
    """Probability that x is drafted and kept: min(p, q)."""
    return np.minimum(p, q)


def overlap(p: Exact, q: Exact) -> Exact:
    """Probability that a token drafted from q is accepted: sum of min(p, q) = 1 - TV(p, q)."""
    return accepted_mass(p, q).sum(axis=-1)


def total_variation(p: Exact, q: Exact) -> Exact:
    """Largest difference that p and q give any set of tokens: half the sum of |p - q|."""
    return abs(p - q).sum(axis=-1) / 2


def acceptance(p: Exact, q: Exact) -> Exact:
    """Probability min(1, p/q) of keeping a drafted token; 1 where q is 0 (never drafted)."""
    certain = p >= q
    return np.where(certain, p * 0 + 1, p / np.where(certain, q * 0 + 1, q))


def positive_part(p: Exact, q: Exact) -> Exact:
    """Mass (p - q)+ that accepted drafts leave to the replacement token."""
    return np.maximum(p - q, p * 0)


def residual(p: Exact, q: Exact) -> Exact:
    """Law of the replacement token after a rejection: (p - q)+ renormalised.

    Where p equals q no rejection can happen; p itself is returned there, so that the result is a
    probability law everywhere.
    """
    return normalised(positive_part(p, q), otherwise=p)


def normalised(mass: Exact, otherwise: Exact) -> Exact:
    """Mass scaled to sum to one along the last axis; the row of `otherwise` where all is zero."""
    total = mass.sum(axis=-1, keepdims=True)
    empty = total == 0
    return np.where(empty, otherwise, mass / np.where(empty, total + 1, total))
