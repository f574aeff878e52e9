"""What the harness adds to the time of a sampler from outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.samplers.block import Block
from harness.samplers.generator import GeneratorSampler
from harness.samplers.verifier import VerifierSampler

__all__ = ["Overhead", "overhead"]

WARM_UP = 64  # trials: libraries are loaded, tables converted


@dataclass(frozen=True, slots=True)
class Overhead:
    """`trials` took `seconds`, of which the sampler's own calls took `own`."""

    trials: int
    seconds: float
    own: float

    @property
    def ratio(self) -> float:
        """Time of the harness as a part of the sampler's own."""
        return self.seconds / self.own - 1.0


def overhead(
    sampler: VerifierSampler | GeneratorSampler,
    trials: int,
    rng: np.random.Generator,
    *,
    in_process: bool = True,
) -> Overhead:
    """Times `trials` trials. Laws are written by the harness for a function in this process; a
    process of its own counts as own with all that it takes to hear and to answer.
    """
    clock = _Clock(in_process)
    timed: VerifierSampler | GeneratorSampler
    if isinstance(sampler, VerifierSampler):
        timed = replace(sampler, verify=clock.around(sampler.verify))
    else:
        timed = replace(sampler, generate=clock.around(sampler.generate))
    timed.sample(min(WARM_UP, trials), rng)
    clock.spent, started = 0.0, time.perf_counter()
    timed.sample(trials, rng)
    return Overhead(trials, time.perf_counter() - started, clock.spent)


class _Clock:
    def __init__(self, in_process: bool) -> None:
        self.spent, self.in_process = 0.0, in_process

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:  # noqa: ANN401 (either form of call)
            if self.in_process and isinstance(arguments[0], Block):
                _write_laws(arguments[0])
            started = time.perf_counter()
            try:
                return call(*arguments)
            finally:
                self.spent += time.perf_counter() - started

        return timed


def _write_laws(block: Block) -> int:
    """They are made when they are first looked at."""
    return int(block.q.nbytes + block.p.nbytes)
