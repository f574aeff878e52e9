"""What a scenario is observed by, and the tally that collects it: the two must agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Counts, Rows
from harness.checks import PitTable, pair_tallies
from harness.checks.coarse import ratio_bins
from harness.checks.dependence import AXES, LAGS
from harness.engine import observe_rounds as rounds
from harness.engine.exact import exact_joint, exact_kept_length, exact_single
from harness.engine.known_faults import joint_faults, output_faults
from harness.engine.observe import Kind, Observable
from harness.engine.observe_derived import acceptances, outputs
from harness.engine.observe_step import FULL_TRACE_UP_TO, single_position
from harness.errors import BadSetting
from harness.laws.joint import MOST_JOINT_CELLS, joint_size
from harness.laws.tables import LawTables
from harness.protocols import Rule, Tally
from harness.rules import RULES
from harness.tallies import (
    FactoredTrace,
    GroupedTally,
    JointTally,
    LengthTally,
    OutputTally,
    PairTally,
    PositionTally,
    Strata,
    Together,
    TraceTally,
)

__all__ = ["Geometry", "observation"]

Observed = tuple[tuple[Observable, ...], Tally]

MOST_STEP_CELLS = 20_000  # contexts * V * (V + 1) of a position; beyond it they are not told apart
GROUPS = 8, 4, 3, 2  # of equal target mass in order of q/p, where single tokens are too many


@dataclass(frozen=True, slots=True)
class Geometry:
    """The shape of a scenario's trials, and what its sampler shows of them."""

    laws: LawTables
    tokens: tuple[str, ...]
    draft_length: int
    horizon: int
    shows_trace: bool

    @property
    def sees_bonus(self) -> bool:
        return self.horizon > self.draft_length

    @property
    def fits_joint(self) -> bool:
        """Whether every sequence can be a cell of the joint law."""
        return self.laws.vocabulary**self.horizon <= MOST_JOINT_CELLS


def observation(
    geometry: Geometry, rule: Rule | None, judged: frozenset[str]
) -> tuple[tuple[Observable, ...], Tally]:
    """Observables of every prompt, and an empty tally for them.

    `judged` names those that count. Raises BadSetting for a joint law with too many cells.
    """
    starts = geometry.laws.contexts.starts.tolist()
    strata = [tuple(_of_prompt(geometry, rule, judged, start)) for start in starts]
    pairs = (_pairs(geometry),) if "dependence" in judged else ()
    tallies = [Together(tuple(tally for _, tally in stratum)) for stratum in strata]
    observables = [[o for found, _ in stratum for o in found] for stratum in strata]
    whole: Tally = tallies[0]
    if len(starts) > 1:
        observables = [[_for(o, j) for o in found] for j, found in enumerate(observables)]
        whole = Strata(tuple(tallies))
    together = Together((whole, *(tally for _, tally in pairs)))
    flat = [o for found in observables for o in found] + [o for found, _ in pairs for o in found]
    return tuple(flat), together


def _for(observable: Observable, prompt: int) -> Observable:
    """The observable of one prompt among several."""
    start = f"{prompt}/"

    def counts(tallied: Mapping[str, Counts]) -> Counts:
        return observable.counts(
            {n.removeprefix(start): c for n, c in tallied.items() if n.startswith(start)}
        )

    return replace(observable, name=f"{observable.name} [prompt {prompt + 1}]", counts=counts)


def _of_prompt(
    geometry: Geometry, rule: Rule | None, judged: frozenset[str], start: int
) -> Iterator[Observed]:
    yield _first_position(geometry, rule, judged, start)
    if geometry.horizon > 1 and ("joint" in judged or geometry.fits_joint):
        yield _joint(geometry, rule, judged, start)
    if geometry.shows_trace and geometry.draft_length > 1:
        yield _length(geometry, rule, judged, start)
        yield from _later_positions(geometry, judged, start)


def _first_position(
    geometry: Geometry, rule: Rule | None, judged: frozenset[str], start: int
) -> Observed:
    laws, vocabulary = geometry.laws, geometry.laws.vocabulary
    step = (
        exact_single(rule, laws, draft_length=geometry.draft_length, context=start)
        if rule
        else None
    )
    observables = single_position(
        laws, geometry.tokens, step, judged, start=start, shows_trace=geometry.shows_trace
    )
    faults = output_faults(laws, start)
    betting = tuple(replace(o, faults=faults) if o.name == "output" else o for o in observables)
    if not geometry.shows_trace:
        return betting, OutputTally.empty(vocabulary)
    tally = TraceTally if vocabulary <= FULL_TRACE_UP_TO else FactoredTrace
    return betting, tally.empty(vocabulary)


