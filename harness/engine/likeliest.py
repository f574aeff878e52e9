"""Which known fault would have drawn what was seen."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from harness.arrays import Counts, Probs
from harness.engine.exact import exact_single
from harness.engine.result import ScenarioResult
from harness.laws.tables import one_context
from harness.rules import RULES

__all__ = ["fault_laws", "likeliest_faults"]

SIGMAS = 6.0  # of chi-square about its mean: further off, the fault does not fit either
TOLD_APART = 2 * math.log(1_000)  # in G, twice the logarithm of the likelihood ratio


def likeliest_faults(scenario: ScenarioResult) -> tuple[str, ...]:
    """Names of the faulty rules whose laws of the first token fit the counts, best first.

    With the best come all that are less than a thousand times less likely: the counts do not tell
    them apart. Empty where none fits, where the target fits as well, and where nothing was shown.
    """
    output = scenario.observable("output")
    if output is None or not output.trials:
        return ()
    misfits = {
        name: _misfit(output.counts, law)
        for name, law in fault_laws(scenario.p, scenario.q).items()
    }
    freedom = max(1, len(output.counts) - 1)
    best = min(misfits.values(), default=math.inf)
    most = min(freedom + SIGMAS * math.sqrt(2 * freedom), best + TOLD_APART)
    promised = _misfit(output.counts, output.target)
    fit = [name for name, misfit in misfits.items() if misfit <= most and misfit < promised]
    return tuple(sorted(fit, key=misfits.__getitem__))


def fault_laws(p: Probs, q: Probs) -> Mapping[str, Probs]:
    """Law (V,) of the first token under each rule that is not lossless, where it has one."""
    laws = one_context(p, q)
    faults = (name for name in RULES if RULES[name].discrete and not RULES[name].lossless)
    steps = {name: exact_single(RULES[name], laws) for name in faults}
    return {name: step.output for name, step in steps.items() if step is not None}


def _misfit(counts: Counts, law: Probs) -> float:
    """The G statistic of `counts` against `law`; infinite where something impossible was seen."""
    seen = counts > 0
    if (law[seen] <= 0.0).any():
        return math.inf
    expected = counts.sum() * law[seen]
    return float(2.0 * (counts[seen] * np.log(counts[seen] / expected)).sum())
