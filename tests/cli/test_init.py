"""`specharness init`: what it writes works as it stands, and nothing is overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.engine.facts import contradicted
from harness.scenario import load_suite


def ask(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def starter(tmp_path):
    """A folder that `init` has filled."""
    answer = ask("init", tmp_path / "mine")
    assert answer.exit_code == 0, answer.output
    return tmp_path / "mine"


def test_it_writes_a_suite_and_a_test(starter):
    """Both by name; the suite loads, and no fact that it states is wrong (oracle: fractions)."""
    assert sorted(path.name for path in starter.iterdir()) == [
        "test_sampler.py",
        "three-token.yaml",
    ]
    suite = load_suite(starter / "three-token.yaml")
    assert [scenario.expect for scenario in suite.scenarios] == ["matches", "differs"]
    assert contradicted(suite) == []


def test_the_starter_suite_runs_as_expected(starter, tmp_path):
    """`specharness run DIR` exits 0: the exact rule matches and the fault is caught."""
    answer = ask("run", starter, "--out", tmp_path / "results", "--no-plots", "--json")
    assert answer.exit_code == 0, answer.output
    verdicts = [scenario["verdict"] for scenario in json.loads(answer.stdout)["scenarios"]]
    assert verdicts == ["matches", "differs"]


def test_the_pytest_example_passes(starter):
    """Run as a user would, in a process of its own (oracle: pytest's exit code)."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."]
    command += ["-c", "/dev/null", "test_sampler.py"]
    path = str(Path(__file__).parents[2])
    found = subprocess.run(
        command, cwd=starter, capture_output=True, text=True, timeout=120, check=False,
        env={"PYTHONPATH": path, "PATH": ""},
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
    assert "2 passed" in found.stdout


@pytest.mark.parametrize("name", ["three-token.yaml", "test_sampler.py"])
def test_nothing_is_overwritten(tmp_path, name):
    """One file there: exit code 2, one line, and the folder as it was."""
    (tmp_path / name).write_text("mine")
    answer = ask("init", tmp_path)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert len(answer.stderr.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_place_where_nothing_can_be_written_is_refused(tmp_path):
    """A file where a folder should be: exit code 2, one line."""
    (tmp_path / "file").write_text("")
    answer = ask("init", tmp_path / "file" / "below")
    assert answer.exit_code == 2
    assert len(answer.stderr.strip().splitlines()) == 1
