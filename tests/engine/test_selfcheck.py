"""The selfcheck passes on a right harness, and fails on each that is broken in a known way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.engine import selfcheck as whole
from harness.engine import selfcheck_runs as runs
from harness.engine.sequence import Levels
from harness.executors import InlineExecutor

SMALL = whole.Depth(
    name="small", enumerated=60, multinomials=200_000, null_alpha=1e-3, sequences=60,
    verdicts=4, powers=60, controls=8, certified=6, covered=300,
)  # fmt: skip


def lines(section, seed=1):
    return list(section(SMALL, seed))


@pytest.mark.parametrize("section", whole.SECTIONS, ids=lambda s: s.__name__)
def test_a_right_harness_passes(section):
    """Every section at a small depth, fixed seed; every band is left by 1e-6 of seeds at most."""
    found = lines(section)
    assert found
    assert [line.claim for line in found if not line.passed] == []


def test_the_result_is_that_of_the_seed():
    """Two sections, twice: the same lines but for their times."""
    for section in (whole.null_multinomials, runs.false_alarms):
        assert lines(section, 3) == lines(section, 3)


def test_a_failed_line_fails_the_selfcheck(monkeypatch):
    """One line is enough."""
    bad = runs.Line("size", "claim", "1", "2", passed=False)
    good = replace(bad, passed=True)
    monkeypatch.setattr(whole, "SECTIONS", (lambda *_: iter([good]), lambda *_: iter([good, bad])))
    found = whole.selfcheck(SMALL, executor=InlineExecutor())
    assert [line.passed for line in found.lines] == [True, True, False]
    assert not found.passed


def test_evidence_that_comes_too_easily_shows_as_false_alarms(monkeypatch):
    """A threshold of ln E = 0 in place of ln 120: the exact rule is refuted again and again."""
    monkeypatch.setattr(Levels, "log_threshold", property(lambda _: 0.0))
    assert not any(line.passed for line in lines(runs.false_alarms))


def test_sizes_above_alpha_show(monkeypatch):
    """Checks that reject at ten times the level, in the enumeration and by brute force."""
    honest_sizes, honest_force = whole.sizes, whole.brute_force
    monkeypatch.setattr(whole, "sizes", lambda p, q, n, alpha: honest_sizes(p, q, n, 10 * alpha))
    assert not all(line.passed for line in lines(whole.enumerated_sizes))
    monkeypatch.setattr(
        whole,
        "brute_force",
        lambda p, q, n, rng, alpha, runs: honest_force(p, q, n, rng, alpha=10 * alpha, runs=runs),
    )
    assert not all(line.passed for line in lines(whole.null_multinomials))


def test_a_bound_that_is_the_distance_seen_shows(monkeypatch):
    """T alone is below the true distance every other time."""
    honest = whole.certify

    def seen_only(counts, p, delta):
        found = honest(counts, p, delta)
        return replace(found, bound=found.tv)

    monkeypatch.setattr(whole, "certify", seen_only)
    assert not any(line.passed for line in lines(whole.coverage) if "0.05" in line.claim)


@pytest.mark.parametrize("section", [runs.planned_controls, runs.planned_power])
def test_plans_that_are_too_short_show(monkeypatch, section):
    """A third of the trials that are needed."""
    honest = runs.plan_scenario

    def short(*args, **kwargs):
        plan = honest(*args, **kwargs)
        return replace(plan, needed=plan.needed / 3)

    monkeypatch.setattr(runs, "plan_scenario", short)
    assert not all(line.passed for line in lines(section))


def test_blindness_to_dependence_shows(monkeypatch):
    """A frozen stream that nobody sees."""
    honest = runs.repeated

    def blind(prepared, seeds, levels):
        found = honest(prepared, seeds, levels)
        return replace(found, differs=found.differs & False)

    monkeypatch.setattr(runs, "repeated", blind)
    assert not all(line.passed for line in lines(runs.dependence))
