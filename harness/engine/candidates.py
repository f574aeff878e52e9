"""The exact laws of all known rules, for the observables that a finished run has counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Exact, Probs
from harness.engine.exact import exact_joint, exact_kept_length, exact_single
from harness.engine.places import base_name
from harness.engine.result import ObservableResult, ScenarioResult, SuiteResult
from harness.errors import HarnessError
from harness.laws.step import ExactStep
from harness.laws.tables import LawTables, one_context
from harness.protocols import Rule
from harness.rules import RULES
from harness.scenario import parse_suite
from harness.scenario.model import Scenario

__all__ = ["Candidate", "candidates", "scenario_of"]

ONE_POSITION = {"output", "trace", "acceptance"}  # what the laws of the first position tell of
MOST_JOINT = 16_384  # cells of a joint law that is worked out for every rule


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule on the scenario's laws: its law of each observable.

    `also` are rules that cannot be told from it there.
    """

    name: str
    about: str
    lossless: bool
    laws: Mapping[str, Probs]
    also: tuple[str, ...] = ()


def candidates(
    result: SuiteResult, scenario: ScenarioResult, seen: Sequence[ObservableResult]
) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """Known rules with the laws of what was `seen`, and names of rules that state none.

    Rules read the promised laws; where the scenario has its verifier read others, its own rule and
    the exact one are also tried on those.
    """
    asked = scenario_of(result, scenario)
    laws = asked.laws if asked else one_context(scenario.p, scenario.q)
    wanted = [o for o in seen if asked or base_name(o.observable)[0] in ONE_POSITION]
    promised = replace(laws, p=laws.target, proposal=laws.q)
    made = [_candidate(name, RULES[name], promised, scenario, wanted) for name in RULES]
    found = [*made, *_as_configured(laws, scenario, wanted)]
    ranked = tuple(candidate for candidate in found if candidate.laws)
    unranked = tuple(candidate.name for candidate in found if not candidate.laws)
    return ranked, unranked


def scenario_of(result: SuiteResult, scenario: ScenarioResult) -> Scenario | None:
    """The scenario as its file states it, read again from the manifest.

    None where the file is not there whole, as when it names files with laws.
    """
    written = result.manifest.get("suite")
    if not isinstance(written, Mapping) or not written.get("text"):
        return None
    try:
        suite = parse_suite(written["text"], str(written.get("source", "")))
    except HarnessError:
        return None
    found = next((s for s in suite.scenarios if s.name == scenario.name), None)
    return found if found is not None and _is_that(found, scenario) else None


def _is_that(found: Scenario, scenario: ScenarioResult) -> bool:
    start = int(found.laws.contexts.starts[0])
    rows = found.laws.target[start], found.laws.q[start]
    return all(
        len(row) == len(law) and np.allclose(row.astype(float), law, rtol=0, atol=1e-12)
        for row, law in zip(rows, (scenario.p, scenario.q), strict=True)
    )


def _as_configured(
    laws: LawTables, scenario: ScenarioResult, seen: Sequence[ObservableResult]
) -> Iterator[Candidate]:
    """What the scenario's verifier would do with the laws that it is given, if those are others."""
    if np.array_equal(laws.p, laws.target) and np.array_equal(laws.proposal, laws.q):
        return
    for name in dict.fromkeys((scenario.sampler, "speculative")):
        if name in RULES:
            made = _candidate(name, RULES[name], laws, scenario, seen)
            yield replace(
                made, name=f"{name}, on other laws", lossless=False,
                about="the verifier reads, or the draft is drawn from, other laws than stated",
            )  # fmt: skip


def _candidate(
    name: str,
    rule: Rule,
    laws: LawTables,
    scenario: ScenarioResult,
    seen: Sequence[ObservableResult],
) -> Candidate:
    steps = {
        start: exact_single(rule, laws, draft_length=scenario.draft_length, context=start)
        for start in (laws.contexts.starts.tolist() if rule.discrete else ())
    }
    known = {}
    for observable in seen:
        kind, prompt = base_name(observable.observable)
        start = int(laws.contexts.starts[prompt])
        law = _law(kind, rule, laws, scenario, start, steps.get(start), len(observable.counts))
        if law is not None and len(law) == len(observable.counts):
            known[observable.observable] = law.astype(np.float64)
    return Candidate(name, rule.about, rule.lossless, known)


def _law(
    kind: str,
    rule: Rule,
    laws: LawTables,
    scenario: ScenarioResult,
    start: int,
    step: ExactStep | None,
    cells: int,
) -> Exact | None:
    """The rule's law of one kind of observable; None where it has none or it is not worth it."""
    shape = scenario.draft_length
    if kind == "joint" and rule.discrete and cells <= MOST_JOINT:
        return exact_joint(rule, laws, draft_length=shape, horizon=scenario.horizon, start=start)
    if kind == "committed_length" and rule.discrete:
        return exact_kept_length(rule, laws, draft_length=shape, start=start)
    return None if step is None else _step_law(kind, step, cells)


def _step_law(kind: str, step: ExactStep, cells: int) -> Exact | None:
    """One step, in the cells of its observables."""
    if kind == "output":
        return step.output
    if kind == "acceptance":
        kept = min(1.0, float(step.kept.sum()))
        return np.array([kept, 1.0 - kept])
    if kind == "trace of the draft":
        return np.concatenate([step.kept, step.rejected])
    if kind == "trace" and cells == 2 * len(step.kept):
        return np.concatenate([step.kept, step.replacement])
    return step.trace.ravel() if kind == "trace" and step.trace is not None else None
