"""Everything that a scenario or a command can name, with one line each."""

from __future__ import annotations

from collections.abc import Mapping

from harness.laws.orders import ORDERS
from harness.reports import REPORTS
from harness.rules import RULES
from harness.samplers.kinds import KINDS

__all__ = ["everything"]

CHECKS = {
    "support": "a draw of target probability zero: differs at once",
    "e-process": "test martingale over resolutions, cells and known faults; valid at any look",
    "g-test": "G with Williams' divisor, cells pooled by p to expect 20; up to 100 cells",
    "pearson": "Pearson's statistic above that",
    "cells": "exact binomial of every cell, Bonferroni",
    "ks": "exact discrete Kolmogorov-Smirnov, tokens in decreasing order of q/p",
    "acceptance": "exact binomial of drafted tokens kept",
}
OBSERVED = {
    "output": "law of the first committed token",
    "joint": "joint law of the first `horizon` committed tokens",
    "trace": "(drafted, kept?, emitted) of one step",
    "acceptance": "share of drafted tokens that are kept",
    "committed_length": "number of tokens that a round commits",
    "dependence": "neighbouring trials and positions: shown where it is, never proved absent",
}


def everything() -> Mapping[str, Mapping[str, str]]:
    """Entries by table, in the order in which they are looked up."""
    return {
        "rules": {name: RULES[name].about for name in RULES},
        "orders of sampling policies": {name: ", ".join(steps) for name, steps in ORDERS.items()},
        "observables": OBSERVED,
        "checks": CHECKS,
        "kinds of samplers": {name: _first_line(kind.__doc__) for name, kind in KINDS.items()},
        "reports": {name: _first_line(REPORTS[name].__doc__) for name in REPORTS},
    }


def _first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]
