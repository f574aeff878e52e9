"""Markdown: verdicts, findings, levels, and what a match does not mean."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult
from harness.reports.words import (
    CAVEATS,
    NO_PICTURES,
    number,
    outcome,
    prose,
    scopes,
    setting,
    visible,
)

__all__ = ["render"]

SCENARIOS: Final = (
    "scenario", "verdict", "expected", "TV", "TV at most", "epsilon", "smallest detectable TV",
    "trials", "finding",
)  # fmt: skip
OBSERVABLES: Final = (
    "scenario", "observable", "verdict", "TV", "TV at most", "bound is of",
    "smallest detectable TV", "ln E", "adjusted p", "finding",
)  # fmt: skip


def render(result: SuiteResult, _pictures: Mapping[str, bytes] = NO_PICTURES, /) -> str:
    """The report as Markdown text, safe against names that hold markup."""
    parts = (
        f"# {_cell(result.suite)}: {outcome(result)}",
        _cell(prose(result.description)),
        f"Started {result.started}; {setting(result)}.",
        _table(SCENARIOS, (_scenario_row(s) for s in result.scenarios)),
        "\n".join(f"- looked at: {_cell(scope)}" for scope in scopes(result)),
        "## Every observable",
        _table(OBSERVABLES, (_row(s, o) for s in result.scenarios for o in s.observables)),
        "## What a match does not mean",
        "\n".join(f"- {caveat}" for caveat in CAVEATS),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _scenario_row(scenario: ScenarioResult) -> list[str]:
    main = scenario.headline
    verdict = f"**{scenario.verdict}**" + ("" if scenario.as_expected else " (not expected)")
    return [
        _cell(scenario.name),
        verdict,
        scenario.expect + (" (control)" if scenario.control else ""),
        number(main.tv if main else None),
        number(main.tv_bound if main else None),
        number(scenario.epsilon),
        number(main.tv_detectable if main else None),
        number(scenario.trials),
        _cell(scenario.reason or (main.finding if main else "")),
    ]


def _row(scenario: ScenarioResult, seen: ObservableResult) -> list[str]:
    return [
        _cell(scenario.name),
        _cell(seen.observable),
        seen.verdict if seen.judged else f"{seen.verdict} (not judged)",
        number(seen.tv),
        number(seen.tv_bound),
        _cell(seen.bound_of),
        number(seen.tv_detectable),
        number(seen.log_e),
        number(seen.p_adjusted),
        _cell(seen.finding),
    ]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(text: str) -> str:
    """The text with everything escaped that Markdown or HTML would take for markup."""
    plain = html.escape(visible(text), quote=False)
    return "".join(f"\\{c}" if c in "\\`*_{}[]#|$~!" else c for c in plain)
