"""A sampler's process: asked one thing at a time, and killed when it hangs."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from harness.errors import SamplerFailure
from harness.samplers.wire import (
    LONGEST_HEADER,
    WireError,
    array_of,
    described,
    encoded,
    header_of,
)

__all__ = ["Answer", "Process"]

PIECE = 1 << 20
STDERR_TAIL = 400  # bytes of it that a reason quotes, of the last lines
TAIL_LINES = 3
LAST_WORDS = 2.0  # seconds that a dying process has to be reaped

Answer = tuple[dict[str, Any], dict[str, np.ndarray]]


class Process:
    """A program that answers messages (see `wire`) on its standard input with messages on its
    standard output. Raises SamplerFailure where it cannot be started.
    """

    def __init__(self, command: Sequence[str], folder: Path, timeout: float | None) -> None:
        self.name, self.timeout = Path(command[0]).name, timeout
        self.stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self.buffer = bytearray()
        try:
            self.child = subprocess.Popen(  # noqa: S603 (the user's own command, no shell)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.stderr,
                cwd=folder,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self.stderr.close()
            raise SamplerFailure(f"cannot start {command[0]}: {error.strerror}") from error
        for pipe in (self.child.stdin, self.child.stdout):
            os.set_blocking(_file(pipe), False)
        self.close = weakref.finalize(self, _end, self.child, self.stderr)

    def ask(
        self,
        header: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        most_bytes: int,
        *,
        start_up: float = 0.0,
    ) -> Answer:
        """The answer. Raises SamplerFailure, the process dead, for any other end of it."""
        deadline = None if self.timeout is None else time.monotonic() + self.timeout + start_up
        try:
            return self._exchange(
                [memoryview(p) for p in encoded(header, arrays)], deadline, most_bytes
            )
        except (WireError, BrokenPipeError, ConnectionResetError) as error:
            raise self._failure(f"{error}" if isinstance(error, WireError) else "") from error

    def _exchange(
        self, pieces: list[memoryview], deadline: float | None, most_bytes: int
    ) -> Answer:
        if self.buffer:
            raise WireError(f"{bytes(self.buffer[:60])!r} on stdout between two answers")
        self._write(pieces, deadline)
        line = self._line(deadline)
        header = header_of(line)
        arrays = {
            name: array_of(
                self._exactly(dtype.itemsize * int(np.prod(shape)), deadline), dtype, shape
            )
            for name, dtype, shape in described(header, most_bytes)
        }
        if self.buffer:
            raise WireError(f"{len(self.buffer)} bytes more than its answer announced")
        return header, arrays

    def _write(self, pieces: list[memoryview], deadline: float | None) -> None:
        """Reading meanwhile, so that a program that talks too early cannot block both."""
        with selectors.DefaultSelector() as ready:
            ready.register(_file(self.child.stdin), selectors.EVENT_WRITE)
            ready.register(_file(self.child.stdout), selectors.EVENT_READ)
            for piece in pieces:
                while piece:
                    events = ready.select(self._left(deadline))
                    for key, _ in events:
                        if key.fd == _file(self.child.stdin):
                            piece = piece[os.write(key.fd, piece[:PIECE]) :]  # noqa: PLW2901
                        else:
                            self._take()

    def _line(self, deadline: float | None) -> bytes:
        while (end := self.buffer.find(b"\n")) < 0:
            if len(self.buffer) > LONGEST_HEADER:
                raise WireError(f"{len(self.buffer):,} bytes on stdout without an end of line")
            self._wait(deadline)
        return self._cut(end + 1)

    def _exactly(self, size: int, deadline: float | None) -> bytes:
        while len(self.buffer) < size:
            self._wait(deadline, f" after {len(self.buffer)} of {size} bytes of its answer")
        return self._cut(size)

    def _cut(self, size: int) -> bytes:
        taken = bytes(self.buffer[:size])
        del self.buffer[:size]
        return taken

    def _wait(self, deadline: float | None, when: str = "") -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(_file(self.child.stdout), selectors.EVENT_READ)
            while not ready.select(self._left(deadline)):
                pass
        self._take(when)

    def _take(self, when: str = "") -> None:
        taken = os.read(_file(self.child.stdout), PIECE)
        if not taken:
            raise WireError(f"closed its output{when}")
        self.buffer += taken

    def _left(self, deadline: float | None) -> float | None:
        if deadline is None:
            return None
        if (left := deadline - time.monotonic()) <= 0:
            raise WireError(f"no answer within {self.timeout:g} s; killed")
        return left

    def _failure(self, problem: str) -> SamplerFailure:
        """What went wrong, how the process ended if it had, and the end of its stderr."""
        status = self._status(problem)
        tail = self._tail()
        self.close()
        told = "; ".join(part for part in (problem, status) if part)
        return SamplerFailure(f"{self.name}: {told}{f'; stderr: {tail}' if tail else ''}")

    def _status(self, problem: str) -> str:
        if problem and not problem.startswith("closed"):
            return ""
        try:
            code = self.child.wait(LAST_WORDS)
        except subprocess.TimeoutExpired:
            return ""
        if code < 0:
            return f"the process was killed by {signal.Signals(-code).name}"
        return f"the process ended with exit status {code}"

    def _tail(self) -> str:
        size = self.stderr.seek(0, os.SEEK_END)
        self.stderr.seek(max(0, size - STDERR_TAIL))
        lines = self.stderr.read().decode("utf-8", "replace").split("\n")
        return " | ".join([" ".join(line.split()) for line in lines if line.strip()][-TAIL_LINES:])


def _file(pipe: IO[bytes] | None) -> int:
    return pipe.fileno() if pipe is not None else -1


def _end(child: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    """Kills the process with whatever it has started, and closes all that was open."""
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            child.kill()
    for pipe in (child.stdin, child.stdout, stderr):
        if pipe is not None:
            pipe.close()
    child.wait()
