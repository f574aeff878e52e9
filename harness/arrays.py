"""Array types by meaning, and read-only views."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bits",
    "Counts",
    "Exact",
    "Floats",
    "Probs",
    "Rows",
    "Tokens",
    "readonly",
    "token_dtype",
]

Probs = npt.NDArray[np.float64]  # probabilities, the vocabulary along the last axis
Floats = npt.NDArray[np.float64]
Exact = npt.NDArray[Any]  # probabilities as float64, or as Fractions in an object array
Tokens = npt.NDArray[np.signedinteger[Any]]  # token ids, -1 where there is no token
Rows = npt.NDArray[np.intp]  # indices of trials or of contexts
Counts = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]

ArrayT = TypeVar("ArrayT", bound=npt.NDArray[Any])


def readonly(array: ArrayT) -> ArrayT:
    """A view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def token_dtype(vocabulary: int) -> type[np.signedinteger[Any]]:
    """Smallest signed integer type that holds every token id and -1."""
    for dtype in (np.int8, np.int16, np.int32):
        if vocabulary - 1 <= np.iinfo(dtype).max:
            return dtype
    return np.int64
