"""Python functions as samplers: called with the arrays and the kind of randomness they want."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import SamplerFailure
from harness.rng import stream
from harness.samplers import torch
from harness.samplers.block import Block
from harness.samplers.contract import THEIRS
from harness.samplers.signature import Signature, signature_of

__all__ = ["generate_by", "verify_by"]


@dataclass(frozen=True, slots=True)
class _Call:
    """One function of the user's, with the options of the scenario."""

    function: Callable[..., Any]
    signature: Signature
    options: Mapping[str, Any]

    def __call__(self, leading: tuple[Any, ...], seed: int) -> Any:  # noqa: ANN401
        positional, keywords = leading, dict(self.options)
        if self.signature.form == "global":
            _seed_everything(seed)
        elif self.signature.positional:
            positional = (*leading, self._randomness(seed))
        else:
            keywords[str(self.signature.keyword)] = self._randomness(seed)
        try:
            return torch.as_array(self.function(*positional, **keywords))
        except SamplerFailure:
            raise
        except THEIRS as error:
            raise SamplerFailure(_told(error)) from error

    def _randomness(self, seed: int) -> Any:  # noqa: ANN401
        if self.signature.form == "seed":
            return seed
        return torch.generator(seed) if self.signature.form == "torch" else stream(seed, "call")


def verify_by(
    function: Callable[..., Any], *, arrays: str, form: str, options: Mapping[str, Any]
) -> Callable[[Block, int], Any]:
    """`verify(draft, q, p, rng) -> committed`, whatever its arrays and its randomness are."""
    call = _Call(function, _signature(function, 3, arrays, form, options), options)

    def verify(block: Block, seed: int) -> Any:  # noqa: ANN401
        given = (block.draft, block.q, block.p)
        return call(tuple(map(torch.tensor, given)) if arrays == "torch" else given, seed)

    return verify


def generate_by(
    function: Callable[..., Any], *, arrays: str, form: str, options: Mapping[str, Any]
) -> Callable[[int, int, int], Any]:
    """`generate(n, horizon, seed) -> tokens`."""
    call = _Call(function, _signature(function, 2, arrays, form, options), options)

    def generate(n: int, horizon: int, seed: int) -> Any:  # noqa: ANN401
        return call((n, horizon), seed)

    return generate


def _signature(
    function: Callable[..., Any], leading: int, arrays: str, form: str, options: Mapping[str, Any]
) -> Signature:
    return signature_of(function, leading, arrays=arrays, options=options, form=form)


def _seed_everything(seed: int) -> None:
    """For functions that draw from global generators: theirs, never one of ours."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 (what a function without an rng draws from)
    torch.seed_if_loaded(seed)


def _told(error: BaseException) -> str:
    """The exception, and the line of theirs that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(str(error).split())[:400]
    place = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
    return f"{type(error).__name__}: {words} (at {place})"
