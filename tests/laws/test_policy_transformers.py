"""Sampling policies against the logits processors of transformers, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

from harness.laws.policy import SamplingPolicy, apply_to_logits

torch = pytest.importorskip("torch", reason="torch is optional; the oracle here runs on it")
pytest.importorskip("transformers", reason="transformers is optional; it is the oracle here")

from transformers import GenerationConfig  # noqa: E402 - only after the skips
from transformers.generation.utils import GenerationMixin  # noqa: E402 - as above

CASES = 100
ROWS = 8
STABLY_SORTED = 16  # torch 2.13 on the CPU keeps the order of equal entries up to here


class AnyModel(GenerationMixin):
    """What the mixin needs to list the processors that `generate` would apply, in its order."""

    class config:  # noqa: N801 - the attribute that transformers reads
        is_encoder_decoder = False

    device = torch.device("cpu")


def processors_of(policy):
    config = GenerationConfig(
        do_sample=True,
        temperature=float(policy.temperature),
        top_k=policy.top_k or 0,
        top_p=float(policy.top_p),
        min_p=float(policy.min_p) or None,
    )
    return AnyModel()._get_logits_processor(generation_config=config, input_ids_seq_length=1)


def theirs(policy, logits, dtype):
    scores = torch.as_tensor(logits, dtype=dtype)
    scores = processors_of(policy)(torch.zeros((len(logits), 1), dtype=torch.long), scores)
    return torch.softmax(scores, dim=-1).double().numpy()


def random_case(rng, vocabularies, *, tied):
    """Logits (rows, V), whole numbers where ties are wanted, and a policy of a random subset."""
    vocabulary = int(rng.choice(vocabularies))
    logits = rng.standard_normal((ROWS, vocabulary)) * rng.choice([0.5, 2.0, 5.0])
    settings = {
        "temperature": float(rng.uniform(0.3, 2.0)),
        "top_k": int(rng.integers(1, vocabulary + 2)),
        "top_p": float(rng.uniform(0.05, 1.0)),
        "min_p": float(rng.uniform(0.0, 0.6)),
    }
    chosen = {name: value for name, value in settings.items() if rng.random() < 0.6}
    return np.round(logits) if tied else logits, SamplingPolicy(**chosen)


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize(
    ("dtype", "vocabularies", "tolerance"),
    [
        ("float64", (2, 3, 8, 32, 1_000), 1e-14),
        # over many tokens, float32 may place one of them on the other side of top-p
        ("float32", (2, 3, 8, 32), 2e-6),
    ],
)
def test_laws_are_those_of_the_processors_that_generate_applies(
    dtype, vocabularies, tolerance, tied
):
    """Same support in every row, probabilities within rounding (oracle: transformers).

    Which of equally likely tokens top-p cuts is torch.sort's choice beyond 16 tokens; there the
    laws are compared in order of size, which leaves nothing else open.
    """
    rng = np.random.default_rng(77)
    for _ in range(CASES):
        logits, policy = random_case(rng, vocabularies, tied=tied)
        logits = logits.astype(dtype).astype(np.float64)
        expected = theirs(policy, logits, getattr(torch, dtype))
        got = apply_to_logits(policy, logits)
        if tied and logits.shape[1] > STABLY_SORTED:
            got, expected = np.sort(got, axis=-1), np.sort(expected, axis=-1)
        assert ((got > 0) == (expected > 0)).all(), policy
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("top_p", [0.25, 0.5, 0.75])
def test_a_boundary_met_exactly_is_cut_alike(top_p):
    """Four equal logits have probabilities of exactly 1/4 (oracle: transformers)."""
    policy, logits = SamplingPolicy(top_p=top_p), np.zeros((1, 4))
    expected = theirs(policy, logits, torch.float32)
    np.testing.assert_allclose(apply_to_logits(policy, logits), expected, atol=1e-7)


def test_greedy_takes_the_first_maximum_as_argmax_does():
    """Ties among whole-number logits (oracle: torch.argmax, which greedy decoding calls)."""
    logits = np.random.default_rng(5).integers(0, 3, size=(200, 6)).astype(np.float64)
    got = apply_to_logits(SamplingPolicy(greedy=True), logits).argmax(axis=-1)
    np.testing.assert_array_equal(got, torch.argmax(torch.as_tensor(logits), dim=-1).numpy())
