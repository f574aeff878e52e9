"""How many drafted tokens were kept: exact binomial and exact law of the committed length."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from harness.arrays import Probs
from harness.checks.cells import binomial_p
from harness.checks.result import CheckResult
from harness.errors import BadLaw, BadSetting

__all__ = ["acceptance_check", "clopper_pearson", "committed_length_law"]


def checked_rate(rate: float) -> float:
    if not 0.0 <= rate <= 1.0:
        raise BadLaw(f"an acceptance probability of {rate} is outside [0, 1]")
    return rate


def checked_hits(hits: int, n: int) -> None:
    if not 0 <= hits <= n:
        raise BadSetting(f"{hits} accepted of {n}")


def clopper_pearson(hits: int, n: int, delta: float) -> tuple[float, float]:
    """Exact two-sided confidence interval of a probability, at level 1 - delta."""
    checked_hits(hits, n)
    lower = float(stats.beta.ppf(delta / 2, hits, n - hits + 1)) if hits else 0.0
    upper = float(stats.beta.isf(delta / 2, hits + 1, n - hits)) if hits < n else 1.0
    return lower, upper


def acceptance_check(accepted: int, n: int, rate: float, *, delta: float = 1e-6) -> CheckResult:
    """Drafts kept out of n against their exact probability, two-sided by doubling.

    `rate` is the overlap sum min(p, q) where the rule is speculative. The detail states the
    exact interval of the true rate at level 1 - delta.
    """
    checked_rate(rate)
    checked_hits(accepted, n)
    lower, upper = clopper_pearson(accepted, n, delta)
    share = accepted / n if n else rate
    detail = f"{share:.6g} kept, {rate:.6g} promised, interval [{lower:.6g}, {upper:.6g}]"
    p_value = float(binomial_p(accepted, n, rate)) if n else 1.0
    return CheckResult("acceptance", share - rate, p_value, detail)


def committed_length_law(acceptance: npt.ArrayLike) -> Probs:
    """Law of the number of drafted tokens kept, (k + 1,), from (k,) acceptance probabilities.

    Position j is reached only when all before it were kept; one more token is committed than
    is kept.
    """
    rates = np.asarray(acceptance, dtype=np.float64)
    if rates.ndim != 1 or not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise BadLaw("acceptance probabilities are one row of numbers in [0, 1]")
    reached = np.concatenate([[1.0], np.cumprod(rates)])
    return reached * np.concatenate([1.0 - rates, [1.0]])
