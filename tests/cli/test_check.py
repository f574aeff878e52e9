"""`specharness check`: recorded tokens from anywhere against a law."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.rng import stream

LAW = "vocabulary: [A, B, C]\ntarget: {probs: [0.6, 0.3, 0.1]}\nepsilon: 0.02\n"


@pytest.fixture
def law(tmp_path):
    path = tmp_path / "law.yaml"
    path.write_text(LAW)
    return path


def recorded(tmp_path, law, n=100_000):
    path = tmp_path / "tokens.npy"
    np.save(path, stream(5, "recorded").choice(3, n, p=law))
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def test_tokens_from_the_law_match_it(tmp_path, law):
    """A file that states a law alone is enough; all trials of the recording are used."""
    result = run(recorded(tmp_path, [0.6, 0.3, 0.1]), "--target", law, "--json")
    assert result.exit_code == 0, result.output
    (scenario,) = json.loads(result.stdout)["scenarios"]
    assert (scenario["verdict"], scenario["trials"]) == ("matches", 100_000)


def test_tokens_from_the_fault_differ_and_the_exit_code_says_so(tmp_path, law):
    """Resampling from p, the law (.59, .295, .115), in 100,000 recorded tokens."""
    result = run(recorded(tmp_path, [0.59, 0.295, 0.115]), "--target", law)
    assert result.exit_code == 1
    assert "differs" in result.stdout


def test_too_few_tokens_are_inconclusive(tmp_path, law):
    """A thousand tokens prove nothing about a TV of .02."""
    assert run(recorded(tmp_path, [0.6, 0.3, 0.1], 1_000), "--target", law).exit_code == 3


def test_a_recording_that_is_not_there_is_one_line_and_exit_2(tmp_path, law):
    """The message names the file."""
    result = run(tmp_path / "nothing.npy", "--target", law)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "nothing.npy" in result.stderr
