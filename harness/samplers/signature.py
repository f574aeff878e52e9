"""How a function of the user's wants its randomness, and which options it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, Final

from harness.errors import BadSetting
from harness.registry import did_you_mean

__all__ = ["FORMS", "Signature", "signature_of"]

FORMS: Final = ("numpy", "torch", "seed", "global")
NAMES: Final = {
    "rng": "numpy", "random_state": "numpy", "generator": "generator", "gen": "generator",
    "seed": "seed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signature:
    """Where randomness goes: its `form`, and the name of its parameter (None: by position, last).

    With the form `global` the function has no such parameter, and the global generators of
    `random`, numpy and torch are seeded before each call.
    """

    form: str
    keyword: str | None
    positional: bool


def signature_of(
    function: Callable[..., Any],
    leading: int,
    *,
    arrays: str,
    options: Mapping[str, Any],
    form: str,
) -> Signature:
    """Reads a function that takes `leading` arrays or numbers first, then perhaps randomness.

    A parameter named rng (or random_state) is a numpy Generator, generator (or gen) is one of the
    library of `arrays`, seed is an int; an annotation that names torch or int says so too. `form`
    is what the user declared, "" for what the names say. Raises BadSetting for options that the
    function does not take.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some compiled functions show none
        return Signature(form or "numpy", None, positional=form != "global")
    rest = parameters[_leading(parameters, leading) :]
    given = next((p for p in rest if p.name in NAMES), None) or _required(rest)
    _check_options(options, [p for p in rest if p is not given])
    if given is None or form == "global":
        return Signature("global", None, positional=False)
    by_position = given.kind is not Parameter.KEYWORD_ONLY and rest[0] is given
    return Signature(form or _form(given, arrays, leading), given.name, positional=by_position)


def _leading(parameters: list[Parameter], leading: int) -> int:
    """How many of the parameters the leading arguments fill."""
    if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters[:leading]):
        return next(i for i, p in enumerate(parameters) if p.kind is Parameter.VAR_POSITIONAL)
    fit = [p for p in parameters[:leading] if p.kind is not Parameter.KEYWORD_ONLY]
    if len(fit) < leading:
        raise BadSetting(f"the function takes {len(fit)} positional arguments, not {leading}")
    return leading


def _required(rest: list[Parameter]) -> Parameter | None:
    """A parameter of any name that has to be given right after the leading ones."""
    first = rest[0] if rest else None
    if first is None or first.default is not Parameter.empty:
        return None
    return (
        first
        if first.kind in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
        else None
    )


def _form(given: Parameter, arrays: str, leading: int) -> str:
    annotation = "" if given.annotation is Parameter.empty else str(given.annotation)
    if "torch" in annotation:
        return "torch"
    if annotation in {"int", "<class 'int'>"}:
        return "seed"
    named = NAMES.get(given.name, "numpy" if leading == 3 else "seed")
    if named == "generator":
        return "torch" if arrays == "torch" else "numpy"
    return named


def _check_options(options: Mapping[str, Any], rest: list[Parameter]) -> None:
    if any(p.kind is Parameter.VAR_KEYWORD for p in rest):
        return
    by_name = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    known = [p.name for p in rest if p.kind in by_name]
    for name in options:
        if name not in known:
            raise BadSetting(f"the sampler takes no option {name!r}{did_you_mean(name, known)}")
