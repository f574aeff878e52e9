"""Laws as a tiny model knows them: a row of next-token probabilities for each last token."""

from __future__ import annotations

import numpy as np

from harness.arrays import Probs
from harness.errors import BadSetting
from harness.laws.tables import Contexts, LawTables

__all__ = ["FLOOR", "draft_states", "target_states"]

FLOOR = 1e-26  # stands for 0 in a logit: log of it is -59.9, and 0 times it is no nan


def target_states(laws: LawTables) -> Probs:
    """Laws (V + 1, V + 1) of p by last token; token V is the prompt, which nothing ever emits.

    Raises BadSetting for laws that depend on more than the last token, or that have an end token.
    """
    return _states(laws.p, laws.contexts)


def draft_states(laws: LawTables) -> Probs:
    """The same of the draft law q."""
    return _states(laws.q, laws.contexts)


def _states(law: Probs, contexts: Contexts) -> Probs:
    if contexts.end is not None or len(contexts.starts) > 1:
        raise BadSetting("a model made from a table takes one prompt, and no end token")
    start = contexts.starts[0]
    after = law[contexts.successor[start]]
    if any((law[row] != after).any() for row in contexts.successor):
        raise BadSetting("a model made from a table knows the last token only; give a markov law")
    states = np.zeros((len(after) + 1, len(after) + 1))
    states[:-1, :-1], states[-1, :-1] = after, law[start]
    return states
