"""The checks checked: true sizes by enumeration, means of e-values, and brute force."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from harness.arrays import Counts, Floats, Probs
from harness.checks.cells import binomial_p
from harness.checks.chi_square import g_statistic, pearson_statistic
from harness.checks.e_process import EProcess
from harness.checks.exact import exact_p_values, log_pmf, outcomes
from harness.checks.ks import ks_exact_p
from harness.checks.multiplicity import e_to_p
from harness.checks.observed import checked_law
from harness.checks.order import CellOrder, ratio_order
from harness.errors import BadSetting

__all__ = [
    "BruteForce",
    "brute_force",
    "martingale_means",
    "p_values_of_outcomes",
    "poisson_ceiling",
    "poisson_floor",
    "sizes",
]

DRAWS_AT_ONCE = 1_000_000  # multinomials of three cells in 24 MB
AT_ONCE = 5_000  # count vectors whose intermediate arrays stay in the cache


def ks_of_outcomes(every: Counts, p: Probs, n: int, order: CellOrder) -> Floats:
    """Exact KS p-values of all outcomes; equal distances are computed once."""
    cells = np.stack([order.gather(row) for row in np.eye(p.size)], axis=0)
    law = order.gather(p)
    paths = np.cumsum((every @ cells) / n - law, axis=1)[:, :-1]
    distances = np.round(np.abs(paths).max(axis=1, initial=0.0), 12)
    levels, where = np.unique(distances, return_inverse=True)
    return np.array([ks_exact_p(law, n, float(level)) for level in levels])[where]


def totals(process: EProcess, every: Counts) -> Floats:
    """Log of E for many count vectors, a slice that fits the cache at a time."""
    slices = range(0, len(every), AT_ONCE)
    return np.concatenate([process.log_e(every[at : at + AT_ONCE]).total for at in slices])


def p_values_of_outcomes(
    p: npt.ArrayLike, q: npt.ArrayLike, n: int
) -> tuple[Counts, dict[str, Floats]]:
    """Every count vector of n draws from a positive law, and its p-value under each check."""
    law = checked_law(p)
    every = outcomes(n, law.size)
    cells = law.size * binomial_p(every, n, law).min(axis=1)
    return every, {
        "g-test": exact_p_values(every, law, g_statistic),
        "pearson": exact_p_values(every, law, pearson_statistic),
        "cells": np.minimum(1.0, cells),
        "ks": ks_of_outcomes(every, law, n, ratio_order(law, q)),
        "e-process": e_to_p(totals(EProcess.of(law, q), every)),
    }


def sizes(p: npt.ArrayLike, q: npt.ArrayLike, n: int, alpha: float) -> dict[str, float]:
    """P(p-value <= alpha) under p for each check, by enumeration: at most alpha."""
    every, tables = p_values_of_outcomes(p, q, n)
    mass = np.exp(log_pmf(every, checked_law(p)))
    return {name: float(mass[values <= alpha].sum()) for name, values in tables.items()}


def martingale_means(process: EProcess, n: int) -> dict[str, float]:
    """Sum of P(N) E(N) over all outcomes of n draws, for each part: one (or less, off support)."""
    every = outcomes(n, process.promised.size)
    log_mass, logs = log_pmf(every, process.promised), process.log_e(every)
    parts = {
        "total": logs.total,
        "multi-resolution": logs.multi_resolution,
        "cell": logs.cell,
        "directed": logs.directed,
    }
    return {name: float(np.exp(log_mass + part).sum()) for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class BruteForce:
    """Rejections of one check in simulated runs of a correct sampler, and what is expected."""

    check: str
    runs: int
    expected: float
    rejected: int


def brute_force(
    p: npt.ArrayLike,
    q: npt.ArrayLike,
    n: int,
    rng: np.random.Generator,
    *,
    alpha: float,
    runs: int,
) -> tuple[BruteForce, ...]:
    """Draws null multinomials of three cells and looks each up in the tables of p-values."""
    law = checked_law(p)
    if law.size != 3:
        raise BadSetting("brute force looks outcomes up by two counts: three cells")
    every, tables = p_values_of_outcomes(law, q, n)
    rejected = np.zeros((n + 1, n + 1, len(tables)), dtype=bool)
    rejected[every[:, 0], every[:, 1]] = np.stack(list(tables.values()), axis=1) <= alpha
    seen = np.zeros(len(tables), dtype=np.int64)
    for start in range(0, runs, DRAWS_AT_ONCE):
        drawn = rng.multinomial(n, law, size=min(DRAWS_AT_ONCE, runs - start))
        seen += rejected[drawn[:, 0], drawn[:, 1]].sum(axis=0)
    mass = np.exp(log_pmf(every, law))
    expected = [float(mass[values <= alpha].sum()) for values in tables.values()]
    return tuple(
        BruteForce(name, runs, runs * size, int(count))
        for name, size, count in zip(tables, expected, seen, strict=True)
    )


def poisson_ceiling(expected: float, flake: float = 1e-6) -> int:
    """Most rejections to accept where so many are expected: 151 of 100 at one in a million."""
    return int(stats.poisson.isf(flake, expected))


def poisson_floor(expected: float, flake: float = 1e-6) -> int:
    """Fewest rejections to accept of an exact test: 56 of 100 at one in a million."""
    return int(stats.poisson.ppf(flake, expected))
