"""flashspec 0.3.1: `rejection_step`, whole batches at once."""  # noqa: INP001 (an example)

from __future__ import annotations

from typing import Any

import torch
from flashspec.sampling.rejection import rejection_step, rejection_step_onehot


def verify(draft: Any, q: Any, p: Any, generator: Any) -> Any:  # noqa: ANN401 (tensors)
    """Logarithms of q and p go in; (kept, next token) come out."""
    return committed(draft, rejection_step(draft, q.log(), p.log(), generator=generator))


def verify_onehot(draft: Any, q: Any, p: Any, generator: Any) -> Any:  # noqa: ANN401, ARG001
    """For a certain draft: q is not handed on."""
    return committed(draft, rejection_step_onehot(draft, p.log(), generator=generator))


def committed(draft: Any, step: Any) -> Any:  # noqa: ANN401
    """The kept run and the next token, -1 after it."""
    kept, following = step[:, :1], step[:, 1:]
    at = torch.arange(draft.shape[1] + 1)
    wide = torch.nn.functional.pad(draft, (0, 1), value=-1)
    none = torch.full_like(wide, -1)
    return torch.where(at < kept, wide, torch.where(at == kept, following, none))
