"""A YAML text as a tree whose every part knows its line and its path.

Built from the parser's events, so that nothing is ever constructed from a tag, an alias is never
followed, and reading stops at the first thing that is too deep or too much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from harness.errors import ScenarioError
from harness.scenario.numbers import Value, scalar

__all__ = ["Branch", "Leaf", "Node", "count_nodes", "grow", "plain"]

DEEPEST = 24  # levels; a suite needs about ten
MOST_NODES = 400_000  # a law over 128,256 tokens, its draft and its vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A scalar: its value, and its text as written."""

    value: Value
    text: str
    line: int
    path: str


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A mapping (children by key) or a list (children by number)."""

    children: Mapping[Any, Node]
    line: int
    path: str
    is_list: bool = False


_Part: TypeAlias = ScalarEvent | MappingStartEvent | SequenceStartEvent
Node: TypeAlias = Leaf | Branch


def plain(node: Node) -> Any:  # noqa: ANN401  # what pydantic takes
    """The node as lists, dicts and scalar values."""
    if isinstance(node, Leaf):
        return node.value
    if node.is_list:
        return [plain(child) for child in node.children.values()]
    return {key: plain(child) for key, child in node.children.items()}


def count_nodes(node: Node) -> int:
    """How many values and keys the node holds, itself included."""
    if isinstance(node, Leaf):
        return 1
    return 1 + sum(map(count_nodes, node.children.values()))


def grow(text: str, file: str) -> Node:
    """The tree of a text. Raises `ScenarioError` for all that is not one plain YAML document."""
    events = YAML(typ="safe", pure=True).parse(text)
    try:
        return _Grower(file, events).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        problem = " ".join(str(error.problem or error.context).split())
        raise ScenarioError(file, f"not YAML: {problem}", "mend the syntax", line=line) from None
    except (YAMLError, ValueError, OverflowError) as error:  # an escape such as \UFFFFFFFF
        problem = " ".join(str(error).split())[:120]
        raise ScenarioError(file, f"not YAML: {problem}", "mend the syntax") from None


@dataclass
class _Grower:
    file: str
    events: Iterator[Event]
    nodes: int = field(default=0)

    def document(self) -> Node:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                root = self._first_document(event, root)
            if isinstance(event, StreamEndEvent):
                break
        if root is None:
            raise ScenarioError(self.file, "an empty file", "start with version: 1", line=1)
        return root

    def _first_document(self, event: DocumentStartEvent, root: Node | None) -> Node:
        if root is not None:
            raise self._complaint(event, "", "a second document", "put each suite in its own file")
        if event.version or event.tags:
            raise self._complaint(event, "", "a % directive", "remove it; files are YAML 1.2")
        return self._node(next(self.events), "", 0)

    def _node(self, event: Event, path: str, depth: int, key: Event | None = None) -> Node:
        part = self._plain_part(event, path, depth)
        line = (key or event).start_mark.line + 1
        if isinstance(part, MappingStartEvent):
            return Branch(self._mapping(path, depth), line, path)
        if isinstance(part, SequenceStartEvent):
            return Branch(self._list(path, depth), line, path, is_list=True)
        is_plain, text = part.implicit[0], str(part.value)
        return Leaf(scalar(text) if is_plain else text, text, line, path)

    def _mapping(self, path: str, depth: int) -> dict[Any, Node]:
        children: dict[Any, Node] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self._key(event, path, depth)
            where = f"{path}.{_shown(key)}" if path else _shown(key)
            if key in children:
                first = children[key].line
                raise self._complaint(
                    event, where, f"duplicate key {key[:40]!r}, first on line {first}", "keep one"
                )
            children[key] = self._node(next(self.events), where, depth + 1, event)
        return children

    def _list(self, path: str, depth: int) -> dict[Any, Node]:
        children: dict[Any, Node] = {}
        while not isinstance(event := next(self.events), SequenceEndEvent):
            children[len(children)] = self._node(event, f"{path}[{len(children)}]", depth + 1)
        return children

    def _key(self, event: Event, path: str, depth: int) -> str:
        part = self._plain_part(event, path, depth)
        if not isinstance(part, ScalarEvent):
            raise self._complaint(event, path, "a key that is not text", "write key: value")
        return str(part.value)

    def _plain_part(self, event: Event, path: str, depth: int) -> _Part:
        """The event itself; a complaint where it refers elsewhere, is too deep or one too many."""
        self.nodes += 1
        if not isinstance(event, _Part) or event.anchor is not None:
            problem, remedy = "an anchor or alias (& or *)", "write the value where it is used"
        elif event.tag is not None and not _is_quoted(event):
            problem, remedy = f"a tag {str(event.tag)[:40]!r}", "remove it"
        elif depth > DEEPEST:
            problem, remedy = f"nested more than {DEEPEST} deep", "flatten it"
        elif self.nodes > MOST_NODES:
            problem, remedy = f"more than {MOST_NODES:,} values", "make large laws with generate:"
        elif isinstance(event, ScalarEvent) and not _is_encodable(event.value):
            problem, remedy = "half a character (\\ud800 to \\udfff)", "remove it"
        else:
            return event
        raise self._complaint(event, path[:80], problem, remedy)

    def _complaint(self, event: Event, path: str, problem: str, remedy: str) -> ScenarioError:
        return ScenarioError(self.file, problem, remedy, line=event.start_mark.line + 1, path=path)


def _is_quoted(event: _Part) -> bool:
    """A quoted scalar carries the tag `!` in some releases of the parser."""
    return isinstance(event, ScalarEvent) and event.style is not None and event.tag == "!"


def _shown(key: str) -> str:
    """A key as part of a path: short, and on one line."""
    return key if len(key) <= 40 and key.isprintable() else repr(key[:40])


def _is_encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
