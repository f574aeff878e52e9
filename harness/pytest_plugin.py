"""Pytest: a fixture whose trials, epsilon and seed are set for the whole run.

def test_my_kernel(preserves_target):
    preserves_target(my_verify, target=p, draft=q, draft_length=3)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

__all__ = ["preserves_target", "pytest_addoption"]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("specharness")
    group.addoption(
        "--specharness-trials", type=int, default=4_000_000, help="most trials of an assertion"
    )
    group.addoption("--specharness-epsilon", type=float, default=0.02, help="TV to be certified")
    group.addoption("--specharness-seed", type=int, default=0, help="seed of all assertions")


@pytest.fixture
def preserves_target(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`assert_preserves_target` with the settings of the command line."""
    from harness.assertions import assert_preserves_target  # noqa: PLC0415 (every pytest run loads this)

    options = request.config.option
    return partial(
        assert_preserves_target,
        trials=options.specharness_trials,
        epsilon=options.specharness_epsilon,
        seed=options.specharness_seed,
    )
