"""From the laws as a file states them to tables of what is promised and what is applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.arrays import Exact
from harness.laws.contexts import fixed_contexts
from harness.laws.policy import SamplingPolicy, apply, apply_to_logits, describe
from harness.laws.tables import LawTables
from harness.scenario.bases import Frame, base, law_words
from harness.scenario.chains import Chain, joined
from harness.scenario.law_shape import AppliedShape, LawShape, PolicyShape
from harness.scenario.places import Place, translated

__all__ = ["Promise", "WorkedOut", "work_out"]

ROLES = ("target", "draft", "p", "q", "proposal")


@dataclass(frozen=True, slots=True)
class Promise:
    """What a scenario states about its laws, and where; a sampler's draft may be unknown, and with
    a reference the target too.
    """

    frame: Frame
    place: Place
    target: LawShape | None
    draft: LawShape | None
    policy: PolicyShape | None
    applied: AppliedShape
    end_token: int | None


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """Float tables, the exact ones where every number is exact, and the laws in words."""

    laws: LawTables
    exact: LawTables | None
    words: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Effective:
    """A raw law with the policy it is sampled with."""

    chain: Chain
    policy: SamplingPolicy
    words: Mapping[str, str]

    def rows(self) -> Exact:
        act = apply_to_logits if self.chain.are_logits else apply
        return act(self.policy, self.chain.rows)


def work_out(promise: Promise) -> WorkedOut:
    """The tables of a scenario. Raises `ScenarioError` for laws that cannot be."""
    if promise.target is None:
        return _unpromised(promise)
    effective = _effective_laws(promise, promise.target)
    contexts, own = joined([effective[role].chain.contexts for role in ROLES])
    with translated(promise.place):
        rows = {r: effective[r].rows()[at] for r, at in zip(ROLES, own, strict=True)}
    contexts = replace(contexts, end=promise.end_token)
    tables = {name: rows[name] for name in ("p", "q", "proposal", "target")}
    floats = {name: laws.astype(np.float64) for name, laws in tables.items()}
    is_exact = all(laws.dtype == object for laws in tables.values())
    return WorkedOut(
        laws=LawTables(**floats, contexts=contexts),
        exact=LawTables(**tables, contexts=contexts) if is_exact else None,
        words={role: effective[role].words for role in ROLES},
    )


def _unpromised(promise: Promise) -> WorkedOut:
    """Uniform laws where a reference takes the place of a law: for their vocabulary and prompts."""
    size = promise.frame.size
    row = np.full((1, size), 1.0 / size)
    contexts = fixed_contexts(size, len(promise.frame.prompts), end=promise.end_token)
    words = {role: {"law": "none stated", "policy": "none"} for role in ROLES}
    return WorkedOut(LawTables(row, row, row, row, contexts), None, words)


def _effective_laws(promise: Promise, stated_target: LawShape) -> dict[str, _Effective]:
    """What is promised of target and draft; what the verifier reads, and what drafts come from."""
    place, applied = promise.place, promise.place / "applied"
    target = _promised(promise, stated_target, place / "target", None)
    if promise.draft is None:
        draft = target
    else:
        draft = _promised(promise, promise.draft, place / "draft", target.chain)
    stated = promise.applied
    return {
        "target": target,
        "draft": draft,
        "p": _applied(promise, stated.target, applied / "target", target, target),
        "q": _applied(promise, stated.draft, applied / "draft", draft, target),
        "proposal": _applied(promise, stated.proposal, applied / "proposal", draft, target),
    }


def _promised(promise: Promise, law: LawShape, place: Place, target: Chain | None) -> _Effective:
    stated = law.policy if law.policy is not None else promise.policy
    chain = base(promise.frame, law, place, target)
    at = place / "policy" if law.policy is not None else promise.place / "policy"
    return _Effective(chain, *_policy_and_words(stated, at, law_words(law)))


def _applied(
    promise: Promise, law: LawShape | None, place: Place, promised: _Effective, target: _Effective
) -> _Effective:
    """The promised law, except for what is stated to differ."""
    if law is None:
        return promised
    given = law.source is not None
    chain = base(promise.frame, law, place, target.chain) if given else promised.chain
    words = law_words(law) if given else promised.words["law"]
    if law.policy is None:
        return _Effective(chain, promised.policy, {**promised.words, "law": words})
    return _Effective(chain, *_policy_and_words(law.policy, place / "policy", words))


def _policy_and_words(
    stated: PolicyShape | None, place: Place, law: str
) -> tuple[SamplingPolicy, Mapping[str, str]]:
    with translated(place):
        policy = SamplingPolicy(**dict(stated)) if stated is not None else SamplingPolicy()
        return policy, {"law": law, "policy": describe(policy)}
