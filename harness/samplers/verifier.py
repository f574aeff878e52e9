"""A verifier from outside, played like a rule of ours: the harness drafts, it verifies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.arrays import Rows, Tokens, token_dtype
from harness.errors import SamplerFailure
from harness.laws.categorical import Law
from harness.laws.tables import LawTables
from harness.protocols import EVERYONE, Source
from harness.samplers.block import Block, LawRows, Verify
from harness.samplers.contract import committed_tokens, cut_after, row_lengths
from harness.samplers.replay import with_input
from harness.samplers.rule import RuleSampler
from harness.trials import NO_TOKEN, Round, TrialBatch

__all__ = ["BLOCK_BYTES", "SEEDS", "VerifierSampler"]

BLOCK_BYTES = 64 * 2**20  # of laws in one call
SEEDS = 2**63


def _no_versions() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class VerifierSampler:
    """Drafts along contexts from `laws.proposal`, lets `verify` decide, and goes on to the horizon.

    A call gets at most `batch_size` trials, and as many as fit 64 MB of laws. A trial whose block
    is shorter than the horizon plays further rounds. Every call has a seed of its own, drawn from
    the chunk's stream. `replay` is the folder for the input of a call that failed.
    """

    verify: Verify
    laws: LawTables
    draft_length: int = 1
    horizon: int = 1
    dtype: str = "float64"
    shared: bool = False
    batch_size: int | None = None
    name: str = "verifier"
    replay: Path | None = None
    ask_versions: Callable[[], Mapping[str, str]] = field(default=_no_versions)

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"drafted", "n_accepted"})

    @property
    def concurrent(self) -> bool:
        return False

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of the packages under test, for the manifest."""
        return self.ask_versions()

    def sample(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:
        played = _OutsideRound(self, rng)
        rounds = RuleSampler(lambda _: played, self.laws, self.draft_length, self.horizon)
        return rounds.sample(n_trials, rng)

    @cached_property
    def rows(self) -> LawRows:
        return LawRows(self.laws, self.dtype, shared=self.shared)

    @cached_property
    def proposal(self) -> Law:
        return Law(self.laws.proposal)

    def parts(self, n: int) -> Iterator[slice]:
        """Trials of one call after the other."""
        fit = max(1, BLOCK_BYTES // self.rows.bytes_per_trial(self.draft_length))
        size = min(n, self.batch_size or n, n if self.shared else fit)
        for start in range(0, n, max(1, size)):
            yield slice(start, min(n, start + size))


@dataclass(frozen=True, slots=True)
class _OutsideRound:
    """A `Procedure` around somebody else's verifier."""

    sampler: VerifierSampler
    rng: np.random.Generator

    def __call__(self, source: Source, contexts: Rows, draft_length: int, room: int) -> Round:  # noqa: ARG002 (the bonus is theirs to draw)
        drafted, visited = self._draft(source, contexts, draft_length)
        parts = [
            self._verified(drafted, visited, part) for part in self.sampler.parts(len(drafted))
        ]
        whole = parts[0] if len(parts) == 1 else np.asfortranarray(np.concatenate(parts))
        return _as_round(drafted, whole, self.sampler.laws.contexts.end)

    def _draft(self, source: Source, start: Rows, draft_length: int) -> tuple[Tokens, Rows]:
        laws = self.sampler.laws
        drafted = np.empty((draft_length, len(start)), dtype=token_dtype(laws.vocabulary)).T
        visited = np.empty((draft_length + 1, len(start)), dtype=np.intp).T
        here = start
        for position in range(draft_length):
            visited[:, position] = here
            tokens = source.draw(self.sampler.proposal, here, EVERYONE)
            drafted[:, position] = tokens
            here = laws.contexts.after(here, tokens)
        visited[:, draft_length] = here
        return drafted, visited

    def _verified(self, drafted: Tokens, visited: Rows, part: slice) -> Tokens:
        ours, seed = self.sampler, int(self.rng.integers(SEEDS))
        draft = np.ascontiguousarray(drafted[part], dtype=np.int64)
        block = Block(draft, np.ascontiguousarray(visited[part]), ours.rows)
        try:
            answer = ours.verify(block, seed)
            return committed_tokens(answer, len(draft), draft.shape[1], ours.laws.vocabulary)
        except SamplerFailure as failure:
            again = Block(drafted[part].astype(np.int64), block.contexts, ours.rows)
            raise with_input(failure, ours.replay, ours.name, seed, again) from failure


def _as_round(drafted: Tokens, committed: Tokens, end: int | None) -> Round:
    """The kept run is what agrees with the draft from its start, short of the last token."""
    kept = np.minimum(_leading_run(drafted, committed), row_lengths(committed) - 1)
    if end is not None:
        committed = cut_after(committed, end)
        kept = np.minimum(kept, row_lengths(committed))
    return Round(drafted, kept.astype(np.int8), committed)


def _leading_run(drafted: Tokens, committed: Tokens) -> Tokens:
    run = np.zeros(len(drafted), np.int64)
    agrees = np.ones(len(drafted), bool)
    for ours, theirs in zip(drafted.T, committed.T[:-1], strict=True):
        agrees = agrees & (ours == theirs) & (theirs != NO_TOKEN)
        run += agrees
    return run
