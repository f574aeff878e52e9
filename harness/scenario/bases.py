"""The raw law of one model, before any sampling policy, from the numbers that a file states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from harness.laws import made
from harness.laws.contexts import (
    check_memory,
    fixed_contexts,
    markov_contexts,
    position_contexts,
)
from harness.laws.policy import softmax
from harness.scenario.chains import Chain
from harness.scenario.law_shape import GenerateShape, LawShape, MarkovShape, RowsShape
from harness.scenario.nested import array_of, check_length, laws_by_prefix, one_law
from harness.scenario.places import Place, shaped, translated

__all__ = ["Frame", "base", "law_words"]


@dataclass(frozen=True, slots=True)
class Frame:
    """What all laws of a scenario share: tokens, prompts, and how many positions are looked at."""

    vocabulary: Sequence[str]
    prompts: Sequence[Sequence[int]] = ((),)
    positions: int = 1

    @property
    def size(self) -> int:
        return len(self.vocabulary)


def base(frame: Frame, law: LawShape, place: Place, target: Chain | None) -> Chain:
    """The chain of a law; `target` is the one that `near_target` starts from."""
    if law.markov is not None:
        return _markov(frame, law.markov, place / "markov")
    if law.rows is not None:
        return _rows(frame, place / "rows")
    if law.generate is not None:
        return _generated(frame, law.generate, place / "generate", target)
    return _stated(frame, law, place)


def law_words(law: LawShape) -> str:
    """Where a law's numbers come from, in a few words."""
    if law.generate is not None:
        return _generated_words(law.generate)
    if law.markov is not None:
        made_by = f", {_generated_words(law.markov.generate)}" if law.markov.generate else ""
        return f"markov of order {law.markov.order}{made_by}"
    if isinstance(law.rows, dict):
        return f"rows, {_generated_words(RowsShape(**law.rows).generate)}"
    return law.source or "none"


def _generated_words(generate: GenerateShape) -> str:
    options = ", ".join(f"{name} {value}" for name, value in generate.options.items())
    return f"{generate.kind} ({options}), seed {generate.seed}"


def _stated(frame: Frame, law: LawShape, place: Place) -> Chain:
    contexts = fixed_contexts(frame.size, len(frame.prompts))
    if law.probs is not None:
        check_length(place / "probs", frame.size)
        return Chain(array_of([law.probs]), contexts)
    if law.logits is not None:
        check_length(place / "logits", frame.size)
        return Chain(np.array([[float(x) for x in law.logits]]), contexts, are_logits=True)
    raise place.complaint("a law without numbers", "give probs, logits, generate, markov or rows")


def _generated(frame: Frame, generate: GenerateShape, place: Place, target: Chain | None) -> Chain:
    contexts = fixed_contexts(frame.size, len(frame.prompts))
    if generate.near_target is None:
        return Chain(_made(frame, generate, place, 1), contexts)
    if target is None:
        raise (place / "near_target").complaint(
            "the target cannot be near itself", "make the target otherwise; this is for drafts"
        )
    noise = float(generate.near_target.noise)
    probs = softmax(target.rows) if target.are_logits else target.rows
    return Chain(made.perturbed(probs, noise=noise, seed=generate.seed), target.contexts)


def _made(frame: Frame, generate: GenerateShape, place: Place, rows: int) -> np.ndarray:
    with translated(place):
        check_memory(frame.size, rows, f"{rows} laws")
        return made.make(generate.kind, frame.size, rows, seed=generate.seed, **generate.options)


def _rows(frame: Frame, place: Place) -> Chain:
    if place.keys and not place.is_list:
        return _made_rows(frame, shaped(RowsShape, place).generate, place / "generate")
    if not place.is_list:
        raise place.complaint("not a list of laws", "write one law a position: [[1, 0], [0, 1]]")
    laws = [one_law(row, frame.size) for row in place]
    if len(laws) < frame.positions:
        raise place.complaint(
            f"{len(laws)} rows where {frame.positions} positions are looked at",
            "give a row for every position, or lower horizon and draft_length",
        )
    with translated(place):
        contexts = position_contexts(frame.size, len(laws), prompts=len(frame.prompts))
    return Chain(array_of(laws), contexts)


def _made_rows(frame: Frame, generate: GenerateShape, place: Place) -> Chain:
    """As many made laws as there are positions to look at."""
    if generate.near_target is not None:
        raise place.complaint(
            "near_target inside rows", "say generate: {near_target: ...} without rows"
        )
    laws = _made(frame, generate, place, frame.positions)
    return Chain(laws, position_contexts(frame.size, len(laws), prompts=len(frame.prompts)))


def _markov(frame: Frame, law: MarkovShape, place: Place) -> Chain:
    with translated(place):
        contexts = markov_contexts(frame.size, law.order, prompts=frame.prompts)
    if law.generate is not None:
        if law.generate.near_target is not None:
            raise (place / "generate").complaint(
                "near_target inside markov", "say generate: {near_target: ...} without markov"
            )
        made_laws = _made(frame, law.generate, place / "generate", len(contexts))
        return Chain(made_laws, contexts)
    laws = [*_initial_laws(frame, law, place / "initial")]
    laws += laws_by_prefix(place / "transition", law.order, frame.vocabulary)
    return Chain(array_of(laws), contexts)


def _initial_laws(frame: Frame, law: MarkovShape, place: Place) -> list[list[Fraction]]:
    """Laws of the tokens that have fewer than `order` before them."""
    if law.order == 1:
        return [one_law(place, frame.size)]
    if not place.is_list or len(place.keys) != law.order:
        raise place.complaint(
            f"not {law.order} tables", "give one for prefixes of 0, 1, ... tokens below the order"
        )
    return [
        row
        for length, table in enumerate(place)
        for row in laws_by_prefix(table, length, frame.vocabulary)
    ]
