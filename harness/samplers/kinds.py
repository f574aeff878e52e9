"""Kinds of samplers: one line each, from a declaration to what makes the sampler of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from harness.errors import BadSetting, SamplerFailure
from harness.protocols import Assignment, Sampler, SamplerFactory
from harness.registry import did_you_mean
from harness.samplers.block import Generate, Verify
from harness.samplers.command import Program
from harness.samplers.failing import failing
from harness.samplers.functions import Function, installed
from harness.samplers.generator import GeneratorSampler
from harness.samplers.hosted import host_of
from harness.samplers.recorded import recorded_sampler
from harness.samplers.spec import SamplerSpec
from harness.samplers.verifier import VerifierSampler

__all__ = ["ADAPTERS", "KINDS", "factory_of"]

Versions: TypeAlias = Callable[[], Mapping[str, str]]
Connected: TypeAlias = tuple[Verify | Generate, Versions]
Connect: TypeAlias = Callable[[Assignment], Connected]

ADAPTERS: Final = {
    "transformers": {
        "function": ("speculative_sampling", "verifier"),
        "assisted": ("assisted", "generator"),
        "prompt-lookup": ("prompt_lookup", "generator"),
        "plain": ("plain", "generator"),
    },
    "vllm": {
        "function": ("rejection", "verifier"),
        "n-gram": ("n_gram", "verifier"),
        "class": ("rejection_class", "verifier"),
    },
}


def factory_of(spec: SamplerSpec, replay: Path | None) -> SamplerFactory:
    """What makes the sampler of a scenario; one process serves all scenarios of a declaration."""
    return KINDS[spec.kind](spec, replay)


def _python(spec: SamplerSpec, replay: Path | None) -> SamplerFactory:
    """An importable function, verify(draft, q, p, rng) or generate(n, horizon, seed)."""
    function = Function(
        spec.target, spec.folder, spec.level, spec.arrays, spec.random, spec.factory, spec.packages
    )
    connect = _process(host_of(function, spec)) if spec.isolated else partial(_called, function)
    return partial(_sampler, spec, replay, connect)


def _adapter(spec: SamplerSpec, replay: Path | None) -> SamplerFactory:
    """A function of ours around their library; the target names the call (see ADAPTERS)."""
    calls = ADAPTERS[spec.kind]
    target = spec.target or "function"
    if target not in calls:
        raise BadSetting(f"sampler {spec.name}: no call {target!r}{did_you_mean(target, calls)}")
    attribute, level = calls[target]
    packages = (spec.kind, f"{spec.kind}-cpu", "torch", *spec.packages)
    ours = replace(
        spec,
        target=f"harness.samplers.{spec.kind}:{attribute}",
        level=level,
        factory=True,
        dtype=spec.dtype or "float32",
        packages=packages,
    )
    return _python(ours, replay)


def _command(spec: SamplerSpec, replay: Path | None) -> SamplerFactory:
    """Any program, over the protocol of harness/samplers/PROTOCOL.md."""
    program = Program(spec.command, spec.folder, spec.timeout)
    return partial(_sampler, spec, replay, _process(program))


def _recorded(spec: SamplerSpec, replay: Path | None) -> SamplerFactory:  # noqa: ARG001 (a kind)
    """Tokens or counts in a CSV, JSONL, NPY, NPZ or Parquet file."""
    return partial(recorded_sampler, spec.folder / spec.target, spec.name)


KINDS: Final[Mapping[str, Callable[[SamplerSpec, Path | None], SamplerFactory]]] = {
    "python": _python,
    "command": _command,
    "recorded": _recorded,
    "transformers": _adapter,
    "vllm": _adapter,
}


def _called(function: Function, assignment: Assignment) -> Connected:
    return function.calls(assignment), partial(installed, function.packages)


def _process(program: Program) -> Connect:
    def connect(assignment: Assignment) -> Connected:
        session = program.session(assignment)
        return session.call, session.versions

    return connect


def _sampler(
    spec: SamplerSpec, replay: Path | None, connect: Connect, assignment: Assignment
) -> Sampler:
    batch_size, options = _batch_size(spec, assignment.options)
    asked = replace(assignment, options=options)
    try:
        call, versions = connect(asked)
    except SamplerFailure as failure:
        call, versions = failing(failure), dict
    if spec.level == "generator":
        return GeneratorSampler(
            cast("Generate", call), asked.laws, asked.horizon,
            batch_size, spec.name, replay, versions,
        )  # fmt: skip
    return VerifierSampler(
        cast("Verify", call), asked.laws, asked.draft_length, asked.horizon,
        spec.floats, spec.shared, batch_size, spec.name, replay, versions,
    )  # fmt: skip


def _batch_size(
    spec: SamplerSpec, stated: Mapping[str, Any]
) -> tuple[int | None, Mapping[str, Any]]:
    """`batch_size` is the harness's option; all others are the sampler's."""
    options = {**spec.options, **stated}
    size = options.pop("batch_size", spec.batch_size)
    if size is None or (isinstance(size, int) and not isinstance(size, bool) and size > 0):
        return size, options
    raise BadSetting(f"sampler {spec.name}: batch_size is {size!r}; give a whole number above zero")
