"""Our own sampler: rounds of a verification rule until every trial has its horizon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.arrays import Rows, Tokens, token_dtype
from harness.laws.tables import LawTables, one_for_all
from harness.protocols import Procedure, VerificationRule
from harness.sources.random import RandomSource
from harness.trials import NO_TOKEN, Round, TrialBatch

__all__ = ["RuleSampler"]


@dataclass(frozen=True)
class RuleSampler:
    """Runs rounds of `rule` over `laws` with `draft_length` until `horizon` tokens are committed."""

    rule: VerificationRule
    laws: LawTables
    draft_length: int = 1
    horizon: int = 1

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"drafted", "n_accepted"})

    @cached_property
    def procedure(self) -> Procedure:
        return self.rule(self.laws)

    def sample(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:
        prompts = _in_turn(n_trials, len(self.laws.contexts.starts))
        contexts = self.laws.contexts.begin(prompts)
        first = self.procedure(RandomSource(rng), contexts, self.draft_length, self.horizon)
        tokens = self._continued(first, contexts, rng)
        return TrialBatch(tokens, first.drafted, first.n_accepted, prompts)

    def _continued(self, first: Round, contexts: Rows, rng: np.random.Generator) -> Tokens:
        """Tokens (n, horizon): the first round's, then those of further rounds."""
        if self.horizon == 1:
            return first.committed[:, :1]
        raise NotImplementedError


def _in_turn(n_trials: int, n_prompts: int) -> Rows:
    """Prompts (n,) of trials that take them in turn."""
    return one_for_all(n_trials) if n_prompts == 1 else np.arange(n_trials) % n_prompts
