"""The run that is kept in the repository: it reads back, and the same seed gives it again."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from harness import load_run, load_suite, run_suite

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "results" / "reference" / "three-token"
RERUN = ("exact", "resample from the target")


@pytest.fixture(scope="module")
def kept():
    return load_run(KEPT)


@pytest.fixture(scope="module")
def again():
    suite = load_suite(ROOT / "scenarios" / "three-token.yaml")
    chosen = tuple(scenario for scenario in suite.scenarios if scenario.name in RERUN)
    return run_suite(dataclasses.replace(suite, scenarios=chosen), workers=1)


def by_name(result):
    return {scenario.name: scenario for scenario in result.scenarios}


def test_the_kept_run_reads_back(kept):
    """Oracle: the suite's own expectations, which all came true."""
    assert kept.exit_code == 0
    assert all(scenario.verdict == scenario.expect for scenario in kept.scenarios)


def test_the_kept_run_is_of_the_suite_that_ships(kept):
    """Oracle: the text of the file; a suite that was changed needs a new reference."""
    text = (ROOT / "scenarios" / "three-token.yaml").read_text(encoding="utf-8")
    assert kept.manifest["suite"]["text"] == text


@pytest.mark.parametrize("name", RERUN)
def test_the_same_seed_gives_the_same_counts_again(name, kept, again):
    """Bit for bit, with another number of threads, another machine, and other scenarios around."""
    then, now = by_name(kept)[name], by_name(again)[name]
    for observable in then.observables:
        found = now.observable(observable.observable)
        assert found is not None
        np.testing.assert_array_equal(found.counts, observable.counts)


@pytest.mark.parametrize("name", RERUN)
def test_verdict_and_finding_are_the_same_again(name, kept, again):
    """Oracle: the kept run."""
    then, now = by_name(kept)[name], by_name(again)[name]
    assert (now.verdict, now.reason) == (then.verdict, then.reason)


def test_what_other_programs_rely_on_is_there():
    """Oracle: the keys of format 1."""
    document = json.loads((KEPT / "results.json").read_text(encoding="utf-8"))
    assert document["format"] == 1
    assert {"suite", "exit_code", "scenarios"} <= document.keys()
    wanted = {
        "name", "sampler", "expect", "verdict", "as_expected", "trials", "tv", "tv_bound",
        "epsilon", "log_e", "acceptance", "law", "checks",
    }  # fmt: skip
    for scenario in document["scenarios"]:
        assert wanted <= scenario.keys()
        assert {"tokens", "target", "exact", "counts"} <= scenario["law"].keys()


def test_the_kept_run_names_no_folder_of_the_machine_that_made_it():
    """Oracle: a search for absolute paths in its texts."""
    for path in (KEPT / "manifest.json", KEPT / "results.json", KEPT / "summary.csv"):
        text = path.read_text(encoding="utf-8")
        assert not [root for root in ("/home/", "/root/", "/tmp/", "/Users/") if root in text]
