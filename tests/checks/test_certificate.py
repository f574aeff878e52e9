"""Certificates: reference values, coverage on worst-case laws, the shape of the radius."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks import certificate
from harness.checks.certificate import (
    Certificate,
    Envelope,
    certify,
    certify_coarse,
    certify_contexts,
    clopper_pearson_radius,
    entropy_budget,
    excess_limits,
    hoeffding_radius,
    kl,
    kl_excess,
    largest_excess,
    least_radius,
    slope_of_excess,
    total_variation,
    tv_lower_bound,
)
from harness.checks.coarse import coarse_grainings
from harness.checks.exact import log_pmf, outcomes
from harness.errors import BadLaw, BadSetting


def test_upper_limits_agree_with_the_reference(reference):
    """Clopper-Pearson at delta = 1e-6. Oracle: mpmath, 16 digits."""
    for setting, value in reference["cp_upper_delta1e-6"].items():
        k, n = (int(part.split("=")[1]) for part in setting.split(","))
        found = excess_limits(np.array([k]), n, 1e-6)[0] + k / n
        assert found == pytest.approx(float(value), abs=1e-14)


@pytest.mark.parametrize(
    ("n", "tv", "bound"),
    [
        (10_000, 0.0, 0.02347853947987066),
        (10_000, 0.015, 0.03858932329741733),
        (1_000_000, 0.0, 0.002330720436831912),
        (1_000_000, 0.0005, 0.00283119660661),
        (1_000_000, 0.015, 0.01734391317180),
    ],
)
def test_c1_agrees_with_the_reference(n, tv, bound):
    """Three-token law, delta = 1e-6. Oracle: mpmath, quoted to 12 digits and more."""
    assert tv + clopper_pearson_radius(tv, 0.6, n, 1e-6) == pytest.approx(bound, abs=1e-13)


def test_the_fallback_agrees_with_the_reference(reference):
    """T + sqrt(ln(1/delta) / 2n) at n = 1e4, T = .015. Oracle: closed form."""
    expected = float(reference["tv_ucb_seed_delta1e-6"]["mcdiarmid n=1e4 T=.015"])
    assert 0.015 + hoeffding_radius(10_000, 1e-6) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("n", [100, 10_000, 10**6, 10**9, 10**12])
def test_the_radius_is_at_most_238_over_root_n(n):
    """For every vocabulary. Oracle: STATISTICS, section 4; never above Hoeffding's."""
    radius = clopper_pearson_radius(0.001, 0.01, n, 1e-6)
    assert radius <= 2.38 / n**0.5 + 2 / n
    assert radius <= hoeffding_radius(n, 1e-6) + 2 / n


@pytest.mark.parametrize("n", [5, 100, 3_000])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.3])
def test_exact_limits_lie_between_the_normal_bounds(n, delta):
    """Zubkov and Serov's inequalities, at every count. Oracle: exact binomial limits."""
    counts = np.arange(n + 1)
    exact = excess_limits(counts, n, delta)
    above, budget = Envelope.of(n, delta), entropy_budget(n, delta)
    upper = np.array([above.at(int(s)) for s in counts])
    lower = np.array([kl_excess(s / n, budget) for s in counts[:-1]])
    assert (upper >= exact).all()
    assert (lower <= exact[:-1]).all()
    assert np.diff(upper[:-1], 2).max() <= 1e-12


@pytest.mark.parametrize("span", [(0, 20_000), (0, 6_000), (10_700, 20_000)])
def test_the_search_finds_the_largest_radius(monkeypatch, span):
    """Never below the maximum over all counts, at most 2/n above. Oracle: every count."""
    n, delta = 20_000, 0.05
    highest = excess_limits(np.arange(span[0], span[1] + 1), n, delta).max()
    for most in (100, 1_500):
        monkeypatch.setattr(certificate, "MOST_EVALUATIONS", most)
        found = largest_excess(*span, n, delta)
        assert highest <= found <= highest + 3 / n


@pytest.mark.parametrize(("n", "delta"), [(300, 1e-6), (300, 0.1), (50_000, 1e-9)])
def test_the_slope_of_the_excess_is_its_derivative(n, delta):
    """By implicit differentiation. Oracle: central differences, good to 1e-5 here."""
    budget = entropy_budget(n, delta)
    for x in (0.01, 0.2, 0.5, 0.9):
        step = 1e-6
        rise = kl_excess(x + step, budget) - kl_excess(x - step, budget)
        found = slope_of_excess(x, kl_excess(x, budget))
        assert found == pytest.approx(rise / (2 * step), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.3, 0.99])
@pytest.mark.parametrize("budget", [1e-10, 1e-4, 0.03])
def test_the_excess_spends_its_budget(x, budget):
    """kl(x, x + excess) is the budget, to the rounding of u. Oracle: the definition."""
    assert kl(x, x + kl_excess(x, budget)) == pytest.approx(budget, rel=1e-5)


def test_the_excess_never_leaves_the_unit_interval():
    """Where u would round to one the excess is the rest of the interval, which is above it."""
    for x in (0.999, 1.0 - 1e-12, 1.0):
        assert 0.0 <= kl_excess(x, 3.0) <= 1.0 - x


