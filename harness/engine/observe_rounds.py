"""Observables of sequences and of whole rounds: joint law, committed length, steps, bonus."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from harness.arrays import Exact, Probs, Rows
from harness.engine.observe import Observable
from harness.engine.observe_step import rejected_mass, replacement_law, scaled
from harness.laws.accounting import accepted_mass
from harness.laws.joint import joint_law, tokens_of_cells
from harness.laws.tables import LawTables

__all__ = ["bonus", "committed_length", "grouped_joint", "is_reached", "joint", "step_at"]

Label = Callable[[int], str]


def joint(
    laws: LawTables,
    tokens: tuple[str, ...],
    horizon: int,
    *,
    start: int,
    exact: Exact | None,
    faults: Mapping[str, Probs],
    judged: bool,
) -> Observable:
    """Joint law of the first `horizon` committed tokens, one cell a sequence."""
    return Observable(
        "joint",
        judged,
        scaled(joint_law(_floats(laws.target), laws.contexts, horizon, start=start)),
        lambda counts: counts["joint"],
        _sequence(tokens, horizon),
        exact=None if exact is None else _floats(exact),
        draft=scaled(joint_law(_floats(laws.q), laws.contexts, horizon, start=start)),
        faults=faults,
        words=tokens,
    )


def grouped_joint(laws: LawTables, groups: Rows, contexts: Rows, *, judged: bool) -> Observable:
    """Joint law of groups of tokens, `groups` (horizon, V), at positions of contexts (horizon,).

    For contexts that are positions: the laws of different positions are then independent.
    """
    size = int(groups.max()) + 1
    target = _product(laws.target, groups, contexts, size)
    return Observable(
        "joint",
        judged,
        target,
        lambda counts: counts["joint"],
        lambda cell: "groups " + " ".join(map(str, _digits(cell, size, len(groups)))),
        draft=_product(laws.q, groups, contexts, size),
        words=tuple(f"group {group}" for group in range(size)),
    )


def _product(law: Exact, groups: Rows, contexts: Rows, size: int) -> Probs:
    mass = np.ones(1)
    for group, context in zip(groups, contexts, strict=True):
        row = np.bincount(group, weights=law[context].astype(np.float64), minlength=size)
        mass = np.multiply.outer(mass, row).ravel()
    return scaled(mass)


def committed_length(promised: Exact, exact: Exact | None, *, judged: bool) -> Observable:
    """Law (k + 1,) of how many drafted tokens the first round keeps; it commits one more."""
    return Observable(
        "committed_length",
        judged,
        scaled(_floats(promised)),
        lambda counts: counts["committed_length"],
        lambda kept: f"{kept + 1} committed",
        exact=None if exact is None else _floats(exact),
    )


def is_reached(position: int, laws: LawTables, start: int) -> bool:
    """Whether the first round of the token rule ever keeps `position` drafted tokens."""
    return bool(_reach(laws, position, start).any())


def step_at(
    position: int, laws: LawTables, tokens: tuple[str, ...], *, start: int, judged: bool
) -> Observable:
    """Trace of the step at `position` of the first round, of the trials that reach it.

    Cells (context, drafted, kept or replaced by); what the token rule promises.
    """
    p, q = _floats(laws.target), _floats(laws.q)
    vocabulary = laws.vocabulary
    trace = np.empty((len(p), vocabulary, vocabulary + 1))
    rejected, replaced = rejected_mass(p, q), replacement_law(p, q)
    trace[:, :, :-1] = rejected[:, :, None] * replaced[:, None, :]
    trace[:, :, -1] = accepted_mass(p, q)
    reach = _reach(laws, position, start)

    def label(cell: int) -> str:
        context, rest = divmod(cell, vocabulary * (vocabulary + 1))
        drafted, then = divmod(rest, vocabulary + 1)
        what = "kept" if then == vocabulary else f"replaced by {tokens[then]}"
        return f"position {position + 1}, context {context}: {tokens[drafted]} {what}"

    return Observable(
        f"trace at position {position + 1}",
        judged,
        scaled((reach[:, None, None] * trace).ravel()),
        lambda counts: counts[f"position {position}"].ravel(),
        label,
    )


def bonus(
    draft_length: int, laws: LawTables, tokens: tuple[str, ...], *, start: int, judged: bool
) -> Observable:
    """Law of the bonus token after a full block, cells (context, token)."""
    reach = _reach(laws, draft_length, start)
    law = reach[:, None] * _floats(laws.target)
    vocabulary = laws.vocabulary
    return Observable(
        "bonus",
        judged,
        scaled(law.ravel()),
        lambda counts: counts["bonus"].ravel(),
        lambda cell: f"bonus, context {cell // vocabulary}: {tokens[cell % vocabulary]}",
        draft=scaled((reach[:, None] * _floats(laws.q)).ravel()),
    )


def _reach(laws: LawTables, position: int, start: int) -> Probs:
    """Law (contexts,) of the context at `position`, given that all before it was kept."""
    kept = accepted_mass(_floats(laws.target), _floats(laws.q))
    mass = np.zeros(len(kept))
    mass[start] = 1.0
    for _ in range(position):
        flow = mass[:, None] * kept
        mass = np.zeros(len(kept))
        np.add.at(mass, laws.contexts.successor.ravel(), flow.ravel())
    return mass


def _sequence(tokens: tuple[str, ...], horizon: int) -> Label:
    def label(cell: int) -> str:
        ids = tokens_of_cells(np.array([cell]), len(tokens), horizon)[0]
        return " ".join(tokens[token] for token in ids)

    return label


def _digits(cell: int, base: int, places: int) -> list[int]:
    return [cell // base**place % base for place in range(places - 1, -1, -1)]


def _floats(law: Exact) -> Probs:
    return law.astype(np.float64)
