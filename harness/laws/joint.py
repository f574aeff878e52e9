"""The law of the first tokens together: what a prefix-dependent law promises of a whole sequence.

A cell is a sequence of `horizon` tokens read as a number in base V, the first token leading. After
the end token there is nothing; its cell is the one that repeats the end token to the horizon.
"""

from __future__ import annotations

import numpy as np

from harness.arrays import Counts, Exact, Tokens
from harness.errors import BadSetting
from harness.laws.tables import Contexts
from harness.trials import NO_TOKEN

__all__ = ["MOST_JOINT_CELLS", "joint_cells", "joint_law", "joint_size", "tokens_of_cells"]

MOST_JOINT_CELLS = 2**20


def joint_size(vocabulary: int, horizon: int) -> int:
    """How many cells there are; raises BadSetting above 2**20."""
    size = vocabulary**horizon
    if size > MOST_JOINT_CELLS:
        raise BadSetting(
            f"{horizon} tokens of {vocabulary} have {size:,} sequences, more than the "
            f"{MOST_JOINT_CELLS:,} cells of a joint law; lower the horizon or group the tokens"
        )
    return size


def joint_law(probs: Exact, contexts: Contexts, horizon: int, *, start: int) -> Exact:
    """Law (V**horizon,) of the first `horizon` tokens from `start`, by the tree of prefixes.

    `probs` (contexts, V) are next-token laws, float64 or Fractions.
    """
    vocabulary = probs.shape[1]
    joint_size(vocabulary, horizon)
    mass, here = np.ones(1, probs.dtype), np.array([start])
    over = np.zeros(1, bool)
    for _ in range(horizon):
        steps = np.where(over[:, None], _end_row(probs, contexts.end), probs[here])
        mass = (mass[:, None] * steps).ravel()
        here = contexts.successor[here].ravel()
        over = (over[:, None] | (np.arange(vocabulary) == contexts.end)).ravel()
    return mass


def joint_cells(tokens: Tokens, vocabulary: int, end: int | None) -> Counts:
    """Cells (n,) of the sequences `tokens` (n, horizon), -1 after the end token."""
    cells = np.zeros(len(tokens), np.int64)
    for column in tokens.T:
        cells *= vocabulary
        cells += column if end is None else np.where(column == NO_TOKEN, end, column)
    return cells


def tokens_of_cells(cells: Counts, vocabulary: int, horizon: int) -> Tokens:
    """Sequences (n, horizon) of cells (n,); after an end token it is repeated."""
    powers = vocabulary ** np.arange(horizon - 1, -1, -1)
    return cells[:, None] // powers % vocabulary


def _end_row(probs: Exact, end: int | None) -> Exact:
    """A law certain of the end token; of the first one where there is none."""
    return np.where(np.arange(probs.shape[1]) == (end or 0), probs[0] * 0 + 1, probs[0] * 0)
