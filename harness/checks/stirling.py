"""Logarithms of factorials and likelihood ratios, free of cancellation up to 1e12 and beyond."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from harness.arrays import Floats

__all__ = ["entropy_gap", "log_rising", "poisson_pmf", "remainder"]

SERIES_FROM = 10.0  # six terms of Stirling's series are exact to 1e-16 from here on
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
NEAR = 0.03  # below it the power series of the entropy gap, above it the closed form
GAP_POWERS = tuple((-1.0) ** k / (k * (k - 1)) for k in range(2, 14))
HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


def entropy_gap(x: npt.ArrayLike) -> Floats:
    """(1 + x) ln(1 + x) - x for x >= -1, about x^2/2: the integrand of relative entropy."""
    x = np.asarray(x, dtype=np.float64)
    # at -1 the logarithm is infinite and its factor zero: any finite number will do in its place
    gap = np.asarray((1.0 + x) * np.log1p(np.maximum(x, -1.0 + 1e-16)) - x)
    near = np.asarray(np.abs(x) < NEAR)
    if near.any():
        gap[near] = small_gap(x[near])
    return gap


def small_gap(x: Floats) -> Floats:
    """The entropy gap as a power series, where the closed form would cancel."""
    series = np.full_like(x, GAP_POWERS[-1])
    for coefficient in reversed(GAP_POWERS[:-1]):
        series *= x
        series += coefficient
    return series * x * x


def remainder(x: npt.ArrayLike) -> Floats:
    """What Stirling leaves: ln Gamma(x) - [(x - 1/2) ln x - x + ln(2 pi)/2], for x > 0."""
    x = np.asarray(x, dtype=np.float64)
    series = stirling_series(np.maximum(x, SERIES_FROM))
    small = np.asarray(x < SERIES_FROM)
    if small.any():
        y = x[small]
        series[small] = special.gammaln(y) - ((y - 0.5) * np.log(y) - y + HALF_LOG_2PI)
    return series


def stirling_series(large: npt.ArrayLike) -> Floats:
    """The remainder from ten on, in place: these are the innermost loops of the e-process."""
    inverse = np.asarray(1.0 / np.asarray(large))
    square = np.asarray(inverse * inverse)
    series = np.full_like(inverse, STIRLING[-1])
    for coefficient in reversed(STIRLING[:-1]):
        series *= square
        series += coefficient
    series *= inverse
    return series


def log_rising(a: npt.ArrayLike, m: npt.ArrayLike) -> Floats:
    """Sum over j < m of ln(1 + j/a): the logarithm of a rising factorial over a^m."""
    a, m = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(m, dtype=np.float64))
    smooth = a * entropy_gap(m / a) - 0.5 * np.log1p(m / a)
    return smooth + remainder(a + m) - remainder(a)


def poisson_pmf(k: npt.ArrayLike, mean: float) -> Floats:
    """P(Poisson(mean) = k) to full precision (Loader 2000); scipy loses 7 digits at 1e6."""
    k = np.asarray(k, dtype=np.float64)
    positive = np.maximum(k, 1.0)
    exponent = -mean * entropy_gap((positive - mean) / mean) - remainder(positive)
    # Gamma(k + 1) = k Gamma(k): the root stands in the numerator of 1/k!
    at_positive = np.exp(exponent) / np.sqrt(2.0 * np.pi * positive)
    return np.where(k > 0, at_positive, np.where(k == 0, np.exp(-mean), 0.0))
