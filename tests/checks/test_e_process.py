"""The e-process: reference values, the martingale identity, stability, speed of growth."""

from __future__ import annotations

import json
import math

import mpmath
import numpy as np
import pytest
from scipy import special

from harness.checks.coarse import coarse_grainings, ratio_bins
from harness.checks.dirichlet import log_beta_ratios, log_dirichlet_ratio, log_mean_exp
from harness.checks.e_process import WEIGHTS, EProcess
from harness.checks.exact import log_pmf, outcomes
from harness.checks.stirling import entropy_gap, log_rising, remainder


def test_kappa_mixture_agrees_with_the_reference(reference, p):
    """Oracle: mpmath at 40 digits; within 1e-9 demanded, 1e-12 reached."""
    kappas = 10.0 ** np.arange(1, 8)
    for counts, values in reference["log_e"].items():
        logs = log_dirichlet_ratio(np.array(json.loads(counts)), p, kappas)
        expected = [float(values[f"k{10**i}"]) for i in range(1, 5)]
        assert logs[:4] == pytest.approx(expected, abs=1e-12)
        assert log_mean_exp(logs) == pytest.approx(float(values["kmix_1e1_1e7"]), abs=1e-12)


def test_directed_part_agrees_with_the_reference(reference, p, q):
    """Ten stakes towards the draft. Oracle: mpmath; within 1e-12."""
    process = EProcess.of(p, q, uniform=False)
    for counts, values in reference["log_e"].items():
        found = process.log_e(json.loads(counts)).directed
        assert found == pytest.approx(float(values["directed_draft_leak"]), abs=1e-12)


@pytest.mark.parametrize("n", [10, 20, 60])
def test_every_part_has_mean_one_under_the_promised_law(p, q, fault, n):
    """The sum of P(N) E(N) = 1 for each part and for the whole. Oracle: enumeration, 2e-13."""
    every = outcomes(n, 3)
    logs = EProcess.of(p, q, {"resample-from-target": fault}).log_e(every)
    mass = np.exp(log_pmf(every, p))
    for part in (logs.total, logs.multi_resolution, logs.cell, logs.directed):
        assert (mass * np.exp(part)).sum() == pytest.approx(1.0, abs=2e-13)
    for bet in logs.directions.values():
        assert (mass * np.exp(bet)).sum() == pytest.approx(1.0, abs=2e-13)


def test_heads_and_bins_have_mean_one_on_a_larger_alphabet():
    """V = 20 with heads of 16 and ratio bins, n = 4. Oracle: enumeration of 8,855 outcomes."""
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(20)), rng.dirichlet(np.ones(20))
    process = EProcess.of(p, q)
    assert process.heads == (16, 20)
    assert [part.name for part in process.bins] == ["2 ratio bins", "8 ratio bins", "32 ratio bins"]
    every = outcomes(4, 20)
    logs = process.log_e(every)
    mass = np.exp(log_pmf(every, p))
    for part in (logs.total, logs.multi_resolution, logs.cell, logs.directed):
        assert (mass * np.exp(part)).sum() == pytest.approx(1.0, abs=1e-12)


def test_heads_agree_with_their_partitions():
    """The shared sums over heads equal the ratio of each partition taken alone, to 1e-9."""
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.full(300, 0.3))
    counts = rng.multinomial(5_000, rng.dirichlet(np.full(300, 0.3)))
    process = EProcess.of(p, kappas=(1e3,))
    parts = list(coarse_grainings(p))
    alone = [
        log_dirichlet_ratio(part.gather(counts), part.gather(p), process.kappas) for part in parts
    ]
    assert process.log_e(counts).multi_resolution == pytest.approx(
        float(log_mean_exp(np.concatenate(alone))), abs=1e-9
    )


def test_the_cell_part_is_the_average_of_single_tokens(p):
    """Each token against the rest. Oracle: two-cell ratios one by one."""
    counts, kappa = np.array([40, 45, 15]), 100.0
    single = [
        log_dirichlet_ratio(np.array([n, 100 - n]), np.array([x, 1 - x]), [kappa])[0]
        for n, x in zip(counts, p, strict=True)
    ]
    assert log_beta_ratios(counts, p, np.array(100), kappa) == pytest.approx(single, abs=1e-12)
    process = EProcess.of(p, uniform=False, kappas=(kappa,))
    assert process.log_e(counts).cell == pytest.approx(float(log_mean_exp(np.array(single))))


def exact_ratio(counts, law, kappa):
    kappa, n = mpmath.mpf(kappa), sum(counts)

    def rising(a, m):
        return mpmath.loggamma(a + m) - mpmath.loggamma(a) - m * mpmath.log(a)

    cells = (rising(kappa * x, mpmath.mpf(m)) for x, m in zip(law, counts, strict=True))
    return float(sum(cells) - rising(kappa, mpmath.mpf(n)))


