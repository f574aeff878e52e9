"""A whole system from outside: it drafts by itself and hands over tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness.arrays import Tokens
from harness.errors import BadSetting, SamplerFailure
from harness.laws.tables import LawTables
from harness.samplers.block import Generate
from harness.samplers.contract import generated_tokens
from harness.samplers.replay import with_input
from harness.samplers.verifier import SEEDS
from harness.trials import TrialBatch

__all__ = ["GeneratorSampler"]


def _no_versions() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class GeneratorSampler:
    """Trials that `generate` makes, at most `batch_size` in a call, each call with its own seed.

    Raises BadSetting for laws with several prompts: a generator is asked for one.
    """

    generate: Generate
    laws: LawTables
    horizon: int = 1
    batch_size: int | None = None
    name: str = "generator"
    replay: Path | None = None
    ask_versions: Callable[[], Mapping[str, str]] = field(default=_no_versions)

    def __post_init__(self) -> None:
        if len(self.laws.contexts.starts) > 1:
            raise BadSetting("a generator takes one prompt; write a scenario for each of them")

    @property
    def provides(self) -> frozenset[str]:
        return frozenset()

    @property
    def concurrent(self) -> bool:
        return False

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of the packages under test, for the manifest."""
        return self.ask_versions()

    def sample(self, n_trials: int, rng: np.random.Generator) -> TrialBatch:
        size = self.batch_size or n_trials
        parts = [
            self._generated(min(size, n_trials - start), rng) for start in range(0, n_trials, size)
        ]
        return TrialBatch(np.asfortranarray(np.concatenate(parts)))

    def _generated(self, n: int, rng: np.random.Generator) -> Tokens:
        seed, vocabulary = int(rng.integers(SEEDS)), self.laws.vocabulary
        try:
            answer = self.generate(n, self.horizon, seed)
            return generated_tokens(answer, n, self.horizon, vocabulary, self.laws.contexts.end)
        except SamplerFailure as failure:
            raise with_input(failure, self.replay, self.name, seed, None) from failure
