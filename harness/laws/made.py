"""Made laws of any vocabulary size, and drafts near them, the same for the same seed.

A row depends on the seed, the kind and its options, and on its number; never on how many rows
are asked for. Every row sums to one within a few 1e-16, added with `math.fsum`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from harness.arrays import Exact, Probs, readonly
from harness.errors import BadSetting
from harness.laws.policy import softmax
from harness.registry import did_you_mean
from harness.rng import law_rng

__all__ = ["KINDS", "dirichlet", "make", "mixed", "perturbed", "softmax_normal", "zipf"]

MOST_CELLS = 2**27  # 1 GiB of float64


def make(kind: str, vocabulary: int, rows: int = 1, *, seed: int = 0, **options: float) -> Probs:
    """Made laws (rows, vocabulary) of a kind, with that kind's options.

    Raises `BadSetting` for an unknown kind or option, a value outside its range, and for more
    than 2**27 probabilities.
    """
    if kind not in KINDS:
        raise BadSetting(f"no made law {kind!r}{did_you_mean(kind, tuple(KINDS))}")
    maker, known = KINDS[kind]
    for option in options:
        if option not in known:
            raise BadSetting(f"{kind} has no option {option!r}{did_you_mean(option, known)}")
    return maker(vocabulary, rows, seed=seed, **options)


def dirichlet(vocabulary: int, rows: int = 1, *, concentration: float = 1.0, seed: int) -> Probs:
    """Symmetric Dirichlet laws (rows, V): 1 is uniform over laws, below 1 is peaked.

    A concentration far below 1 leaves tokens whose probability is 0 in float64.
    """
    _check_shape(vocabulary, rows, seed)
    if not 0 < concentration < math.inf:
        raise BadSetting(f"concentration {concentration} is not positive; 1 is uniform over laws")
    rng = law_rng(seed, "dirichlet")
    return _law(rng.dirichlet(np.full(vocabulary, float(concentration)), size=rows))


def zipf(
    vocabulary: int, rows: int = 1, *, exponent: float = 1.0, shuffle: bool = False, seed: int
) -> Probs:
    """Zipf laws (rows, V): the r-th token is r^-exponent times as likely as the first.

    Unshuffled, token ids are ranks and the rows are equal; shuffled, each row deals the ranks
    out anew.
    """
    _check_shape(vocabulary, rows, seed)
    _check_scale("exponent", exponent, "0 is the uniform law")
    law = _law(np.arange(1, vocabulary + 1, dtype=np.float64) ** -float(exponent))
    laws = np.tile(law, (rows, 1))
    return readonly(law_rng(seed, "zipf").permuted(laws, axis=1) if shuffle else laws)


def softmax_normal(vocabulary: int, rows: int = 1, *, scale: float = 1.0, seed: int) -> Probs:
    """Laws (rows, V) whose logits are normal with standard deviation `scale`."""
    _check_shape(vocabulary, rows, seed)
    _check_scale("scale", scale, "0 is the uniform law")
    logits = law_rng(seed, "softmax_normal").standard_normal((rows, vocabulary))
    return softmax(logits * scale)


def perturbed(target: Exact, *, noise: float, seed: int) -> Probs:
    """Drafts near a target (rows, V): normal noise of deviation `noise` on its logits.

    Zeros of the target stay zeros; `noise` 0 gives the target back up to rounding.
    """
    _check_scale("noise", noise, "0 leaves the target as it is")
    target = target.astype(np.float64)
    with np.errstate(divide="ignore"):
        logits = np.log(target)
    return softmax(logits + noise * law_rng(seed, "perturbed").standard_normal(target.shape))


def mixed(target: Exact, other: Exact, *, weight: float) -> Probs:
    """Drafts near a target (rows, V): (1 - weight) target + weight other.

    The overlap of target and draft is at least 1 - weight.
    """
    if not 0 <= weight <= 1:
        raise BadSetting(f"weight {weight} is outside [0, 1]; it is the share of the other law")
    return _law((1 - weight) * target.astype(np.float64) + weight * other.astype(np.float64))


KINDS: Mapping[str, tuple[Callable[..., Probs], tuple[str, ...]]] = {
    "dirichlet": (dirichlet, ("concentration",)),
    "zipf": (zipf, ("exponent", "shuffle")),
    "softmax_normal": (softmax_normal, ("scale",)),
}


def _law(weights: Probs) -> Probs:
    return readonly(weights / weights.sum(axis=-1, keepdims=True))


def _check_shape(vocabulary: int, rows: int, seed: int) -> None:
    for name, number in (("vocabulary", vocabulary), ("rows", rows)):
        if number < 1:
            raise BadSetting(f"{name} {number} is below 1; a law needs at least one token")
    if vocabulary * rows > MOST_CELLS:
        raise BadSetting(
            f"{rows} laws over {vocabulary} tokens are more than {MOST_CELLS} probabilities; "
            "ask for fewer rows or tokens"
        )
    if seed < 0:
        raise BadSetting(f"seed {seed} is negative; use 0 or more")


def _check_scale(name: str, value: float, hint: str) -> None:
    if not 0 <= value < math.inf:
        raise BadSetting(f"{name} {value} is not finite and at least 0; {hint}")
