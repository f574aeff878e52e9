"""What no verdict may be mistaken for: bugs, closed pipes, places that cannot be written."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import harness.cli
from harness.cli import main

SUITE = """
version: 1
suite: small
vocabulary: [A, B, C]
target: {probs: [0.6, 0.3, 0.1]}
draft: {probs: [0.5, 0.25, 0.25]}
trials: 400_000
scenarios: [{name: exact, rule: speculative}]
"""


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SUITE)
    return path


def test_a_bug_shows_its_traceback_and_exits_70(monkeypatch, suite):
    """1 means that a sampler differs; a bug must not look like it."""

    def broken(*_, **__):
        raise RuntimeError("made for this test")

    monkeypatch.setattr("harness.engine.run.run_suite", broken)
    result = CliRunner().invoke(main, ["run", str(suite), "--no-plots"])
    assert result.exit_code == harness.cli.BUG
    assert "made for this test" in result.stderr


def test_a_place_that_cannot_be_written_is_told_before_anything_is_drawn(suite, tmp_path):
    """The folder's name is a file's: one line, exit 2, no progress."""
    (tmp_path / "taken").write_text("")
    arguments = ["run", str(suite), "--out", str(tmp_path / "taken" / "results")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    (line,) = result.stderr.strip().splitlines()
    assert "results cannot be written there" in line


def test_a_closed_pipe_is_no_verdict(suite, tmp_path):
    """`| head -1` closes stdout: 141 as from any program that SIGPIPE ends, and no traceback."""
    command = [sys.executable, "-m", "harness", "catalog"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        told = run.stderr.read()
    assert run.returncode in {harness.cli.CLOSED, 0}
    assert b"Traceback" not in told


def test_a_narrow_terminal_gets_blocks_not_broken_columns(suite, tmp_path, monkeypatch):
    """Below 100 columns no number is split over two lines (oracle: the number itself)."""
    from rich.console import Console

    monkeypatch.setattr("harness.cli.table.screen", lambda: Console(width=60))
    arguments = ["run", str(suite), "--no-plots", "--out", str(tmp_path / "results")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert "trials 400,000" in result.stdout
    assert max(map(len, result.stdout.splitlines()[:4])) <= 60
