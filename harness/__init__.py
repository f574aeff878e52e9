"""Monte Carlo harness: does a speculative-decoding sampler draw from the law it promises?

The commands of `specharness` are a thin layer over these names::

    from harness import load_suite, run_suite

    result = run_suite(load_suite("scenarios/three-token.yaml"))
    assert result.exit_code == 0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.assertions import assert_preserves_target
    from harness.engine.result import ScenarioResult, SuiteResult, Verdict
    from harness.engine.run import run_suite
    from harness.errors import HarnessError, SamplerFailure, ScenarioError
    from harness.reports.table import to_frame
    from harness.scenario.load import load_suite, load_suites, parse_suite
    from harness.store.folder import load as load_run
    from harness.store.folder import save as save_run

__all__ = [
    "HarnessError",
    "SamplerFailure",
    "ScenarioError",
    "ScenarioResult",
    "SuiteResult",
    "Verdict",
    "assert_preserves_target",
    "load_run",
    "load_suite",
    "load_suites",
    "parse_suite",
    "run_suite",
    "save_run",
    "to_frame",
]

_HOMES = {  # imported when first asked for, so that `specharness --help` is quick
    "HarnessError": "harness.errors:HarnessError",
    "SamplerFailure": "harness.errors:SamplerFailure",
    "ScenarioError": "harness.errors:ScenarioError",
    "ScenarioResult": "harness.engine.result:ScenarioResult",
    "SuiteResult": "harness.engine.result:SuiteResult",
    "Verdict": "harness.engine.result:Verdict",
    "assert_preserves_target": "harness.assertions:assert_preserves_target",
    "load_run": "harness.store.folder:load",
    "load_suite": "harness.scenario.load:load_suite",
    "load_suites": "harness.scenario.load:load_suites",
    "parse_suite": "harness.scenario.load:parse_suite",
    "run_suite": "harness.engine.run:run_suite",
    "save_run": "harness.store.folder:save",
    "to_frame": "harness.reports.table:to_frame",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
