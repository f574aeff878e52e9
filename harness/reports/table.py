"""A run as a table of data: one row a scenario and observable, for pandas."""

from __future__ import annotations

from typing import Final

import pandas as pd

from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult

__all__ = ["COLUMNS", "to_frame"]

SCENARIO: Final = ("name", "sampler", "expect", "control", "verdict", "as_expected", "epsilon")
OBSERVABLE: Final = (
    "observable",
    "judged",
    "verdict",
    "trials",
    "tv",
    "tv_bound",
    "bound_of",
    "delta",
    "tv_detectable",
    "log_e",
    "p_adjusted",
    "finding",
)
ACCEPTANCE: Final = ("observed", "expected")
COLUMNS: Final = (
    "suite",
    *(f"scenario_{c}" if c in {"name", "verdict"} else c for c in SCENARIO),
    *OBSERVABLE,
    *(f"acceptance_{c}" for c in ACCEPTANCE),
    "wall_seconds",
)


def to_frame(*results: SuiteResult) -> pd.DataFrame:
    """Rows of several runs; a scenario without observables has one row, its reason as finding."""
    rows = [
        _row(result.suite, scenario, seen)
        for result in results
        for scenario in result.scenarios
        for seen in scenario.observables or (None,)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(suite: str, scenario: ScenarioResult, seen: ObservableResult | None) -> list[object]:
    about = [getattr(scenario, name) for name in SCENARIO]
    found = [getattr(seen, name) for name in OBSERVABLE] if seen else _nothing(scenario)
    kept = [getattr(scenario.acceptance, name, None) for name in ACCEPTANCE]
    return [suite, *about, *found, *kept, scenario.wall_seconds]


def _nothing(scenario: ScenarioResult) -> list[object]:
    return [*[None] * (len(OBSERVABLE) - 1), scenario.reason]
