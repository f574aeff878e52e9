"""What the harness adds to the time of a sampler from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.engine.bench import laws_of_size
from harness.errors import BadSetting
from harness.laws.tables import one_context
from harness.protocols import Assignment, SamplerFactory
from harness.rng import stream
from harness.samplers.generator import GeneratorSampler
from harness.samplers.overhead import overhead
from harness.samplers.verifier import VerifierSampler

__all__ = ["SamplerRow", "sampler_rows"]

CELLS = 1 << 25  # trials times V that a measurement hands over: a second or so of most samplers
MOST_TRIALS = 1 << 20


@dataclass(frozen=True, slots=True)
class SamplerRow:
    """`ns_per_trial` in all, `own_ns` in its own calls, `overhead` the rest over those."""

    sampler: str
    vocabulary: int
    trials: int
    ns_per_trial: float
    own_ns: float
    overhead: float


def sampler_rows(
    name: str, factory: SamplerFactory, vocabularies: tuple[int, ...] = (3, 32_000)
) -> Iterator[SamplerRow]:
    """One position with the laws of `bench_rows`. Raises BadSetting for a recording."""
    for vocabulary in vocabularies:
        p, q = laws_of_size(vocabulary)
        tokens = tuple(map(str, range(vocabulary)))
        sampler = factory(Assignment(one_context(p, q), 1, 1, tokens))
        if not isinstance(sampler, VerifierSampler | GeneratorSampler):
            raise BadSetting(f"sampler {name!r} has no calls to time; name a function or a program")
        trials = min(MOST_TRIALS, max(64, CELLS // vocabulary))
        took = overhead(sampler, trials, stream(0, "bench", name))
        yield SamplerRow(
            name,
            vocabulary,
            trials,
            took.seconds / trials * 1e9,
            took.own / trials * 1e9,
            took.ratio,
        )
