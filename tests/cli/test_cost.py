"""`specharness cost`: the stated numbers, the words, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.store.folder import save

EXAMPLE = ["cost", "--acceptance", ".5", "--draft-length", "2", "--target-cost", "100"]


def ask(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("draft", "whole", "token", "times"), [(20, 140, 80, 1.25), (50, 200, 114.2857, 0.875)]
)
def test_the_stated_example_as_json(draft, whole, token, times):
    """1.75 tokens a round; JSON and nothing else on stdout (oracle: issue's own numbers)."""
    answer = ask(*EXAMPLE, "--draft-cost", draft, "--json")
    found = json.loads(answer.stdout)
    assert answer.exit_code == 0
    assert found["tokens_per_round"] == 1.75
    assert (found["round_cost"], found["speedup"]) == (whole, times)
    assert found["cost_per_token"] == pytest.approx(token, abs=5e-5)
    assert "not a measurement" in found["note"]


def test_the_text_says_that_it_is_a_model():
    """Numbers and the warning stand together."""
    answer = ask(*EXAMPLE, "--draft-cost", 20, "--simulate", 1000)
    assert "a model, not a measurement" in answer.stdout
    assert "1.25" in answer.stdout
    assert "simulated, 1,000 rounds" in answer.stdout


def test_kinds_of_contexts_and_rates_by_position():
    """.5 (1 + .9 + .81) + .5 (1 + .3 + .03) tokens a round (oracle: by hand)."""
    rates = ["--acceptance", ".9@.5", "--acceptance", ".3,.1@.5"]
    answer = ask("cost", *rates, "--draft-cost", 0.1, "--draft-length", 2, "--json")
    assert json.loads(answer.stdout)["tokens_per_round"] == pytest.approx(2.02)


def test_acceptance_from_a_finished_run(made, tmp_path):
    """The share that the run saw (oracle: the closed form at that share)."""
    suite = made.suite(made.three_token(np.random.default_rng(1)))
    run = save(suite, tmp_path, {})
    arguments = ["--scenario", "exact", "--draft-length", 1, "--draft-cost", 0.1, "--json"]
    found = json.loads(ask("cost", "--from", run, *arguments).stdout)
    assert found["tokens_per_round"] == 1 + suite.scenarios[0].acceptance.observed
    assert "exact" in found["source"]


def test_the_plot_is_written_beside_the_json(tmp_path):
    """PNG and SVG; stdout stays JSON."""
    answer = ask(*EXAMPLE, "--draft-cost", 20, "--json", "--plot", tmp_path / "cost.png")
    json.loads(answer.stdout)
    assert (tmp_path / "cost.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "cost.svg").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--draft-cost", "1"],
        ["--acceptance", "1.5", "--draft-cost", "1"],
        ["--acceptance", "x", "--draft-cost", "1"],
        ["--acceptance", ".5@.4", "--draft-cost", "1"],
        ["--acceptance", ".5", "--draft-cost", "-1"],
        ["--acceptance", ".5", "--draft-cost", "nan"],
        ["--acceptance", ".5", "--draft-cost", "1", "--tokens", "0"],
        ["--acceptance", ".5", "--draft-cost", "1", "--from", "nowhere"],
        ["--acceptance", ".5", "--draft-cost", "1", "--scenario", "exact"],
        ["--from", "nowhere", "--draft-cost", "1"],
        ["--acceptance", ".5", "--draft-cost", "1", "--plot", "cost.pdf"],
        ["--acceptance", ".5", "--draft-cost", "1", "--plot", "no/such/folder/cost.png"],
    ],
)
def test_what_is_refused_gets_one_line(arguments, tmp_path, monkeypatch):
    """Exit code 2, one line on stderr, nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    answer = ask("cost", *arguments)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert len(answer.stderr.strip().splitlines()) == 1
