"""`specharness compare`: the exit code, the table, the JSON, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.engine.result import Verdict
from harness.store.folder import save


@pytest.fixture
def runs(made, tmp_path):
    """A run, and one in which the exact rule differs."""
    good = made.suite(made.three_token(np.random.default_rng(1)))
    first, *rest = good.scenarios
    first = replace(first, verdict=Verdict.DIFFERS, as_expected=False, trials=5)
    bad = replace(good, scenarios=(first, *rest), exit_code=1)
    return [save(run, tmp_path / name, {}) for name, run in (("good", good), ("bad", bad))]


def ask(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_worse_exits_with_1_and_better_with_0(runs):
    """The table names what changed (oracle: the runs as they were made)."""
    worse, better, same = (ask("compare", *pair) for pair in (runs, runs[::-1], (runs[0], runs[0])))
    assert [answer.exit_code for answer in (worse, better, same)] == [1, 0, 0]
    assert "matches -> differs" in worse.stdout
    assert "1 same, 1 worse" in worse.stdout
    assert "exact: trials: 1000000 -> 5" in worse.stdout
    assert "2 same" in same.stdout


def test_json_is_all_there_is_on_stdout(runs):
    """It says what got worse (oracle: the runs as they were made)."""
    answer = ask("compare", *runs, "--json")
    found = json.loads(answer.stdout)
    assert answer.exit_code == 1
    assert found["worse"] is True
    assert [change["status"] for change in found["scenarios"]] == ["worse", "same"]


def test_runs_of_every_kind_can_be_compared(made, tmp_path):
    """NaN laws, hostile names, no draws (oracle: nothing is worse than itself)."""
    suite = made.every_kind()
    run = save(suite, tmp_path, {})
    for flags in ((), ("--json",)):
        answer = ask("compare", run, run, *flags)
        assert answer.exit_code == 0, answer.output


def test_what_is_no_run_is_refused_in_one_line(runs, tmp_path):
    """Exit code 2, nothing on stdout."""
    answer = ask("compare", runs[0], tmp_path / "nowhere")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert len(answer.stderr.strip().splitlines()) == 1
