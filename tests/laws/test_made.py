"""Made laws: closed forms where there are any, sums, and seeds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from harness.errors import BadSetting
from harness.laws.made import KINDS, make, mixed, perturbed
from harness.laws.policy import softmax
from harness.rng import law_rng

VOCABULARIES = (1, 2, 3, 9, 1_000, 128_256)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_every_row_is_a_law(kind, vocabulary):
    """No negative number, and a sum of one (oracle: math.fsum, exact up to its own rounding)."""
    laws = make(kind, vocabulary, 2, seed=5)
    assert laws.shape == (2, vocabulary)
    assert (laws >= 0).all()
    assert max(abs(math.fsum(row) - 1) for row in laws) <= 2e-15


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_law_and_another_seed_another(kind):
    """Bit for bit (unshuffled Zipf has no randomness, so it is shuffled here)."""
    options = {"shuffle": True} if kind == "zipf" else {}
    one, again, other = (make(kind, 40, seed=s, **options) for s in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_leave_the_first_rows_as_they_were(kind):
    options = {"shuffle": True} if kind == "zipf" else {}
    few, many = (make(kind, 12, rows, seed=9, **options) for rows in (3, 7))
    np.testing.assert_array_equal(few, many[:3])
    assert not np.array_equal(many[0], many[1])


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5, 3.0])
def test_zipf_ratios_are_powers_of_the_rank(exponent):
    """p(1)/p(r) = r^s (oracle: the definition)."""
    (law,) = make("zipf", 1_000, exponent=exponent, seed=0)
    np.testing.assert_allclose(law[0] / law, np.arange(1, 1_001) ** exponent, rtol=1e-14)


def test_zipf_of_three_tokens_by_hand():
    """1 + 1/2 + 1/3 = 11/6, so 6/11, 3/11, 2/11."""
    expected = [float(Fraction(n, 11)) for n in (6, 3, 2)]
    np.testing.assert_allclose(make("zipf", 3, seed=0)[0], expected, rtol=1e-15)


def test_shuffled_zipf_deals_the_same_probabilities_out():
    plain, dealt = (make("zipf", 50, 2, seed=4, shuffle=s) for s in (False, True))
    np.testing.assert_array_equal(np.sort(dealt, axis=1), np.sort(plain, axis=1))
    assert not np.array_equal(dealt, plain)


def test_softmax_normal_is_the_softmax_of_its_normals():
    """Log ratios are differences of normals from the law's own stream (oracle: that stream)."""
    (law,) = make("softmax_normal", 100, scale=2.0, seed=8)
    normals = law_rng(8, "softmax_normal").standard_normal(100)
    np.testing.assert_allclose(np.log(law / law[0]), 2 * (normals - normals[0]), atol=1e-13)
    np.testing.assert_allclose(make("softmax_normal", 4, scale=0.0, seed=8), 0.25, rtol=1e-15)


@pytest.mark.parametrize("concentration", [0.3, 1.0, 20.0])
def test_dirichlet_has_the_concentration_asked_for(concentration):
    """E sum p^2 = (a + 1)/(V a + 1) for V tokens of concentration a (closed form).

    Seed fixed; 4,000 rows, and a threshold of 6 standard errors (2e-9 for a normal mean).
    """
    laws = make("dirichlet", 10, 4_000, seed=6, concentration=concentration)
    collisions = (laws**2).sum(axis=1)
    expected = (concentration + 1) / (10 * concentration + 1)
    assert abs(collisions.mean() - expected) <= 6 * collisions.std() / math.sqrt(4_000)


def test_a_thin_dirichlet_is_still_a_law():
    laws = make("dirichlet", 1_000, 5, seed=6, concentration=1e-3)
    np.testing.assert_allclose(laws.sum(axis=1), 1, rtol=1e-14)


def test_a_draft_perturbed_by_nothing_is_its_target():
    target = make("dirichlet", 30, 3, seed=1)
    np.testing.assert_allclose(perturbed(target, noise=0.0, seed=2), target, rtol=1e-13)


def test_noise_moves_the_logits_by_normals_and_keeps_zeros():
    """log(q/p) is noise times normals, up to a constant (oracle: the stream itself)."""
    target = np.array([[0.5, 0.0, 0.3, 0.2]])
    draft = perturbed(target, noise=0.4, seed=3)
    normals = law_rng(3, "perturbed").standard_normal((1, 4))
    assert draft[0, 1] == 0
    np.testing.assert_allclose(
        draft,
        softmax(np.where(target > 0, np.log(target + (target == 0)), -np.inf) + 0.4 * normals),
    )
    ratio = np.log(draft[0, [0, 2, 3]] / target[0, [0, 2, 3]])
    moved = 0.4 * normals[0, [0, 2, 3]]
    np.testing.assert_allclose(ratio - ratio[0], moved - moved[0], atol=1e-14)


def test_a_mixture_overlaps_its_target_by_at_least_what_it_keeps():
    """Sum of min(p, (1 - w) p + w r) >= 1 - w, with equality for disjoint p and r (by hand)."""
    p, r = np.array([[0.5, 0.5, 0.0]]), np.array([[0.0, 0.0, 1.0]])
    np.testing.assert_allclose(mixed(p, r, weight=0.25), [[0.375, 0.375, 0.25]], rtol=1e-15)
    target, other = make("dirichlet", 20, 5, seed=1), make("zipf", 20, 5, seed=1)
    draft = mixed(target, other, weight=0.1)
    assert (np.minimum(target, draft).sum(axis=1) >= 0.9 - 1e-15).all()
    np.testing.assert_allclose(draft, 0.9 * target + 0.1 * other, rtol=1e-14)


def test_laws_are_read_only():
    laws = [make(kind, 3, seed=0) for kind in KINDS]
    laws += [perturbed(laws[0], noise=0.1, seed=0), mixed(laws[0], laws[1], weight=0.5)]
    assert not any(law.flags.writeable for law in laws)


@pytest.mark.parametrize(
    ("kind", "vocabulary", "options", "complaint"),
    [
        ("dirchlet", 3, {}, "did you mean 'dirichlet'"),
        ("zipf", 3, {"exponnent": 1.0}, "did you mean 'exponent'"),
        ("dirichlet", 3, {"concentration": 0.0}, "concentration 0.0"),
        ("dirichlet", 3, {"concentration": math.nan}, "concentration nan"),
        ("zipf", 3, {"exponent": -1.0}, "exponent -1.0"),
        ("softmax_normal", 3, {"scale": math.inf}, "scale inf"),
        ("zipf", 0, {}, "vocabulary 0"),
        ("zipf", 3, {"rows": 0}, "rows 0"),
        ("zipf", 3, {"seed": -1}, "seed -1"),
        ("dirichlet", 2**20, {"rows": 2**8}, "134217728"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(kind, vocabulary, options, complaint):
    with pytest.raises(BadSetting, match=complaint) as refusal:
        make(kind, vocabulary, **{"seed": 0, **options})
    assert "\n" not in str(refusal.value)


def test_impossible_drafts_are_refused():
    target = make("zipf", 3, seed=0)
    with pytest.raises(BadSetting, match="noise -1"):
        perturbed(target, noise=-1.0, seed=0)
    with pytest.raises(BadSetting, match=r"weight 1\.5"):
        mixed(target, target, weight=1.5)
