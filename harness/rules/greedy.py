"""Greedy verification: a drafted token is kept where it is the most likely one of p.

Of equally likely tokens the first counts, as in numpy's argmax; an engine that takes the last one
decodes another text. The output law is p where p is greedy itself.
"""

from __future__ import annotations

from harness.arrays import Exact
from harness.laws.tables import LawTables
from harness.rules.faults import most_likely, most_likely_draft, most_likely_target
from harness.rules.token import TokenRule

__all__ = ["greedy", "greedy_last_maximum"]


def last_most_likely_target(laws: LawTables) -> Exact:
    """All mass on the last of the likeliest tokens of p."""
    return most_likely(laws.p[:, ::-1])[:, ::-1]


greedy = TokenRule(
    propose=most_likely_draft,
    accept=most_likely_target,
    replace=most_likely_target,
    bonus=most_likely_target,
)

greedy_last_maximum = TokenRule(
    propose=most_likely_draft,
    accept=last_most_likely_target,
    replace=last_most_likely_target,
    bonus=last_most_likely_target,
)
