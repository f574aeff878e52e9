"""The other side of `hosted`: answers messages by calling a Python function.

Whatever the function prints goes to stderr: standard output belongs to the protocol.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from harness.errors import HarnessError, SamplerFailure
from harness.laws.tables import Contexts, LawTables
from harness.protocols import Assignment
from harness.samplers.block import Block, LawRows
from harness.samplers.functions import Function, function_of, installed
from harness.samplers.wire import array_of, described, encoded, header_of

__all__ = ["main"]

MOST_BYTES = 2**40


@dataclass
class _Host:
    """The function, once a setup message has said which."""

    function: Function | None = None
    call: Any = None
    rows: LawRows | None = None

    def answer(
        self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        match header["do"]:
            case "setup":
                return self._setup(header, arrays), {}
            case "verify" if self.rows is not None:
                draft = arrays["draft"].astype(np.int64)
                block = Block(draft, arrays["contexts"].astype(np.intp), self.rows)
                return {"ok": True}, {"tokens": _plain(self.call(block, header["seed"]))}
            case "generate" if self.rows is not None:
                found = self.call(header["n"], header["horizon"], header["seed"])
                return {"ok": True}, {"tokens": _plain(found)}
        return {"ok": False, "error": f"cannot {header['do']} now"}, {}

    def _setup(
        self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> Mapping[str, Any]:
        laws = _laws(header, arrays)
        self.function = function_of(header["function"])
        self.rows = LawRows(laws, header["dtype"], shared=header["shared"])
        asked = Assignment(laws, header["k"], header["horizon"], (), header["options"])
        self.call = self.function.calls(asked)
        return {"ok": True, "laws": "rows", "versions": installed(self.function.packages)}


def main() -> None:
    """Serves one harness until it closes the pipe."""
    host, incoming, outgoing = _Host(), sys.stdin.buffer, _own_stdout()
    while line := incoming.readline():
        header = header_of(line)
        arrays = {
            name: array_of(_exactly(incoming, dtype.itemsize * int(np.prod(shape))), dtype, shape)
            for name, dtype, shape in described(header, MOST_BYTES)
        }
        try:
            answer, found = host.answer(header, arrays)
        except HarnessError as error:
            answer, found = {"ok": False, "error": str(error)}, {}
        for piece in encoded(answer, found):
            outgoing.write(piece)
        outgoing.flush()


def _laws(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> LawTables:
    p, q = arrays["p"], arrays["q"]
    contexts = Contexts(
        arrays["starts"].astype(np.intp), arrays["successor"].astype(np.intp), header["end"]
    )
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


def _own_stdout() -> BinaryIO:
    """The pipe to the harness, out of reach of what prints."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def _exactly(incoming: BinaryIO, size: int) -> bytes:
    return incoming.read(size)


def _plain(answer: Any) -> np.ndarray:  # noqa: ANN401 (whatever their function returned)
    """An array that the protocol carries. Raises SamplerFailure for another."""
    found = np.asarray(answer)
    if found.dtype.kind in "iu":
        return found.astype(np.int64)
    if found.dtype.kind == "f":
        return found.astype(np.float64)
    raise SamplerFailure(f"returned dtype {found.dtype}, not integers")
