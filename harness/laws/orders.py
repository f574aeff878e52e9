"""The steps of a sampling policy: orders by project, edge rules by project, and the cuts.

Read from the projects' own sources:

* transformers 5.24.0: `generation/utils.py` (order of the warpers), `generation/logits_process.py`;
* vLLM 0.32.0: `v1/sample/sampler.py`, steps 7b to 7d, and the PyTorch path of
  `v1/sample/ops/topk_topp_sampler.py`;
* llama.cpp at e19fb5f1 (2025): `src/llama-sampling.cpp`; default chain in `common/common.h`.

All three renormalise after every step, so a later step counts the law an earlier one left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np

from harness.arrays import Bits, Exact, Rows
from harness.errors import BadSetting
from harness.registry import did_you_mean

__all__ = [
    "EDGES",
    "ORDERS",
    "STEPS",
    "Edges",
    "Number",
    "edges_of",
    "keep_min_p",
    "keep_top_k",
    "keep_top_p",
    "order_of",
]

T = TypeVar("T")
Number = float | Fraction

STEPS = ("temperature", "top_k", "top_p", "min_p")
BOUNDARY = 1e-12  # float probabilities this near to a boundary lie on it, as their decimals do


@dataclass(frozen=True, slots=True)
class Edges:
    """What becomes of equally likely tokens where a step cuts.

    `top_k_ties`: `all` keeps every token as likely as the k-th, so that more than k may stay;
    `first` and `last` keep exactly k, of equal tokens those with the lowest or the highest ids.
    `top_p_ties`: which of equal tokens count first towards top_p, the lowest or the highest ids.
    """

    top_k_ties: Literal["all", "first", "last"]
    top_p_ties: Literal["first", "last"]


ORDERS: Mapping[str, tuple[str, ...]] = {
    "transformers": ("temperature", "top_k", "top_p", "min_p"),
    # min_p is a logits processor, applied ahead of the top-k/top-p sampler
    "vllm": ("temperature", "min_p", "top_k", "top_p"),
    # the temperature reweights a support that was chosen at temperature 1
    "llama.cpp": ("top_k", "top_p", "min_p", "temperature"),
}

EDGES: Mapping[str, Edges] = {
    # `scores < topk(scores, k)[-1]` go. Top-p sorts upwards and removes from the low end, so of
    # equal tokens the lowest ids go first; beyond 16 tokens torch.sort (2.13, CPU) no longer
    # keeps the order of equal entries, and which of them go is its choice
    "transformers": Edges(top_k_ties="all", top_p_ties="last"),
    # the same in PyTorch; the Triton kernel on GPUs keeps exactly k (vLLM #50979), and which of
    # equal tokens depends on the launch: `edges: llama.cpp` comes nearest to it
    "vllm": Edges(top_k_ties="all", top_p_ties="last"),
    # std::partial_sort downwards, then a prefix. Which of equal tokens come first C++ leaves open
    # (libstdc++ mixes them once a larger one displaces them); here the lowest ids do
    "llama.cpp": Edges(top_k_ties="first", top_p_ties="first"),
}


def order_of(order: str | Sequence[str]) -> tuple[str, ...]:
    """Steps of a named order, or of one that lists its steps.

    Raises `BadSetting` for an unknown name, an unknown step, and a step named twice.
    """
    if isinstance(order, str):
        return _entry("order", order, ORDERS)
    for step in order:
        if step not in STEPS:
            raise BadSetting(f"no policy step {step!r}{did_you_mean(str(step), STEPS)}")
    if len(set(order)) < len(order):
        raise BadSetting(f"order {list(order)} names a step twice; name each step once")
    return tuple(order)


def edges_of(order: str | Sequence[str], edges: str | None) -> Edges:
    """Edge rules asked for by name, else the named order's own, else those of transformers."""
    if edges is not None:
        return _entry("edge rules", edges, EDGES)
    return EDGES[order if isinstance(order, str) else "transformers"]


def keep_top_k(probs: Exact, k: int, edges: Edges) -> Bits:
    """Tokens that top-k keeps, of probabilities (..., V)."""
    if k >= probs.shape[-1]:
        return np.ones(probs.shape, bool)
    if edges.top_k_ties == "all":
        kth = np.sort(probs, axis=-1)[..., -k, None]
        return np.greater_equal(probs, kth).astype(bool)
    ranking = _ranking(probs, edges.top_k_ties)
    return _at(ranking, np.broadcast_to(np.arange(probs.shape[-1]) < k, probs.shape))


def keep_top_p(probs: Exact, top_p: Number, edges: Edges) -> Bits:
    """Tokens that top-p keeps: the fewest most likely ones whose probabilities reach top_p.

    A token stays as long as those ahead of it hold less than top_p. That is llama.cpp's
    `cum_sum >= p` from above and, in exact arithmetic, also the `cumulative <= 1 - top_p` from
    below of transformers and vLLM; in float32 an engine may fall on either side of an exact hit.
    """
    ranking = _ranking(probs, edges.top_p_ties)
    ranked = np.take_along_axis(probs, ranking, axis=-1)
    ahead = np.add.accumulate(ranked, axis=-1) - ranked
    stays = np.less(ahead, top_p - _slack(probs)).astype(bool)
    stays[..., 0] = True
    return _at(ranking, stays)


def keep_min_p(probs: Exact, min_p: Number) -> Bits:
    """Tokens that min-p keeps: at least min_p times as likely as the most likely token."""
    floor = min_p * probs.max(axis=-1, keepdims=True) * (1 - _slack(probs))
    return np.greater_equal(probs, floor).astype(bool)


def _ranking(probs: Exact, ties: Literal["first", "last"]) -> Rows:
    """Token ids (..., V) from the most likely down; of equal tokens `first` or `last` leads."""
    if ties == "first":
        return np.argsort(-probs, axis=-1, kind="stable")
    return np.flip(np.argsort(probs, axis=-1, kind="stable"), axis=-1)


def _at(ranking: Rows, kept: Bits) -> Bits:
    """Marks (..., V) given by rank, put back where the tokens stand."""
    marks = np.empty(ranking.shape, bool)
    np.put_along_axis(marks, ranking, kept, axis=-1)
    return marks


def _slack(probs: Exact) -> float | int:
    """Rounding granted to float probabilities; Fractions need none."""
    return 0 if probs.dtype == object else BOUNDARY


def _entry(kind: str, name: str, table: Mapping[str, T]) -> T:
    if name not in table:
        raise BadSetting(f"no {kind} {name!r}{did_you_mean(name, tuple(table))}")
    return table[name]
