"""A sampler against a second one: pairs drawn until they differ, or are proved to be close.

Every pair is a bet (Turner, Ly and Gruenwald 2024): the run may stop after any of them, and with
`stop_early` it stops at the very pair at which ln E passes its threshold; draws of the same chunk
that come after it are not looked at. A match is the bound of `two_sample_bound` within epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Self

import numpy as np

from harness.arrays import Counts, Floats
from harness.checks import Certificate, CheckResult, e_to_p, permutation_check, spent_per_look
from harness.checks.power import detectable_tv
from harness.checks.two_sample import BlockEValue
from harness.checks.two_sample_bound import certify_two_arms
from harness.engine.draw import in_order
from harness.engine.observe import Observable
from harness.engine.pairs import Pairs, PairTask, TwoArms, View
from harness.engine.plan import chunks_of, looks_of, marks_of
from harness.engine.result import Evidence, Verdict
from harness.engine.seen import Examined, Growth, Seen
from harness.engine.sequence import Levels
from harness.rng import stream
from harness.scenario.model import Suite

__all__ = ["PairsDrawn", "by_reference", "draw_pairs", "shares_of"]

PERMUTED = 2_000  # sequences of each arm that are permuted
PERMUTATIONS = 999
PERMUTATION_SHARE = 0.2  # of the level, where the smallest possible p-value is below it
MISSED = 0.01  # probability of missing what is called detectable


@dataclass(frozen=True, slots=True)
class Standing:
    """The evidence after some pairs, a state for each view."""

    views: tuple[View, ...]
    values: tuple[BlockEValue, ...]
    trials: int = 0

    @classmethod
    def empty(cls, views: tuple[View, ...]) -> Self:
        return cls(views, tuple(BlockEValue.empty(view.cells, view.prompts) for view in views))

    def after(self, pairs: Pairs) -> tuple[Self, Floats]:
        """With more pairs; and after each of them ln E of every view, (views, n)."""
        moved = [
            value.update(view.of(pairs.sampled), view.of(pairs.reference), pairs.prompts)
            for view, value in zip(self.views, self.values, strict=True)
        ]
        values = tuple(value for value, _ in moved)
        paths = np.stack([path for _, path in moved])
        return type(self)(self.views, values, self.trials + len(pairs)), paths

    def bounds(self, delta: float) -> list[Certificate]:
        return [
            certify_two_arms(value.of_a, value.of_b, delta, name=view.law or "full alphabet")
            for view, value in zip(self.views, self.values, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class PairsDrawn:
    """Pairs of a scenario: where the evidence stands, `delta` left for a bound, the first
    sequences of both arms, and whether those are as many as were declared.
    """

    standing: Standing
    delta: float
    first: Pairs
    complete: bool
    growth: Growth


def shares_of(suite_alpha: float, horizon: int) -> tuple[float, float]:
    """Parts of an observable's level for the e-value and for the permutation test, which has none
    where its smallest p-value, 1/(B + 1), could never decide.
    """
    decides = horizon > 1 and PERMUTATION_SHARE * suite_alpha * (PERMUTATIONS + 1) >= 1.0
    return (1.0 - PERMUTATION_SHARE, PERMUTATION_SHARE) if decides else (1.0, 0.0)


def by_reference(
    arms: TwoArms,
    suite: Suite,
    levels: Levels,
    executor: Executor,
    workers: int,
    progress: Callable[[int], None],
) -> Examined:
    """The sampler's trials held against the reference's."""
    drawn = draw_pairs(arms, suite.seed, levels, executor, workers, progress)
    return Examined(drawn.standing.trials, tuple(_seen(arms, drawn, suite)), drawn.growth)


def draw_pairs(
    arms: TwoArms,
    seed: int,
    levels: Levels,
    executor: Executor,
    workers: int,
    progress: Callable[[int], None],
) -> PairsDrawn:
    """Draws chunk by chunk; the result is the same for any number of workers."""
    scenario = arms.scenario
    looks = looks_of(scenario.trials, stop_early=scenario.stop_early)
    marks = marks_of(scenario.trials, stop_early=scenario.stop_early)
    run = _Run(arms, levels, spent_per_look(levels.delta, len(looks)))
    chunks = chain.from_iterable(chunks_of(marks))
    for _, pairs in in_order(PairTask(arms, seed), chunks, executor, workers):
        differs = run.took(pairs)
        progress(run.standing.trials)
        if differs or run.standing.trials in marks:
            bounds = run.looked()
            within = all(
                bound.bound <= scenario.epsilon
                for bound, view in zip(bounds, arms.views, strict=True)
                if view.judged
            )
            if differs or (run.standing.trials in looks[:-1] and arms.judged and within):
                break
    return run.drawn()


class _Run:
    """What a run remembers from chunk to chunk."""

    def __init__(self, arms: TwoArms, levels: Levels, delta: float) -> None:
        self.arms, self.delta = arms, delta
        share, _ = shares_of(levels.alpha, arms.scenario.horizon)
        self.threshold = math.log(levels.family / (share * levels.alpha))
        self.judged = np.array([view.judged for view in arms.views])
        self.standing = Standing.empty(arms.views)
        self.first: list[Pairs] = []
        self.growth: list[tuple[int, float, float, float]] = []

    def took(self, pairs: Pairs) -> bool:
        """Takes the pairs of a chunk; with `stop_early` no more than are needed to differ."""
        after, paths = self.standing.after(pairs)
        passed = (paths[self.judged] >= self.threshold).any(axis=0)
        differs = self.arms.scenario.stop_early and bool(passed.any())
        if differs:
            pairs = pairs.first(int(passed.argmax()) + 1)
            after, _ = self.standing.after(pairs)
        if (missing := PERMUTED - self.standing.trials) > 0:
            self.first.append(pairs.first(missing))
        self.standing = after
        return differs

    def looked(self) -> list[Certificate]:
        """The bounds of all views; those of the first one are recorded."""
        bounds = self.standing.bounds(self.delta)
        trials, log_e = self.standing.trials, self.standing.values[0].log_e
        self.growth.append((trials, bounds[0].tv, bounds[0].bound, log_e))
        return bounds

    def drawn(self) -> PairsDrawn:
        columns = [[getattr(pairs, name) for pairs in self.first] for name in Pairs.__slots__]
        first = Pairs(*(np.concatenate(column) for column in columns))
        complete = len(first) == min(PERMUTED, self.arms.scenario.trials)
        return PairsDrawn(self.standing, self.delta, first, complete, tuple(self.growth))


def _seen(arms: TwoArms, drawn: PairsDrawn, suite: Suite) -> Iterator[Seen]:
    bounds = drawn.standing.bounds(drawn.delta)
    shares = shares_of(suite.alpha, arms.scenario.horizon)
    whole = _permuted(arms, drawn, suite.seed, shares[1])
    for view, value, bound in zip(arms.views, drawn.standing.values, bounds, strict=True):
        ours, theirs = value.of_a.ravel(), value.of_b.ravel()
        n, cells = drawn.standing.trials, int(np.count_nonzero(ours + theirs))
        e_value = CheckResult(
            "block e-value", value.log_e, float(e_to_p(value.log_e)), "valid after every pair"
        )
        alone = Evidence(e_value, shares[0])
        yield Seen(
            Observable(view.name, view.judged, theirs / max(n, 1), _unread, view.label),
            ours,
            bound,
            bound.bound,
            value.log_e,
            (alone, *whole) if view.name.startswith("joint") else (alone,),
            # the difference of two arms of n has the variance of one arm of n/2
            detectable_tv(n // 2, cells, suite.alpha, MISSED),
            partial(_told, view=view, counts=(ours, theirs), bound=bound, arms=arms),
            theirs,
        )


def _unread(_: object) -> Counts:
    """A view reads no tally: its counts are in its state."""
    return np.zeros(0, np.int64)


def _permuted(arms: TwoArms, drawn: PairsDrawn, seed: int, share: float) -> tuple[Evidence, ...]:
    """Whole sequences exchanged between the arms within prompts; nothing for single tokens.

    Its share counts only where as many sequences were drawn as were declared before the run.
    """
    if arms.scenario.horizon == 1:
        return ()
    rng, first = stream(seed, "checks", arms.scenario.name, "permutation"), drawn.first
    result = permutation_check(
        first.sampled,
        first.reference,
        rng,
        prompts_a=first.prompts,
        prompts_b=first.prompts,
        permutations=PERMUTATIONS,
    )
    return (Evidence(result, share if drawn.complete else 0.0),)


def _told(
    verdict: Verdict, view: View, counts: tuple[Counts, Counts], bound: Certificate, arms: TwoArms
) -> str:
    """Such as "C is 15 % more frequent than with the reference"."""
    if verdict is Verdict.DIFFERS:
        return _largest_difference(view, *counts)
    of = "" if bound.law == "full alphabet" else f", {bound.law}"
    if verdict is Verdict.MATCHES:
        return f"TV of the two samplers at most {bound.bound:.2g}{of}"
    epsilon = arms.scenario.epsilon
    return f"no difference seen; TV of the two at most {bound.bound:.2g}{of}, not yet {epsilon:g}"


def _largest_difference(view: View, ours: Counts, theirs: Counts) -> str:
    """The cell whose counts are furthest apart, in standard deviations."""
    cell = int(np.argmax(np.abs(ours - theirs) / np.sqrt(np.maximum(ours + theirs, 1))))
    label, a, b = view.label(cell), int(ours[cell]), int(theirs[cell])
    if a == 0 or b == 0:
        who = "the reference alone" if a == 0 else "the sampler, never with the reference"
        return f"{label}: {max(a, b):,} times with {who}"
    more = "more" if a > b else "less"
    change = f"{a / b:.3g} times" if a > 2 * b else f"{float(f'{abs(a / b - 1) * 100:.2g}'):g} %"
    return f"{label} is {change} {more} frequent than with the reference"
