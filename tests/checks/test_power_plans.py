"""Power: exact, guaranteed, simulated; trials to certify."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from harness.checks.calibration import (
    brute_force,
    martingale_means,
    poisson_ceiling,
    poisson_floor,
    sizes,
)
from harness.checks.certificate import certify, hoeffding_radius, total_variation
from harness.checks.dual import certify_law, dual_mean, lowest, mean_deviation, slopes_near_best
from harness.checks.e_process import EProcess
from harness.checks.exact import log_pmf, outcomes
from harness.checks.looks import look_schedule
from harness.checks.plans import (
    certify_trials,
    expected_tv,
    guaranteed_trials,
    smallest_dose,
    stopping_times,
)
from harness.checks.power import (
    approximate_trials,
    detectable_tv,
    exact_miss,
    exact_trials,
    noncentrality,
    support_trials,
)
from harness.errors import BadSetting


def test_noncentrality_agrees_with_the_reference(reference):
    """lambda* at alpha = beta = 1e-6. Oracle: notes, all digits given."""
    for df, value in reference["notes"]["lambda_star_1e-6_1e-6"].items():
        assert noncentrality(int(df), 1e-6, 1e-6) == pytest.approx(value, rel=1e-5)


def test_the_noncentral_plan_is_five_percent_optimistic(reference, p, fault):
    """39,535 by ncx2, 41,591 by exact sums. Oracle: reference values."""
    seed = reference["power_seed"]
    assert approximate_trials(p, fault, 1e-6, 1e-6) == seed["n_ncx2"]
    assert exact_trials(p, fault, 1e-6, 1e-6) == seed["n_exact"]
    critical = float(seed["crit_df2_1e6"])
    assert exact_miss(42_000, p, fault, critical) == pytest.approx(7.91e-7, rel=1e-3)


def test_other_plans_agree_with_the_reference(p, fault):
    """(1e-2, .9), (1e-3, .99), (1e-6, .99): 6,971, 14,099, 22,520. Oracle: notes."""
    found = [
        approximate_trials(p, fault, alpha, beta)
        for alpha, beta in ((1e-2, 0.1), (1e-3, 1e-2), (1e-6, 1e-2))
    ]
    assert found == pytest.approx([6_971, 14_099, 22_520], abs=1)


@pytest.mark.parametrize("law", [[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
def test_exact_miss_agrees_with_enumeration(p, law):
    """P(X^2 < 6) at n = 80. Oracle: all outcomes."""
    every = outcomes(80, 3)
    x2 = ((every - 80 * p) ** 2 / (80 * p)).sum(axis=1)
    expected = np.exp(log_pmf(every, np.array(law)))[x2 < 6.0].sum()
    assert exact_miss(80, p, law, 6.0) == pytest.approx(expected, abs=1e-12)


def test_exact_miss_of_two_cells_and_of_mass_outside_the_support():
    """Two cells: a binomial sum. Mass outside is never a miss. Oracle: scipy, closed form."""
    k = np.arange(51)
    inside = (k - 25) ** 2 / 12.5 < 4.0
    assert exact_miss(50, [0.5, 0.5], [0.3, 0.7], 4.0) == pytest.approx(
        stats.binom.pmf(k, 50, 0.3)[inside].sum()
    )
    whole = exact_miss(30, [0.6, 0.3, 0.1, 0.0], [0.6, 0.3, 0.05, 0.05], 1e9)
    assert whole == pytest.approx(0.95**30)


def test_impossible_tokens_are_seen_after_914_draws():
    """Hard zeros hit with probability .015: 914 draws for a miss of 1e-6. Oracle: notes, 3b."""
    assert support_trials(np.array([1.0, 0.0]), np.array([0.985, 0.015]), 1e-6) == 915
    assert pytest.approx(1e-6, rel=2e-2) == 0.985**914
    assert support_trials(np.array([1.0, 0.0]), np.array([1.0, 0.0]), 1e-6) == math.inf


def test_guaranteed_trials_are_guaranteed(p, q, fault):
    """At alpha = beta = .05 at least 95 % of 2,000 runs reach 1/alpha by the planned n.

    Oracle: simulation; 95 % less 5 standard errors is 92.5 %.
    """
    process = EProcess.of(p, q, {"fault": fault})
    n = int(guaranteed_trials(process, fault, 0.05, 0.05))
    counts = np.random.default_rng(41).multinomial(n, fault, size=2_000)
    reached = np.mean(process.log_e(counts).total >= np.log(20.0))
    assert reached > 0.925
    assert 40_000 < guaranteed_trials(process, fault, 1e-6, 1e-6) < 60_000


def test_what_cannot_be_caught_takes_forever(p, q):
    """The promised law itself is never refuted; a hit outside the support needs no bet."""
    assert guaranteed_trials(EProcess.of(p, q), p, 1e-6, 1e-6) == math.inf
    with_zero = EProcess.of([0.7, 0.3, 0.0])
    assert guaranteed_trials(with_zero, [0.6, 0.3, 0.1], 1e-6, 1e-6) <= 132


def test_the_smallest_dose_needs_the_trials_it_was_given(p, q, fault):
    """N = 1e6: the dose needs at most n trials, nine tenths of it more. Oracle: the plan."""
    process = EProcess.of(p, q, {"fault": fault})
    dose = smallest_dose(process, fault, 1_000_000, 1e-6, 1e-6)
    assert 0.1 < dose < 0.4

    def trials(share):
        return guaranteed_trials(process, (1 - share) * p + share * fault, 1e-6, 1e-6)

    assert trials(dose) <= 1_000_000 < trials(0.9 * dose)


def test_stopping_times_agree_with_the_notes(p, q, fault):
    """Resample-from-target refuted after about 1.6e4 draws with 1.25-fold looks. Oracle: notes.

    300 runs, standard error about 330: [14k, 19k] is beyond 5 sigma.
    """
    process = EProcess.of(p, q, {"fault": fault})
    rng = np.random.default_rng(42)
    looks = look_schedule(1_000, 500_000)
    stopped = stopping_times(process, fault, looks, rng, alpha=1e-6, runs=300)
    assert np.isfinite(stopped).all()
    assert 13_000 < stopped.mean() < 19_000
    never = stopping_times(process, p, looks[:12], rng, alpha=1e-6, runs=300)
    assert np.isinf(never).all()


@pytest.mark.parametrize(("epsilon", "trials"), [(0.1, 1.65e3), (0.03, 1.77e4), (0.01, 1.55e5)])
def test_trials_to_certify_agree_with_the_notes(p, rng, epsilon, trials):
    """Three tokens at delta = 1e-6, power .999. Oracle: notes, within 4 %."""
    assert certify_trials(p, epsilon, 1e-6, rng) == pytest.approx(trials, rel=0.04)


def test_planned_trials_do_certify(p, rng):
    """At the planned n, 300 exact samples: at most 5 miss epsilon (.3 expected; 6 is 8e-7)."""
    n = certify_trials(p, 0.03, 1e-6, rng)
    bounds = [certify(row, p, 1e-6).bound for row in rng.multinomial(n, p, size=300)]
    assert np.count_nonzero(np.array(bounds) > 0.03) <= 5


def test_expected_total_variation_agrees_with_the_reference(reference, p):
    """De Moivre's formula. Oracle: mpmath for three tokens, notes for uniform laws."""
    for n, value in reference["E_plugin_TV_seed"].items():
        assert expected_tv(p, int(n)) == pytest.approx(float(value), abs=1e-11)
    for setting, value in reference["notes"]["E_plugin_TV_uniform"].items():
        vocabulary, n = (int(part) for part in setting.split(","))
        law = np.full(vocabulary, 1 / vocabulary)
        assert expected_tv(law, n) == pytest.approx(value, abs=1e-9)