@pytest.mark.parametrize("n", [10, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("kappa", [1e-3, 10.0, 1e6, 1e9, 1e12])
def test_the_ratio_is_stable_up_to_a_million_millions(p, n, kappa):
    """Within 1e-9 for kappa and n up to 1e12. Oracle: mpmath at 60 digits on p = (.6, .3, .1)."""
    counts = [6 * n // 10 + int(n**0.5), 3 * n // 10 - int(n**0.5)]
    counts.append(n - sum(counts))
    with mpmath.workdps(60):
        law = [mpmath.mpf(x) / 10 for x in (6, 3, 1)]
        expected = exact_ratio(counts, law, kappa)
    found = float(log_dirichlet_ratio(np.array(counts), p, [kappa])[0])
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [10**4, 10**12])
def test_directed_bets_are_stable_up_to_a_million_millions(p, q, n):
    """Within 1e-9 at n = 1e12. Oracle: mpmath at 50 digits."""
    shift = int(n**0.5)
    counts = [6 * n // 10 - shift, 3 * n // 10, n // 10 + shift]
    found = EProcess.of(p, q, uniform=False).log_e(counts).directed
    with mpmath.workdps(50):
        law = [mpmath.mpf(x) / 10 for x in (6, 3, 1)]
        draft = [mpmath.mpf(1) / 2, mpmath.mpf(1) / 4, mpmath.mpf(1) / 4]
        stakes = (1, 2, 4, 10, 20, 50, 100, 200, 500, 1000)
        logs = [
            sum(
                m * mpmath.log1p((d / x - 1) / t)
                for m, d, x in zip(counts, draft, law, strict=True)
            )
            for t in stakes
        ]
        top = max(logs)
        expected = top + mpmath.log(sum(mpmath.exp(x - top) for x in logs) / 10)
    assert found == pytest.approx(float(expected), abs=1e-9)


def test_pieces_of_stirling_agree_with_mpmath():
    """Entropy gap, remainder and rising factorial, relative 1e-13. Oracle: mpmath."""
    with mpmath.workdps(60):
        for x in (-1.0, -0.5, -0.0299, 1e-9, 0.0301, 0.5, 1e6):
            y = mpmath.mpf(x)
            gap = (1 + y) * mpmath.log1p(y) - y if x > -1 else mpmath.mpf(1)
            assert float(entropy_gap(x)) == pytest.approx(float(gap), rel=1e-13)
        for x in (1e-9, 0.3, 9.99, 10.0, 1e5):
            y = mpmath.mpf(x)
            stirling = (y - 0.5) * mpmath.log(y) - y + mpmath.log(2 * mpmath.pi) / 2
            left = float(mpmath.loggamma(y) - stirling)
            assert float(remainder(x)) == pytest.approx(left, rel=1e-12)
    assert log_rising(2.0, 3) == pytest.approx(np.log(1 * 1.5 * 2))


def test_gammaln_would_have_lost_every_digit(p):
    """The textbook form is off by more than 1e-6 at kappa = 1e9: the trap, kept as a fact."""
    counts, kappa = np.array([600, 300, 100]), 1e9

    def rising(a, m):
        return special.gammaln(a + m) - special.gammaln(a) - m * np.log(a)

    naive = rising(kappa * p, counts).sum() - rising(kappa, 1000)
    assert abs(naive - log_dirichlet_ratio(counts, p, [kappa])[0]) > 1e-6


def test_an_impossible_draw_is_infinite_evidence(q):
    """Zero probability with a hit gives E = inf, without one changes nothing."""
    with_zero = EProcess.of([0.6, 0.0, 0.3, 0.1], uniform=False)
    without = EProcess.of([0.6, 0.3, 0.1], uniform=False)
    assert with_zero.log_e([6, 1, 3, 0]).total == np.inf
    unhit = with_zero.log_e([6, 0, 3, 1]).total
    assert unhit == pytest.approx(float(without.log_e([6, 3, 1]).total), abs=1e-12)


def test_a_bet_on_a_law_outside_the_support_only_loses():
    """Sum P(N) E(N) < 1 when the direction has mass where p has none. Oracle: enumeration."""
    process = EProcess.of([0.6, 0.4, 0.0], [0.3, 0.3, 0.4], uniform=False)
    every = np.concatenate([outcomes(12, 2), np.zeros((13, 1), dtype=int)], axis=1)
    mass = np.exp(log_pmf(every[:, :2], np.array([0.6, 0.4])))
    assert (mass * np.exp(process.log_e(every).directed)).sum() < 1.0


def test_a_ruined_bet_stays_ruined(p):
    """A one-hot direction at full stake loses all on another token; the mixture survives."""
    process = EProcess.of(p, faults={"greedy": [1.0, 0.0, 0.0]}, uniform=False)
    assert np.isfinite(process.log_e([5, 5, 0]).directed)
    all_first = process.log_e([1000, 0, 0]).directed
    assert all_first == pytest.approx(1000 * np.log(1 / 0.6) - np.log(10), abs=1e-6)


def test_one_token_laws_carry_no_evidence():
    """V = 1, or one token of probability one: ln E = 0."""
    assert EProcess.of([1.0]).log_e([12]).total == pytest.approx(0.0, abs=1e-15)
    logs = EProcess.of([1.0, 0.0], [0.5, 0.5]).log_e([12, 0])
    assert logs.total == pytest.approx(0.0, abs=1e-15)


def test_a_nearly_certain_token_does_not_break_the_cells():
    """A mass of 1 - 1e-20 rounds to one: the rest keeps its mass and nothing is NaN."""
    logs = EProcess.of([1.0, 1e-20]).log_e([1_000, 1])
    assert logs.total > np.log(1e6)


def test_batches_agree_with_single_vectors(p, q, rng):
    """Evidence of (3, V) equals log_e of each row."""
    process = EProcess.of(p, q)
    rows = rng.multinomial(500, p, size=3)
    single = [float(process.log_e(row).total) for row in rows]
    assert process.log_e(rows).total == pytest.approx(single)


def test_the_mixture_has_the_declared_weights(p, q):
    """E = .4 multi-resolution + .2 cell + .4 directed. Oracle: the sum itself."""
    logs = EProcess.of(p, q).log_e([300, 160, 90])
    parts = {
        "multi_resolution": logs.multi_resolution,
        "cell": logs.cell,
        "directed": logs.directed,
    }
    assert np.exp(logs.total) == pytest.approx(
        sum(WEIGHTS[name] * np.exp(value) for name, value in parts.items())
    )


def test_ville_holds_over_many_looks(p, q):
    """P(sup E >= 20) <= .05 over 40 looks in 4,000 null runs.

    Oracle: Ville; expected about 2 %, the bound is 5 % plus 5 standard errors (3e-7).
    """
    rng = np.random.default_rng(11)
    process, runs = EProcess.of(p, q), 4_000
    counts, highest = np.zeros((runs, 3), dtype=np.int64), np.full(runs, -np.inf)
    for look in range(40):
        counts += rng.multinomial(int(10 * 1.2**look), p, size=runs)
        highest = np.maximum(highest, process.log_e(counts).total)
    crossed = np.count_nonzero(highest >= np.log(20.0))
    assert crossed <= 0.05 * runs + 5 * (runs * 0.05 * 0.95) ** 0.5
    assert crossed > 0


def test_the_fault_is_refuted_soon(p, q, fault):
    """Resample-from-target refuted at 1e-6 after about 1.5e4 draws on average.

    Oracle: 14.6k to 16.2k in the notes; 200 runs, standard error 350: [13k, 19k] is 5 sigma.
    """
    rng = np.random.default_rng(12)
    process, runs = EProcess.of(p, q), 200
    counts, stopped, n = np.zeros((runs, 3), dtype=np.int64), np.zeros(runs), 0
    while (stopped == 0).any():
        counts += rng.multinomial(250, fault, size=runs)
        n += 250
        crossed = process.log_e(counts).total >= np.log(1e6)
        stopped[(stopped == 0) & crossed] = n
    assert 13_000 < stopped.mean() < 19_000


def test_ratio_bins_have_equal_mass_and_depend_on_the_laws_only():
    """Bins of V = 1000 in order of q/p hold 1/8 each, within the largest token."""
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.ones(1000)), rng.dirichlet(np.ones(1000))
    labels = ratio_bins(p, q, 8)
    mass = np.bincount(labels, weights=p)
    assert mass == pytest.approx(np.full(8, 1 / 8), abs=2 * p.max())
    assert (q / p)[labels == 0].min() > (q / p)[labels == 7].max()


def test_coarse_grainings_repeat_nothing(p, q):
    """Three tokens with two equal ratios: the alphabet and one pair of bins. Oracle: by hand."""
    assert [part.name for part in coarse_grainings(p, q)] == ["full alphabet", "2 ratio bins"]


def test_relative_entropies_of_rare_tokens_do_not_overflow():
    """A share 1e30 times too large and beyond: (1 + x) ln(1 + x) - x, without a warning.

    Oracle: the closed form, x (ln x - 1) where x is huge; and 1 at -1.
    """
    x = np.array([-1.0, 0.01, 1e30, 1e150, 1e250])
    found = entropy_gap(x)
    assert found[2:] == pytest.approx(x[2:] * (np.log(x[2:]) - 1.0), rel=1e-14)
    assert found[:2] == pytest.approx([1.0, 1.01 * math.log1p(0.01) - 0.01], rel=1e-12)


def test_infinite_evidence_stays_infinite():
    """The mean of exponentials with an infinite one, with none but zeros, with huge ones.

    Oracle: scipy.special.logsumexp.
    """
    rows = np.array([[np.inf, 0.0], [-np.inf, -np.inf], [1e300, 0.0], [-800.0, -801.0]])
    expected = special.logsumexp(rows, axis=1) - math.log(2)
    np.testing.assert_allclose(log_mean_exp(rows), expected, rtol=1e-15)
