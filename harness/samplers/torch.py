"""Torch tensors for functions that want them; the only file of this folder that imports torch."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

__all__ = ["as_array", "generator", "seed_if_loaded", "tensor"]


def tensor(array: np.ndarray) -> Any:  # noqa: ANN401 (torch has no place in our signatures)
    """The array as a tensor; rows that a read-only view repeats are expanded, not copied."""
    if array.flags.writeable:
        return _torch().from_numpy(np.ascontiguousarray(array))
    kept = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)
    return _torch().from_numpy(array[kept].copy()).expand(array.shape)


def generator(seed: int) -> Any:  # noqa: ANN401
    """A `torch.Generator` on the CPU."""
    return _torch().Generator().manual_seed(seed)


def seed_if_loaded(seed: int) -> None:
    """Seeds torch's global generators where something has imported it."""
    loaded = sys.modules.get("torch")
    if loaded is not None and hasattr(loaded, "manual_seed"):
        loaded.manual_seed(seed)


def as_array(answer: Any) -> Any:  # noqa: ANN401
    """A tensor as an array; anything else as it is."""
    return answer.detach().cpu().numpy() if hasattr(answer, "detach") else answer


def _torch() -> Any:  # noqa: ANN401
    return importlib.import_module("torch")
