"""What is written down about a run, so that it can be judged and repeated."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from harness.arrays import Exact
from harness.engine.plan import BATCH_TRIALS, CHUNK_TRIALS
from harness.scenario.model import Scenario, Suite

__all__ = ["manifest_of"]

PACKAGES = ("specharness", "numpy", "scipy", "pandas", "matplotlib")
LAWS = ("target", "p", "q", "proposal")
INLINE_UP_TO = 64  # tokens: larger laws are told by their digest


def manifest_of(
    suite: Suite,
    *,
    workers: int,
    wall: float,
    cpu: float,
    trials: int,
    tested: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Values for `manifest.json`: suite and laws, streams, versions, machine and time.

    `tested` are versions of packages under test.
    """
    return {
        "suite": {
            "name": suite.name,
            "source": Path(suite.source).name,
            "sha256": hashlib.sha256(suite.text.encode()).hexdigest(),
            "text": suite.text,
        },
        "scenarios": {s.name: _scenario(s) for s in suite.scenarios},
        "seed": suite.seed,
        "alpha": suite.alpha,
        "delta": suite.delta,
        "stream": {
            "generator": "SFC64",
            "address": "(seed, scenario name, chunk number)",
            "address_of_reference": "(seed, 'reference', scenario name, chunk number)",
            "chunk_trials": CHUNK_TRIALS,
            "batch_trials": BATCH_TRIALS,
        },
        "versions": {"python": platform.python_version(), **_versions(), **(tested or {})},
        "git_commit": _git_commit(),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "byte_order": sys.byteorder,
        },
        "workers": workers,
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "trials_per_second": trials / wall if wall > 0 else 0.0,
    }


def _scenario(scenario: Scenario) -> dict[str, Any]:
    laws = scenario.laws
    return {
        "rule": scenario.rule,
        "sampler": None if scenario.sampler is None else scenario.sampler.name,
        "reference": None if scenario.reference is None else scenario.reference.name,
        "promised": scenario.promised,
        "draft_length": scenario.draft_length,
        "horizon": scenario.horizon,
        "settings": _plain(scenario.settings),
        "laws": {name: _law(getattr(laws, name)) for name in LAWS},
        "prefixes": f"{len(laws.contexts)} contexts, {len(laws.contexts.starts)} prompts",
    }


def _law(law: Exact) -> Mapping[str, Any]:
    floats = np.ascontiguousarray(law, dtype=np.float64)
    digest = hashlib.sha256(floats.tobytes()).hexdigest()
    small = floats.shape[1] <= INLINE_UP_TO and floats.size <= INLINE_UP_TO**2
    return {
        "shape": list(floats.shape),
        "sha256": digest,
        **({"rows": floats.tolist()} if small else {}),
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 (whatever a scenario file may hold)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _git_commit() -> str | None:
    """Commit of the folder the run was started in, where that is a checkout."""
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 (the user's own git)
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None
