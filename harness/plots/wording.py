"""Titles: what was found, where, and how sure."""

from __future__ import annotations

from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult, Verdict
from harness.plots.labels import number, short, shown, shown_token

__all__ = [
    "cell_name",
    "coarsely",
    "details",
    "finding",
    "levels",
    "named",
]


def finding(scenario: ScenarioResult, seen: ObservableResult) -> str:
    """`differs: C is 15 % too frequent`."""
    invalid = scenario.verdict == Verdict.INVALID
    what = (scenario.reason if invalid else seen.finding) or scenario.reason
    return f"{scenario.verdict if invalid else seen.verdict}: {what}"


def cell_name(scenario: ScenarioResult, seen: ObservableResult, index: int) -> str:
    """The label of a cell, for an axis; its number where a large law has no labels."""
    tokens = scenario.tokens if len(scenario.tokens) == len(seen.target) else ()
    names = seen.cells or tokens
    if not names:
        return f"cell {index}"
    name = names[index]
    return shown_token(name) if seen.observable == "output" else short(shown(name), 22)


def details(
    result: SuiteResult, scenario: ScenarioResult, seen: ObservableResult, cut: str = ""
) -> str:
    """Which law of which scenario, the distances, and what the intervals are."""
    where = f"{named(scenario)}: {seen.observable} law"
    if not seen.trials:
        return f"{where}, nothing was drawn."
    sure = f"Clopper-Pearson intervals, together at 1 - {result.delta:g}"
    return f"{where}, {number(seen.trials)} trials{cut}. {levels(scenario, seen)}. {sure}."


def levels(scenario: ScenarioResult, seen: ObservableResult) -> str:
    """The distance, its bound, what was wanted, and what could have been seen."""
    return (
        f"TV {number(seen.tv)}, at most {number(seen.tv_bound)}{coarsely(seen)}; epsilon"
        f" {number(scenario.epsilon)}; detectable from {number(seen.tv_detectable)}"
    )


def coarsely(seen: ObservableResult) -> str:
    """` on the top 256 tokens and the rest`, where the bound is not of the whole law."""
    whole = seen.bound_of in {"full alphabet", seen.observable, ""}
    return "" if whole else f" on the {seen.bound_of}"


def named(scenario: ScenarioResult) -> str:
    """The scenario's name, short enough for a line."""
    return short(shown(scenario.name), 48)
