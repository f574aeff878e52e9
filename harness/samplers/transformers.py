"""Hugging Face transformers under test; the only file that imports it. See `kinds.ADAPTERS`.

`function`: `_speculative_sampling` called directly, its signature of 4.49 or of 5.x. `assisted`,
`prompt-lookup`, `plain`: `generate` end to end, on Llama models made in code whose next-token laws
are the scenario's tables, without a download.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from harness.arrays import Probs, Tokens
from harness.errors import BadSetting
from harness.protocols import Assignment
from harness.registry import did_you_mean
from harness.samplers.states import FLOOR, draft_states, target_states

__all__ = ["assisted", "plain", "prompt_lookup", "speculative_sampling"]

SAMPLING: Final = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
ASSISTING: Final = {"confidence_threshold": 0.0, "schedule": "constant"}

VerifyArrays = Callable[[Tokens, Probs, Probs, int], Tokens]
GenerateTokens = Callable[[int, int, int], Tokens]


def speculative_sampling(assignment: Assignment) -> VerifyArrays:
    """One call a trial: the function takes a batch of one. Options go to it as they are."""
    torch, options = _torch(), dict(assignment.options)
    function = _import("transformers.generation.utils")._speculative_sampling  # noqa: SLF001 (the subject)
    if "is_done_candidate" in inspect.signature(function).parameters:
        options["is_done_candidate"] = False

    def verify(draft: Tokens, q: Probs, p: Probs, seed: int) -> Tokens:
        torch.manual_seed(seed)
        n, k = draft.shape
        ids = torch.from_numpy(np.pad(draft, ((0, 0), (1, 0))))
        log_q, log_p = torch.from_numpy(q).log(), torch.from_numpy(p).log()
        committed = np.full((n, k + 1), -1, np.int64)
        with torch.inference_mode():
            for row in range(n):
                one = slice(row, row + 1)
                tokens, _ = function(
                    candidate_input_ids=ids[one],
                    candidate_logits=log_q[one],
                    candidate_length=k,
                    new_logits=log_p[one],
                    **options,
                )
                committed[row, : tokens.shape[1]] = tokens[0].numpy()
        return committed

    return verify


def assisted(assignment: Assignment) -> GenerateTokens:
    """`generate(assistant_model=...)`, one sequence at a time, `draft_length` tokens a draft."""
    options = _options(assignment, {**SAMPLING, **ASSISTING})
    assistant = _llama(draft_states(assignment.laws))
    settings = assistant.generation_config
    settings.num_assistant_tokens = assignment.draft_length
    settings.num_assistant_tokens_schedule = options.pop("schedule")
    settings.assistant_confidence_threshold = options.pop("confidence_threshold")
    prompt = [assignment.laws.vocabulary]
    return _one_by_one(assignment, prompt, {**options, "assistant_model": assistant})


def prompt_lookup(assignment: Assignment) -> GenerateTokens:
    """`generate(prompt_lookup_num_tokens=...)`: drafts are copied from what was said before.

    The prompt repeats the start, so that a first draft is found. An end token outside the
    vocabulary is given because 4.49 fails without one.
    """
    options, prompt_token = _options(assignment, SAMPLING), assignment.laws.vocabulary
    prompt = [prompt_token, 0, min(1, prompt_token - 1), 0, prompt_token]
    lookup = {"prompt_lookup_num_tokens": assignment.draft_length, "eos_token_id": prompt_token + 1}
    return _one_by_one(assignment, prompt, {**options, **lookup})


def plain(assignment: Assignment) -> GenerateTokens:
    """`generate` without a draft, all trials at once: the control of the other two."""
    torch, options = _torch(), _options(assignment, SAMPLING)
    model, vocabulary = _llama(target_states(assignment.laws)), assignment.laws.vocabulary

    def generate(n: int, horizon: int, seed: int) -> Tokens:
        prompt = torch.full((n, 1), vocabulary)
        torch.manual_seed(seed)
        return _generated(model, prompt, horizon, options)

    return generate


def _one_by_one(
    assignment: Assignment, prompt: list[int], options: Mapping[str, Any]
) -> GenerateTokens:
    torch, model = _torch(), _llama(target_states(assignment.laws))

    def generate(n: int, horizon: int, seed: int) -> Tokens:
        torch.manual_seed(seed)
        ids = torch.tensor([prompt])
        rows = [_generated(model, ids, horizon, options) for _ in range(n)]
        return np.concatenate(rows)

    return generate


def _generated(model: Any, prompt: Any, horizon: int, options: Mapping[str, Any]) -> Tokens:  # noqa: ANN401
    torch = _torch()
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # that sampling options and greedy search do not go together
        told = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=horizon, **options
        )
    tokens: Tokens = told[:, prompt.shape[1] :].numpy()
    return tokens


def _llama(states: Probs) -> Any:  # noqa: ANN401 (transformers has no place in our signatures)
    """One layer that adds nothing to one-hot embeddings, and a head that holds log(states).

    The final norm multiplies a one-hot vector by sqrt(hidden size), which the head divides by: the
    logits are the logarithms of the row of the last token, with the library's real attention,
    cache and cropping at work.
    """
    torch, library = _torch(), _import("transformers")
    torch.set_num_threads(1)  # a model this small only loses by more
    library.logging.set_verbosity_error()
    size = len(states)
    hidden = size + size % 2  # rotary embeddings want an even head
    model = library.LlamaForCausalLM(_config(library, size, hidden)).eval()
    head = torch.zeros(size, hidden)
    head[:, :size] = torch.from_numpy(np.log(np.maximum(states, FLOOR)).T / hidden**0.5).float()
    with torch.no_grad():
        layer = model.model.layers[0]
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(size, hidden))
        model.lm_head.weight.copy_(head)
    return model


def _config(library: Any, size: int, hidden: int) -> Any:  # noqa: ANN401
    return library.LlamaConfig(
        vocab_size=size,
        hidden_size=hidden,
        intermediate_size=2,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=hidden,
        max_position_embeddings=2048,
        rms_norm_eps=1e-12,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        tie_word_embeddings=False,
    )


def _options(assignment: Assignment, defaults: Mapping[str, Any]) -> dict[str, Any]:
    for name in assignment.options:
        if name not in defaults:
            raise BadSetting(f"generate takes no option {name!r}{did_you_mean(name, defaults)}")
    return {"pad_token_id": 0, **defaults, **assignment.options}


def _torch() -> Any:  # noqa: ANN401
    return _import("torch")


def _import(name: str) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise BadSetting(f"transformers samplers need {error.name}: pip install it") from error
