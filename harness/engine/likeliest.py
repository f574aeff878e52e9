"""Which known fault would have drawn what was seen."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from harness.arrays import Counts, Probs
from harness.engine.known_faults import fault_outputs
from harness.engine.result import ScenarioResult
from harness.laws.tables import one_context

__all__ = ["likeliest_faults"]

REFUTED = 1e-6  # tail of chi-square beyond which a fault does not fit either
TOLD_APART = 2 * math.log(1e6)  # in G: a likelihood ratio that the true law reaches once in 1e6


def likeliest_faults(scenario: ScenarioResult) -> tuple[str, ...]:
    """Names of the faulty rules whose laws of the first token fit the counts, best first.

    With the best come all that are less than a million times less likely: the counts do not tell
    them apart. Empty where none fits, where the target fits as well, and where nothing was shown.
    """
    output = scenario.observable("output")
    if output is None or not output.trials:
        return ()
    misfits = {
        name: _misfit(output.counts, law)
        for name, law in fault_outputs(one_context(scenario.p, scenario.q)).items()
    }
    freedom = max(1, len(output.counts) - 1)
    best = min(misfits.values(), default=math.inf)
    most = min(float(special.chdtri(freedom, REFUTED)), best + TOLD_APART)
    promised = _misfit(output.counts, output.target)
    fit = [name for name, misfit in misfits.items() if misfit <= most and misfit < promised]
    return tuple(sorted(fit, key=misfits.__getitem__))


def _misfit(counts: Counts, law: Probs) -> float:
    """The G statistic of `counts` against `law`; infinite where something impossible was seen."""
    seen = counts > 0
    if (law[seen] <= 0.0).any():
        return math.inf
    expected = counts.sum() * law[seen]
    return float(2.0 * (counts[seen] * np.log(counts[seen] / expected)).sum())
