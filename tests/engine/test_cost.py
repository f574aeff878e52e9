"""The timing model, against its closed forms, the published table, and rounds that were drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.engine.cost import (
    Costs,
    best_draft_length,
    committed_tokens,
    cost_per_token,
    expected_committed,
    expected_rounds,
    operations_factor,
    round_cost,
    simulate,
    speedup,
    timing,
)
from harness.engine.kept_run import KeptRun, Kind, kept_run_of_lengths
from harness.engine.kept_run_seen import kept_run_seen
from harness.errors import BadSetting
from harness.laws.tables import one_context
from harness.rng import stream
from harness.rules import RULES
from harness.samplers.rule import RuleSampler

HALF = KeptRun.constant(0.5)
SIGMAS = 4.9  # two-sided normal tail 1e-6


@pytest.mark.parametrize(
    ("draft", "whole", "token", "times"), [(20, 140, 80, 1.25), (50, 200, 114.2857, 0.875)]
)
def test_the_stated_example(draft, whole, token, times):
    """Half accepted, k = 2, target 100: 1.75 tokens a round (oracle: by hand)."""
    found = timing(HALF, Costs(100, draft), 2)
    assert found.tokens_per_round == 1.75
    assert (found.round_cost, found.speedup) == (whole, times)
    assert found.cost_per_token == pytest.approx(token, abs=5e-5)


@pytest.mark.parametrize(
    ("acceptance", "length", "operations", "speed"),
    [(0.6, 2, 1.53, 1.96), (0.7, 3, 1.58, 2.53), (0.8, 2, 1.23, 2.44), (0.8, 5, 1.63, 3.69),
     (0.9, 2, 1.11, 2.71), (0.9, 10, 1.60, 6.86)],
)  # fmt: skip
def test_operations_and_speed_of_the_published_table(acceptance, length, operations, speed):
    """Drafts that cost nothing (oracle: Leviathan et al. 2023, table 1, two decimals)."""
    tokens = committed_tokens(acceptance, length)
    assert operations_factor(tokens, length, 0.0) == pytest.approx(operations, abs=5.1e-3)
    assert speedup(KeptRun.constant(acceptance), Costs(1, 0), length) == pytest.approx(
        speed, abs=5.1e-3
    )


@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.85, 0.999])
@pytest.mark.parametrize("length", [0, 1, 7, 40])
def test_committed_tokens_are_the_geometric_sum(acceptance, length):
    """(1 - a^(k+1))/(1 - a), from the sum and from the law of the kept run (closed form)."""
    closed = (1 - acceptance ** (length + 1)) / (1 - acceptance)
    kept = KeptRun.constant(acceptance)
    assert committed_tokens(acceptance, length) == pytest.approx(closed, rel=1e-12)
    assert expected_committed(kept, length) == pytest.approx(closed, rel=1e-12)
    law = kept.length_law(length)
    assert math.fsum(law) == pytest.approx(1.0, abs=1e-12)
    assert law @ np.arange(1, length + 2) == pytest.approx(closed, rel=1e-12)


def test_a_draft_that_is_never_rejected_commits_one_more():
    """Acceptance 1: k + 1 tokens, where the closed form has no value (oracle: its limit)."""
    assert committed_tokens(1.0, 5) == expected_committed(KeptRun.constant(1.0), 5) == 6


def test_no_draft_is_plain_decoding():
    """Draft length 0: one token at the target's cost, nothing to break even (oracle: by hand)."""
    found = timing(HALF, Costs(100, 20), 0)
    assert (found.cost_per_token, found.speedup, found.operations_factor) == (100, 1, 1)
    assert found.break_even_draft_cost is None


@pytest.mark.parametrize("verify", [0.0, 3.0])
@pytest.mark.parametrize("tokens", [None, 7, 100])
def test_at_the_break_even_cost_nothing_is_gained(verify, tokens):
    """Speed-up 1 there (oracle: the model itself, put in again)."""
    kept = KeptRun((Kind((0.9, 0.6), 0.7), Kind((0.2,), 0.3)))
    even = timing(kept, Costs(100, 20, verify), 3, tokens=tokens).break_even_draft_cost
    assert speedup(kept, Costs(100, even, verify), 3, tokens) == pytest.approx(1.0, rel=1e-12)


def test_verification_that_costs_more_with_every_token():
    """Target + k (draft + verify) (oracle: by hand)."""
    assert round_cost(Costs(100, 20, 5), 4) == 200


