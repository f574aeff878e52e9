"""onnxruntime-genai 0.18: speculative decoding end to end, on models of one node."""  # noqa: INP001 (an example)

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime_genai as genai
from onnx import TensorProto, helper, numpy_helper

from harness.samplers.states import FLOOR, draft_states, target_states

END = -60.0  # logit of the end token, which it wants to have: out of reach


def make(assignment: Any) -> Callable[[int, int, int], Any]:  # noqa: ANN401 (an Assignment)
    """A generator and a seed of its own for every sequence; options are its search options."""
    folder = Path(tempfile.mkdtemp(prefix="genai"))
    model = genai.Model(str(written(folder, assignment)))
    prompt = np.array([assignment.laws.vocabulary], np.int32)

    def one(horizon: int, seed: int) -> Any:  # noqa: ANN401
        params = genai.GeneratorParams(model)
        settings = {"max_length": 1 + horizon, "do_sample": True, "random_seed": seed}
        params.set_search_options(**{**settings, **assignment.options})
        generator = genai.Generator(model, params)
        generator.append_tokens(prompt)
        while not generator.is_done():
            generator.generate_next_token()
        return generator.get_sequence(0)[1 : 1 + horizon]

    def generate(n: int, horizon: int, seed: int) -> Any:  # noqa: ANN401
        seeds = np.random.default_rng(seed).integers(1, 2**31 - 1, n)
        return np.stack([one(horizon, int(each)) for each in seeds])

    return generate


def written(folder: Path, assignment: Any) -> Path:  # noqa: ANN401
    """A folder with the two models and their configuration."""
    target, draft = (f(assignment.laws) for f in (target_states, draft_states))
    save(target, folder / "target.onnx")
    save(draft, folder / "draft.onnx")
    size = len(target) + 1
    model = {
        "type": "llama", "vocab_size": size, "bos_token_id": 0, "eos_token_id": size - 1,
        "pad_token_id": size - 1, "context_length": 64,
        "decoder": part("target.onnx"), "draft": part("draft.onnx"),
    }  # fmt: skip
    search = {"do_sample": True, "max_length": 32, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    config = {
        "model": model,
        "search": search,
        "speculative": {"max_draft_tokens": assignment.draft_length},
    }
    (folder / "genai_config.json").write_text(json.dumps(config))
    return folder


def save(states: Any, path: Path) -> None:  # noqa: ANN401 (an array)
    """input_ids -> logits: the row of a table for each token."""
    size = len(states) + 1
    logits = np.full((size, size), END, np.float32)
    logits[:-1, :-1] = np.log(np.maximum(states, FLOOR))
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["logits"], axis=0)],
        "table",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "seq"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "seq", size])],
        [numpy_helper.from_array(logits, "table")],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path
    )


def part(filename: str) -> dict[str, Any]:
    """A model without layers, heads or cache."""
    return {
        "filename": filename, "head_size": 1, "hidden_size": 1, "num_attention_heads": 1,
        "num_key_value_heads": 1, "num_hidden_layers": 0,
        "inputs": {"input_ids": "input_ids"}, "outputs": {"logits": "logits"},
    }  # fmt: skip
