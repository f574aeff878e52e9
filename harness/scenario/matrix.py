"""The cross product of a scenario's axes: one tree a combination, every part in its old place."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.registry import did_you_mean
from harness.scenario.law_shape import SOURCES, PolicyShape
from harness.scenario.places import Place
from harness.scenario.shape import ScenarioShape
from harness.scenario.tree import Branch, Leaf, Node

__all__ = ["Variant", "overlaid", "variants"]

MOST_VARIANTS = 1000
CASES = "cases"
SETTINGS = tuple(key for key in ScenarioShape.model_fields if key not in {"name", "matrix"})
SHORT = {"V": ("vocabulary",)} | {key: ("policy", key) for key in PolicyShape.model_fields}
LABEL = re.compile(r"[\w .,;=+()'%:/-]{1,40}")


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A scenario with its axes set: the place of its settings, and a label for every axis."""

    place: Place
    labels: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, name: str) -> str:
        """`exact [temperature=0.7, V=32]`; labels of cases stand alone."""
        words = [text if axis == CASES else f"{axis}={text}" for axis, text in self.labels.items()]
        return f"{name} [{', '.join(words)}]" if words else name


@dataclass(frozen=True, slots=True, eq=False)
class _Setting:
    """One value of one axis: what it sets, and where."""

    axis: str
    label: str
    path: tuple[str, ...]
    value: Node


def overlaid(suite: Place, scenario: Place, keys: Sequence[str]) -> Place:
    """The scenario with `keys` taken from its suite where it has none of them.

    A law without numbers of its own takes the suite's; a rule or a sampler replaces both.
    """
    taken = {key: (suite / key).node for key in keys if key in suite}
    if "rule" in scenario or "sampler" in scenario:
        taken = {key: node for key, node in taken.items() if key not in {"rule", "sampler"}}
    own = dict(_children(scenario.node))
    for key in ("target", "draft"):
        if key in own and key in taken and not any(s in scenario / key for s in SOURCES):
            own[key] = _over(taken[key], own[key])
    return Place(scenario.file, Branch(taken | own, scenario.node.line, scenario.node.path))


def variants(place: Place) -> Iterator[Variant]:
    """The scenario itself, or a variant for each combination of its axes' values.

    Raises `ScenarioError` for an axis that sets nothing or has no values, and for too many.
    """
    axes = place / "matrix"
    if "matrix" not in place or not axes.keys:
        yield Variant(place)
        return
    columns = [tuple(_settings(place, axes / axis, axis)) for axis in axes.keys]
    if (n := math.prod(map(len, columns))) > MOST_VARIANTS:
        raise axes.complaint(f"{n:,} combinations", f"keep to {MOST_VARIANTS:,}")
    for combination in itertools.product(*columns):
        yield _variant(place, combination)


def _variant(place: Place, combination: Sequence[_Setting]) -> Variant:
    node = place.node
    for setting in combination:
        node = _with(node, setting.path, setting.value)
    return Variant(Place(place.file, node), {s.axis: s.label for s in combination})


def _settings(scenario: Place, values: Place, axis: str) -> Iterator[_Setting]:
    path = SHORT.get(axis, tuple(axis.split(".")))
    _refuse_what_sets_nothing(scenario, values, axis, path)
    if not values.keys:
        raise values.complaint("an axis without values", "give a list, or a mapping of labels")
    for key in values.keys:
        part = values / key
        if axis == CASES:
            _check_case(part)
        if values.is_list and not isinstance(part.node, Leaf):
            raise part.complaint("a value without a label", "label it: {near: ..., far: ...}")
        label = part.node.text if isinstance(part.node, Leaf) and values.is_list else str(key)
        if not LABEL.fullmatch(label):
            raise part.complaint(f"{label[:40]!r} cannot be a label", "use letters, digits, spaces")
        yield _Setting(path[-1] if axis not in SHORT else axis, label, path, part.node)


def _check_case(case: Place) -> None:
    """Raises `ScenarioError` for a case that is no mapping of settings."""
    if not isinstance(case.node, Branch) or case.is_list or not case.keys:
        raise case.complaint("a case that sets nothing", "write label: {setting: value}")
    for key in case.keys:
        if key not in SETTINGS:
            hint = did_you_mean(key[:40], SETTINGS).removeprefix("; ")
            raise (case / key).complaint(f"no setting {key[:40]!r}", hint)


def _refuse_what_sets_nothing(
    scenario: Place, values: Place, axis: str, path: tuple[str, ...]
) -> None:
    if path[0] not in (*SETTINGS, CASES) or "" in path:
        known = (*SETTINGS, CASES, *SHORT)
        raise values.complaint(
            f"no setting {axis[:40]!r}", did_you_mean(axis[:40], known).removeprefix("; ")
        )
    laws = [scenario / key for key in ("target", "draft") if key in scenario]
    if path[0] == "policy" and laws and all("policy" in law for law in laws):
        raise values.complaint(
            "target and draft have policies of their own",
            "set target.policy and draft.policy, or remove theirs",
        )


def _with(node: Node, path: Sequence[str], value: Node) -> Node:
    """The tree with `value` at `path`; at `cases`, with all that the case sets."""
    if path == (CASES,):
        return _over(node, value) if isinstance(value, Branch) else _set(node, CASES, value)
    if not path:
        return value
    below = _children(node).get(path[0], Branch({}, value.line, value.path))
    return _set(node, path[0], _with(below, path[1:], value))


def _set(node: Node, key: str, value: Node) -> Node:
    return Branch({**_children(node), key: value}, node.line, node.path)


def _over(node: Node, above: Node) -> Node:
    """The node with everything that `above` has."""
    return Branch({**_children(node), **_children(above)}, above.line, above.path)


def _children(node: Node) -> Mapping[str, Node]:
    """What a mapping holds; a lone name stands for {name: ...}, as in `sampler: mine`."""
    if isinstance(node, Leaf):
        return {"name": node} if isinstance(node.value, str) and node.value != "none" else {}
    return {} if node.is_list else node.children
