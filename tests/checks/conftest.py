"""The three-token example and the reference values of this room."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

P = np.array([0.6, 0.3, 0.1])
Q = np.array([0.5, 0.25, 0.25])
FAULT = np.array([0.59, 0.295, 0.115])  # resample from the target


@pytest.fixture(scope="session")
def reference():
    path = Path(__file__).parent.parent / "reference" / "statistics.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def p():
    return P


@pytest.fixture
def q():
    return Q


@pytest.fixture
def fault():
    return FAULT


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)
