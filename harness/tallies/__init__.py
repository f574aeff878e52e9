"""Tallies: mergeable sufficient statistics of trials."""

from __future__ import annotations

from harness.tallies.single import FactoredTrace, OutputTally, TraceTally

__all__ = ["FactoredTrace", "OutputTally", "TraceTally"]