def test_the_smallest_detectable_bias_holds_in_every_direction(p):
    """At that TV every direction needs at most n trials by ncx2. Oracle: the divergence."""
    n = 100_000
    tv = detectable_tv(n, 3, 1e-6, 1e-6)
    for up, down in ((0, 1), (0, 2), (1, 2), (1, 0)):
        q = p.copy()
        q[up] += tv
        q[down] -= tv
        assert approximate_trials(p, q, 1e-6, 1e-6) <= n
    assert detectable_tv(0, 3, 1e-6, 1e-6) == 1.0


def test_too_long_sums_are_refused(p):
    """Four cells, or 1e8 trials: `BadSetting`."""
    with pytest.raises(BadSetting):
        exact_miss(10, [0.25] * 4, [0.25] * 4, 1.0)
    with pytest.raises(BadSetting):
        exact_trials(p, p + np.array([1e-5, -1e-5, 0.0]), 1e-6, 1e-6)


@pytest.mark.parametrize(("mass", "n"), [(0.01, 500), (1e-5, 10**5), (3e-3, 10**6), (0.6, 1_000)])
@pytest.mark.parametrize("slope", [0.02, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("side", [1, -1])
def test_tangents_bound_the_minimum_from_below(mass, n, slope, side):
    """Never above the minimum over a fine grid, at most 2e-3 of h below. Oracle: the grid."""
    end = 1 - mass if side > 0 else mass
    near = min(end, 8 * (mass / n) ** 0.5 + 5 / n)
    u = np.concatenate([np.linspace(0, end, 2_001), np.linspace(0, near, 4_001)])
    p = np.full_like(u, mass)
    on_grid = (0.5 * mean_deviation(mass + side * u, p, n) - slope * u).min()
    bound = lowest(np.array([mass]), n, slope, side)[0]
    scale = mean_deviation(p[:1], p[:1], n)[0]
    assert on_grid - 2e-3 * scale <= bound <= on_grid + 1e-12


def test_mean_deviation_agrees_with_a_direct_sum():
    """E |Bin(n, q)/n - p| for several q and p. Oracle: the sum over outcomes."""
    k = np.arange(41)
    for p in (0.3, 0.01, 0.5):
        for q in (0.0, 0.2, 0.31, 1.0):
            expected = (stats.binom.pmf(k, 40, q) * np.abs(k / 40 - p)).sum()
            assert mean_deviation(np.array([q]), np.array([p]), 40)[0] == pytest.approx(expected)


def test_the_dual_bound_agrees_with_the_reference(reference):
    """V = 100 uniform, n = 500, distance .15: dual .2130, best law found .2133. Oracle: notes."""
    notes = reference["notes"]["C2_dual"]
    law = np.full(100, 0.01)
    found = max(
        dual_mean(law, 500, a, b) + (a + b) * 0.15
        for a in np.linspace(0.28, 0.34, 7)
        for b in np.linspace(0.18, 0.26, 9)
    )
    assert found == pytest.approx(notes["dual"], abs=5e-4)
    assert found < notes["worst_q"]
    assert expected_tv(law, 500) == pytest.approx(notes["E_p_T"], abs=1e-6)


def test_c2_certifies_large_vocabularies_sooner(rng):
    """V = 2,000 at n = 2e5: for a perfect sampler C2 is below .8 of C1. Oracle: certify."""
    law = np.full(2_000, 1 / 2_000)
    counts = rng.multinomial(200_000, law)
    found = certify_law(counts, law, 1e-6)
    assert found.method == "mean of T, dual bound"
    assert 0.0 < found.bound < 0.8 * certify(counts, law, 1e-6).bound


@pytest.mark.parametrize("tv", [0.05, 0.1, 0.2])
def test_c2_covers_at_its_level(tv):
    """V = 200, 5,000 draws: bounds below the true distance in at most delta = .2 of 2,000 runs.

    Oracle: the truth, for half the tokens up and half down, the law with the smallest mean of T;
    20 % and 5 standard errors are 490.
    """
    law, n, delta = np.full(200, 1 / 200), 5_000, 0.2
    radius = hoeffding_radius(n, delta)
    a, b = slopes_near_best(law, n, radius)
    dual = dual_mean(law, n, a, b)
    biased = law * np.where(np.arange(200) % 2, 1 + 2 * tv, 1 - 2 * tv)
    draws = np.random.default_rng(43).multinomial(n, biased, size=2_000)
    bounds = (total_variation(draws, law) - dual + radius) / (a + b)
    assert np.count_nonzero(bounds < tv) <= 490
    assert bounds.mean() < tv + 0.2


def test_small_vocabularies_keep_c1(p):
    """Three tokens: certify_law is C1. Oracle: certify."""
    counts = [600, 300, 100]
    assert certify_law(counts, p, 1e-6) == certify(counts, p, 1e-6)


def test_every_deciding_p_value_keeps_one_in_a_million(p, q):
    """Sizes at V = 3, n = 300, nominal 1e-6, by enumeration: none above. Oracle: exact sums."""
    found = sizes(p, q, 300, 1e-6)
    assert set(found) == {"g-test", "pearson", "cells", "ks", "e-process"}
    assert max(found.values()) <= 1e-6 * (1 + 1e-9)
    assert min(found["g-test"], found["pearson"]) > 0.9e-6


def test_brute_force_agrees_with_the_exact_sizes(p, q, rng):
    """1e6 null multinomials at 1e-3: rejections within a Poisson band of 1e-6. Oracle: sizes."""
    for result in brute_force(p, q, 200, rng, alpha=1e-3, runs=1_000_000):
        assert result.rejected <= poisson_ceiling(result.expected)
        assert result.rejected >= poisson_floor(result.expected)
    assert (poisson_ceiling(100), poisson_floor(100)) == (151, 56)


def test_martingale_means_are_one(p, q):
    """What selfcheck prints: each part has mean one at n = 30. Oracle: enumeration."""
    means = martingale_means(EProcess.of(p, q), 30)
    assert list(means.values()) == pytest.approx([1.0] * 4, abs=1e-12)
