"""What speculative decoding would save: a model of time, not a measurement of it.

A round drafts k tokens one after the other, verifies them in one pass of the target, and commits
the kept run and one token more. All costs are in the user's own unit, such as milliseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import signal

from harness.engine.kept_run import KeptRun
from harness.errors import BadSetting

__all__ = [
    "LONGEST_DRAFT",
    "Costs",
    "Simulated",
    "Timing",
    "best_draft_length",
    "break_even_draft_cost",
    "committed_tokens",
    "cost_per_token",
    "expected_committed",
    "expected_rounds",
    "operations_factor",
    "round_cost",
    "simulate",
    "speedup",
    "timing",
    "useful_tokens",
]

LONGEST_DRAFT = 64  # tokens: how far the best draft length is looked for
MOST_TOKENS = 100_000  # of a generation: beyond it the end of the last round costs nothing
ROUNDING = 1e-12  # speed-ups this close (relative) are equal
ROUNDS_AT_ONCE = 1 << 16  # simulated rounds held in memory


@dataclass(frozen=True, slots=True)
class Costs:
    """`target`: one pass of the target; `draft`: drafting one token; `verify`: what every drafted
    token adds to the target's pass. Raises BadSetting for what is not a cost.
    """

    target: float
    draft: float
    verify: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.target) and self.target > 0.0):
            raise BadSetting(f"target cost {self.target:g}: must be positive and finite")
        for name in ("draft", "verify"):
            if not (math.isfinite(cost := getattr(self, name)) and cost >= 0.0):
                raise BadSetting(f"{name} cost {cost:g}: must be finite and not negative")


@dataclass(frozen=True, slots=True)
class Timing:
    """What the model says of one setting.

    `tokens_per_round` are useful ones: of a finite generation, what a last round commits beyond its
    end is not counted. `rounds` and `total_cost` are those of the finite generation, else None.
    `break_even_draft_cost` is negative where speculation would not pay even if drafts were free.
    """

    tokens_per_round: float
    round_cost: float
    cost_per_token: float
    speedup: float
    operations_factor: float
    break_even_draft_cost: float | None
    best_draft_length: int
    best_speedup: float
    rounds: float | None = None
    total_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Simulated:
    """Monte Carlo of rounds: mean tokens committed a round, and the standard error of that mean."""

    rounds: int
    tokens_per_round: float
    standard_error: float


def committed_tokens(acceptance: float, draft_length: int) -> float:
    """(1 - a^(k+1)) / (1 - a), and k + 1 at a = 1: Leviathan et al. (2023), equation 1."""
    return math.fsum(acceptance**j for j in range(draft_length + 1))


def expected_committed(kept: KeptRun, draft_length: int) -> float:
    """Tokens that a round commits on average: one, and each drafted token if it is reached."""
    return math.fsum(kept.reaches(draft_length).tolist())


def expected_rounds(kept: KeptRun, draft_length: int, tokens: int) -> float:
    """Rounds until `tokens` are committed, by the renewal equation R(n) = 1 + sum f(l) R(n - l)."""
    if not 1 <= tokens <= MOST_TOKENS:
        raise BadSetting(
            f"{tokens:,} tokens a generation: must be 1 to {MOST_TOKENS:,}; leave it out for more"
        )
    feedback = np.concatenate([[1.0], -kept.length_law(draft_length)])
    return float(signal.lfilter([1.0], feedback, np.ones(tokens))[-1])


def useful_tokens(kept: KeptRun, draft_length: int, tokens: int | None = None) -> float:
    """Tokens a round that count: all of them, or of a generation of `tokens` those within it."""
    if tokens is None:
        return expected_committed(kept, draft_length)
    return tokens / expected_rounds(kept, draft_length, tokens)


def round_cost(costs: Costs, draft_length: int) -> float:
    """One pass of the target, k drafted tokens, and what these add to that pass."""
    return costs.target + draft_length * (costs.draft + costs.verify)


def cost_per_token(
    kept: KeptRun, costs: Costs, draft_length: int, tokens: int | None = None
) -> float:
    """Cost of a committed token; without speculation it is the target's."""
    return round_cost(costs, draft_length) / useful_tokens(kept, draft_length, tokens)


def speedup(kept: KeptRun, costs: Costs, draft_length: int, tokens: int | None = None) -> float:
    """How many times faster than one target pass a token: Leviathan et al. (2023), theorem 3.8."""
    return costs.target / cost_per_token(kept, costs, draft_length, tokens)


def operations_factor(tokens_per_round: float, draft_length: int, ratio: float) -> float:
    """How many times the arithmetic grows: (1 - a)(k c + k + 1)/(1 - a^(k+1)).

    `ratio` is c, the operations of the draft a token over those of the target: Leviathan et al.
    (2023), theorem 3.11.
    """
    return (draft_length * ratio + draft_length + 1) / tokens_per_round


def break_even_draft_cost(tokens_per_round: float, costs: Costs, draft_length: int) -> float | None:
    """Draft cost at which speculation neither gains nor loses; None where nothing is drafted."""
    if draft_length == 0:
        return None
    return costs.target * (tokens_per_round - 1.0) / draft_length - costs.verify


def best_draft_length(
    kept: KeptRun, costs: Costs, tokens: int | None = None, *, longest: int = LONGEST_DRAFT
) -> int:
    """The fastest of 0 to `longest` drafted tokens, the shortest of equals; 0: do not speculate."""
    speeds = np.array([speedup(kept, costs, k, tokens) for k in range(longest + 1)])
    return int(np.argmax(speeds >= speeds.max() * (1.0 - ROUNDING)))


def timing(
    kept: KeptRun,
    costs: Costs,
    draft_length: int,
    *,
    tokens: int | None = None,
    operations_ratio: float | None = None,
) -> Timing:
    """Everything the model says; `operations_ratio` is draft over target cost where not given."""
    useful = useful_tokens(kept, draft_length, tokens)
    cost = round_cost(costs, draft_length)
    ratio = costs.draft / costs.target if operations_ratio is None else operations_ratio
    best = best_draft_length(kept, costs, tokens)
    return Timing(
        tokens_per_round=useful,
        round_cost=cost,
        cost_per_token=cost / useful,
        speedup=costs.target * useful / cost,
        operations_factor=operations_factor(useful, draft_length, ratio),
        break_even_draft_cost=break_even_draft_cost(useful, costs, draft_length),
        best_draft_length=best,
        best_speedup=speedup(kept, costs, best, tokens),
        rounds=None if tokens is None else tokens / useful,
        total_cost=None if tokens is None else tokens / useful * cost,
    )


def simulate(kept: KeptRun, draft_length: int, rounds: int, rng: np.random.Generator) -> Simulated:
    """Rounds simulated coin by coin; their mean must agree with `expected_committed`."""
    total = squares = 0
    for start in range(0, rounds, ROUNDS_AT_ONCE):
        committed = kept.draw(draft_length, min(ROUNDS_AT_ONCE, rounds - start), rng) + 1
        total += int(committed.sum())
        squares += int((committed**2).sum())
    mean = total / rounds
    variance = max(0.0, squares / rounds - mean**2)
    return Simulated(rounds, mean, math.sqrt(variance / rounds))
