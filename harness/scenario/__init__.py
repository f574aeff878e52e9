"""Scenario files: strict loading of YAML suites, with complaints that name the place."""

from __future__ import annotations

from harness.scenario.load import load_suite, load_suites, parse_suite, validate
from harness.scenario.model import OBSERVABLES, Facts, Reference, SamplerRef, Scenario, Suite
from harness.scenario.shape import schema

__all__ = [
    "OBSERVABLES",
    "Facts",
    "Reference",
    "SamplerRef",
    "Scenario",
    "Suite",
    "load_suite",
    "load_suites",
    "parse_suite",
    "schema",
    "validate",
]
