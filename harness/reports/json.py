"""`results.json`: the part of a run that other programs may rely on, format 1.

A number that does not exist is null; an infinite one is the string "inf" or "-inf", since JSON
has neither.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from harness.engine.result import Acceptance, ObservableResult, ScenarioResult, SuiteResult
from harness.reports.words import NO_PICTURES, outcome

__all__ = ["FORMAT", "INLINE_CELLS", "document", "plain", "render"]

FORMAT: Final = 1
INLINE_CELLS: Final = 64  # a law with more cells is in tallies.npz alone

Json: TypeAlias = Any  # what json.dumps takes


def render(result: SuiteResult, _pictures: Mapping[str, bytes] = NO_PICTURES, /) -> str:
    """The document as text, ASCII, without NaN or Infinity."""
    return json.dumps(document(result), indent=1, allow_nan=False) + "\n"


def document(result: SuiteResult) -> dict[str, Json]:
    """The run as JSON values.

    A scenario's `tv`, `tv_bound` and `log_e` are those of the observable that it names: its output
    law where that was observed.
    """
    made = {
        "format": FORMAT,
        "suite": result.suite,
        "description": result.description,
        "started": result.started,
        "exit_code": result.exit_code,
        "outcome": outcome(result),
        "alpha": result.alpha,
        "delta": result.delta,
        "seed": result.seed,
        "scenarios": [_scenario(scenario) for scenario in result.scenarios],
    }
    return {key: plain(value) for key, value in made.items()}


def _scenario(scenario: ScenarioResult) -> dict[str, Json]:
    main = scenario.headline
    output = scenario.observable("output") or main
    return {
        "name": scenario.name,
        "sampler": scenario.sampler,
        "reference": scenario.reference or None,
        "expect": scenario.expect,
        "control": scenario.control,
        "verdict": scenario.verdict,
        "as_expected": scenario.as_expected,
        "reason": scenario.reason,
        "trials": scenario.trials,
        "draft_length": scenario.draft_length,
        "horizon": scenario.horizon,
        "scope": scenario.scope,
        "observable": main and main.observable,
        "tv": main and main.tv,
        "tv_bound": main and main.tv_bound,
        "tv_detectable": main and main.tv_detectable,
        "epsilon": scenario.epsilon,
        "log_e": main and main.log_e,
        "acceptance": scenario.acceptance and _acceptance(scenario.acceptance),
        "law": output and _law(output),
        "observables": [_observable(o) for o in scenario.observables],
        "checks": [check for o in scenario.observables for check in _checks(o)],
        "facts": scenario.facts,
        "settings": scenario.settings,
        "wall_seconds": scenario.wall_seconds,
        "cpu_seconds": scenario.cpu_seconds,
    }


def _acceptance(acceptance: Acceptance) -> dict[str, Json]:
    return {
        "observed": acceptance.observed,
        "expected": acceptance.expected,
        "low": acceptance.low,
        "high": acceptance.high,
    }


def _law(main: ObservableResult) -> dict[str, Json]:
    if len(main.target) > INLINE_CELLS:
        return {"cells": len(main.target), "stored": "tallies.npz"}
    law = {
        "tokens": main.cells,
        "target": main.target,
        "exact": main.exact,
        "counts": main.counts,
    }
    if main.reference_counts is None:
        return law
    return {**law, "reference_counts": main.reference_counts}


def _observable(seen: ObservableResult) -> dict[str, Json]:
    return {
        "observable": seen.observable,
        "judged": seen.judged,
        "verdict": seen.verdict,
        "finding": seen.finding,
        "trials": seen.trials,
        "cells": len(seen.target),
        "tv": seen.tv,
        "tv_bound": seen.tv_bound,
        "bound_of": seen.bound_of,
        "delta": seen.delta,
        "tv_detectable": seen.tv_detectable,
        "log_e": seen.log_e,
        "p_adjusted": seen.p_adjusted,
    }


def _checks(seen: ObservableResult) -> list[dict[str, Json]]:
    return [
        {
            "check": evidence.result.check,
            "observable": seen.observable,
            "statistic": evidence.result.statistic,
            "p_value": evidence.result.p_value,
            "p_adjusted": evidence.p_adjusted,
            "share": evidence.share,
            "approximate_p": evidence.result.approximate_p,
            "detail": evidence.result.detail,
        }
        for evidence in seen.evidence
    ]


def plain(value: object) -> Json:
    """The value in JSON's terms; Fractions as text such as "2/3"."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return _atom(value.item() if isinstance(value, np.generic) else value)


def _atom(value: object) -> Json:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value) if isinstance(value, Fraction) else repr(value)
