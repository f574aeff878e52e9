"""When to look at the data, and what each look may cost."""

from __future__ import annotations

from harness.errors import BadSetting

__all__ = ["GROWTH", "look_schedule", "spent_per_look"]

GROWTH = 1.25  # thirty looks span a factor of 650 and cost a quarter of the radius at most


def look_schedule(first: int, last: int, *, growth: float = GROWTH) -> tuple[int, ...]:
    """Numbers of trials first, first * growth, ..., rounded up, ending with `last` itself."""
    if not (first >= 1 and last >= 1 and growth > 1.0):
        raise BadSetting(f"no looks from {first} to {last} trials with growth {growth}")
    looks, at = [], float(first)
    while at < last:
        looks.append(int(at) if at == int(at) else int(at) + 1)
        at *= growth
    return (*(look for look in looks if look < last), last)


def spent_per_look(delta: float, looks: int) -> float:
    """Share of delta for each of a declared number of looks: the union bound.

    Certificates and classical p-values need it wherever a look can end the run; the e-process
    does not.
    """
    if looks < 1:
        raise BadSetting("a run has at least one look")
    return delta / looks
