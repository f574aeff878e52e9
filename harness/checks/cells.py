"""Every token on its own: exact binomial, corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from harness.arrays import Counts, Floats, Probs
from harness.checks.observed import checked_counts, checked_law, impossible
from harness.checks.result import CheckResult
from harness.checks.support import token_name

__all__ = ["binomial_p", "cell_p_values", "cells_check"]


def binomial_p(hits: Counts | int, n: Counts | int, rate: Probs | float) -> Floats:
    """Exact two-sided binomial p-value: twice the smaller tail, at most one."""
    upper = stats.binom.sf(hits - 1, n, rate)
    lower = stats.binom.cdf(hits, n, rate)
    return np.minimum(1.0, 2.0 * np.minimum(upper, lower))


def cell_p_values(counts: Counts, law: Probs) -> Floats:
    """Exact p-value of every token against the rest, uncorrected: (V,)."""
    return binomial_p(counts, counts.sum(axis=-1, keepdims=True), law)


def cells_check(
    counts: npt.ArrayLike, law: npt.ArrayLike, *, names: Sequence[str] | None = None
) -> CheckResult:
    """The most surprising token, Bonferroni over the tokens that can be drawn.

    The statistic is the observed share of that token less its probability.
    """
    p = checked_law(law)
    observed = checked_counts(counts, p.size)
    n = int(observed.sum())
    offending = np.flatnonzero(impossible(observed, p))
    each = cell_p_values(observed, p)
    worst = int(offending[0]) if offending.size else int(np.argmin(each))
    corrected = 0.0 if offending.size else min(1.0, float(np.count_nonzero(p) * each[worst]))
    share = observed[worst] / n if n else p[worst]
    detail = f"{token_name(worst, names)}: {share:.6g} drawn, {p[worst]:.6g} promised"
    return CheckResult("cells", float(share - p[worst]), corrected, detail)
