"""Results made by hand, for the tests of this folder."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def made():
    """The builder in `tests/results_made.py`, by path: tests are no package."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "results_made.py")))
