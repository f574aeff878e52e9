"""G, Pearson, exact and tilted p-values."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from harness.checks.chi_square import (
    chi_square_check,
    g_statistic,
    g_test,
    gamma_tail,
    pearson,
    pearson_statistic,
    pool,
    pooled,
    williams_divisor,
)
from harness.checks.exact import (
    ENUMERABLE,
    enumerable,
    exact_p,
    exact_p_values,
    exact_size,
    log_pmf,
    n_outcomes,
    outcomes,
)
from harness.checks.monte_carlo import (
    besag_clifford,
    concentrations,
    draws_affordable,
    log_weights,
    tilted_draws,
    tilted_p,
)
from harness.errors import BadLaw, BadSetting


def minus_log_pmf(counts, law):
    return -log_pmf(counts, law)


def ks_of_rows(counts, law):
    n = counts.sum(axis=-1, keepdims=True)
    return np.abs(np.cumsum(counts / n - law, axis=-1)).max(axis=-1)


def tv_of_rows(counts, law):
    n = counts.sum(axis=-1, keepdims=True)
    return 0.5 * np.abs(counts / n - law).sum(axis=-1)


def test_enumeration_agrees_with_exact_rational_p_values(reference, p):
    """Oracle: exact rational enumeration, reference values to 16 digits; relative 1e-12."""
    statistics = {
        "pearson": pearson_statistic,
        "G_p": g_statistic,
        "minlik": minus_log_pmf,
        "KS": ks_of_rows,
        "TV_p": tv_of_rows,
    }
    for counts, values in reference["exact_multinomial_p_(.6,.3,.1)"].items():
        for name, statistic in statistics.items():
            found = exact_p(json.loads(counts), p, statistic)
            assert found == pytest.approx(float(values[name]), rel=1e-12), (counts, name)


def test_enumeration_agrees_on_four_and_five_cells(reference):
    """Oracle: exact rational enumeration, quoted to 10 digits."""
    other = reference["exact_multinomial_other"]
    four = other["p=(.4,.3,.2,.1) N=[1,2,3,9]"]
    law, counts = [0.4, 0.3, 0.2, 0.1], [1, 2, 3, 9]
    assert exact_p(counts, law, pearson_statistic) == pytest.approx(
        float(four["pearson"]), rel=1e-8
    )
    assert exact_p(counts, law, g_statistic) == pytest.approx(float(four["G_p"]), rel=1e-9)
    assert exact_p(counts, law, minus_log_pmf) == pytest.approx(float(four["minlik"]), rel=1e-9)
    five = other["p=(1/2,1/4,1/8,1/16,1/16) N=[2,0,1,0,7]"]
    law = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]
    found = exact_p([2, 0, 1, 0, 7], law, pearson_statistic)
    assert found == pytest.approx(float(five["pearson"]), rel=1e-12)


def test_the_textbook_p_value_is_wrong_where_it_matters(reference, p):
    """Size at nominal 1e-6, V = 3, n = 1000: Pearson 1.396e-6, G 1.022e-6. Oracle: exact sums."""
    every, notes = outcomes(1000, 3), reference["notes"]
    mass = np.exp(log_pmf(every, p))
    by_pearson = stats.chi2.sf(pearson_statistic(every, p), 2)
    for alpha, size in notes["exact_size_pearson_n1000"].items():
        assert mass[by_pearson <= float(alpha)].sum() == pytest.approx(size, rel=1e-9)
    by_g = stats.chi2.sf(g_statistic(every, p), 2)
    assert mass[by_g <= 1e-6].sum() == pytest.approx(notes["exact_size_G_n1000_1e-6"], rel=1e-9)


@pytest.mark.parametrize("statistic", [g_statistic, pearson_statistic])
def test_the_deciding_p_value_keeps_its_level_at_a_thousand_trials(p, statistic):
    """Size of the enumerated p-value at V = 3, n = 1000 is at most nominal. Oracle: exact sums."""
    every = outcomes(1000, 3)
    p_values, mass = exact_p_values(every, p, statistic), np.exp(log_pmf(every, p))
    for alpha in (0.05, 1e-3, 1e-6, 1e-9):
        assert 0.5 * alpha < mass[p_values <= alpha].sum() <= alpha * (1 + 1e-9)


def test_p_values_of_all_outcomes_agree_with_one_at_a_time(p):
    """The table at n = 20 equals the single sums. Oracle: exact_p."""
    every = outcomes(20, 3)
    table = exact_p_values(every, p, g_statistic)
    single = [exact_p(row, p, g_statistic) for row in every[::10]]
    assert table[::10] == pytest.approx(single, rel=1e-9)


def test_size_is_the_mass_of_the_rejected_outcomes(p):
    """A test that rejects when the third token never comes: size .9^12. Oracle: closed form."""
    size = exact_size(lambda counts: (counts[:, 2] > 0).astype(float), p, 12, 0.5)
    assert size == pytest.approx(0.9**12)


def test_small_n_is_decided_by_enumeration(p, rng):
    """At 1000 trials the deciding p is the exact one and takes nothing from the generator."""
    before = rng.bit_generator.state
    result = g_test([640, 260, 100], p, rng)
    assert result.p_value == exact_p([640, 260, 100], p, g_statistic)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("counts", [[45, 30, 25], [3, 9, 8], [10, 4, 6], [59, 29, 12]])
def test_tilted_simulation_estimates_the_exact_p_value(p, rng, counts):
    """Within 10 % at 20,000 draws, from .8 down to 6e-5. Oracle: enumeration.

    The relative standard error of these estimates is below 2 %: 5 sigma, 6e-7.
    """
    exact = exact_p(counts, p, pearson_statistic)
    assert tilted_p(np.array(counts), p, pearson_statistic, 20_000, rng) == pytest.approx(
        exact, rel=0.1
    )


def test_tilted_p_values_reach_far_below_the_number_of_draws(p, rng):
    """1,000 draws answer at 1e-20. Oracle: chi-square with two degrees of freedom, factor 1.5."""
    counts = np.array([596_000, 298_000, 106_000])
    found = tilted_p(counts, p, g_statistic, 1_000, rng)
    assert found == pytest.approx(stats.chi2.sf(g_statistic(counts, p), 2), rel=0.5)
    assert 0.0 < found < 1e-20


@pytest.mark.parametrize("draws", [0, 3, 30])
def test_tilted_p_values_keep_their_level(p, draws):
    """P(p <= a) <= a at 1e-6 and .01, with the data drawn from the tilted mixture and weighted.

    Oracle: Harrison's theorem. An unbiased estimate of the size; the bound allows 5 standard
    errors, 3e-7.
    """
    rng = np.random.default_rng(5)
    n, repeats = 5_000, 500
    kappas = concentrations(n, 3)
    data = tilted_draws(n, p, kappas, repeats, rng)
    weights = np.exp(log_weights(data, p, kappas))
    found = np.array([tilted_p(row, p, pearson_statistic, draws, rng) for row in data])
    for alpha in (1e-6, 1e-2):
        hit = weights * (found <= alpha)
        assert hit.mean() - 5 * hit.std() / np.sqrt(repeats) <= alpha
        assert hit.any()


def test_tilted_weights_have_mean_one():
    """The mixture's likelihood ratio integrates to one. Oracle: enumeration over 20 trials."""
    law = np.array([0.5, 0.3, 0.15, 0.05])
    every = outcomes(20, 4)
    ratio = np.exp(-log_weights(every, law, concentrations(20, 4)))
    assert np.sum(np.exp(log_pmf(every, law)) * ratio) == pytest.approx(1.0, abs=1e-12)


