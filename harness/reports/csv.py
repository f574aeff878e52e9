"""`summary.csv`: one row a scenario and observable."""

from __future__ import annotations

from collections.abc import Mapping

from harness.engine.result import SuiteResult
from harness.reports.table import COLUMNS, to_frame
from harness.reports.words import NO_PICTURES, visible

__all__ = ["COLUMNS", "render"]


def render(result: SuiteResult, _pictures: Mapping[str, bytes] = NO_PICTURES, /) -> str:
    """The table as text; controls and other invisible characters of names are escaped."""
    return to_frame(result).map(_cell).to_csv(index=False, lineterminator="\n")


def _cell(value: object) -> str:
    return "" if value is None else visible(str(value))
