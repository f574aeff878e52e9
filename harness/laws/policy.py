"""Sampling policies: the law an engine samples from, made of the law its model gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from harness.arrays import Bits, Exact, Floats, Probs, readonly
from harness.errors import BadLaw, BadSetting
from harness.laws import orders
from harness.laws.orders import Number

__all__ = ["SamplingPolicy", "apply", "apply_to_logits", "describe", "softmax"]

TIES = ("first", "last", "uniform")
LARGEST_EXACT_POWER = 64  # numbers of this many times the digits are still quick


@dataclass(frozen=True, slots=True)
class SamplingPolicy:
    """Temperature, top-k, top-p and min-p in a stated order, or greedy.

    `order` is a project's (`transformers`, `vllm`, `llama.cpp`) or lists its steps; `edges` are
    that project's rules for equally likely tokens, of another project where named. The defaults
    change nothing. `greedy` is the degenerate law on the most likely token, of equal ones the
    `first`, the `last`, or each alike (`uniform`); the other settings then do nothing.

    Decimals are meant as written: a top_p of .8 is 4/5, not the float nearest to it.
    """

    temperature: Number = 1.0
    top_k: int | None = None
    top_p: Number = 1.0
    min_p: Number = 0.0
    greedy: bool = False
    ties: Literal["first", "last", "uniform"] = "first"
    order: str | tuple[str, ...] = "transformers"
    edges: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.order, str):
            object.__setattr__(self, "order", tuple(self.order))
        _check_ranges(self)
        _check_order(self)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that can change a law, in the order in which they are applied."""
        if self.greedy:
            return ("greedy",)
        return tuple(s for s in orders.order_of(self.order) if s in _settings(self))

    @property
    def edge_rules(self) -> orders.Edges:
        return orders.edges_of(self.order, self.edges)


def apply(policy: SamplingPolicy, probs: Exact) -> Exact:
    """Laws (..., V) after the policy; zeros stay zero, each row sums to one.

    Fractions in an object array stay Fractions, except under a temperature that is not one over
    a whole number up to 64: its powers are irrational, and floats are returned.
    """
    probs = _as_law(probs)
    if policy.greedy:
        return readonly(_greedy(probs, policy.ties))
    for step in policy.steps:
        probs = (
            _temper(probs, policy.temperature)
            if step == "temperature"
            else _cut(probs, _keep(policy, step, probs))
        )
    return readonly(probs)


def apply_to_logits(policy: SamplingPolicy, logits: Floats) -> Probs:
    """Laws (..., V) after the policy, of logits; -inf is a token that cannot be drawn.

    Temperatures divide the logits themselves, so a high one brings back tokens whose
    probability at temperature 1 is too small for a float. Raises `BadLaw` as `softmax` does.
    """
    scores = _centred(logits)
    if policy.greedy:
        return readonly(_greedy(scores, policy.ties))
    for step in policy.steps:
        if step == "temperature":
            scores = _divide(scores, policy.temperature)
        else:
            scores = np.where(_keep(policy, step, softmax(scores)), scores, -np.inf)
    return softmax(scores)


def softmax(logits: Floats) -> Probs:
    """Laws (..., V) of logits, without overflow.

    Raises `BadLaw` for a logit that is NaN or +inf, and where every logit is -inf.
    """
    weights = np.exp(_centred(logits))
    return readonly(weights / weights.sum(axis=-1, keepdims=True))


def describe(policy: SamplingPolicy) -> str:
    """The policy in one line, the same for policies that act alike; for manifests and hashes."""
    if policy.greedy:
        return f"greedy (ties: {policy.ties})"
    settings = _settings(policy)
    if not settings:
        return "none"
    steps = ", ".join(f"{step} {settings[step]}" for step in policy.steps)
    edges = policy.edge_rules
    ties = [f"top-k ties: {edges.top_k_ties}"] if "top_k" in settings else []
    ties += [f"top-p ties: {edges.top_p_ties}"] if "top_p" in settings else []
    return f"{steps} ({', '.join(ties)})" if ties else steps


