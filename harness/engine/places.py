"""Where a sampler departs from its promise: which branch, which position, which token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.arrays import Counts, Floats, Probs
from harness.checks import cell_p_values
from harness.engine.result import ObservableResult, ScenarioResult
from harness.laws.joint import tokens_of_cells

__all__ = ["Place", "base_name", "held_against_a_law", "places"]

LEVEL = 1e-6  # corrected p-value of a cell that is shown
MOST_A_LAW = 3  # cells of one observable that are shown


@dataclass(frozen=True, slots=True)
class Place:
    """One cell whose share is not as promised, p-value corrected for the number of cells.

    `branch`: kept, replaced, rejected, bonus, length, output, joint or dependence. `position`
    counts committed tokens from 1, None where the observable has no position. `seen` and
    `promised` are shares of the `trials` that reach the place, for a joint law of those that share
    the tokens before. `judged`: whether the observable counts towards the verdict.
    """

    observable: str
    branch: str
    position: int | None
    what: str
    seen: float
    promised: float
    trials: int
    p_value: float
    judged: bool


def base_name(observable: str) -> tuple[str, int]:
    """Name without its prompt, and the number of the prompt from 0."""
    found = re.fullmatch(r"(.*) \[prompt (\d+)\]", observable)
    return (found[1], int(found[2]) - 1) if found else (observable, 0)


def held_against_a_law(seen: ObservableResult) -> bool:
    """Whether something was counted, and promised by a law and not by another sampler's draws."""
    promised = seen.reference_counts is None and bool(np.isfinite(seen.target).all())
    return promised and seen.trials > 0


def places(scenario: ScenarioResult) -> tuple[Place, ...]:
    """The places that stand out most in every observable that shows any."""
    return tuple(place for seen in scenario.observables for place in _of(seen, scenario))


def _of(seen: ObservableResult, scenario: ScenarioResult) -> Iterator[Place]:
    if not held_against_a_law(seen):
        return
    name, _ = base_name(seen.observable)
    cells = len(scenario.tokens) ** scenario.horizon
    if name == "joint" and len(seen.counts) == cells:
        yield from _joint(seen, scenario)
        return
    corrected = _corrected(seen.counts, seen.target)
    for cell in _strongest(corrected):
        branch, position = _branch(name, cell, scenario, len(seen.counts))
        yield Place(
            observable=seen.observable,
            branch=branch,
            position=position,
            what=_what(name, cell, seen, scenario),
            seen=float(seen.counts[cell] / seen.counts.sum()),
            promised=float(seen.target[cell]),
            trials=seen.trials,
            p_value=float(corrected[cell]),
            judged=seen.judged,
        )


def _corrected(counts: Counts, target: Probs) -> Floats:
    """Exact binomial p-value of every cell, Bonferroni; 0 for what must never happen."""
    each = np.asarray(cell_p_values(counts, target)) * len(counts)
    return np.where((target == 0.0) & (counts > 0), 0.0, np.minimum(1.0, each))


def _strongest(corrected: Floats) -> list[int]:
    order = np.argsort(corrected, kind="stable")[:MOST_A_LAW]
    return [int(cell) for cell in order if corrected[cell] <= LEVEL]


def _branch(name: str, cell: int, scenario: ScenarioResult, cells: int) -> tuple[str, int | None]:
    base, _, position = name.partition(" at position ")
    if base.startswith("trace"):
        return _step_branch(name, cell, len(scenario.tokens), cells)
    if base == "bonus":
        return "bonus", scenario.draft_length + 1
    if base == "output":
        return "output", int(position or 1)
    branch = "length" if base in {"acceptance", "committed_length"} else base
    return branch, int(position) if position else None


def _step_branch(name: str, cell: int, vocabulary: int, cells: int) -> tuple[str, int]:
    """Kept, replaced or rejected, and the position of the step."""
    at = re.fullmatch(r"trace at position (\d+)", name)
    position = int(at[1]) if at else 1
    if cells == 2 * vocabulary:  # a large vocabulary: two halves
        second = "rejected" if name == "trace of the draft" else "replaced"
        return second if cell >= vocabulary else "kept", position
    kept = cell % (vocabulary + 1) == vocabulary
    return "kept" if kept else "replaced", position


def _what(name: str, cell: int, seen: ObservableResult, scenario: ScenarioResult) -> str:
    """Label of the cell without its place, or its token where labels were too many to store."""
    if seen.cells:
        return re.sub(r"^(position \d+|bonus), ", "", seen.cells[cell])
    return scenario.tokens[cell % len(scenario.tokens)] if name != "joint" else f"cell {cell}"


def _joint(seen: ObservableResult, scenario: ScenarioResult) -> Iterator[Place]:
    """The tokens that stand out at the earliest position that is off, given those before."""
    vocabulary, horizon = len(scenario.tokens), scenario.horizon
    for position in range(horizon):
        counts, target = (
            values.reshape(vocabulary**position, vocabulary, -1).sum(axis=2)
            for values in (seen.counts, seen.target)
        )
        corrected = _conditional(counts, target) * horizon
        strongest = _strongest(corrected.ravel())
        for cell in strongest:
            prefix, token = divmod(cell, vocabulary)
            reached, mass = counts[prefix].sum(), target[prefix].sum()
            yield Place(
                observable=seen.observable,
                branch="joint",
                position=position + 1,
                what=_after(scenario.tokens, prefix, position, token),
                seen=float(counts[prefix, token] / reached),
                promised=float(target[prefix, token] / mass) if mass else 0.0,
                trials=int(reached),
                p_value=min(1.0, float(corrected[prefix, token])),
                judged=seen.judged,
            )
        if strongest:
            return


def _conditional(counts: Counts, target: Probs) -> Floats:
    """Corrected p-values (prefixes, V) of each token after each prefix that was seen."""
    mass = target.sum(axis=1, keepdims=True)
    rates = np.minimum(1.0, target / np.where(mass > 0.0, mass, 1.0))
    each = np.asarray(cell_p_values(counts, rates)) * counts.size
    return np.where((rates == 0.0) & (counts > 0), 0.0, np.minimum(1.0, each))


def _after(tokens: tuple[str, ...], prefix: int, length: int, token: int) -> str:
    before = tokens_of_cells(np.array([prefix]), len(tokens), length)[0] if length else []
    after = " ".join(tokens[t] for t in before)
    return f"{tokens[token]} after {after}" if after else tokens[token]
