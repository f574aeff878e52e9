"""Programs as samplers: one process for all scenarios of a declaration, set up anew for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import BadSetting, SamplerFailure
from harness.protocols import Assignment
from harness.samplers.block import Block
from harness.samplers.process import Process
from harness.samplers.wire import VERSION

__all__ = ["Program", "Session"]

SMALL_ANSWER = 2**20  # bytes of arrays that an answer to setup may hold
START_UP = 120.0  # seconds more than a call has: libraries are loaded, models made


class Program:
    """A declared program; `described` is what its setup message tells besides the assignment."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        timeout: float | None,
        *,
        described: Mapping[str, Any] | None = None,
    ) -> None:
        self.command, self.folder, self.timeout = tuple(command), folder, timeout
        self.described = dict(described or {})
        self.process: Process | None = None
        self.current: Session | None = None
        self.told: Mapping[str, Any] = {}

    def session(self, assignment: Assignment) -> Session:
        return Session(self, assignment)

    def ask(
        self,
        session: Session,
        header: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        size: int,
    ) -> np.ndarray:
        """The one array of the answer, at most `size` numbers of it."""
        process = self._ready(session)
        _, found = self._answered(process, header, arrays, size * 8)
        if len(found) != 1:
            raise SamplerFailure(f"{process.name}: {len(found)} arrays in its answer, not one")
        return next(iter(found.values()))

    def wants_rows(self, session: Session) -> bool:
        """Whether it reads laws by context from the tables of its setup, and is sent none."""
        self._ready(session)
        return self.told.get("laws") == "rows"

    def _ready(self, session: Session) -> Process:
        """The process, set up for the session that asks."""
        if self.process is None:
            self.process = Process(self.command, self.folder, self.timeout)
            self.current = None
        if self.current is not session:
            header, arrays = _setup(session.assignment, self.described)
            self.told, _ = self._answered(self.process, header, arrays, SMALL_ANSWER, START_UP)
            self.current = session
        return self.process

    def _answered(
        self,
        process: Process,
        header: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        most: int,
        start_up: float = 0.0,
    ) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        """A process that has broken the protocol is never asked again; one that says what is
        wrong with the question is.
        """
        try:
            answer, found = process.ask(header, arrays, most, start_up=start_up)
        except SamplerFailure:
            self.process = None
            raise
        if answer.get("ok") is not True:
            self.current = None
            told = " ".join(str(answer.get("error", "an answer without ok")).split())[:600]
            raise SamplerFailure(f"{process.name}: {told}")
        return answer, found


class Session:
    """A program in one scenario: the two forms of call, whichever its level is."""

    def __init__(self, program: Program, assignment: Assignment) -> None:
        self.program, self.assignment = program, assignment

    def call(self, *arguments: Any) -> np.ndarray:  # noqa: ANN401 (Verify or Generate)
        if isinstance(arguments[0], Block):
            return self._verify(*arguments)
        return self._generate(*arguments)

    def versions(self) -> Mapping[str, str]:
        """What the program said of itself when it was last set up."""
        told = self.program.told.get("versions", {})
        return {str(k): str(v) for k, v in told.items()} if isinstance(told, Mapping) else {}

    def _verify(self, block: Block, seed: int) -> np.ndarray:
        n, k = block.draft.shape
        header = {"specharness": VERSION, "do": "verify", "seed": seed, "n": n, "k": k}
        arrays: dict[str, np.ndarray] = {"draft": block.draft.astype(np.int32)}
        if self.program.wants_rows(self):
            arrays["contexts"] = block.contexts.astype(np.int32)
        else:
            header["vocabulary"] = block.p.shape[2]
            arrays |= {"q": block.q, "p": block.p}
        return self.program.ask(self, header, arrays, n * (k + 1))

    def _generate(self, n: int, horizon: int, seed: int) -> np.ndarray:
        header = {
            "specharness": VERSION, "do": "generate", "seed": seed, "n": n, "horizon": horizon,
        }  # fmt: skip
        return self.program.ask(self, header, {}, n * horizon)


def _setup(
    assignment: Assignment, described: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
    laws, contexts = assignment.laws, assignment.laws.contexts
    header: dict[str, Any] = {
        "specharness": VERSION,
        "do": "setup",
        "vocabulary": laws.vocabulary,
        "k": assignment.draft_length,
        "horizon": assignment.horizon,
        "end": contexts.end,
        "options": _plain(assignment.options),
        **described,
    }
    arrays: dict[str, np.ndarray] = {
        "p": laws.p.astype(np.float64),
        "q": laws.q.astype(np.float64),
        "successor": contexts.successor.astype(np.int32),
        "starts": contexts.starts.astype(np.int32),
    }
    return header, arrays


def _plain(options: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        json.dumps(options, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadSetting(f"options of a program are plain data: {error}") from error
    return options
