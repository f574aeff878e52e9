"""Where in a file something stands, and how a complaint about it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.errors import BadLaw, BadSetting, HarnessError, ScenarioError
from harness.scenario.tree import Branch, Leaf, Node, plain

__all__ = ["Place", "complaints", "shaped", "translated"]

ShapeT = TypeVar("ShapeT", bound=BaseModel)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A part of a file."""

    file: str
    node: Node

    def __truediv__(self, key: str | int) -> Place:
        """The part below, or the same place where there is none."""
        if isinstance(self.node, Branch) and key in self.node.children:
            return Place(self.file, self.node.children[key])
        return self

    def __iter__(self) -> Iterator[Place]:
        return (self / key for key in self.keys)

    def __contains__(self, key: object) -> bool:
        return isinstance(self.node, Branch) and key in self.node.children

    @property
    def keys(self) -> Sequence[Any]:
        return tuple(self.node.children) if isinstance(self.node, Branch) else ()

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, Branch) and self.node.is_list

    @property
    def value(self) -> object:
        return self.node.value if isinstance(self.node, Leaf) else plain(self.node)

    def complaint(self, problem: str, remedy: str) -> ScenarioError:
        """The error to raise about this place."""
        return ScenarioError(
            self.file,
            _one_line(problem),
            _one_line(remedy),
            line=self.node.line,
            path=self.node.path,
        )

    def of(self, error: HarnessError) -> ScenarioError:
        """An error of a lower layer, `problem; remedy`, as one about this place."""
        problem, _, remedy = str(error).partition("; ")
        return self.complaint(problem, remedy)


def shaped(shape: type[ShapeT], place: Place) -> ShapeT:
    """The place read as a shape. Raises `ScenarioError` for the first thing that is wrong."""
    try:
        return shape.model_validate(place.value)
    except ValidationError as error:
        raise complaints(error, place)[0] from None


def complaints(error: ValidationError, place: Place) -> list[ScenarioError]:
    """Every complaint of a validation, each at the place it is about."""
    found = []
    for detail in error.errors(include_url=False, include_input=False):
        context = detail.get("ctx", {})
        where = place
        for key in (*detail["loc"], *context.get("at", ())):
            where = where / key
        found.append(where.complaint(*_words(detail["type"], detail["msg"], context)))
    return sorted(found, key=lambda complaint: complaint.line or 0)


def _words(kind: str, message: str, context: dict[str, Any]) -> tuple[str, str]:
    """Problem and remedy: ours as they are, pydantic's own in our words."""
    if kind == "refused":
        return context["problem"], context["remedy"]
    if kind in {"list_type", "dict_type"}:
        wanted, example = ("list", "[a, b]") if kind == "list_type" else ("mapping", "{key: value}")
        return f"not a {wanted}", f"write a {wanted}: {example}"
    return message, "see the JSON Schema of scenario files"


def _one_line(text: str) -> str:
    return " ".join(text.split())


@contextmanager
def translated(place: Place) -> Iterator[None]:
    """Turns what a lower layer finds wrong with a law or a setting into a complaint here."""
    try:
        yield
    except (BadLaw, BadSetting) as error:
        raise place.of(error) from None
