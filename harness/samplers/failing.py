"""Calls that cannot be made, because the sampler failed before its first trial."""

from __future__ import annotations

from typing import Any, NoReturn

from harness.errors import SamplerFailure

__all__ = ["failing"]


def failing(failure: SamplerFailure) -> Any:  # noqa: ANN401 (either form of call)
    """A function that raises `failure` when it is called: the suite is prepared, and goes on."""

    def fail(*_: object) -> NoReturn:
        raise failure

    return fail
