"""Results made by hand: multinomial draws poured into the values that a run would return."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from harness.checks.result import CheckResult
from harness.engine.result import (
    Acceptance,
    Evidence,
    ObservableResult,
    ScenarioResult,
    SuiteResult,
    Verdict,
)

ALPHA = DELTA = 1e-6
HOSTILE = "<script>alert('x')</script> $x_1$ | ]]> & \x1b[31m\n=1+1 😀 \\frac{"
ODD_TOKENS = (
    "\n", " the", "$", "$x_1$", "\\frac{1}{", "😀", "日本語", "", "\x00", "<b>", "a|b", "\t\t", "é",
    "\ud800", "#", "%s", "{0}", "_", "^2", "antidisestablishmentarianism", "\u200b", "'", '"',
    " ", "\\n", "$$", "&amp;", "e\u0301", "\r\n", "▁word", "Ġword", "<|endoftext|>",
)  # fmt: skip


def kept_then(p, q, replacement):
    """Law of a rule that keeps min(p, q) and replaces the rejected mass from `replacement`."""
    kept = np.minimum(p, q)
    return kept + (1 - kept.sum()) * replacement


def residual(p, q):
    """(p - q)+ renormalised."""
    left = np.maximum(p - q, 0)
    return left / left.sum() if left.sum() else p


def looks(trials):
    """Cumulative trials at a few geometric looks."""
    return np.unique(np.geomspace(min(1000, trials), trials, 12).astype(int))


def measured(counts, target, exact):
    """(trials, TV, its bound, log E) of one look; E is the likelihood ratio of the exact law."""
    n = int(counts.sum())
    tv = 0.5 * np.abs(counts / n - target).sum()
    if (counts[target == 0] > 0).any():
        return n, tv, min(1.0, tv + 2.38 / math.sqrt(n)), math.inf
    seen = counts > 0
    log_e = float((counts[seen] * np.log(exact[seen] / target[seen])).sum())
    return n, float(tv), min(1.0, tv + 2.38 / math.sqrt(n)), log_e


def headline(verdict, cells, counts, target):
    """One clause for a title."""
    if verdict == Verdict.DIFFERS:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(target > 0, counts / counts.sum() / target, 1)
            worst = int(np.argmax((ratio - 1) ** 2 * target + counts * (target == 0)))
        if target[worst] == 0:
            return f"{cells[worst]} was drawn {counts[worst]} times, its probability is zero"
        way = "frequent" if ratio[worst] > 1 else "rare"
        return f"{cells[worst]} is {abs(ratio[worst] - 1):.0%} too {way}"
    return "TV is within epsilon" if verdict == Verdict.MATCHES else "the bound is above epsilon"


def observed(name, cells, target, exact, rng, *, trials, epsilon):
    """An ObservableResult of `trials` draws from `exact`, and its growth over looks."""
    steps = np.diff(looks(trials), prepend=0)
    counts = np.cumsum([rng.multinomial(step, exact) for step in steps], axis=0)
    growth = tuple(measured(c, target, exact) for c in counts)
    n, tv, bound, log_e = growth[-1]
    if log_e > math.log(1 / ALPHA):
        verdict = Verdict.DIFFERS
    else:
        verdict = Verdict.MATCHES if bound <= epsilon else Verdict.INCONCLUSIVE
    p_value = float(min(1.0, math.exp(-max(log_e, 0.0)))) if math.isfinite(log_e) else 0.0
    evidence = (
        Evidence(CheckResult("e-process", log_e, p_value, "multi-resolution"), 0.5, p_value),
        Evidence(CheckResult("g-test", 1.2, 0.55, "2 df", approximate_p=0.549), 0.2, 1.0),
    )
    result = ObservableResult(
        observable=name, judged=True, verdict=verdict,
        finding=headline(verdict, cells, counts[-1], target), trials=n, cells=tuple(cells),
        target=target, exact=exact, counts=counts[-1].astype(np.int64), tv=tv, tv_bound=bound,
        bound_of=name, delta=DELTA, tv_detectable=3.1 / math.sqrt(n), log_e=log_e,
        evidence=evidence,
    )  # fmt: skip
    return result, growth


def scenario(name, p, q, exact, rng, *, tokens=None, trials=400_000, epsilon=0.01, expect="matches",
             control=False, cells=("output",)):  # fmt: skip
    """A ScenarioResult of one position, observed on its output."""
    tokens = tuple(tokens or (f"t{i}" for i in range(len(p))))
    made = [observed(cell, tokens, p, exact, rng, trials=trials, epsilon=epsilon) for cell in cells]
    verdict = made[0][0].verdict
    overlap = float(np.minimum(p, q).sum())
    return ScenarioResult(
        name=name, sampler="speculative", expect=expect, control=control, verdict=verdict,
        as_expected=verdict == expect, reason=made[0][0].finding, trials=trials, epsilon=epsilon,
        observables=tuple(m[0] for m in made),
        acceptance=Acceptance(overlap + 2e-5, overlap, overlap - 1e-3, overlap + 1e-3),
        tokens=tokens, p=p, q=q, growth=made[0][1],
        facts={"acceptance": Fraction(17, 20), "law": {"A": Fraction(3, 5)}, 1: (2, [3])},
        settings={"draft_length": 1, "policy": {"temperature": 0.7}}, wall_seconds=0.25,
        cpu_seconds=0.2,
    )  # fmt: skip


def invalid(name, reason, tokens=("A", "B"), p=(math.nan, 0.5), observables=()):
    """A ScenarioResult without a law or without draws."""
    return ScenarioResult(
        name=name, sampler="mine", expect="matches", control=False, verdict=Verdict.INVALID,
        as_expected=False, reason=reason, trials=0, epsilon=0.01, observables=observables,
        acceptance=None, tokens=tuple(tokens), p=np.asarray(p), q=np.full(len(p), 1 / len(p)),
    )  # fmt: skip


def nothing_seen(tokens, target):
    """An ObservableResult of no draws at all."""
    nan = math.nan
    return ObservableResult(
        observable="output", judged=True, verdict=Verdict.INVALID, finding="nothing was drawn",
        trials=0, cells=tokens, target=target, exact=None, counts=np.zeros(len(tokens), np.int64),
        tv=nan, tv_bound=nan, bound_of="output", delta=DELTA, tv_detectable=nan, log_e=nan,
        evidence=(),
    )  # fmt: skip


def suite(scenarios, name="made-by-hand"):
    """A SuiteResult around scenarios; exit code 1 as soon as one is not as expected."""
    return SuiteResult(
        suite=name, description="Draws made by hand.", scenarios=tuple(scenarios), alpha=ALPHA,
        delta=DELTA, seed=20_26, exit_code=int(not all(s.as_expected for s in scenarios)),
        started="2026-11-29T21:00:00+00:00",
        manifest={"python": "3.11", "chunk": 32768, "versions": {"numpy": "2"}, "laws": [1, (2,)]},
    )  # fmt: skip


P3, Q3 = np.array([0.60, 0.30, 0.10]), np.array([0.50, 0.25, 0.25])


def three_token(rng, trials=1_000_000):
    """The exact rule and its counterexample on three tokens."""
    abc = ("A", "B", "C")
    exact = scenario("exact", P3, Q3, P3, rng, tokens=abc, trials=trials)
    law = kept_then(P3, Q3, P3)
    fault = scenario("resample from the target", P3, Q3, law, rng, tokens=abc, trials=trials,
                     expect="differs", control=True)  # fmt: skip
    return [exact, fault]


def odd_vocabulary(rng):
    """V = 32 with tokens that break mathtext, fonts, HTML, Markdown and XML."""
    p, q = rng.dirichlet(np.full(32, 0.6), size=2)
    hits = np.where(np.arange(32) < 3, 0.0, p)
    hits /= hits.sum()
    wrong = np.abs(p - q) / np.abs(p - q).sum()
    return [
        scenario("exact, odd tokens", p, q, p, rng, tokens=ODD_TOKENS),
        scenario("absolute residual", p, q, kept_then(p, q, wrong), rng, tokens=ODD_TOKENS,
                 expect="differs", control=True),
        scenario("tokens outside the support", hits, q, 0.999 * hits + 0.001 * q, rng,
                 tokens=ODD_TOKENS, trials=100_000),
    ]  # fmt: skip


def large_vocabulary(rng, size=32_000):
    """V = 32,000: the exact rule, resampling from the target, and one token ten per cent off."""
    p = 1.0 / np.arange(3, size + 3)
    p /= p.sum()
    q = p * np.exp(rng.normal(0, 0.7, size))
    q /= q.sum()
    one = p.copy()
    one[40] *= 1.10
    one /= one.sum()
    return [
        scenario("exact, 32,000 tokens", p, q, p, rng, trials=2_000_000),
        scenario("resample from the target, 32,000 tokens", p, q, kept_then(p, q, p), rng,
                 trials=2_000_000, expect="differs", control=True),
        scenario("one token of 32,000 ten per cent off", p, q, one, rng, trials=20_000_000),
    ]  # fmt: skip


def without_counts():
    """Invalid scenarios: a crash, a law that is not a number, a hostile name."""
    crash = "mine.verify raised ValueError: shapes (3,) and (4,) do not align " * 3
    nothing = nothing_seen(("A", "B"), np.array([0.5, 0.5]))
    return [
        invalid("crashed", crash, p=(0.5, 0.5), observables=(nothing,)),
        invalid("not a law", "the target law holds NaN"),
        invalid(HOSTILE, HOSTILE, tokens=(HOSTILE, "B")),
    ]


def every_kind(seed=1):
    """The example suite: V = 3, 32 and 32,000, hits of probability zero, invalid, odd names."""
    rng = np.random.default_rng(seed)
    made = three_token(rng) + odd_vocabulary(rng) + large_vocabulary(rng) + without_counts()
    return suite(made, "every-kind")
