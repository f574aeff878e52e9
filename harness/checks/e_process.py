"""Evidence of bias that may be looked at any time: E = .4 multi-resolution + .2 cell + .4 directed.

Each part is a mixture of test martingales under the promised law, so P(E ever reaches 1/alpha) is
at most alpha (Ville 1939), for every vocabulary and any number of looks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from harness.arrays import Counts, Floats, Probs, Rows, readonly
from harness.checks.coarse import Coarsening, coarse_grainings, head_sizes
from harness.checks.directed import Direction, directions
from harness.checks.dirichlet import cell_terms, log_dirichlet_ratio, log_mean_exp, total_terms
from harness.checks.observed import checked_counts, checked_law, impossible

__all__ = ["KAPPAS", "WEIGHTS", "EProcess", "LogE", "mixed"]

KAPPAS = tuple(10.0**power for power in range(1, 9))
WEIGHTS = {"multi_resolution": 0.4, "cell": 0.2, "directed": 0.4}


@dataclass(frozen=True, slots=True)
class LogE:
    """Natural logarithms of the e-process and of its parts; numbers, or one for each count vector.

    `directions` holds the part of every single bet by name: which fault fits best.
    """

    total: Floats
    multi_resolution: Floats
    cell: Floats
    directed: Floats
    directions: Mapping[str, Floats]


def mixed(parts: Mapping[str, Floats]) -> Floats:
    """Logarithm of the weighted mean of the parts, weights as declared; absent parts left out."""
    mean = sum(WEIGHTS[name] for name in parts) / len(parts)
    logs = [value + math.log(WEIGHTS[name] / mean) for name, value in parts.items()]
    return log_mean_exp(np.stack(logs), axis=0)


def rest_of_each(law: Probs) -> Probs:
    """1 - p_i, exact to rounding also where one token holds nearly all mass."""
    rest = 1.0 - law
    top = int(np.argmax(law))
    rest[top] = math.fsum(np.delete(law, top).tolist())
    return rest


@dataclass(frozen=True, slots=True)
class EProcess:
    """The e-process of one observable: everything that depends on the laws, computed once.

    `ranked` lists the tokens of positive probability by decreasing probability, `law` theirs.
    """

    promised: Probs
    ranked: Rows
    law: Probs
    rest: Probs
    heads: tuple[int, ...]
    bins: tuple[Coarsening, ...]
    bets: tuple[Direction, ...]
    kappas: tuple[float, ...] = KAPPAS

    @classmethod
    def of(
        cls,
        p: npt.ArrayLike,
        q: npt.ArrayLike | None = None,
        faults: Mapping[str, npt.ArrayLike] | None = None,
        *,
        uniform: bool = True,
        kappas: tuple[float, ...] = KAPPAS,
        parts: tuple[Coarsening, ...] | None = None,
    ) -> Self:
        """For a target law, a draft law, and the exact laws of known faults by name.

        `parts` are the coarse-grainings of p and q, where these have been worked out already.
        """
        target = checked_law(p)
        possible = np.flatnonzero(target)
        ranked = possible[np.argsort(-target[possible], kind="stable")]
        laws = {**({} if q is None else {"draft": q}), **(faults or {})}
        bets = directions(target, laws, uniform=uniform)
        law = target[ranked]
        parts = coarse_grainings(target, q) if parts is None else parts
        bins = tuple(part for part in parts if "bins" in part.name)
        return cls(
            target,
            readonly(ranked),
            readonly(law),
            readonly(rest_of_each(law)),
            (*head_sizes(law.size), law.size),
            bins if law.size > 1 else (),
            bets if law.size > 1 else (),
            kappas,
        )

    def log_e(self, counts: npt.ArrayLike) -> LogE:
        """Evidence of counts (..., V); infinite where a token of probability zero was drawn."""
        observed = checked_counts(counts, self.promised.size)
        offended = impossible(observed, self.promised).any(axis=-1)
        possible = np.where(self.promised > 0.0, observed, 0)
        multi_resolution, cell = self.resolutions(possible)
        by_name = {bet.name: bet.log_e(possible[..., self.promised > 0]) for bet in self.bets}
        parts = {"multi_resolution": multi_resolution, "cell": cell}
        if by_name:
            parts["directed"] = log_mean_exp(np.stack(list(by_name.values())), axis=0)
        total = np.where(offended, np.inf, mixed(parts))
        return LogE(total, multi_resolution, cell, parts.get("directed", 0.0 * cell), by_name)

    def resolutions(self, counts: Counts) -> tuple[Floats, Floats]:
        """The multi-resolution and the cell part: both are sums over the same cells."""
        if self.law.size == 1:
            return np.zeros(counts.shape[:-1]), np.zeros(counts.shape[:-1])
        ranked = counts[..., self.ranked]
        by_kappa = [self._at(kappa, ranked) for kappa in self.kappas]
        coarse = [
            log_dirichlet_ratio(part.gather(counts), part.gather(self.promised), self.kappas)
            for part in self.bins
        ]
        levels = np.concatenate([np.concatenate([h for h, _ in by_kappa], axis=-1), *coarse], -1)
        return log_mean_exp(levels), log_mean_exp(np.stack([c for _, c in by_kappa], axis=-1))

    def _at(self, kappa: float, ranked: Counts) -> tuple[Floats, Floats]:
        """Log of E_kappa of every head (..., heads), and of the average over single cells (...)."""
        n = ranked.sum(axis=-1)[..., None]
        terms, completion = cell_terms(ranked, self.law, n, kappa), total_terms(n, kappa)
        others = cell_terms(n - ranked, self.rest, n, kappa)
        return (
            self._heads(kappa, ranked, terms) + completion,
            log_mean_exp(terms + others + completion),
        )

    def _heads(self, kappa: float, ranked: Counts, terms: Floats) -> Floats:
        """Sums of the cell terms over each head and its rest: (..., heads)."""
        starts = (0, *self.heads[:-1])
        within = np.cumsum(np.add.reduceat(terms, starts, axis=-1), axis=-1)
        if len(self.heads) == 1:
            return within
        mass = np.add.reduceat(self.law, starts)[1:]
        drawn = np.add.reduceat(ranked, starts, axis=-1)[..., 1:]
        rest_mass = np.cumsum(mass[::-1])[::-1]
        rest_drawn = np.cumsum(drawn[..., ::-1], axis=-1)[..., ::-1]
        n = ranked.sum(axis=-1)[..., None]
        within[..., :-1] += cell_terms(rest_drawn, rest_mass, n, kappa)
        return within
