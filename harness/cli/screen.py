"""Where commands print: as wide as the terminal, or of a fixed width for files and pipes."""

from __future__ import annotations

from rich.console import Console

__all__ = ["Screen", "screen"]


class Screen(Console):
    """Leaves a closed pipe to the command, which has an exit code for it; rich would exit 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def screen(width: int = 160) -> Screen:
    """The terminal, else `width` characters."""
    found = Screen()
    return found if found.is_terminal else Screen(width=width)
