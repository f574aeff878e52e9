"""Reports: one file a format, each a pure function of the result. Add a format here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from harness.engine.result import SuiteResult
from harness.registry import Registry

__all__ = ["REPORTS", "Report", "run_files"]


class Report(Protocol):
    """Renders a run as text.

    `pictures` are PNG files by name, for a format that can show them: a name starts with the
    scenario's index in three digits, or with `suite`.
    """

    def __call__(self, result: SuiteResult, pictures: Mapping[str, bytes] = ..., /) -> str: ...


REPORTS: Final[Registry[Report]] = Registry(
    "reports",
    {
        "json": "harness.reports.json:render",
        "csv": "harness.reports.csv:render",
        "markdown": "harness.reports.markdown:render",
        "junit": "harness.reports.junit:render",
        "html": "harness.reports.html:render",
    },
)


def run_files(result: SuiteResult) -> dict[str, str]:
    """The reports that every results folder holds, by file name."""
    return {"results.json": REPORTS["json"](result), "summary.csv": REPORTS["csv"](result)}
