"""One certificate a decision: chosen by law, draws and epsilon alone, at the whole of delta."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks import FinestCertificate, certify, certify_coarse, coarse_grainings
from harness.checks.dual import certify_dual


@pytest.fixture(scope="module")
def laws():
    rng = np.random.default_rng(5)
    return rng.dirichlet(np.ones(3_000)), rng.dirichlet(np.ones(3_000))


@pytest.fixture(scope="module")
def finest(laws):
    p, q = laws
    parts = sorted(coarse_grainings(p, q), key=lambda part: -part.cells)
    return FinestCertificate.of(p, tuple(part for part in parts if part.cells < p.size))


def test_small_alphabets_are_certified_whole(p):
    """Without coarse-grainings the certificate is C1. Oracle: certify."""
    counts = [6_000, 3_000, 1_000]
    assert FinestCertificate.of(p).certify(counts, 1e-6, 0.01) == certify(counts, p, 1e-6)


@pytest.mark.parametrize(
    ("n", "law", "method"),
    [
        (1_000, "full alphabet", "sets"),
        (20_000, "top 16 tokens and the rest", "sets"),
        (100_000, "top 256 tokens and the rest", "sets"),
        (400_000, "full alphabet", "dual"),
        (4_000_000, "full alphabet", "sets"),
    ],
)
def test_more_draws_certify_finer_laws(finest, n, law, method):
    """V = 3,000 at epsilon = .025: heads, everything by C2, then by C1. Oracle: the next test,
    where a perfect sampler reaches these bounds.
    """
    choice = finest.choose(n, 1e-6, 0.025)
    assert (choice.part.name if choice.part else "full alphabet") == law
    assert choice.dual is (method == "dual")


@pytest.mark.parametrize("n", [20_000, 100_000, 400_000, 1_000_000, 4_000_000])
def test_what_is_chosen_can_be_proved(finest, n):
    """A correct sampler is certified by the chosen law, in each of 20 runs. Oracle: the promise
    leaves three standard deviations of T, and the seed is fixed.
    """
    rng = np.random.default_rng(n)
    for counts in rng.multinomial(n, finest.law, size=20 if n < 10**6 else 3):
        assert finest.certify(counts, 1e-6, 0.025).bound <= 0.025


def test_the_choice_does_not_see_the_counts(finest, laws):
    """Counts of the promised law, of another law and all of one token are certified for the same
    coarse law at the same delta. Oracle: certify_coarse and certify_dual, called by hand.
    """
    p, q = laws
    rng = np.random.default_rng(3)
    for n in (20_000, 100_000, 400_000):
        choice = finest.choose(n, 1e-6, 0.025)
        for counts in (rng.multinomial(n, p), rng.multinomial(n, q), n * (np.arange(3_000) == 7)):
            found = finest.certify(counts, 1e-6, 0.025)
            if choice.dual:
                assert found == certify_dual(counts, p, 1e-6)
            else:
                assert found == certify_coarse(counts, p, choice.part, 1e-6)


def test_facts_go_without_the_dual_bound(finest, laws):
    """Where C2 would be chosen for a judged law, a fact takes a coarse one."""
    plain = FinestCertificate.of(laws[0], finest.parts, dual=False)
    assert finest.choose(400_000, 1e-6, 0.025).dual
    assert plain.choose(400_000, 1e-6, 0.025).part is not None


@pytest.mark.parametrize("n", [1, 64, 1_000])
def test_hopeless_numbers_of_draws_certify_nothing(finest, laws, n):
    """Not even counts in the proportions of the law. Oracle: certify for every coarse-graining."""
    assert finest.hopeless(n, 1e-6, 0.025)
    counts = np.floor(n * laws[0] + np.random.default_rng(1).random(3_000)).astype(int)
    counts[0] += max(0, n - counts.sum())
    bounds = [certify_coarse(counts, laws[0], part, 1e-6).bound for part in finest.parts]
    assert min(bounds) > 0.025


def test_enough_draws_are_not_hopeless(finest, p):
    """Where a certificate is reached, the early exit has not said otherwise."""
    assert not finest.hopeless(20_000, 1e-6, 0.025)
    assert not FinestCertificate.of(p).hopeless(200_000, 1e-6, 0.01)
    assert FinestCertificate.of(p).hopeless(20_000, 1e-6, 0.01)
