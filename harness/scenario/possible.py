"""Settings that are fine one by one and impossible together."""

from __future__ import annotations

from harness.laws.joint import MOST_JOINT_CELLS, joint_size
from harness.laws.tables import LawTables
from harness.scenario.places import Place, translated

__all__ = ["check_possible"]


def check_possible(
    laws: LawTables, horizon: int, observe: tuple[str, ...] | None, place: Place
) -> None:
    """Raises `ScenarioError` for what cannot be observed of these laws.

    A joint law with too many cells is observed in groups of tokens where contexts are positions,
    and not at all elsewhere.
    """
    if "dependence" in (observe or ()) and laws.contexts.end is not None:
        raise (place / "observe").complaint(
            "dependence is tested on complete sequences, and an end token cuts them short",
            "leave out dependence or end_token",
        )
    if horizon == 1 or (observe is not None and "joint" not in observe):
        return
    if not laws.contexts.positional:
        with translated(place / "horizon"):
            joint_size(laws.vocabulary, horizon)
    elif laws.vocabulary > 1 and 2**horizon > MOST_JOINT_CELLS:
        raise (place / "horizon").complaint(
            f"{horizon} tokens have more than {MOST_JOINT_CELLS:,} sequences even in two groups",
            "lower the horizon, or observe no joint law",
        )
