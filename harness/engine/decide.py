"""Evidence and proof to verdicts, over the whole suite at once; and the exit code that follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.checks import holm
from harness.engine.result import Evidence, ScenarioResult, Verdict

__all__ = ["adjusted", "decide", "exit_code", "family_adjusted", "worst", "worst_code"]

WORST_FIRST = (Verdict.INVALID, Verdict.DIFFERS, Verdict.INCONCLUSIVE, Verdict.MATCHES)


def decide(p_adjusted: float, alpha: float, bound: float, epsilon: float) -> Verdict:
    """`differs` needs evidence of bias, `matches` proof that bias is small; else neither."""
    if p_adjusted <= alpha:
        return Verdict.DIFFERS
    return Verdict.MATCHES if bound <= epsilon else Verdict.INCONCLUSIVE


def adjusted(evidence: Sequence[Evidence]) -> float:
    """p-value of an observable: the smallest over its share (weighted Bonferroni)."""
    spent = (e.result.p_value / e.share for e in evidence if e.share > 0.0)
    return min(1.0, min(spent, default=1.0))


def family_adjusted(p_values: Sequence[float], in_family: Sequence[bool]) -> list[float]:
    """Holm over the family; controls stand outside and take the family's strictest level."""
    family = [p for p, inside in zip(p_values, in_family, strict=True) if inside]
    members = iter(holm(family).tolist() if family else [])
    size = max(1, len(family))
    return [
        next(members) if inside else min(1.0, p * size)
        for p, inside in zip(p_values, in_family, strict=True)
    ]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """A scenario is as good as the worst of what it is judged by."""
    return min(verdicts, key=WORST_FIRST.index, default=Verdict.INCONCLUSIVE)


def exit_code(scenarios: Iterable[ScenarioResult]) -> int:
    """4 invalid, or a control not caught; 1 a sampler that should match differs; 3 inconclusive."""
    return worst_code(_code(scenario) for scenario in scenarios)


def worst_code(codes: Iterable[int]) -> int:
    """Of several exit codes the one that matters: a run that is invalid says nothing else."""
    found = set(codes)
    return next((code for code in (4, 1, 3) if code in found), 0)


def _code(scenario: ScenarioResult) -> int:
    if scenario.verdict is Verdict.INVALID:
        return 4
    if scenario.as_expected:
        return 0
    if scenario.expect == "differs":
        return 4
    return 1 if scenario.verdict is Verdict.DIFFERS else 3
