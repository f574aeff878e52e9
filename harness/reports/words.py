"""Words and numbers that all reports share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from harness.engine.result import SuiteResult

__all__ = ["CAVEATS", "NO_PICTURES", "number", "outcome", "prose", "scopes", "setting", "visible"]

NO_PICTURES: Final[Mapping[str, bytes]] = MappingProxyType({})

CAVEATS: Final = (
    "A match holds for the laws, contexts and settings that were tested, and for no others.",
    "With confidence 1 - delta the total variation (TV) to the promised law is at most epsilon.",
    "That does not say that the two laws are equal.",
    "It says nothing about whether the text is true or good, nor about speed.",
    "Not rejecting is not matching: where the bound stays above epsilon, it is inconclusive.",
)

MOST_NAMES: Final = 3  # scenarios named beside what they look at

OUTCOMES: Final = (
    "everything came out as expected",
    "a sampler that should match differs",
    "the suite could not be used",
    "inconclusive: the trials ran out before a verdict",
    "invalid: a control was not caught, a law is no law, or a sampler broke its contract",
)


def outcome(result: SuiteResult) -> str:
    """What the exit code says, in words."""
    known = 0 <= result.exit_code < len(OUTCOMES)
    return OUTCOMES[result.exit_code] if known else f"exit code {result.exit_code}"


def number(value: float | None) -> str:
    """Four significant digits; a dash where there is no number."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def setting(result: SuiteResult) -> str:
    """The levels that were declared before the run."""
    return f"alpha {result.alpha:g}, delta {result.delta:g}, seed {result.seed}"


def scopes(result: SuiteResult) -> tuple[str, ...]:
    """Which tokens the verdicts speak of, each way once; with the scenarios where it is not one."""
    names: dict[str, list[str]] = {}
    for scenario in result.scenarios:
        names.setdefault(scenario.scope, []).append(scenario.name)
    named = {scope: of for scope, of in names.items() if scope}
    if len(named) <= 1:
        return tuple(named)
    return tuple(f"{scope} ({_few(of)})" for scope, of in named.items())


def _few(names: list[str]) -> str:
    return "; ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} scenarios"


def visible(text: str) -> str:
    """The text with controls, lone surrogates and invisible characters written as escapes."""
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def prose(text: str) -> str:
    """Text that a person wrote, on one line: line ends of a file are spaces, not escapes."""
    return visible(" ".join(text.split()))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