def _settings(policy: SamplingPolicy) -> dict[str, str]:
    """The settings that differ from doing nothing, as text."""
    neutral = {"temperature": 1, "top_k": None, "top_p": 1, "min_p": 0}
    given = {name: getattr(policy, name) for name in neutral}
    return {
        name: str(value if name == "top_k" else float(value))
        for name, value in given.items()
        if value != neutral[name]
    }


def _keep(policy: SamplingPolicy, step: str, probs: Exact) -> Bits:
    keep: dict[str, Callable[[], Bits]] = {
        "top_k": lambda: orders.keep_top_k(probs, policy.top_k or 1, policy.edge_rules),
        "top_p": lambda: orders.keep_top_p(probs, _like(probs, policy.top_p), policy.edge_rules),
        "min_p": lambda: orders.keep_min_p(probs, _like(probs, policy.min_p)),
    }
    return keep[step]()


def _cut(probs: Exact, keep: Bits) -> Exact:
    """Laws on the kept tokens; where nothing is lost, the very same numbers."""
    if (keep | (probs == 0)).all():
        return probs
    weights = probs * keep
    return weights / weights.sum(axis=-1, keepdims=True)


def _temper(probs: Exact, temperature: Number) -> Exact:
    """Laws proportional to p^(1/T)."""
    power = 1 / _fraction(temperature)
    if probs.dtype == object and power.denominator == 1 and power <= LARGEST_EXACT_POWER:
        weights = probs ** int(power)
        return weights / weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        return softmax(_divide(_centred(np.log(probs.astype(np.float64))), temperature))


def _greedy(scores: Exact, ties: str) -> Exact:
    """Degenerate laws on the largest score; Fractions for Fractions."""
    best = scores == scores.max(axis=-1, keepdims=True)
    if ties != "uniform":
        flipped = best if ties == "first" else np.flip(best, axis=-1)
        alone = flipped & (np.cumsum(flipped, axis=-1) == 1)
        best = alone if ties == "first" else np.flip(alone, axis=-1)
    weights = _as_law(best.astype(scores.dtype))
    return weights / weights.sum(axis=-1, keepdims=True)


def _divide(centred: Floats, temperature: Number) -> Floats:
    """Centred logits over the temperature; what is too far below the maximum becomes -inf."""
    with np.errstate(over="ignore"):
        return centred / float(temperature)


def _centred(logits: Floats) -> Floats:
    """Logits minus the largest of their row."""
    logits = np.asarray(logits, dtype=np.float64)
    largest = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    if not np.isfinite(largest).all():
        raise BadLaw("logits hold NaN or +inf, or a row without a finite one; give finite logits")
    with np.errstate(over="ignore"):
        return logits - largest


def _as_law(probs: Exact) -> Exact:
    if probs.dtype == object:
        return np.asarray(np.frompyfunc(Fraction, 1, 1)(probs))
    return np.asarray(probs, dtype=np.float64)


def _like(probs: Exact, value: Number) -> Number:
    """A setting in the arithmetic of the law it is applied to."""
    return _fraction(value) if probs.dtype == object else float(value)


def _fraction(value: Number) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(str(value))


def _check_ranges(policy: SamplingPolicy) -> None:
    if not 0 < policy.temperature < math.inf:
        raise BadSetting(
            f"temperature {policy.temperature} is not positive and finite; "
            "for the most likely token alone say greedy: true"
        )
    if policy.top_k is not None and policy.top_k < 1:
        raise BadSetting(f"top_k {policy.top_k} is below 1; leave it out to keep every token")
    if not 0 < policy.top_p <= 1:
        raise BadSetting(f"top_p {policy.top_p} is outside (0, 1]; 1 keeps every token")
    if not 0 <= policy.min_p < 1:
        raise BadSetting(f"min_p {policy.min_p} is outside [0, 1); 0 keeps every token")
    if policy.ties not in TIES:
        raise BadSetting(f"ties {policy.ties!r} of greedy are none of {', '.join(TIES)}")


def _check_order(policy: SamplingPolicy) -> None:
    steps = orders.order_of(policy.order)
    orders.edges_of(policy.order, policy.edges)
    if left_out := [name for name in _settings(policy) if name not in steps]:
        raise BadSetting(
            f"order {list(steps)} leaves out {left_out[0]}, which is set; add it to the order"
        )
