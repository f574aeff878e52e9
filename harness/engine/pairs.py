"""Two samplers side by side: what their trials are reduced to, and how pairs of them are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.arrays import Rows, Tokens
from harness.engine.finding import scope
from harness.engine.plan import BATCH_TRIALS, Chunk
from harness.errors import BadSetting, SamplerFailure
from harness.laws.joint import MOST_JOINT_CELLS, joint_cells, tokens_of_cells
from harness.protocols import Sampler
from harness.rng import chunk_rng, stream
from harness.scenario.model import Scenario
from harness.trials import TrialBatch, concatenated

__all__ = ["PairTask", "Pairs", "TwoArms", "View", "two_arms"]

MOST_CELLS = 2**24  # of all views together: a few copies of each arm's counts are kept


@dataclass(frozen=True, slots=True)
class View:
    """The law of the tokens from position `first` to `last`, one past the end, in each prompt.

    A cell is a sequence of these tokens; cells of prompt j come after those of the prompts before.
    """

    name: str
    judged: bool
    first: int
    last: int
    tokens: tuple[str, ...]
    prompts: int
    end: int | None

    @property
    def law(self) -> str:
        """Which law it is, where that is not the law of all tokens after one prompt."""
        window = self.name.partition("[")[2].rstrip("]")
        mean = f"mean over {self.prompts} prompts" if self.prompts > 1 else ""
        return ", ".join(part for part in (window and f"{window} alone", mean) if part)

    @property
    def cells(self) -> int:
        """Of one prompt."""
        return len(self.tokens) ** (self.last - self.first)

    def of(self, tokens: Tokens) -> Rows:
        """Cells (n,) of trials (n, horizon), within their prompts."""
        window = tokens[:, self.first : self.last]
        return joint_cells(window, len(self.tokens), self.end).astype(np.intp)

    def label(self, cell: int) -> str:
        """`A B`, or `A B after prompt 2` where there are several."""
        prompt, within = divmod(cell, self.cells)
        ids = tokens_of_cells(np.array([within]), len(self.tokens), self.last - self.first)[0]
        words = " ".join(self.tokens[i] for i in ids)
        return words if self.prompts == 1 else f"{words} after prompt {prompt + 1}"


@dataclass(frozen=True, slots=True)
class TwoArms:
    """A scenario whose sampler is held against a second one, the reference, instead of a law."""

    scenario: Scenario
    sampler: Sampler
    reference: Sampler
    tokens: tuple[str, ...]
    views: tuple[View, ...]
    problems: tuple[str, ...]

    @property
    def judged(self) -> tuple[View, ...]:
        return tuple(view for view in self.views if view.judged)

    @property
    def concurrent(self) -> bool:
        return self.sampler.concurrent and self.reference.concurrent

    @property
    def scope(self) -> str:
        """Windows are compared one by one: what links them only the permutation test sees."""
        seen = scope(self.scenario.draft_length, self.scenario.horizon)
        if not any(view.name.startswith("joint [") for view in self.views):
            return seen
        width = max(view.last - view.first for view in self.views)
        return f"{seen}, but in windows of {width}, not across them"


def two_arms(
    scenario: Scenario,
    samplers: tuple[Sampler, Sampler],
    tokens: tuple[str, ...],
    problems: tuple[str, ...],
) -> TwoArms:
    """The arms with their views. Raises BadSetting where there would be too many cells."""
    views = tuple(_views(scenario, tokens))
    if sum(view.cells * view.prompts for view in views) > MOST_CELLS:
        raise BadSetting(
            f"scenario {scenario.name!r}: {len(views)} laws of {len(tokens):,} tokens in "
            f"{views[0].prompts} prompts have more than {MOST_CELLS:,} cells; lower the horizon, "
            "or write a scenario for each prompt"
        )
    return TwoArms(scenario, *samplers, tokens, views, problems)


def _views(scenario: Scenario, tokens: tuple[str, ...]) -> Iterator[View]:
    """All tokens jointly, in as few windows as hold at most 2**20 cells; then the first token.

    The joint law comes first: what speaks for the scenario should speak of all its tokens.
    """
    contexts, horizon = scenario.laws.contexts, scenario.horizon
    shape = tokens, len(contexts.starts), contexts.end
    judged = scenario.observe or ("output", "joint")
    width = _window(len(tokens), len(contexts.starts), horizon)
    for first in range(0, horizon, width):
        last = min(first + width, horizon)
        if last > 1:  # the first token alone is there already
            whole = (first, last) == (0, horizon)
            name = "joint" if whole else f"joint [{_span(first, last)}]"
            yield View(name, "joint" in judged, first, last, *shape)
    yield View("output", "output" in judged, 0, 1, *shape)


def _span(first: int, last: int) -> str:
    return f"token {last}" if last == first + 1 else f"tokens {first + 1} to {last}"


def _window(vocabulary: int, prompts: int, horizon: int) -> int:
    width = 1
    while width < horizon and prompts * vocabulary ** (width + 1) <= MOST_JOINT_CELLS:
        width += 1
    return width


@dataclass(frozen=True, slots=True)
class Pairs:
    """n trials of each arm, the i-th of one with the i-th of the other: tokens (n, horizon) of
    the sampler and of the reference, and the prompt (n,) that both started from.
    """

    sampled: Tokens
    reference: Tokens
    prompts: Rows

    def __len__(self) -> int:
        return len(self.sampled)

    def first(self, n: int) -> Pairs:
        return Pairs(self.sampled[:n], self.reference[:n], self.prompts[:n])


@dataclass(frozen=True, slots=True)
class PairTask:
    """Everything a worker needs: call it with a chunk and it returns the chunk's pairs.

    Each arm has streams of its own; the sampler's are those that it has in a scenario with a law.
    """

    arms: TwoArms
    seed: int

    def __call__(self, chunk: Chunk) -> Pairs:
        name = self.arms.scenario.name
        ours = chunk_rng(self.seed, name, chunk.number)
        theirs = stream(self.seed, "reference", name, chunk.number)
        sampled = _drawn(self.arms.sampler, chunk.trials, ours)
        reference = _drawn(self.arms.reference, chunk.trials, theirs)
        return Pairs(sampled.tokens, reference.tokens, _prompts(sampled, reference))


def _drawn(sampler: Sampler, trials: int, rng: np.random.Generator) -> TrialBatch:
    sizes = [min(BATCH_TRIALS, trials - start) for start in range(0, trials, BATCH_TRIALS)]
    batches = [sampler.sample(size, rng) for size in sizes]
    return concatenated([TrialBatch(batch.tokens, prompts=batch.prompts) for batch in batches])


def _prompts(sampled: TrialBatch, reference: TrialBatch) -> Rows:
    """The prompts of the pairs; a batch that knows of none has one."""
    n = len(sampled)
    ours, theirs = (
        np.zeros(n, np.intp) if arm.prompts is None else np.asarray(arm.prompts, dtype=np.intp)
        for arm in (sampled, reference)
    )
    if not np.array_equal(ours, theirs):
        raise SamplerFailure("the two samplers did not take the prompts in the same order")
    return ours
