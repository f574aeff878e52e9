"""sequential-speculative-decoding 0.1.1: its steps, on models that are tables of laws."""  # noqa: INP001 (an example)

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from seqspecdecod import capped_hsd, naive_hsd, standard_sd

from harness.samplers.states import draft_states, target_states


class TableModel:
    """A callable model: token ids (1, length) to `.logits` (1, length, V), a row a token."""

    def __init__(self, states: Any) -> None:  # noqa: ANN401 (an array)
        self.logits = torch.from_numpy(states).float().log()

    def __call__(self, ids: Any) -> Any:  # noqa: ANN401 (a tensor)
        return SimpleNamespace(logits=self.logits[ids])


def generator_of(step: Callable[..., Any], assignment: Any) -> Callable[[int, int, int], Any]:  # noqa: ANN401
    """Rounds of `step` until the horizon; the rest of the last round is cut off."""
    draft, target = (TableModel(f(assignment.laws)) for f in (draft_states, target_states))
    prompt = torch.tensor([[assignment.laws.vocabulary]])

    def one(horizon: int) -> Any:  # noqa: ANN401
        ids = prompt
        while ids.shape[1] <= horizon:
            ids = step(draft, target, ids, assignment.draft_length, 1.0, 1.0)[0]
        return ids[0, 1 : horizon + 1]

    def generate(n: int, horizon: int, seed: int) -> Any:  # noqa: ANN401
        torch.manual_seed(seed)
        return torch.stack([one(horizon) for _ in range(n)])

    return generate


standard = partial(generator_of, standard_sd.standard_speculative_step)
naive = partial(generator_of, naive_hsd.naive_hsd_step)
capped = partial(generator_of, capped_hsd.capped_hsd_step)
