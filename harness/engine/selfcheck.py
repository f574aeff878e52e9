"""The harness held to its own claims, on the user's machine: size, power, coverage, dependence.

Every line says what theory expects, what was seen and what would have been accepted. Whatever is
random is held to a band that a right harness leaves with probability 1e-6 or less.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from harness.checks import (
    EProcess,
    brute_force,
    certify,
    martingale_means,
    poisson_ceiling,
    sizes,
)
from harness.engine import selfcheck_runs as runs
from harness.engine.selfcheck_runs import BAND, Depth, Line
from harness.executors import InlineExecutor
from harness.rng import stream

__all__ = ["DEFAULT", "THOROUGH", "Depth", "Line", "SelfCheck", "selfcheck"]

ALPHA = 1e-6
P, Q = runs.P, runs.Q

DEFAULT = Depth(
    name="default", enumerated=1_000, multinomials=10_000_000, null_alpha=1e-5,
    sequences=1_500, verdicts=200, powers=400, controls=40, certified=200, covered=4_000,
)  # fmt: skip
THOROUGH = Depth(
    name="thorough", enumerated=1_000, multinomials=100_000_000, null_alpha=1e-6,
    sequences=20_000, verdicts=2_000, powers=4_000, controls=400, certified=1_000, covered=20_000,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """All lines of a selfcheck, in order."""

    depth: str
    seed: int
    lines: tuple[Line, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every line came out as theory has it."""
        return all(line.passed for line in self.lines)


def selfcheck(
    depth: Depth = DEFAULT, seed: int = 0, *, executor: Executor | None = None
) -> SelfCheck:
    """Runs every section; the result depends on the depth and the seed alone."""
    started = time.perf_counter()
    with executor or InlineExecutor() as pool:
        futures = [pool.submit(_timed, section, depth, seed) for section in SECTIONS]
        lines = tuple(line for future in futures for line in future.result())
    return SelfCheck(depth.name, seed, lines, time.perf_counter() - started)


def _timed(
    section: Callable[[Depth, int], Iterator[Line]], depth: Depth, seed: int
) -> tuple[Line, ...]:
    started = time.perf_counter()
    lines = tuple(section(depth, seed))
    each = (time.perf_counter() - started) / max(1, len(lines))
    return tuple(replace(line, seconds=each) for line in lines)


def enumerated_sizes(depth: Depth, seed: int) -> Iterator[Line]:  # noqa: ARG001 (nothing random)
    """P(reject) under the promised law, over every outcome of n draws of three tokens."""
    n = depth.enumerated
    for check, size in sizes(P, Q, n, ALPHA).items():
        claim = f"{check}: size at 1e-6, all outcomes of {n:,} draws"
        yield Line("size", claim, "at most 1e-06", f"{size:.3g}", size <= ALPHA * (1 + 1e-9))


def martingale(depth: Depth, seed: int) -> Iterator[Line]:  # noqa: ARG001 (nothing random)
    """The mean of every e-value under the promised law, by enumeration."""
    process = EProcess.of(P, Q)
    for n in (10, 20, 60):
        means = martingale_means(process, n)
        worst = max(means, key=lambda part: abs(means[part] - 1.0))
        claim = f"sum of P(N) E(N) over all outcomes of {n} draws, {len(means)} parts"
        seen = f"1 {means[worst] - 1.0:+.1e} ({worst})"
        yield Line("size", claim, "1 within 1e-9", seen, abs(means[worst] - 1.0) <= 1e-9)


def null_multinomials(depth: Depth, seed: int) -> Iterator[Line]:
    """Draws of a correct sampler by the million, each looked up in the exact tables."""
    alpha, n, count = depth.null_alpha, depth.enumerated, depth.multinomials
    rng = stream(seed, "selfcheck", "null")
    most = poisson_ceiling(alpha * count)
    for found in brute_force(P, Q, n, rng, alpha=alpha, runs=count):
        claim = f"{found.check}: rejections of {count:,} correct runs at {alpha:g}"
        expected = f"{found.expected:.3g}, at most {most}"
        yield Line("size", claim, expected, str(found.rejected), found.rejected <= most)


def coverage(depth: Depth, seed: int) -> Iterator[Line]:
    """How often the certificate lies below the true distance, on laws where that is hardest."""
    cases = {"two tokens": (np.array([0.5, 0.5]), np.array([0.4, 0.6])), "three tokens": (P, Q)}
    for delta in (0.05, 0.2):
        for name, (p, q) in cases.items():
            rng = stream(seed, "selfcheck", "coverage", name, str(delta))
            draws = rng.multinomial(400, q, size=depth.covered)
            tv = float(0.5 * np.abs(q - p).sum())
            below = sum(certify(counts, p, delta).bound < tv for counts in draws)
            most = int(stats.binom.isf(BAND, depth.covered, delta))
            claim = f"bound below the true TV, {name}, delta {delta:g}, {depth.covered:,} runs"
            expected = f"at most {delta * depth.covered:,.0f}, band {most}"
            yield Line("certificate", claim, expected, str(below), below <= most)


SECTIONS: tuple[Callable[[Depth, int], Iterator[Line]], ...] = (
    null_multinomials,
    enumerated_sizes,
    martingale,
    coverage,
    runs.false_alarms,
    runs.wrong_verdicts,
    runs.planned_controls,
    runs.planned_power,
    runs.planned_certificates,
    runs.doses,
    runs.dependence,
)
