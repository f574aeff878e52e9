"""rotalabs-accel 1.1.1: `rejection_sample`, a position at a time as its docstring asks."""  # noqa: INP001 (an example)

from __future__ import annotations

from typing import Any

import torch
from rotalabs_accel.speculative.sampling import rejection_sample


def verify(draft: Any, q: Any, p: Any) -> Any:  # noqa: ANN401 (tensors)
    """Trial by trial; it draws from torch's global generator."""
    committed = torch.full((len(draft), draft.shape[1] + 1), -1)
    log_p = p.log()
    for row in range(len(draft)):
        tokens = block(draft[row], q[row], p[row], log_p[row])
        committed[row, : len(tokens)] = torch.tensor(tokens)
    return committed


def block(draft: Any, q: Any, p: Any, log_p: Any) -> list[int]:  # noqa: ANN401
    """The bonus token is the caller's to draw in this package."""
    tokens = []
    for i, x in enumerate(draft):
        kept, token = rejection_sample(p[i, x], q[i, x], x, log_p[i])
        tokens.append(int(token))
        if not kept:
            return tokens
    return [*tokens, int(torch.multinomial(p[-1], 1))]
