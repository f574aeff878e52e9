"""Torch arrays and the transformers adapters; skipped where they are not installed."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from harness.errors import BadSetting
from harness.laws.joint import joint_cells, joint_law
from harness.rng import stream
from harness.samplers.states import draft_states, target_states

P = np.array([0.6, 0.3, 0.1])
SIGMAS = 6.5  # two-sided 1e-10 a cell

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers is not installed"
)

KERNELS = """
import torch

def _verify(draft, q, p, generator=None):
    n, k = draft.shape
    none = torch.zeros_like(p[:, :1])
    u = torch.rand((n, k), generator=generator)
    at = draft.unsqueeze(2)
    kept = (u * q.gather(2, at)[..., 0] < p[:, :k].gather(2, at)[..., 0]).long().cumprod(1).sum(1)
    law = (p - torch.cat([q, none], 1)).clamp(min=0)[torch.arange(n), kept]
    law = torch.where((kept == k)[:, None], p[:, k], law)
    last = torch.multinomial(law, 1, generator=generator)
    place = torch.arange(k + 1)
    wide = torch.nn.functional.pad(draft, (0, 1), value=-1)
    return torch.where(place < kept[:, None], wide, torch.where(place == kept[:, None], last, -1))

def with_generator(draft, q, p, generator):
    assert q.dtype == p.dtype and draft.dtype == torch.int64
    return _verify(draft, q, p, generator)

def with_global(draft, q, p):
    return _verify(draft, q, p)

def annotated(draft, q, p, rng: torch.Generator):
    return _verify(draft, q, p, rng)

def in_place(draft, q, p, generator):
    committed = _verify(draft, q, p, generator)
    p.log_()
    return committed
"""


def _follows(cells, law):
    counts, n = np.bincount(cells, minlength=len(law)), len(cells)
    assert (abs(counts - n * law) <= SIGMAS * np.sqrt(n * law * (1 - law)) + 1e-9).all()


@needs_torch
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("dtype", ["", "float64"])
@pytest.mark.parametrize("function", ["with_generator", "with_global", "annotated"])
def test_torch_verifiers_draw_the_target(function, dtype, shared, tmp_path, declare, assignment):
    """Tensors of either dtype, copied or expanded; three ways of asking for randomness."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    target = f"{tmp_path}/kernels.py:{function}"
    sampler = declare(assignment(), target=target, arrays="torch", dtype=dtype, shared=shared)
    first, again = (sampler.sample(20_000, stream(1, "torch")).tokens for _ in range(2))
    _follows(first[:, 0], P)
    np.testing.assert_array_equal(first, again)


@needs_torch
def test_kernel_may_write_into_its_tensors(tmp_path, declare, assignment):
    """Laws are written anew for each call: what a kernel leaves behind does not count."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    target = f"{tmp_path}/kernels.py:in_place"
    sampler = declare(assignment(batch_size=5_000), target=target, arrays="torch")
    _follows(sampler.sample(20_000, stream(2, "torch")).tokens[:, 0], P)


def test_tables_by_last_token(markov, assignment):
    """Row x is the law after x, row V that of the prompt; Markov laws of order 1 are such."""
    for law, states in ((markov.p, target_states(markov)), (markov.q, draft_states(markov))):
        np.testing.assert_array_equal(states[:3, :3], law[1:])
        np.testing.assert_array_equal(states[3, :3], law[0])
        assert (states[:, 3] == 0).all()


def test_laws_by_position_are_no_table_by_last_token():
    """A tiny model cannot know how many tokens came before."""
    from harness.laws.contexts import position_contexts
    from harness.laws.tables import LawTables

    rows = np.array([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])
    laws = LawTables(p=rows, q=rows, proposal=rows, target=rows, contexts=position_contexts(2, 3))
    with pytest.raises(BadSetting, match="knows the last token only"):
        target_states(laws)


@needs_transformers
def test_model_made_in_code_has_the_laws_of_its_table(markov):
    """A forward pass of the Llama gives back the table to float32's accuracy."""
    import torch

    from harness.samplers.transformers import _llama

    states = target_states(markov)
    with torch.no_grad():
        logits = _llama(states)(torch.arange(4)[:, None]).logits[:, -1]
    np.testing.assert_allclose(logits.double().softmax(-1).numpy(), states, atol=2e-6)


@needs_transformers
@pytest.mark.parametrize(
    ("target", "n"),
    [("function", 1_500), ("assisted", 120), ("prompt-lookup", 120), ("plain", 20_000)],
)
def test_transformers_draws_the_target(target, n, declare, assignment, markov):
    """The joint law of two tokens; the plain generator is the control of the other three."""
    sampler = declare(assignment(2, 2, markov), kind="transformers", target=target)
    tokens = sampler.sample(n, stream(3, target)).tokens
    law = joint_law(markov.p, markov.contexts, 2, start=0).astype(float)
    _follows(joint_cells(tokens, 3, None), law)
    assert "transformers" in sampler.versions


@needs_transformers
def test_unknown_option_of_generate_is_refused(declare, assignment):
    """Before a model is made."""
    with pytest.raises(BadSetting, match="did you mean 'top_k'"):
        declare(assignment(topk=3), kind="transformers", target="assisted")


@pytest.mark.skipif(
    importlib.util.find_spec("vllm") is not None, reason="vllm is installed; see tests/third_party"
)
@pytest.mark.parametrize("target", ["function", "n-gram", "class"])
def test_missing_vllm_is_told(target, declare, assignment):
    """A usage error that says what to install, not a finding."""
    with pytest.raises(BadSetting, match="pip install"):
        declare(assignment(), kind="vllm", target=target)
