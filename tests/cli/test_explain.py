"""`specharness explain`: the words, the JSON, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.engine.run import run_suite
from harness.scenario import parse_suite
from harness.store.folder import save

SUITE = """
version: 1
suite: three
vocabulary: [A, B, C]
target: {probs: [0.60, 0.30, 0.10]}
draft: {probs: [0.50, 0.25, 0.25]}
trials: 50_000
scenarios:
  - {name: exact, rule: speculative, expect: matches, epsilon: 0.05}
  - {name: from the target, rule: resample-from-target, expect: differs}
  - {name: drafts kept, rule: accept-everything, expect: differs}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return save(
        run_suite(parse_suite(SUITE, "s.yaml"), workers=1), tmp_path_factory.mktemp("r"), {}
    )


def ask(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_fault_and_its_place_are_named(run):
    """Resampling from p lets C replace C (oracle: the rule that drew, and the residual by hand)."""
    answer = ask("explain", run, "--scenario", "from the target")
    assert answer.exit_code == 0
    assert "fits best: resample-from-target" in answer.stdout
    assert "the promised law cannot produce the trace counts" in answer.stdout
    line = next(line for line in answer.stdout.splitlines() if "C replaced by C" in line)
    assert "trace, replaced, position 1" in line
    assert "must never happen" in line


def test_the_ratio_of_likelihoods_is_a_power_of_ten(run):
    """Keeping every draft: a finite ratio, and rules that do the same here are named."""
    answer = ask("explain", run, "--scenario", "drafts kept")
    assert "fits best: accept-everything" in answer.stdout
    assert "times as likely as the promised law; next: " in answer.stdout
    assert "first-draft-unverified" in answer.stdout


def test_without_a_name_the_first_that_differs_is_explained(run):
    """All came out as expected here (oracle: the order of the suite)."""
    assert ask("explain", run).stdout.startswith("from the target: differs")


def test_a_match_needs_no_explanation(run):
    """It says so, and shows no places."""
    answer = ask("explain", run, "--scenario", "exact")
    assert "there is nothing to explain" in answer.stdout
    assert "breaks the promise" not in answer.stdout


def test_json_is_all_there_is_on_stdout(run):
    """Places, fits and the best rule, or null."""
    found = json.loads(ask("explain", run, "--scenario", "from the target", "--json").stdout)
    assert found["best"] == "resample-from-target"
    assert found["by"] == "trace"
    assert found["promise"]["trace"] == "-inf"
    assert {"replaced", "output"} <= {place["branch"] for place in found["places"]}


def test_none_of_the_known_faults(made, tmp_path):
    """Draws from a law that no rule has (oracle: how they were made)."""
    law = np.array([0.45, 0.25, 0.30])
    rng = np.random.default_rng(4)
    suite = made.suite([made.scenario("odd", made.P3, made.Q3, law, rng, tokens=("A", "B", "C"))])
    folder = save(suite, tmp_path, {})
    assert "none of the known faults" in ask("explain", folder).stdout
    assert json.loads(ask("explain", folder, "--json").stdout)["best"] is None


def test_every_kind_of_scenario_is_told(made, tmp_path):
    """Crashes, hostile names, odd tokens: exit code 0 and no control character."""
    suite = made.every_kind()
    folder = save(suite, tmp_path, {})
    for scenario in (s for s in suite.scenarios if len(s.tokens) <= 32):
        answer = ask("explain", folder, "--scenario", scenario.name)
        assert answer.exit_code == 0, answer.output
        assert "\x1b" not in answer.stdout


@pytest.mark.parametrize("arguments", [["nowhere"], ["RUN", "--scenario", "exakt"]])
def test_what_is_refused_gets_one_line(run, arguments):
    """Exit code 2, nothing on stdout."""
    answer = ask("explain", *(run if argument == "RUN" else argument for argument in arguments))
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert len(answer.stderr.strip().splitlines()) == 1
