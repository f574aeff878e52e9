"""`summary.csv`: one row a scenario and observable."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Final

from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult
from harness.reports.words import NO_PICTURES, visible

__all__ = ["COLUMNS", "render"]

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


def render(result: SuiteResult, _pictures: Mapping[str, bytes] = NO_PICTURES, /) -> str:
    """The table as text; a scenario without observables has one row, its reason as finding."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for scenario in result.scenarios:
        for seen in scenario.observables or (None,):
            rows.writerow(_row(result.suite, scenario, seen))
    return text.getvalue()


def _row(suite: str, scenario: ScenarioResult, seen: ObservableResult | None) -> list[str]:
    about = [getattr(scenario, name) for name in SCENARIO]
    found = [getattr(seen, name) for name in OBSERVABLE] if seen else _nothing(scenario)
    kept = [getattr(scenario.acceptance, name, None) for name in ACCEPTANCE]
    return [_cell(value) for value in (suite, *about, *found, *kept, scenario.wall_seconds)]


def _nothing(scenario: ScenarioResult) -> list[object]:
    return [*[None] * (len(OBSERVABLE) - 1), scenario.reason]


def _cell(value: object) -> str:
    return "" if value is None else visible(str(value))
