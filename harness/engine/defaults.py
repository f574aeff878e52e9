"""Which observables a scenario is judged by where it does not say so."""

from __future__ import annotations

from harness.protocols import Rule
from harness.scenario.model import Scenario

__all__ = ["judged_observables"]


def judged_observables(scenario: Scenario, rule: Rule | None) -> frozenset[str]:
    """Losslessness always; the token rule's own accounting for rules that promise it; dependence
    for samplers from outside, whose streams are not ours, where trials are of one length.
    """
    if scenario.observe is not None:
        return frozenset(scenario.observe)
    if rule is None:
        whole = scenario.laws.contexts.end is None
        return frozenset({"output", "joint", "dependence"} if whole else {"output", "joint"})
    if rule.token_accounting:
        return frozenset({"output", "joint", "trace", "acceptance", "committed_length"})
    return frozenset({"output", "joint"})
