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


@pytest.fixture(scope="session")
def every_kind(made):
    """A suite with every verdict, V from 3 to 32,000, and names that break careless writers."""
    return made.every_kind()
