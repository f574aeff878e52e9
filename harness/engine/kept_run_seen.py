"""The kept run of a finished run's scenario, for the timing model."""

from __future__ import annotations

from harness.engine.kept_run import KeptRun, kept_run_of_lengths
from harness.engine.result import ScenarioResult, SuiteResult
from harness.errors import BadSetting, UnknownName
from harness.registry import did_you_mean

__all__ = ["kept_run_seen", "scenario_named"]


def scenario_named(result: SuiteResult, name: str) -> ScenarioResult:
    """The scenario of that name; raises UnknownName with the nearest ones."""
    known = {scenario.name: scenario for scenario in result.scenarios}
    if name not in known:
        raise UnknownName(f"{result.suite}: no scenario {name!r}{did_you_mean(name, known)}")
    return known[name]


def kept_run_seen(result: SuiteResult, name: str | None = None) -> tuple[KeptRun, str]:
    """Acceptance by position where the lengths of rounds were counted, else the share kept.

    In words too. Without a `name` the run must hold one scenario that shows its acceptance.
    """
    scenario = _the_one(result) if name is None else scenario_named(result, name)
    where = f"{result.suite}: {scenario.name}"
    lengths = scenario.observable("committed_length")
    if lengths is not None and lengths.trials and len(lengths.counts) == scenario.draft_length + 1:
        kept = kept_run_of_lengths(lengths.counts)
        rates = ", ".join(f"{rate:.4g}" for rate in kept.kinds[0].rates)
        return kept, f"acceptance by position {rates}, seen in {where}"
    if scenario.acceptance is None:
        raise BadSetting(f"{where} shows no drafts: nothing says what was accepted")
    rate = scenario.acceptance.observed
    return KeptRun.constant(rate), f"acceptance {rate:.6g}, seen in {where}"


def _the_one(result: SuiteResult) -> ScenarioResult:
    shown = [scenario for scenario in result.scenarios if scenario.acceptance is not None]
    if len(shown) != 1:
        names = ", ".join(repr(scenario.name) for scenario in shown) or "none"
        raise BadSetting(f"{result.suite}: name one by --scenario; drafts are shown by: {names}")
    return shown[0]
