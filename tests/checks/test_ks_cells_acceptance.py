"""Exact discrete KS, single cells, support and acceptance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.checks.acceptance import acceptance_check, clopper_pearson, committed_length_law
from harness.checks.cells import binomial_p, cells_check
from harness.checks.exact import exact_p, exact_size, log_pmf, outcomes
from harness.checks.ks import dkw_p, ks_check, ks_distance, ks_exact_p
from harness.checks.order import ratio_order
from harness.checks.result import CheckResult
from harness.checks.stirling import poisson_pmf
from harness.checks.support import support_check
from harness.errors import BadLaw, BadSetting

KS_REFERENCE = [
    ("n=100,d=.15", 100, 0.15),
    ("n=1000,d=.05", 1_000, 0.05),
    ("n=10000,d=.02", 10_000, 0.02),
    ("n=1e5,d=.007", 100_000, 0.007),
    ("n=1e6,d=.0022", 1_000_000, 0.0022),
]


@pytest.mark.parametrize(("name", "n", "distance"), KS_REFERENCE)
def test_exact_ks_agrees_with_the_reference(reference, p, name, n, distance):
    """Oracle: forward sums of binomials held against rational enumeration; absolute 2e-12."""
    expected = float(reference["ks_exact_seed"][name])
    assert ks_exact_p(p, n, distance) == pytest.approx(expected, abs=2e-12)


def test_exact_ks_agrees_on_ten_cells(reference):
    """Oracle: as above, p proportional to 10, 9, ..., 1."""
    law = np.arange(10, 0, -1) / 55
    notes = reference["notes"]["ks_exact_10_cells_p_prop_10..1"]
    assert ks_exact_p(law, 1_000, 0.06) == pytest.approx(notes["n=1000,d=.06"], abs=2e-12)
    assert ks_exact_p(law, 10_000, 0.02) == pytest.approx(notes["n=10000,d=.02"], abs=2e-12)


@pytest.mark.parametrize("seed", range(4))
def test_exact_ks_agrees_with_enumeration(seed):
    """Six cells, 15 trials, any D, ties included. Oracle: enumeration."""
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.ones(6))
    counts = rng.multinomial(15, rng.dirichlet(np.ones(6)))

    def distance(rows, _):
        return np.abs(np.cumsum(rows / 15 - law, axis=-1)).max(axis=-1)

    found = ks_exact_p(law, 15, ks_distance(counts, law))
    expected = min(exact_p(counts, law, distance), dkw_p(ks_distance(counts, law), 15))
    assert found == pytest.approx(expected, abs=2e-12)


def test_wide_bands_use_transforms_and_agree(p):
    """At n = 4e6, D = .002: far in the tail the DKW bound holds; near, both ways of summing agree.

    Oracle: the direct sum at a width just below the switch, scaled by the limit law.
    """
    near = ks_exact_p(p, 4_000_000, 0.5 / 2_000)
    assert near == pytest.approx(ks_exact_p(p, 1_000_000, 0.5 / 1_000), rel=2e-3)
    assert ks_exact_p(p, 4_000_000, 0.004) <= dkw_p(0.004, 4_000_000)


def test_ks_keeps_its_level_by_enumeration(p):
    """Size of the discrete KS at V = 3, n = 300 at most nominal. Oracle: exact sums."""
    every = outcomes(300, 3)
    distances = np.round(np.abs(np.cumsum(every / 300 - p, axis=-1)).max(axis=-1), 12)
    levels, where = np.unique(distances, return_inverse=True)
    p_of = np.array([ks_exact_p(p, 300, float(level)) for level in levels])[where]
    for alpha in (0.05, 1e-3, 1e-6):
        size = exact_size(lambda _: p_of, p, 300, alpha)
        assert 0.3 * alpha < size <= alpha


def test_the_continuous_ks_rejects_a_perfect_sampler(p):
    """scipy.stats.ks_1samp on tokens: p below 1e-30 for exact draws. The trap, kept as a fact."""
    tokens = np.repeat([0, 1, 2], [60, 30, 10])
    wrong = stats.ks_1samp(tokens, lambda x: np.cumsum(p)[np.asarray(x, dtype=int)])
    assert wrong.pvalue < 1e-30
    assert ks_check([60, 30, 10], p).p_value == 1.0


def test_the_order_of_tokens_is_stated_and_merges_equal_ratios(p, q):
    """q/p = 5/6, 5/6, 5/2: two cells, the third token first. Oracle: by hand."""
    order = ratio_order(p, q)
    assert order.ranks.tolist() == [1, 1, 0]
    assert order.description == "order: decreasing draft/target ratio"
    assert "convention" in ratio_order(p).description
    assert ks_check([55, 25, 20], p, order).detail == order.description


def test_ks_in_ratio_order_equals_total_variation_of_the_fault(p, q, fault):
    """Resample-from-target moves mass monotonically in q/p: D = TV = .015. Oracle: closed form."""
    order = ratio_order(p, q)
    counts = np.rint(fault * 1_000_000)
    assert ks_check(counts, p, order).statistic == pytest.approx(0.015)


def test_a_tie_in_distance_counts_as_extreme():
    """With n = 4, p = (1/2, 1/2): |N/n - p| >= 1/4 has probability 10/16, although D is rounded."""
    assert ks_exact_p([0.5, 0.5], 4, 0.25) == pytest.approx(10 / 16, abs=1e-9)
    assert ks_exact_p([0.5, 0.5], 4, 0.25 + 1e-13) == pytest.approx(10 / 16, abs=1e-9)


def test_ks_falls_back_to_the_bound_for_large_vocabularies(rng):
    """V = 50,000 at n = 1e8: the DKW bound, at once."""
    law = rng.dirichlet(np.ones(50_000))
    assert ks_exact_p(law, 10**8, 2e-4) == dkw_p(2e-4, 10**8)


def test_dkw_agrees_with_the_reference(reference):
    """2 exp(-2 n D^2) at D = .015, n = 10^4. Oracle: notes."""
    expected = reference["notes"]["bounds_[5900,2950,1150]"]["dkw"]
    assert dkw_p(0.015, 10_000) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mean", [0.3, 7.0, 1e4, 6e8])
def test_poisson_probabilities_sum_to_one(mean):
    """Within 12 standard deviations, to 1e-12. Oracle: normalisation."""
    width = 12 * mean**0.5 + 40
    k = np.arange(max(0, int(mean - width)), int(mean + width))
    assert poisson_pmf(k, mean).sum() == pytest.approx(1.0, abs=1e-12)


def test_binomial_tails_of_rare_tokens(reference):
    """Hits on tokens of probability 1e-9, 1e-6, 1e-4 in 1e6 trials. Oracle: mpmath, 10 digits."""
    for setting, values in reference["notes"]["cells_one_sided"].items():
        rate, n = (float(part.split("=")[1]) for part in setting.split(","))
        for hits, one_sided in values.items():
            found = float(binomial_p(int(hits), int(n), rate))
            assert found == pytest.approx(2 * one_sided, rel=1e-8)


def test_cells_name_the_worst_token_and_correct_for_their_number(p):
    """Three cells: Bonferroni of the smallest doubled tail. Oracle: scipy.stats.binom."""
    result = cells_check([59_000, 29_500, 11_500], p, names=["A", "B", "C"])
    assert result.detail.startswith("C: 0.115 drawn, 0.1 promised")
    tail = stats.binom.sf(11_499, 100_000, 0.1)
    assert result.p_value == pytest.approx(3 * 2 * tail)


def test_cells_keep_their_level_by_enumeration(p):
    """Size at V = 3, n = 1000 is at most nominal, 1e-6 included. Oracle: exact sums."""
    every = outcomes(1000, 3)
    p_values, mass = 3 * binomial_p(every, 1000, p).min(axis=-1), np.exp(log_pmf(every, p))
    for alpha in (0.05, 1e-3, 1e-6):
        assert 0 < mass[p_values <= alpha].sum() <= alpha


def test_a_hit_on_an_impossible_token_is_proof():
    """The p-value is 0 and the first such token or draw is named; without hits 1."""
    law = [0.6, 0.4, 0.0, 0.0]
    assert support_check([3, 2, 0, 0], law).p_value == 1.0
    hit = support_check([3, 2, 0, 1], law, names=list("ABCD"))
    assert (hit.p_value, hit.statistic) == (0.0, 1.0)
    assert hit.detail.startswith("D was drawn 1 times")
    told = support_check([3, 2, 0, 1], law, first_offender="trial 17 emitted D")
    assert told.detail.startswith("trial 17 emitted D")
    assert cells_check([3, 2, 0, 1], law).p_value == 0.0
    assert ks_check([3, 2, 0, 1], law).p_value == 0.0


def test_nan_never_passes():
    """A result whose p-value or statistic is NaN cannot be made."""
    for statistic, p_value in ((1.0, np.nan), (np.nan, 0.5), (1.0, -0.1), (1.0, 1.1)):
        with pytest.raises(BadLaw):
            CheckResult("any", statistic, p_value)


def test_acceptance_agrees_with_the_reference(reference):
    """8,700 and 8,300 of 10,000 at .85. Oracle: mpmath; the interval to 5 digits."""
    expected = reference["acceptance"]
    found = acceptance_check(8_700, 10_000, 0.85)
    assert found.p_value == pytest.approx(float(expected["P2sided_doubling 8700/10000"]), rel=1e-10)
    lower = reference["notes"]["acceptance_8300_of_10000"]
    assert acceptance_check(8_300, 10_000, 0.85).p_value == pytest.approx(lower, rel=1e-5)
    interval = reference["notes"]["acceptance_interval_8500_of_10000_1e-6"]
    assert clopper_pearson(8_500, 10_000, 1e-6) == pytest.approx(interval, abs=5e-6)


def test_committed_length_law_agrees_with_the_reference(reference):
    """With a = .85, k = 4; mean committed 3.70863125. Oracle: closed form."""
    law = committed_length_law([0.85] * 4)
    expected = [float(x) for x in reference["acceptance"]["length law k=4"]]
    assert law == pytest.approx(expected, abs=1e-15)
    mean = float(reference["acceptance"]["mean committed"])
    assert (np.arange(1, 6) * law).sum() == pytest.approx(mean)


def test_acceptance_edges():
    """No trials is no evidence; certain acceptance broken once is proof; nonsense is refused."""
    assert acceptance_check(0, 0, 0.5).p_value == 1.0
    assert acceptance_check(10, 10, 1.0).p_value == 1.0
    assert acceptance_check(9, 10, 1.0).p_value == 0.0
    with pytest.raises(BadLaw):
        acceptance_check(1, 2, np.nan)
    with pytest.raises(BadSetting):
        acceptance_check(3, 2, 0.5)
    with pytest.raises(BadLaw):
        committed_length_law([0.5, np.nan])


def test_log_pmf_of_all_outcomes_sums_to_one(p):
    """Oracle: normalisation over the 501,501 outcomes of 1000 trials."""
    assert np.exp(log_pmf(outcomes(1000, 3), p)).sum() == pytest.approx(1.0, abs=1e-11)
