"""The first input that a sampler failed on, kept so that the failure can be seen again."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.errors import SamplerFailure
from harness.samplers.block import Block

__all__ = ["with_input"]

MOST_BYTES = 256 * 2**20


def with_input(
    failure: SamplerFailure, folder: Path | None, name: str, seed: int, block: Block | None
) -> SamplerFailure:
    """The failure, and where the input is: `draft`, `q`, `p` and `seed` in an NPZ file.

    The call is made again with `verify(draft, q, p, harness.rng.stream(seed, "call"))`, or with the
    seed itself where the verifier takes one. Without a folder the seed alone is told.
    """
    told = f"{failure} (seed {seed} of the call)"
    if folder is None or block is None or block.q.nbytes + block.p.nbytes > MOST_BYTES:
        return SamplerFailure(told)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{seed}.npz"
    np.savez_compressed(
        path, draft=block.draft, q=block.q, p=block.p, seed=np.array(seed, np.int64)
    )
    return SamplerFailure(f"{told}; its input is in {path}")
