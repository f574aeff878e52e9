"""Stated numbers of a scenario, checked exactly against the accounting and the rule's own law."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from harness.arrays import Exact
from harness.engine.exact import exact_single
from harness.laws.accounting import accepted_mass, overlap, positive_part, residual, total_variation
from harness.laws.step import ExactStep
from harness.laws.tables import LawTables
from harness.rules import RULES
from harness.scenario.model import Facts, Scenario, Suite

__all__ = ["Accounting", "accounting", "contradicted", "problems"]

CLOSE = 1e-12  # where the laws are floats


@dataclass(frozen=True, slots=True)
class Accounting:
    """One step of the exact rule and of the rule at hand, each (V,) or a number."""

    p: Exact
    q: Exact
    accepted_mass: Exact
    residual: Exact
    replacement_mass: Exact
    rejected_mass: Exact
    overlap: Any
    law: Exact | None
    acceptance: Any

    @property
    def tv(self) -> Any:  # noqa: ANN401 (float or Fraction)
        """Total variation of the rule's law from p."""
        return None if self.law is None else total_variation(self.law, self.p)


def accounting(laws: LawTables, step: ExactStep | None) -> Accounting:
    """The accounting of the first position of the first prompt; `step` is the rule's own."""
    start = int(laws.contexts.starts[0])
    p, q = laws.target[start], laws.q[start]
    return Accounting(
        p=p,
        q=q,
        accepted_mass=accepted_mass(p, q),
        residual=_residual_or_nothing(p, q),
        replacement_mass=positive_part(p, q),
        rejected_mass=positive_part(q, p),
        overlap=overlap(p, q),
        law=None if step is None else step.output,
        acceptance=overlap(p, q) if step is None else step.kept.sum(),
    )


def _residual_or_nothing(p: Exact, q: Exact) -> Exact:
    """The residual law; all zero where p equals q and nothing is ever rejected."""
    return residual(p, q) if (positive_part(p, q) > 0).any() else p * 0


def contradictions(facts: Facts, account: Accounting, tokens: tuple[str, ...]) -> Iterator[str]:
    """One line for each stated number that the laws contradict."""
    if facts.acceptance is not None and not _equal(account.acceptance, facts.acceptance):
        yield f"acceptance is {account.acceptance}, not {facts.acceptance}"
    for name in ("accepted_mass", "residual", "replacement_mass", "law"):
        yield from _differences(name, getattr(facts, name), getattr(account, name), tokens)


def problems(scenario: Scenario, tokens: tuple[str, ...]) -> tuple[str, ...]:
    """What a scenario states and its laws contradict; Fractions where its numbers are exact."""
    if scenario.facts == Facts():
        return ()
    laws = scenario.exact_laws or scenario.laws
    k = scenario.draft_length
    step = exact_single(RULES[scenario.rule], laws, draft_length=k) if scenario.rule else None
    return tuple(contradictions(scenario.facts, accounting(laws, step), tokens))


def contradicted(suite: Suite) -> list[str]:
    """One line for each contradiction in a suite, with its place."""
    return [
        f"{suite.source}: scenario {scenario.name!r}: facts: {problem}"
        for scenario in suite.scenarios
        for problem in problems(scenario, scenario.vocabulary or suite.vocabulary)
    ]


def _differences(
    name: str, stated: Mapping[str, Fraction] | None, found: Exact | None, tokens: tuple[str, ...]
) -> Iterator[str]:
    if stated is None:
        return
    if found is None:
        yield f"{name} is stated, but the rule has no exact law to hold it against"
        return
    for token, value in stated.items():
        here = found[tokens.index(token)]
        if not _equal(here, value):
            yield f"{name} of {token} is {here}, not {value}"


def _equal(found: Any, stated: Fraction) -> bool:  # noqa: ANN401 (float or Fraction)
    if isinstance(found, Fraction | int):
        return found == stated
    return bool(np.isclose(float(found), float(stated), rtol=CLOSE, atol=CLOSE))
