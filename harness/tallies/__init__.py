"""Tallies: mergeable sufficient statistics of trials."""

from __future__ import annotations

from harness.tallies.composite import Strata, Together
from harness.tallies.pairs import PairTally
from harness.tallies.rounds import GroupedTally, JointTally, LengthTally, PositionTally
from harness.tallies.single import FactoredTrace, OutputTally, TraceTally

__all__ = [
    "FactoredTrace",
    "GroupedTally",
    "JointTally",
    "LengthTally",
    "OutputTally",
    "PairTally",
    "PositionTally",
    "Strata",
    "Together",
    "TraceTally",
]