@pytest.mark.parametrize("top", [0.05, 0.4, 0.6, 0.9])
@pytest.mark.parametrize("n", [64, 1_000, 30_000, 10**6])
def test_no_certificate_is_within_epsilon_where_the_least_radius_is_not(n, top):
    """Below every radius at any observed distance up to epsilon. Oracle: C1."""
    epsilon = 0.05
    least = least_radius(top, n, 1e-6, epsilon)
    radii = [clopper_pearson_radius(tv, top, n, 1e-6) for tv in np.linspace(0, epsilon, 21)]
    assert 0.0 < least <= min(radii)
    assert least > 0.9 * min(radii)


def worst_laws(p, tv):
    """Laws at total variation `tv` from p that move mass along one set or the other."""
    for up in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
        down = [i for i in range(3) if i not in up]
        q = p.copy()
        q[up] += tv * p[up] / p[up].sum()
        q[down] -= tv * p[down] / p[down].sum()
        yield q


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize("tv", [0.03, 0.06, 0.1])
def test_c1_covers_at_its_level_by_enumeration(p, delta, tv):
    """Miscoverage at n = 300 on six laws at a given distance is at most delta. Oracle: sums."""
    every = outcomes(300, 3)
    bounds = bound_of_rows(every, p, delta)
    missed = [np.exp(log_pmf(every[bounds < tv], q)).sum() for q in worst_laws(p, tv)]
    assert max(missed) <= delta


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_c1_wastes_little_on_its_worst_law(delta):
    """Two tokens (.6, .4), true law (.5, .5), n = 1000: miscoverage in (.8 delta, delta].

    Oracle: exact sums; with two tokens the observed excess is that of the fixed set itself.
    """
    law, true = np.array([0.6, 0.4]), np.array([0.5, 0.5])
    every = outcomes(1_000, 2)
    missed = np.exp(log_pmf(every[bound_of_rows(every, law, delta) < 0.1], true)).sum()
    assert 0.8 * delta < missed <= delta


def bound_of_rows(every, p, delta):
    """The bound of each outcome: it depends on the observed total variation only."""
    observed = np.round(total_variation(every, p), 12)
    levels, where = np.unique(observed, return_inverse=True)
    n = int(every[0].sum())
    return np.array([tv + clopper_pearson_radius(tv, p.max(), n, delta) for tv in levels])[where]


def test_certify_states_what_it_certifies(p):
    """A perfect sample of 1e6: bound .00233, observed 0, the law named."""
    found = certify([600_000, 300_000, 100_000], p, 1e-6)
    assert found.tv == pytest.approx(0.0, abs=1e-12)
    assert found.bound == pytest.approx(0.002330720436831912, abs=1e-9)
    assert (found.law, found.method) == ("full alphabet", "fixed set, Clopper-Pearson")


def test_no_draws_certify_nothing(p):
    """No trials bound the total variation by one."""
    assert certify([0, 0, 0], p, 1e-6).bound == 1.0


def test_a_bound_that_is_nan_cannot_be_stated():
    """NaN <= epsilon is false, and NaN > epsilon too: refused."""
    with pytest.raises(BadLaw):
        Certificate(0.1, float("nan"), 1e-6, "any")
    with pytest.raises(BadSetting):
        certify([1, 2], [0.5, 0.5], float("nan"))


def test_coarse_laws_are_certified_sooner_and_named(rng):
    """V = 5,000 at n = 1e5: bins certify .03 where the full alphabet cannot."""
    p, q = rng.dirichlet(np.ones(5_000)), rng.dirichlet(np.ones(5_000))
    counts = rng.multinomial(100_000, p)
    parts = {part.name: part for part in coarse_grainings(p, q)}
    coarse = certify_coarse(counts, p, parts["8 ratio bins"], 1e-6)
    assert coarse.bound < 0.03 < certify(counts, p, 1e-6).bound
    assert coarse.law == "8 ratio bins"


def test_contexts_are_certified_in_the_mean_over_visits(rng):
    """Oracle: T as the visit-weighted mean of each context's TV, plus Hoeffding's radius."""
    laws = rng.dirichlet(np.ones(4), size=3)
    counts = np.stack(
        [rng.multinomial(n, law) for n, law in zip((10, 2_000, 0), laws, strict=True)]
    )
    each = [0.5 * np.abs(counts[i] / counts[i].sum() - laws[i]).sum() for i in (0, 1)]
    mean = (10 * each[0] + 2_000 * each[1]) / 2_010
    found = certify_contexts(counts, laws, 1e-3)
    assert found.tv == pytest.approx(mean)
    assert found.bound == pytest.approx(mean + hoeffding_radius(2_010, 1e-3))


def test_the_lower_bound_stays_below_the_truth(p, fault):
    """TV .015 at n = 1e5, delta = .05: violated in at most 5 % of 2,000 runs; mean .0126.

    Oracle: the truth. 5 % plus 5 standard errors is 149 of 2,000 (3e-7).
    """
    rng = np.random.default_rng(8)
    halves = rng.multinomial(50_000, fault, size=(2_000, 2))
    bounds = np.array([tv_lower_bound(a, b, p, 0.05) for a, b in halves])
    assert np.count_nonzero(bounds > 0.015) <= 149
    assert 0.01 < bounds.mean() < 0.015
