"""Tables of named things: one line an entry, heavy entries imported when first used."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Generic, TypeVar, cast

from harness.errors import UnknownName

__all__ = ["Registry", "did_you_mean"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Named entries of one kind; a string `module:attribute` is imported when it is asked for.

    Packages outside the tree add entries through the entry-point group `harness.<kind>`.
    Not a `Mapping`: `in` and `len` must not import what is lazy.
    """

    def __init__(self, kind: str, entries: Mapping[str, T | str]) -> None:
        self.kind = kind
        self._entries = dict(entries)
        self._plugins: dict[str, str] | None = None

    def __iter__(self) -> Iterator[str]:
        return iter((*self._entries, *self._outside()))

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._outside()

    def __getitem__(self, name: str) -> T:
        entry = self._entries.get(name) or self._outside().get(name)
        if entry is None:
            raise UnknownName(f"no {self.kind} {name!r}{did_you_mean(name, self)}")
        return cast("T", _load(entry)) if isinstance(entry, str) else entry

    def _outside(self) -> dict[str, str]:
        if self._plugins is None:
            found = {e.name: e.value for e in entry_points(group=f"harness.{self.kind}")}
            if twice := sorted(found.keys() & self._entries.keys()):
                raise UnknownName(f"{self.kind} {twice[0]!r} is declared twice; rename the plug-in")
            self._plugins = found
        return self._plugins


def did_you_mean(name: str, known: Iterator[str] | object) -> str:
    """`; did you mean 'x'? (known: ...)`, the tail of every complaint about a name."""
    names = [str(k) for k in cast("Iterator[str]", known)]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return f"{hint} (known: {', '.join(names)})"


def _load(path: str) -> object:
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)
