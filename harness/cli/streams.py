"""Standard output belongs to the command: what samplers print while they run goes to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

__all__ = ["own_stdout"]

STDOUT, STDERR = 1, 2


@contextmanager
def own_stdout() -> Iterator[None]:
    """Sends to stderr what is printed inside, by Python and by libraries in C."""
    _flush()
    try:
        kept = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
    except OSError:  # one of the two is closed
        yield
        return
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _flush()
        os.dup2(kept, STDOUT)
        os.close(kept)


def _flush() -> None:
    """What was printed past the redirection is not to come out later."""
    if sys.__stdout__ is not None:
        sys.__stdout__.flush()
