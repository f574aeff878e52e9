"""Titles: what was found, where, and how sure."""

from __future__ import annotations

from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult, Verdict
from harness.plots.labels import number, short, shown

__all__ = ["details", "finding", "headline", "levels"]


def headline(scenario: ScenarioResult) -> ObservableResult | None:
    """The observable that speaks for a scenario: its output law, else the first one judged."""
    judged = [o for o in scenario.observables if o.judged] or list(scenario.observables)
    return scenario.observable("output") or next(iter(judged), None)


def finding(scenario: ScenarioResult, seen: ObservableResult) -> str:
    """`differs: C is 15 % too frequent`."""
    invalid = scenario.verdict == Verdict.INVALID
    what = (scenario.reason if invalid else seen.finding) or scenario.reason
    return f"{scenario.verdict if invalid else seen.verdict}: {what}"


def details(result: SuiteResult, scenario: ScenarioResult, seen: ObservableResult, n: int) -> str:
    """Which law of which scenario, the distances, and what the intervals are."""
    where = f"{named(scenario)}: {seen.observable} law"
    if not seen.trials:
        return f"{where}, nothing was drawn."
    cut = f", first {n} of {number(len(seen.cells))} cells" if n < len(seen.cells) else ""
    sure = f"Clopper-Pearson intervals, together at 1 - {result.delta:g}"
    return f"{where}, {number(seen.trials)} trials{cut}. {levels(scenario, seen)}. {sure}."


def levels(scenario: ScenarioResult, seen: ObservableResult) -> str:
    """The distance, its bound, what was wanted, and what could have been seen."""
    return (
        f"TV {number(seen.tv)}, at most {number(seen.tv_bound)}; epsilon"
        f" {number(scenario.epsilon)}; detectable from {number(seen.tv_detectable)}"
    )


def named(scenario: ScenarioResult) -> str:
    """The scenario's name, short enough for a line."""
    return short(shown(scenario.name), 48)