def _joint(geometry: Geometry, rule: Rule | None, judged: frozenset[str], start: int) -> Observed:
    """Every sequence a cell where they are not too many; else groups of tokens, where contexts
    are positions.
    """
    laws, horizon, counts = geometry.laws, geometry.horizon, "joint" in judged
    if not geometry.fits_joint and laws.contexts.positional:
        return _grouped(geometry, start, counts)
    joint_size(laws.vocabulary, horizon)
    shape = {"draft_length": geometry.draft_length, "horizon": horizon, "start": start}
    observable = rounds.joint(
        laws,
        geometry.tokens,
        horizon,
        start=start,
        exact=exact_joint(rule, laws, **shape) if rule else None,
        faults=joint_faults(laws, **shape),
        judged=counts,
    )
    singly = outputs(observable, geometry.tokens, horizon)
    return (observable, *singly), JointTally.empty(laws.vocabulary, horizon, laws.contexts.end)


def _grouped(geometry: Geometry, start: int, judged: bool) -> Observed:
    contexts = [start]
    for _ in range(geometry.horizon - 1):
        contexts.append(int(geometry.laws.contexts.successor[contexts[-1], 0]))
    groups = np.stack([_groups(geometry.laws, context, geometry.horizon) for context in contexts])
    observable = rounds.grouped_joint(geometry.laws, groups, np.array(contexts), judged=judged)
    return (observable,), GroupedTally.empty(groups)


def _groups(laws: LawTables, context: int, horizon: int) -> Rows:
    """Group of every token: bins of equal target mass by q/p, as many as the joint law can hold.

    Tokens that can not be drawn are a group of their own where there is room for one.
    """
    p, q = (law[context].astype(np.float64) for law in (laws.target, laws.q))
    groups = max((b for b in GROUPS if b**horizon <= MOST_JOINT_CELLS), default=1)
    labels = ratio_bins(p, q, groups)
    if (p == 0.0).any() and (labels.max() + 2) ** horizon <= MOST_JOINT_CELLS:
        return np.where(p > 0.0, labels, labels.max() + 1)
    return labels


def _length(geometry: Geometry, rule: Rule | None, judged: frozenset[str], start: int) -> Observed:
    laws, k = geometry.laws, geometry.draft_length
    honest = replace(laws, p=laws.target, proposal=laws.q)
    promised = exact_kept_length(RULES["speculative"], honest, draft_length=k, start=start)
    exact = exact_kept_length(rule, laws, draft_length=k, start=start) if rule else None
    if promised is None:
        return (), LengthTally.empty(k)
    lengths = rounds.committed_length(promised, exact, judged="committed_length" in judged)
    return (lengths, *acceptances(lengths)), LengthTally.empty(k)


def _later_positions(geometry: Geometry, judged: frozenset[str], start: int) -> Iterator[Observed]:
    """Steps after the first and the bonus, where contexts and tokens are few and nothing ends."""
    laws, k = geometry.laws, geometry.draft_length
    cells = len(laws.contexts) * laws.vocabulary * (laws.vocabulary + 1)
    if laws.contexts.end is not None or cells > MOST_STEP_CELLS:
        return
    judging = "trace" in judged
    for position in range(1, min(k, geometry.horizon)):
        if not rounds.is_reached(position, laws, start):
            return  # greedy p and q that disagree keep nothing
        step = rounds.step_at(position, laws, geometry.tokens, start=start, judged=judging)
        yield (step,), PositionTally.empty(position, laws.contexts, start, k)
    if geometry.sees_bonus and rounds.is_reached(k, laws, start):
        last = rounds.bonus(k, laws, geometry.tokens, start=start, judged=judging)
        yield (last,), PositionTally.empty(k, laws.contexts, start, k)


def _pairs(geometry: Geometry) -> Observed:
    """Dependence of neighbouring draws, across trials and positions.

    Raises BadSetting where trials may end early: a pair left out would bias the others.
    """
    laws = geometry.laws
    if laws.contexts.end is not None:
        raise BadSetting("dependence is observed of trials of one length; drop the end token")
    table = PitTable.of(laws.target.astype(np.float64), laws.q.astype(np.float64))
    names = [f"pairs across {axis}, lag {lag}" for axis in AXES for lag in LAGS]
    cells = np.full((len(names), 64), 1.0 / (64 * len(names)))
    observable = Observable(
        "dependence",
        judged=True,
        target=cells.ravel(),
        counts=lambda tallied: np.concatenate(
            [np.asarray(tallied.get(name, np.zeros(64, np.int64))) for name in names]
        ),
        label=lambda cell: f"{names[cell // 64]}, cell ({cell % 64 // 8}, {cell % 8})",
        kind=Kind.PAIRS,
    )
    return (observable,), PairTally({}, table.values, pair_tallies, laws.contexts)
