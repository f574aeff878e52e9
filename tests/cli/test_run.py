"""`run` and `report` on the command line: what is on which stream, and which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.cli.catalogue import everything
from harness.scenario.model import OBSERVABLES

SUITE = """
version: 1
suite: {name}
vocabulary: [A, B, C]
target: {{probs: [0.60, 0.30, 0.10]}}
draft: {{probs: [0.50, 0.25, 0.25]}}
trials: 2_000
epsilon: 0.2
scenarios:
  - {{name: first, {procedure}}}
"""
NOISY = """
import os
import numpy as np

def generate(n, horizon, seed):
    print("by Python")
    os.write(1, b"by C")
    return np.random.default_rng(seed).choice(3, (n, horizon), p=[0.6, 0.3, 0.1])

def interrupted(n, horizon, seed):
    raise KeyboardInterrupt
"""
DECLARED = """
[tool.specharness.samplers]
noisy = {target = "noisy.py:generate", level = "generator"}
stopped = {target = "noisy.py:interrupted", level = "generator"}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(DECLARED, encoding="utf-8")
    for name, procedure in {
        "ours": "rule: speculative",
        "noisy": "sampler: noisy",
        "stopped": "sampler: stopped",
        "unknown": "sampler: nobody",
    }.items():
        text = SUITE.format(name=name, procedure=procedure)
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def ask(folder, *arguments, **settings):
    """The command in a process of its own: what C prints is seen by nobody else."""
    command = [sys.executable, "-m", "harness", *arguments]
    env = {**os.environ, "PYTHONWARNINGS": "", **settings}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_what_a_sampler_prints_is_kept_out_of_the_json(folder):
    """Standard output is one JSON document; what was printed is on stderr."""
    answer = ask(folder, "run", "noisy.yaml", "--json", "--no-plots")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["suite"] == "noisy"
    assert "by Python" in answer.stderr
    assert "by C" in answer.stderr


def test_an_interrupted_run_is_no_finding(folder):
    """Exit code 1 would say that a sampler differs; nothing is written."""
    answer = ask(folder, "run", "stopped.yaml", "--no-plots")
    assert answer.returncode == 130
    assert answer.stderr.endswith("specharness: interrupted\n")
    assert not list((folder / "results").glob("*"))


def test_nothing_is_run_where_a_later_suite_names_an_unknown_sampler(folder, monkeypatch):
    """One line with the file, exit code 2; the suite before it is not run either."""
    monkeypatch.chdir(folder)
    answer = CliRunner().invoke(main, ["run", "ours.yaml", "unknown.yaml"])
    assert answer.exit_code == 2
    assert answer.stderr.startswith("specharness: unknown.yaml: scenario 'first': nobody declared")
    assert len(answer.stderr.splitlines()) == 1
    assert not list((folder / "results").glob("*"))


def test_a_report_that_cannot_be_written_is_told_in_a_line(folder, monkeypatch):
    """Exit code 2, as for any path that is no good."""
    monkeypatch.chdir(folder)
    run = CliRunner().invoke(main, ["run", "ours.yaml", "--no-plots"])
    assert run.exit_code == 0, run.output
    (made,) = (folder / "results").iterdir()
    answer = CliRunner().invoke(main, ["report", str(made), "--out", "nowhere/report.md"])
    assert answer.exit_code == 2
    assert answer.stderr == (
        "specharness: nowhere/report.md: cannot be written: No such file or directory\n"
    )


def test_names_that_the_console_cannot_write_are_escaped(folder):
    """In ASCII, as where the locale is C and nothing coerces it; the numbers are still there."""
    text = SUITE.format(name="names", procedure="rule: speculative").replace("[A,", "[日本,")
    (folder / "names.yaml").write_text(text, encoding="utf-8")
    answer = ask(folder, "law", "names.yaml", PYTHONIOENCODING="ascii:strict")
    assert answer.returncode == 0, answer.stderr
    assert "\\u65e5\\u672c" in answer.stdout


def test_every_observable_is_in_the_catalogue():
    """What `observe:` may name and what is listed are the same names."""
    assert set(everything()["observables"]) == set(OBSERVABLES)