def test_besag_clifford_is_short_under_the_null_and_never_zero(rng):
    """Exceedances h = 20: p = h/l, or (g + 1)/(limit + 1). Oracle: the rule itself."""
    assert besag_clifford(0.0, lambda g: g.random(), 1_000, rng) == 1.0
    assert besag_clifford(2.0, lambda g: g.random(), 999, rng) == 1e-3
    median = besag_clifford(0.5, lambda g: g.random(), 10_000, rng)
    assert 20 / 110 < median <= 1.0


def test_besag_clifford_agrees_with_enumeration(p, rng):
    """An exact p of .22 within 5 standard errors (20 % each at h = 20... here h = 2000: 2 %)."""
    counts = np.array([9, 7, 4])
    observed = float(pearson_statistic(counts, p))
    found = besag_clifford(
        observed,
        lambda g: float(pearson_statistic(g.multinomial(20, p), p)),
        20_000,
        rng,
        exceedances=2_000,
    )
    assert found == pytest.approx(exact_p(counts, p, pearson_statistic), rel=0.1)


def test_gamma_tail_has_the_three_exact_moments():
    """Mean, variance and third moment of Pearson's statistic. Oracle: enumeration.

    The fitted law is compared by its own moments, recovered from its quantiles.
    """
    law, n = np.array([0.4, 0.3, 0.2, 0.1]), 7
    every = outcomes(n, 4)
    mass, x = np.exp(log_pmf(every, law)), pearson_statistic(every, law)
    mean = (mass * x).sum()
    variance = (mass * (x - mean) ** 2).sum()
    third = (mass * (x - mean) ** 3).sum()
    points = np.array([2.0, 5.0, 12.0, 20.0])
    expected = stats.pearson3.sf((points - mean) / variance**0.5, third / variance**1.5)
    assert [gamma_tail(float(at), law, n) for at in points] == pytest.approx(list(expected))


