"""Exact laws of token-by-token rounds from their steps alone: no outcome is followed twice.

What a prefix has behind it is one number for each length of the kept run that it may be in, so that
any draft length and any vocabulary will do whose joint cells fit.
"""

from __future__ import annotations

import numpy as np

from harness.arrays import Bits, Exact, Rows
from harness.laws.joint import joint_size
from harness.laws.step import RoundSteps

__all__ = ["joint_of_steps", "kept_length_of_steps"]


def joint_of_steps(steps: RoundSteps, draft_length: int, horizon: int, start: int) -> Exact:
    """Law (V**horizon,) of the first committed tokens, in the cells of `harness.laws.joint`.

    `start` is a context of the promised laws, that is, of `steps.restart`.
    """
    vocabulary = steps.kept.shape[1]
    joint_size(vocabulary, horizon)
    mass = [np.zeros(1, steps.kept.dtype) for _ in range(draft_length + 1)]  # by kept run
    mass[0] += 1
    here = [steps.restart[[start]] for _ in mass]
    over = np.zeros(1, bool)
    for _ in range(horizon):
        mass, here = _one_token_on(steps, mass, here, over)
        over = (over[:, None] | (np.arange(vocabulary) == steps.contexts.end)).ravel()
    return _total(mass)


def _one_token_on(
    steps: RoundSteps, mass: list[Exact], here: list[Rows], over: Bits
) -> tuple[list[Exact], list[Rows]]:
    """Masses and contexts of all prefixes that are one token longer."""
    *verified, full = zip(mass, here, strict=True)
    kept = [_spread(m, steps.kept[c], over) for m, c in verified]
    stops = _spread(full[0], steps.bonus[full[1]], over)
    for m, c in verified:
        stops = stops + _spread(m, steps.replacement[c], over)
    ended = _ended(_total(mass), over, steps)
    following = [steps.contexts.successor[c].ravel() for c in here]
    return [stops + ended, *kept], [steps.restart[following[0]], *following[:-1]]


def _total(mass: list[Exact]) -> Exact:
    return sum(mass[1:], mass[0])


def _spread(mass: Exact, rows: Exact, over: Bits) -> Exact:
    """Masses (prefixes * V) of each token after each prefix that is not over."""
    return np.asarray(np.where(over, mass * 0, mass)[:, None] * rows).ravel()


def _ended(mass: Exact, over: Bits, steps: RoundSteps) -> Exact:
    """What is over stays over: the end token repeated."""
    end = np.arange(steps.kept.shape[1]) == steps.contexts.end
    return np.where(over[:, None] & end, mass[:, None], mass[:, None] * 0).ravel()


def kept_length_of_steps(steps: RoundSteps, draft_length: int, start: int) -> Exact:
    """Law (k + 1,) of how many drafted tokens a round from `start` keeps."""
    reached = np.zeros(len(steps.contexts), steps.kept.dtype)
    reached[steps.restart[start]] += 1
    law = np.zeros(draft_length + 1, steps.kept.dtype)
    for position in range(draft_length):
        kept = reached[:, None] * steps.kept
        law[position] += reached.sum() - kept.sum()
        if (end := steps.contexts.end) is not None:
            law[position + 1] += kept[:, end].sum()
            kept[:, end] = 0
        reached = np.zeros_like(reached)
        np.add.at(reached, steps.contexts.successor, kept)
    law[draft_length] += reached.sum()
    return law