@pytest.mark.parametrize("acceptance", [0.1, 0.25, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("draft", [0.05, 0.2, 0.5])
def test_the_best_draft_length_beats_every_other(acceptance, draft):
    """Oracle: exhaustive search; it drafts at all only where acceptance exceeds the cost ratio
    (Leviathan et al. 2023, corollary 3.9).
    """
    kept, costs = KeptRun.constant(acceptance), Costs(1, draft)
    best = best_draft_length(kept, costs)
    dearest = min(cost_per_token(kept, costs, k) for k in range(65))
    assert cost_per_token(kept, costs, best) == pytest.approx(dearest, rel=1e-12)
    assert (best > 0) == (acceptance > draft)


def test_of_equal_draft_lengths_the_shortest_is_best():
    """Half accepted, draft 20 of 100: 1.5/120 = 1.75/140 (oracle: by hand)."""
    assert best_draft_length(HALF, Costs(100, 20)) == 1


def test_acceptance_by_position():
    """1 + .9 + .9 x .5 + .9 x .5 x .5, the last rate standing for all later ones (by hand)."""
    kept = KeptRun((Kind((0.9, 0.5)),))
    assert expected_committed(kept, 3) == pytest.approx(1 + 0.9 + 0.45 + 0.225)


def test_contexts_of_two_kinds_commit_the_mean_of_both():
    """Not what the mean acceptance would commit: the sum is convex in a (oracle: closed forms)."""
    kept = KeptRun((Kind((0.9,), 0.5), Kind((0.1,), 0.5)))
    mean = (committed_tokens(0.9, 4) + committed_tokens(0.1, 4)) / 2
    assert expected_committed(kept, 4) == pytest.approx(mean, rel=1e-12)
    assert mean > committed_tokens(0.5, 4)


def test_rounds_of_a_finite_generation():
    """Two tokens at k = 1: one round if the draft is kept, else two (oracle: by hand); many tokens:
    n/E + E[L^2]/(2 E^2) - 1/2 + ..., the renewal theorem's second term.
    """
    assert expected_rounds(HALF, 1, 1) == 1
    assert expected_rounds(HALF, 1, 2) == 1.5
    law, sizes = HALF.length_law(2), np.arange(1, 4)
    mean, square = law @ sizes, law @ sizes**2
    far = 5000 / mean + (square + mean) / (2 * mean**2) - 1 / mean
    assert expected_rounds(HALF, 2, 5000) == pytest.approx(far, rel=1e-12)


def test_a_finite_generation_wastes_its_end():
    """Fewer useful tokens a round than without end, and as many in the limit (oracle: limit)."""
    short, long = (timing(HALF, Costs(1, 0.1), 3, tokens=n) for n in (10, 100_000))
    endless = timing(HALF, Costs(1, 0.1), 3)
    assert short.tokens_per_round < long.tokens_per_round < endless.tokens_per_round
    assert long.tokens_per_round == pytest.approx(endless.tokens_per_round, rel=1e-5)
    assert short.total_cost == pytest.approx(10 * short.cost_per_token)


@pytest.mark.parametrize(
    "kept",
    [HALF, KeptRun.constant(1.0), KeptRun.constant(0.0), KeptRun((Kind((0.9, 0.4, 0.7)),)),
     KeptRun((Kind((0.95, 0.8), 0.6), Kind((0.3,), 0.4)))],
)  # fmt: skip
def test_simulated_rounds_agree_with_the_formula(kept):
    """200,000 rounds (oracle: the closed form; 4.9 standard errors, false alarms below 1e-6)."""
    seen = simulate(kept, 4, 200_000, stream(20_26, "test cost"))
    error = abs(seen.tokens_per_round - expected_committed(kept, 4))
    assert error <= SIGMAS * seen.standard_error + 1e-12


def test_rounds_of_the_real_sampler_agree_with_the_formula():
    """The exact rule on laws that overlap by .85 keeps as the model says: 1 to 5 tokens a round
    (oracle: the closed form; 4.9 standard errors, false alarms below 1e-6).
    """
    laws = one_context(np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.25, 0.25]))
    sampler = RuleSampler(RULES["speculative"].prepare, laws, 4, 5)
    committed = sampler.sample(200_000, stream(7, "test cost")).n_accepted + 1.0
    error = abs(committed.mean() - committed_tokens(0.85, 4))
    assert error <= SIGMAS * committed.std() / math.sqrt(len(committed))


def test_rates_are_read_from_the_lengths_of_rounds():
    """Of 100 rounds 80 keep one or more, 60 both; beyond, the last rate (oracle: by hand)."""
    assert kept_run_of_lengths(np.array([20, 20, 60])).kinds[0].rates == (0.8, 0.75)
    assert kept_run_of_lengths(np.array([5, 0, 0])).kinds[0].rates == (0.0,)
    with pytest.raises(BadSetting, match="no round"):
        kept_run_of_lengths(np.array([0, 0]))


def test_acceptance_of_a_finished_run(made):
    """What the scenario saw; a run of several needs a name (oracle: the result's own number)."""
    suite = made.suite(made.three_token(np.random.default_rng(1)))
    kept, source = kept_run_seen(suite, "exact")
    assert kept.kinds[0].rates == (suite.scenarios[0].acceptance.observed,)
    assert "exact" in source
    with pytest.raises(BadSetting, match="--scenario"):
        kept_run_seen(suite)


@pytest.mark.parametrize(
    "build",
    [lambda: KeptRun.constant(1.1), lambda: KeptRun.constant(math.nan), lambda: Kind(()),
     lambda: KeptRun((Kind((0.5,), 0.5), Kind((0.5,), 0.4))), lambda: Costs(0, 1),
     lambda: Costs(1, -1), lambda: Costs(math.inf, 1), lambda: Costs(1, math.nan),
     lambda: expected_rounds(HALF, 1, 0), lambda: expected_rounds(HALF, 1, 10**9)],
)  # fmt: skip
def test_what_is_no_setting_is_refused(build):
    """Rates outside [0, 1], weights that do not sum to one, costs and lengths that are none."""
    with pytest.raises(BadSetting):
        build()