def test_williams_divisor_brings_the_mean_of_g_to_its_degrees_of_freedom(p):
    """E G / divisor = k - 1 within 1e-4 at n = 200. Oracle: enumeration."""
    every = outcomes(200, 3)
    mean = np.sum(np.exp(log_pmf(every, p)) * g_statistic(every, p))
    assert mean / williams_divisor(p, 200) == pytest.approx(2.0, abs=1e-3)
    assert abs(mean - 2.0) > 0.01


@pytest.mark.parametrize("seed", range(5))
def test_pooling_depends_on_the_law_and_expects_twenty(seed):
    """Every pooled cell expects at least 20, likely tokens stand alone, no token is lost."""
    law = np.random.default_rng(seed).dirichlet(np.full(300, 0.3))
    labels = pool(law, 5_000)
    expected = 5_000 * pooled(law, labels)
    assert expected.min() >= 20.0 - 1e-9
    assert expected.sum() == pytest.approx(5_000)
    assert np.count_nonzero(np.bincount(labels) == 1) >= np.count_nonzero(5_000 * law >= 20) - 1


def test_degrees_of_freedom_count_the_pooled_cells(rng):
    """Ten tokens of which eight expect 5 draws: 2 + 2 cells, 3 degrees of freedom."""
    law = np.array([0.5, 0.46, *[0.005] * 8])
    result = g_test(rng.multinomial(1_000, law), law, rng)
    assert result.detail.startswith("4 cells, 3 degrees of freedom")


def test_zero_cells_do_not_count_and_a_hit_on_one_is_fatal(p, rng):
    """A zero without hits changes nothing; with one hit the p-value is 0. Oracle: definition."""
    padded = np.array([0.6, 0.0, 0.3, 0.1])
    clean = pearson([60, 0, 30, 10], padded, rng)
    assert clean.p_value == pearson([60, 30, 10], p, rng).p_value
    for test in (pearson, g_test, chi_square_check):
        assert test([60, 1, 30, 10], padded, rng).p_value == 0.0


def test_one_cell_or_no_draws_is_no_evidence(rng):
    """Nothing to compare gives p = 1, not NaN."""
    assert g_test([7], [1.0], rng).p_value == 1.0
    assert g_test([0, 0], [0.5, 0.5], rng).p_value == 1.0
    assert g_test([3, 2], [0.5, 0.5], rng).p_value == 1.0  # pooled into one cell
    assert pearson([5, 0], [1.0, 0.0], rng).p_value == 1.0


@pytest.mark.parametrize(
    "law",
    [
        [0.6, 0.3, np.nan],
        [0.6, 0.3, 0.08],
        [1.1, -0.1, 0.0],
        [np.inf, 0.0, 0.0],
        [],
        np.array([0.6, 0.3, 0.1], dtype=np.float32) * np.float32(1.0000002),
    ],
)
def test_what_is_not_a_law_is_refused(law, rng):
    """NaN, sums off by more than 1e-9 (float32 is), negative, infinite, empty: `BadLaw`."""
    with pytest.raises(BadLaw):
        g_test([1, 2, 3][: max(len(law), 1)], law, rng)


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, 3, 4], [1, -2, 3], [1.5, 2, 3], [np.nan, 1, 1]])
def test_counts_that_do_not_fit_are_refused(counts, p, rng):
    """Draws outside the vocabulary, negative, broken or missing counts: `BadSetting`."""
    with pytest.raises(BadSetting):
        g_test(counts, p, rng)


def test_chi_square_takes_g_for_few_cells_and_pearson_for_many(rng):
    """Up to 100 pooled cells G, beyond Pearson; the choice depends on law and n only."""
    law = np.full(400, 1 / 400)
    assert chi_square_check(rng.multinomial(2_000, law), law, rng).check == "g-test"
    assert chi_square_check(rng.multinomial(20_000, law), law, rng).check == "pearson"


def test_the_three_token_fault_is_found_at_its_planned_size(p, fault, rng):
    """41,591 trials miss the fault with probability 1e-6 at level 1e-6. Oracle: exact power."""
    assert pearson(rng.multinomial(41_591, fault), p, rng).p_value < 1e-6


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 8, 20, 600_000, 600_001])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 18, 30, 1_094, 1_095])
def test_few_outcomes_are_told_without_counting_many(n, cells):
    """Whether there are at most 600,000 count vectors. Oracle: the binomial coefficient."""
    assert enumerable(n, cells) is (n_outcomes(n, cells) <= ENUMERABLE)


def test_large_alphabets_are_decided_by_the_e_value_alone():
    """From 5,001 cells on fewer than 20 draws are affordable: none is made. Oracle: the budget."""
    assert [draws_affordable(cells) for cells in (2, 5_000, 5_001, 128_256)] == [4_000, 20, 0, 0]
