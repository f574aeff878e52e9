"""`plan` and `selfcheck` on the command line: exit codes, JSON, words and pictures."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.engine import selfcheck as whole

SUITE = """
version: 1
suite: made
vocabulary: [A, B, C]
target: {probs: [0.60, 0.30, 0.10]}
draft: {probs: [0.50, 0.25, 0.25]}
trials: 200_000
epsilon: 0.01
scenarios:
  - {name: exact, rule: speculative, observe: [output]}
  - {name: resample, rule: resample-from-target, expect: differs}
  - {name: traced, rule: resample-from-target, expect: differs, observe: [trace]}
  - {name: blind, rule: residual-drops-drafted-only, expect: differs}
"""


def ask(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture
def enough(tmp_path):
    path = tmp_path / "enough.yaml"
    path.write_text("\n".join(line for line in SUITE.splitlines() if "blind" not in line))
    return path


def test_enough_trials_exit_0_and_too_few_exit_3(enough):
    """200,000 suffice and 10,000 do not (oracle: 1.55e5 to certify, 41,591 to catch)."""
    answer = ask("plan", enough)
    assert answer.exit_code == 0
    assert "resample" in answer.stdout
    assert "NO" not in answer.stdout
    few = ask("plan", enough, "--trials", 10_000)
    assert few.exit_code == 3
    assert "NO" in few.stdout


def test_json_is_all_there_is_on_stdout(suite):
    """Null stands for never: the blind spot has the promised law (oracle: suite three-token)."""
    answer = ask("plan", suite, "--json")
    (found,) = json.loads(answer.stdout)["suites"]
    assert answer.exit_code == 3
    assert found["suffices"] is False
    by_name = {s["name"]: s for s in found["scenarios"]}
    assert by_name["blind"]["needed"] is None
    assert by_name["blind"]["suffices"] is False
    assert by_name["exact"]["suffices"] is True
    assert by_name["traced"]["needed"] == pytest.approx(915, abs=1)
    assert by_name["resample"]["observables"][0]["tv"] == pytest.approx(0.015)


def test_less_power_needs_fewer_trials(enough):
    """Half of all runs catch the fault after fewer trials than all but one in a million."""
    needed = [
        json.loads(ask("plan", enough, "--json", *more).stdout)["suites"][0]["scenarios"][1][
            "needed"
        ]
        for more in ((), ("--power", 0.5))
    ]
    assert needed[1] < 0.5 * needed[0]
    assert ask("plan", enough, "--power", 1).exit_code == 2


def test_the_picture_is_written(suite, tmp_path):
    """PNG and SVG, named after the suite, whatever the names of its scenarios."""
    answer = ask("plan", suite, "--plot", tmp_path / "plots", "--json")
    json.loads(answer.stdout)
    assert (tmp_path / "plots" / "plan-made.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "plots" / "plan-made.svg").read_text()


@pytest.fixture
def shallow(monkeypatch):
    depth = whole.Depth(
        name="small", enumerated=40, multinomials=100_000, null_alpha=1e-3, sequences=20,
        verdicts=2, powers=40, controls=4, certified=3, covered=100,
    )  # fmt: skip
    monkeypatch.setattr(whole, "DEFAULT", depth)
    monkeypatch.setattr(whole, "SECTIONS", (whole.enumerated_sizes, whole.coverage))


def test_selfcheck_prints_what_was_expected_and_seen(shallow):
    """Exit 0 where all lines hold."""
    answer = ask("selfcheck")
    assert answer.exit_code == 0
    assert "9 claims, all as expected" in answer.stdout
    assert "at most 1e-06" in answer.stdout


def test_a_failed_selfcheck_exits_4(shallow, monkeypatch):
    """A size ten times too large; the JSON says which line."""
    honest = whole.sizes
    monkeypatch.setattr(whole, "sizes", lambda p, q, n, alpha: honest(p, q, n, 10 * alpha))
    answer = ask("selfcheck", "--json")
    found = json.loads(answer.stdout)
    assert answer.exit_code == 4
    assert found["passed"] is False
    assert "NOT as expected" in ask("selfcheck").stdout
