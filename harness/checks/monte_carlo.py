"""Monte Carlo p-values that are valid at any level.

Plain simulation cannot answer at 1e-9: it would need 1e10 draws. Tilted simulation can. Counts are
drawn from a fixed mixture of laws that spread further than the promised one, and weighted by
the likelihood ratio w; the observed counts enter with their own weight (Harrison 2012):

    p = (w(N) + sum of w(Y_b) over the draws at least as extreme) / (B + 1).

Proof of P(p <= a) <= a, for every B >= 0: changing the law of N from the promised one to the
mixture multiplies by w, after which N and the draws are exchangeable; the weights of those among
B + 1 whose upper-tail weight is at most (B + 1) a sum to at most (B + 1) a. With B = 0 this is one
over the e-value of the mixture.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from harness.arrays import Counts, Floats, Probs
from harness.checks.dirichlet import log_dirichlet_ratio, log_mean_exp
from harness.checks.exact import Statistic, tail_of

__all__ = ["besag_clifford", "draws_affordable", "tilted_p"]

TAILS = (1e-1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-13, 1e-20)  # chi-square tails the mixture reaches into
CELL_BUDGET = 100_000  # simulated cells a test, about .1 s; beyond it the e-value remains
MOST_DRAWS = 4_000
FEWEST_DRAWS = 20  # fewer could not take the p-value below .05 by themselves


def draws_affordable(cells: int) -> int:
    """Simulated count vectors for a test on so many cells: fixed by their number alone."""
    affordable = min(MOST_DRAWS, CELL_BUDGET // cells)
    return affordable if affordable >= FEWEST_DRAWS else 0


def concentrations(n: int, cells: int) -> Floats:
    """Dirichlet concentrations that centre Pearson's statistic on given chi-square tails."""
    inflation = stats.chi2.isf(np.array(TAILS), cells - 1) / (cells - 1) - 1.0
    return n / np.maximum(inflation, 1e-3)


def log_weights(counts: Counts, law: Probs, kappas: Floats) -> Floats:
    """Logarithm of promised over mixture probability, (...,) for counts (..., k)."""
    ratios = log_dirichlet_ratio(counts, law, kappas)
    with_null = np.concatenate([ratios, np.zeros((*ratios.shape[:-1], 1))], axis=-1)
    return -log_mean_exp(with_null)


def tilted_draws(
    n: int, law: Probs, kappas: Floats, draws: int, rng: np.random.Generator
) -> Counts:
    """Count vectors from the mixture of the law itself and its Dirichlet spreads, (draws, k)."""
    component = rng.integers(kappas.size + 1, size=draws)
    spread = np.broadcast_to(law, (draws, law.size)).copy()
    for index, kappa in enumerate(kappas):
        chosen = component == index
        spread[chosen] = rng.dirichlet(np.maximum(kappa * law, 1e-300), size=chosen.sum())
    return rng.multinomial(n, spread)


def tilted_p(
    counts: Counts, law: Probs, statistic: Statistic, draws: int, rng: np.random.Generator
) -> float:
    """Valid p-value of a statistic at any level, from a few thousand tilted draws.

    `law` must be positive everywhere and have at least two cells.
    """
    n = int(counts.sum())
    kappas = concentrations(n, law.size)
    total = float(np.exp(log_weights(counts, law, kappas)))
    if draws:
        simulated = tilted_draws(n, law, kappas, draws, rng)
        extreme = tail_of(statistic(simulated, law), float(statistic(counts, law)))
        total += float(np.exp(log_weights(simulated[extreme], law, kappas)).sum())
    return min(1.0, total / (draws + 1))


def besag_clifford(
    observed: float,
    draw: Callable[[np.random.Generator], float],
    limit: int,
    rng: np.random.Generator,
    *,
    exceedances: int = 20,
) -> float:
    """Sequential Monte Carlo p-value (Besag and Clifford 1991): exact, and short under the null.

    Stops after l draws when so many were at least as extreme (p = h/l), or at `limit` draws with g
    of them (p = (g + 1)/(limit + 1)); never zero.
    """
    seen = 0
    for drawn in range(1, limit + 1):
        seen += bool(tail_of(np.array(draw(rng)), observed))
        if seen == exceedances:
            return exceedances / drawn
    return (seen + 1) / (limit + 1)
