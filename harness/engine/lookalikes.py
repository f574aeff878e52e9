"""Rules without an exact law that would show what a run saw, found by drawing from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import stats

from harness.arrays import Counts
from harness.engine.draw import ChunkTask
from harness.engine.observation import Geometry, observation
from harness.engine.plan import CHUNK_TRIALS, Chunk
from harness.engine.result import ObservableResult, ScenarioResult
from harness.errors import BadSetting
from harness.laws.tables import one_context
from harness.protocols import Rule
from harness.rules import RULES
from harness.samplers.rule import RuleSampler
from harness.scenario.model import Scenario

__all__ = ["homogeneity_p", "lookalikes"]

LEVEL = 1e-6  # p-value at which two sets of counts are from two laws
MOST_TOKENS = 64  # of a vocabulary: shared noise takes a number a token and a trial
LEAST = 40  # draws of a cell in both sets together; rarer ones are lumped


def lookalikes(
    names: Sequence[str],
    asked: Scenario | None,
    scenario: ScenarioResult,
    seen: Sequence[ObservableResult],
) -> tuple[str, ...]:
    """Those of the rules `names` whose draws cannot be told from what was `seen`.

    At most 2**20 trials of each are drawn, and none where V is above 64; the p-value is the
    large-sample one, for a hint and not for a verdict.
    """
    if len(scenario.tokens) > MOST_TOKENS:
        return ()
    laws = asked.laws if asked else one_context(scenario.p, scenario.q)
    honest = replace(laws, p=laws.target, proposal=laws.q)
    lengths = scenario.draft_length, scenario.horizon
    geometry = Geometry(honest, scenario.tokens, *lengths, shows_trace=True)
    trials = min(CHUNK_TRIALS, max(1, scenario.trials))
    drawn = ((name, _counts(RULES[name], geometry, trials)) for name in names)
    return tuple(name for name, counts in drawn if _alike(counts, seen))


def _counts(rule: Rule, asked: Geometry, trials: int) -> Mapping[str, Counts]:
    """Counts by observable of so many trials of a rule; none where it refuses."""
    shape = asked.laws, asked.draft_length, asked.horizon
    try:
        observables, empty = observation(asked, None, frozenset())
        sampler = RuleSampler(rule.prepare, *shape)
        tallied = ChunkTask(sampler, empty, 0, f"explain {rule.about}")(Chunk(0, trials)).counts()
    except BadSetting:
        return {}
    return {observable.name: observable.counts(tallied) for observable in observables}


def _alike(drawn: Mapping[str, Counts], seen: Sequence[ObservableResult]) -> bool:
    p_values = list(_p_values(drawn, seen))
    return bool(p_values) and len(p_values) * min(p_values) > LEVEL


def _p_values(drawn: Mapping[str, Counts], seen: Sequence[ObservableResult]) -> Iterator[float]:
    for observable in seen:
        counts = drawn.get(observable.observable)
        if counts is not None and len(counts) == len(observable.counts) and counts.sum():
            yield homogeneity_p(observable.counts, counts)


def homogeneity_p(one: Counts, other: Counts) -> float:
    """Large-sample p-value of the G test that two sets of counts are of one law."""
    together = one + other
    often = together >= LEAST
    rows = np.stack([np.append(c[often], c[~often].sum()) for c in (one, other)])
    table = rows[:, rows.sum(axis=0) > 0]
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return 1.0
    return float(stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue)
