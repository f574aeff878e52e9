"""Exact laws of the known faults, for the directed bets: worked out once for each pair of laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from harness.arrays import Probs
from harness.engine.exact import exact_joint, exact_single
from harness.laws.joint import joint_law
from harness.laws.tables import LawTables, one_context
from harness.rules import RULES

__all__ = ["fault_outputs", "joint_faults", "output_faults"]

OUTPUT_UP_TO = 32  # tokens
JOINT_UP_TO = 4_096  # cells; above, and for long drafts, the bets on faults are left out
DRAFTS_UP_TO = 4


def output_faults(laws: LawTables, start: int) -> Mapping[str, Probs]:
    """Laws of the output by the name of the fault; without those that leave it as it is."""
    if laws.vocabulary > OUTPUT_UP_TO:
        return {}
    p, q = (law[start].astype(np.float64) for law in (laws.target, laws.q))
    return _output_faults(p.tobytes(), q.tobytes())


def _faults() -> list[str]:
    return [name for name in RULES if RULES[name].discrete and not RULES[name].lossless]


@lru_cache(maxsize=64)
def _output_faults(p: bytes, q: bytes) -> Mapping[str, Probs]:
    laws = one_context(np.frombuffer(p), np.frombuffer(q))
    outputs = fault_outputs(laws)
    return {name: law for name, law in outputs.items() if (law != laws.target[0]).any()}


def fault_outputs(laws: LawTables) -> Mapping[str, Probs]:
    """Law (V,) of the first token under each rule that is not lossless, where it has one."""
    steps = {name: exact_single(RULES[name], laws) for name in _faults()}
    return {name: step.output for name, step in steps.items() if step is not None}


@dataclass(frozen=True)
class _Key:
    """Laws as a key: equal where every number is."""

    laws: LawTables

    def digest(self) -> tuple[bytes, ...]:
        contexts = self.laws.contexts
        tables = self.laws.target, self.laws.q, contexts.successor, contexts.starts
        return tuple(np.asarray(table).tobytes() for table in tables)

    def __hash__(self) -> int:
        return hash(self.digest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.digest() == other.digest()


def joint_faults(
    laws: LawTables, *, draft_length: int, horizon: int, start: int
) -> Mapping[str, Probs]:
    """Joint laws (V**horizon,) by the name of the fault; without those that leave it as it is."""
    if laws.vocabulary**horizon > JOINT_UP_TO or draft_length > DRAFTS_UP_TO:
        return {}
    honest = replace(laws, p=laws.target, proposal=laws.q)
    return _joint_faults(_Key(honest), draft_length, horizon, start)


@lru_cache(maxsize=16)
def _joint_faults(key: _Key, draft_length: int, horizon: int, start: int) -> Mapping[str, Probs]:
    laws = key.laws
    target = joint_law(laws.target.astype(np.float64), laws.contexts, horizon, start=start)
    shape = {"draft_length": draft_length, "horizon": horizon, "start": start}
    found = {name: exact_joint(RULES[name], laws, **shape) for name in _faults()}
    return {
        name: law.astype(np.float64) / float(law.sum())
        for name, law in found.items()
        if law is not None and abs(law.astype(np.float64) - target).max() > 1e-12
    }
