"""Recorded tokens as a sampler: it gives its trials once, in their order, and then has no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness.arrays import Counts, Tokens, token_dtype
from harness.errors import BadSetting, SamplerFailure
from harness.protocols import Assignment
from harness.samplers.contract import committed_tokens, generated_tokens
from harness.samplers.recording import Columns, Recording, recording
from harness.trials import TrialBatch, concatenated

__all__ = ["CountsSampler", "RecordedSampler", "recorded_sampler"]


def recorded_sampler(
    path: Path, name: str, assignment: Assignment
) -> RecordedSampler | CountsSampler:
    """The sampler of a recording: CSV, JSONL, NPY, NPZ or Parquet.

    Raises BadSetting for a file that cannot be read as tokens or counts, and for options.
    """
    if assignment.options:
        raise BadSetting(
            f"sampler {name}: a recording takes no option {next(iter(assignment.options))!r}"
        )
    found = recording(path, assignment.tokens, assignment.horizon)
    if found.counts is not None:
        return CountsSampler(found.counts, assignment.laws.vocabulary, assignment.horizon)
    return RecordedSampler(found, assignment)


@dataclass
class RecordedSampler:
    """`trials` recorded trials, streamed. Rows longer than the horizon are cut."""

    source: Recording
    assignment: Assignment
    waiting: list[TrialBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.coming: Iterator[Columns] = self.source.batches()
        self.given = 0

    @property
    def trials(self) -> int:
        """How many there are; nobody can ask for more."""
        return self.source.trials

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"drafted", "n_accepted"}) if self.source.traced else frozenset()

    @property
    def concurrent(self) -> bool:
        return False

    def sample(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:  # noqa: ARG002 (Sampler)
        parts: list[TrialBatch] = []
        while (missing := n_trials - sum(map(len, parts))) > 0:
            batch = self._next()
            parts.append(_cut(batch, 0, missing))
            if len(batch) > missing:
                self.waiting.append(_cut(batch, missing, len(batch)))
        self.given += n_trials
        return concatenated(parts)

    def _next(self) -> TrialBatch:
        if self.waiting:
            return self.waiting.pop()
        try:
            columns = next(self.coming, None)
        except BadSetting as error:  # a row in the middle of the file: the suite goes on
            raise SamplerFailure(str(error)) from error
        if columns is None:
            raise SamplerFailure(f"{self.source.path.name} has only {self.trials:,} trials")
        return _checked(columns, self.assignment)


@dataclass
class CountsSampler:
    """Trials of which only the counts (cells,) are known, given in a random order.

    A cell is a sequence of `horizon` tokens, the first leading. The order is drawn without
    replacement, so that any part of the trials is a fair sample of the recorded ones.
    """

    counts: Counts
    vocabulary: int
    horizon: int

    def __post_init__(self) -> None:
        self.left = self.counts.copy()

    @property
    def trials(self) -> int:
        """How many there are; nobody can ask for more."""
        return int(self.counts.sum())

    @property
    def provides(self) -> frozenset[str]:
        return frozenset()

    @property
    def concurrent(self) -> bool:
        return False

    def sample(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:
        if n_trials > self.left.sum():
            raise SamplerFailure(f"only {self.trials:,} trials were counted")
        drawn = _without_replacement(self.left, n_trials, rng)
        self.left -= drawn
        cells = rng.permutation(np.repeat(np.arange(len(drawn)), drawn))
        powers = self.vocabulary ** np.arange(self.horizon - 1, -1, -1)
        tokens = cells[:, None] // powers % self.vocabulary
        return TrialBatch(np.asfortranarray(tokens, dtype=token_dtype(self.vocabulary)))


def _without_replacement(left: Counts, n: int, rng: np.random.Generator) -> Counts:
    """How many of each cell are among n draws from an urn with `left` of each.

    By conditional hypergeometric draws; numpy's own for many colours stops at 10^9 balls.
    """
    drawn, rest, wanted = np.zeros_like(left), int(left.sum()), n
    for cell, here in enumerate(left.tolist()):
        rest -= here
        drawn[cell] = here if not rest else _hypergeometric(here, rest, wanted, rng)
        drawn[cell] = min(drawn[cell], wanted)
        wanted -= int(drawn[cell])
        if not wanted:
            break
    return drawn


def _hypergeometric(good: int, bad: int, n: int, rng: np.random.Generator) -> int:
    most = 10**9 - 1
    if good + bad <= most:
        return int(rng.hypergeometric(good, bad, n))
    taken = int(rng.binomial(n, good / (good + bad)))  # n is 2^16 of more than 10^9: no difference
    return min(max(taken, n - bad), good)


def _cut(batch: TrialBatch, start: int, stop: int) -> TrialBatch:
    if start == 0 and stop >= len(batch):
        return batch
    drafted, n_accepted = batch.drafted, batch.n_accepted
    return TrialBatch(
        batch.tokens[start:stop],
        None if drafted is None else drafted[start:stop],
        None if n_accepted is None else n_accepted[start:stop],
    )


def _checked(columns: Columns, assignment: Assignment) -> TrialBatch:
    laws, horizon = assignment.laws, assignment.horizon
    rows = columns.tokens
    if rows.shape[1] < horizon:
        rows = np.pad(rows, ((0, 0), (0, horizon - rows.shape[1])), constant_values=-1)
    cut = rows[:, :horizon]
    tokens = generated_tokens(cut, len(cut), horizon, laws.vocabulary, laws.contexts.end)
    if columns.drafted is None or columns.n_accepted is None:
        return TrialBatch(tokens)
    drafted = committed_tokens(
        columns.drafted, len(cut), columns.drafted.shape[1] - 1, laws.vocabulary
    )
    _check_kept(drafted, columns.n_accepted, tokens)
    return TrialBatch(tokens, drafted, columns.n_accepted)


def _check_kept(drafted: Tokens, n_accepted: Tokens, tokens: Tokens) -> None:
    """A kept token is what was emitted at its place."""
    width = min(drafted.shape[1], tokens.shape[1])
    kept = np.arange(width) < n_accepted[:, None]
    wrong = (kept & (drafted[:, :width] != tokens[:, :width])).any(axis=1)
    outside = (n_accepted < 0) | (n_accepted > drafted.shape[1])
    if (wrong | outside).any():
        row = int(np.argmax(wrong | outside))
        raise SamplerFailure(f"row {row} keeps a drafted token that it does not emit")
