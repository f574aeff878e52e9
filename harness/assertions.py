"""Three lines in somebody's unit tests: does my verifier preserve the target law?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Probs
from harness.engine.likeliest import likeliest_faults
from harness.engine.result import ScenarioResult, SuiteResult, Verdict
from harness.engine.run import run_suite
from harness.errors import BadLaw, BadSetting
from harness.laws.contexts import position_contexts, position_rows
from harness.laws.tables import LawTables
from harness.protocols import Assignment, Sampler
from harness.rules import RULES
from harness.samplers.block import Generate, Verify
from harness.samplers.generator import GeneratorSampler
from harness.samplers.python import generate_by, verify_by
from harness.samplers.recorded import recorded_sampler
from harness.samplers.verifier import VerifierSampler
from harness.scenario.model import Facts, SamplerRef, Scenario, Suite

__all__ = ["assert_preserves_target", "check_tokens", "judge"]

SUM_TOLERANCE = 1e-9
Law = npt.ArrayLike | LawTables


def assert_preserves_target(
    verify: Callable[..., Any],
    *,
    target: Law,
    draft: Law | None = None,
    **settings: Any,  # noqa: ANN401 (those of `judge`)
) -> None:
    """Raises AssertionError unless `verify` is shown to draw from `target` within epsilon.

    The text of the error says what differs, where, which known fault fits, after how many trials,
    and the seed that shows it again. Settings as for `judge`.
    """
    __tracebackhide__ = True
    result = judge(verify, target=target, draft=draft, **settings)
    if result.scenarios[0].verdict is not Verdict.MATCHES:
        raise AssertionError(_told(result))


def judge(
    sampler: Callable[..., Any],
    *,
    target: Law,
    draft: Law | None = None,
    draft_length: int = 1,
    horizon: int | None = None,
    level: str = "verifier",
    trials: int = 4_000_000,
    epsilon: float = 0.02,
    alpha: float = 1e-6,
    seed: int = 0,
    observe: tuple[str, ...] | None = None,
    arrays: str = "numpy",
    dtype: str = "",
    random: str = "",
    batch_size: int | None = None,
    options: Mapping[str, Any] | None = None,
    replay: Path | None = None,
) -> SuiteResult:
    """What the harness says of a verifier `verify(draft, q, p, rng)` or, with level "generator",
    of a `generate(n, horizon, seed)`.

    `target` is a law (V,), a row a position (rows, V) of which the last is repeated, or LawTables;
    so is `draft`. `horizon` tokens together are held against the product law, by default one for a
    draft of one token and else a whole block. Drawing stops as soon as the verdict is certain, with
    a chance of at most `alpha` that a right sampler is said to differ; `trials` is the most drawn.
    Raises BadLaw for laws that are none.
    """
    laws = _laws(target, draft, max(draft_length + 1, horizon or 1))
    asked = options or {}
    scenario = Scenario(
        name=getattr(sampler, "__name__", "sampler"),
        laws=laws,
        sampler=SamplerRef("mine"),
        draft_length=draft_length,
        horizon=horizon or (1 if draft_length == 1 else draft_length + 1),
        trials=trials,
        epsilon=epsilon,
        stop_early=True,
        observe=observe,
    )

    def made(assignment: Assignment) -> Sampler:
        if level == "generator":
            generate: Generate = generate_by(sampler, arrays=arrays, form=random, options=asked)
            return GeneratorSampler(generate, laws, assignment.horizon, batch_size, replay=replay)
        verify: Verify = verify_by(sampler, arrays=arrays, form=random, options=asked)
        return VerifierSampler(
            verify, laws, draft_length, assignment.horizon,
            dtype or ("float32" if arrays == "torch" else "float64"),
            batch_size=batch_size, replay=replay,
        )  # fmt: skip

    suite = Suite("assertion", (scenario,), _names(laws.vocabulary), alpha=alpha, seed=seed)
    return run_suite(suite, workers=1, samplers={"mine": made})


def check_tokens(path: Path, suite: Suite, *, scenario: str | None = None) -> SuiteResult:
    """What the harness says of recorded tokens, held against the laws of a scenario (default: the
    first) of `suite`: all of the file's trials.

    Raises BadSetting for a scenario that is not there and for a file that cannot be read.
    """
    found = [s for s in suite.scenarios if scenario in {None, s.name}]
    if not found:
        raise BadSetting(f"{suite.source}: no scenario {scenario!r}")
    promise = found[0]
    tokens = promise.vocabulary or suite.vocabulary
    asked = Assignment(promise.laws, promise.draft_length, promise.horizon, tokens)
    recorded = recorded_sampler(path, path.name, asked)
    only = replace(
        promise,
        rule=None,
        sampler=SamplerRef("recorded"),
        trials=recorded.trials,
        stop_early=False,
        expect="matches",
        control=False,
        facts=Facts(),
        name=path.name,
    )
    judged = replace(suite, scenarios=(only,))
    return run_suite(judged, workers=1, samplers={"recorded": lambda _: recorded})


def _laws(target: Law, draft: Law | None, positions: int) -> LawTables:
    if isinstance(target, LawTables):
        return target
    p = _rows(target, "target")
    q = p if draft is None or isinstance(draft, LawTables) else _rows(draft, "draft")
    if p.shape[1] != q.shape[1]:
        raise BadLaw(f"target is over {p.shape[1]} tokens, draft over {q.shape[1]}")
    rows = 1 if len(p) == len(q) == 1 else positions
    p, q = position_rows(p, rows), position_rows(q, rows)
    contexts = position_contexts(p.shape[1], rows)
    return LawTables(p=p, q=q, proposal=q, target=p, contexts=contexts)


def _rows(law: npt.ArrayLike, name: str) -> Probs:
    rows = np.atleast_2d(np.asarray(law, dtype=np.float64))
    if rows.ndim != 2:
        raise BadLaw(f"{name} is not a law (V,) or rows of laws (rows, V)")
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise BadLaw(f"{name} has a probability that is negative or no finite number")
    off = np.flatnonzero(abs(rows.sum(axis=1) - 1.0) > SUM_TOLERANCE)
    if len(off):
        total = rows[off[0]].sum()
        raise BadLaw(
            f"{name} sums to {total:.10g} in row {off[0]}, not to 1 within {SUM_TOLERANCE:g}; "
            "normalise it in float64"
        )
    return rows


def _names(vocabulary: int) -> tuple[str, ...]:
    return tuple(str(token) for token in range(vocabulary))


def _told(result: SuiteResult) -> str:
    scenario = result.scenarios[0]
    lines = [
        f"{scenario.name} {_HEADLINE[scenario.verdict]}",
        f"  where:  {scenario.reason}",
        *_fault_line(scenario),
        (
            f"  trials: {scenario.trials:,} of draft length {scenario.draft_length}, "
            f"{scenario.horizon} token(s) each"
        ),
        f"  again:  seed={result.seed}",
    ]
    return "\n".join(lines)


_HEADLINE = {
    Verdict.DIFFERS: "does not preserve the target law (differs)",
    Verdict.INCONCLUSIVE: "is not shown to preserve the target law (inconclusive): raise `trials` "
    "or `epsilon`",
    Verdict.INVALID: "breaks its contract (invalid)",
    Verdict.MATCHES: "preserves the target law (matches)",
}


def _fault_line(scenario: ScenarioResult) -> list[str]:
    if scenario.verdict is not Verdict.DIFFERS:
        return []
    fitting = [f"`{name}`: {RULES[name].about}" for name in likeliest_faults(scenario)]
    return [
        f"  {'or:    ' if number else 'fault: '} fits {told}" for number, told in enumerate(fitting)
    ]
