"""Random streams by address: the only module that makes generators.

A stream is named by what it is for, never by who draws it: the same address gives the same
numbers with one thread, many threads, processes or a cluster, and after a resume.
"""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["chunk_rng", "law_rng", "stream"]


def stream(seed: int, *address: int | str) -> np.random.Generator:
    """SFC64 generator of the stream at (seed, address); SFC64 is numpy's fastest."""
    return np.random.Generator(np.random.SFC64(_seed_sequence(seed, *address)))


def chunk_rng(seed: int, scenario: str, chunk: int) -> np.random.Generator:
    """Stream of one chunk of one scenario; adding a scenario or a chunk changes no other."""
    return stream(seed, "chunk", scenario, chunk)


def law_rng(seed: int, *address: int | str) -> np.random.Generator:
    """Stream from which made laws are drawn; PCG64, so that files never depend on the engine."""
    return np.random.Generator(np.random.PCG64(_seed_sequence(seed, "law", *address)))


def _seed_sequence(seed: int, *address: int | str) -> np.random.SeedSequence:
    words = "\x1f".join(f"{type(part).__name__}:{part}" for part in address)
    digest = hashlib.sha256(words.encode()).digest()
    return np.random.SeedSequence(entropy=seed, spawn_key=tuple(np.frombuffer(digest, "<u4")))
