"""JUnit XML: one test case a scenario, for continuous integration.

A control that is caught passes. What differs though it should match fails, and so does a control
that slipped through; inconclusive and invalid are errors, since they say nothing about the sampler.
"""

from __future__ import annotations

from collections.abc import Mapping

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from harness.engine.result import ScenarioResult, SuiteResult, Verdict
from harness.reports.words import NO_PICTURES, number, setting, visible

__all__ = ["render"]


def render(result: SuiteResult, _pictures: Mapping[str, bytes] = NO_PICTURES, /) -> str:
    """The test suite as XML text."""
    suite = TestSuite(visible(result.suite))
    suite.timestamp = result.started
    for name in ("alpha", "delta", "seed", "exit_code"):
        suite.add_property(name, str(getattr(result, name)))
    for scenario in result.scenarios:
        suite.add_testcase(_case(result, scenario))
    report = JUnitXml("specharness")
    report.add_testsuite(suite)
    text: bytes = report.tostring()  # type: ignore[no-untyped-call]  # junitparser has no type here
    return text.decode("utf-8")


def _case(result: SuiteResult, scenario: ScenarioResult) -> TestCase:
    case = TestCase(visible(scenario.name), visible(result.suite), scenario.wall_seconds)
    case.system_out = f"{_levels(scenario)}; {setting(result)}"
    if not scenario.as_expected:
        case.result = [_complaint(scenario)]
    return case


def _complaint(scenario: ScenarioResult) -> Error | Failure:
    unknown = scenario.verdict in {Verdict.INCONCLUSIVE, Verdict.INVALID}
    kind = Error if unknown else Failure
    message = f"{scenario.verdict}, expected {scenario.expect}: {visible(scenario.reason)}"
    complaint = kind(message, str(scenario.verdict))
    complaint.text = _levels(scenario)
    return complaint


def _levels(scenario: ScenarioResult) -> str:
    main = scenario.headline
    tv, bound, least = (main.tv, main.tv_bound, main.tv_detectable) if main else (None, None, None)
    return (
        f"{scenario.verdict}: TV {number(tv)}, at most {number(bound)}, epsilon"
        f" {number(scenario.epsilon)}, smallest detectable TV {number(least)},"
        f" {number(scenario.trials)} trials"
    )
