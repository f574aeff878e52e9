"""What is refused, and how: file, line, path, problem and remedy on one line.

Oracle: each case is written with the place and the words that its author expects.
"""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario import load_suite, load_suites, parse_suite, validate
from harness.scenario.text import LARGEST_FILE

GOOD = """\
version: 1
suite: good
vocabulary: [A, B, C]
target: {probs: [0.6, 0.3, 0.1]}
draft: {probs: [0.5, 0.25, 0.25]}
trials: 1000
scenarios:
  - name: exact
    rule: speculative
"""

# what is replaced in GOOD and by what; then the line, the path, a part of problem and of remedy
CASES = Path(__file__).with_name("refused.jsonl").read_text(encoding="utf-8").splitlines()
SILLY = {case.pop("case"): case for case in map(json.loads, CASES)}


@pytest.mark.parametrize("case", SILLY)
def test_a_silly_suite_is_refused_with_place_problem_and_remedy(case, tmp_path):
    """One line: file:line: path: problem; remedy."""
    silly = SILLY[case]
    file = tmp_path / "suite.yaml"
    assert GOOD.count(silly["old"]) >= 1
    file.write_text(GOOD.replace(silly["old"], silly["new"], 1), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_suite(file)
    error = caught.value
    where = (error.file, error.line, error.path[: len(silly["path"])])
    assert where == (str(file), silly["line"], silly["path"])
    assert silly["problem"] in error.problem
    assert silly["remedy"] in error.remedy
    assert len(str(error).splitlines()) == 1
    assert str(error).startswith(f"{file}:{error.line}: {error.path}".rstrip(": "))


def test_the_suite_that_is_spoilt_above_is_good():
    """Without the fault nothing is refused: the cases differ from it in one thing each."""
    assert [s.name for s in parse_suite(GOOD, "good.yaml").scenarios] == ["exact"]


BAD_BYTES = {
    "binary": (b"\x7fELF\x00\x01", "NUL byte"),
    "latin-1": ("suite: caf\xe9".encode("latin-1"), "not UTF-8"),
    "utf-16": ("version: 1".encode("utf-16"), "not UTF-8"),
    "empty": (b"", "an empty file"),
    "comment only": (b"# nothing\n", "an empty file"),
    "a list": (b"- 1\n", "not a mapping"),
    "a word": (b"hello\n", "not a mapping"),
    "50 MB": (b"a" * (LARGEST_FILE + 1), "bytes, more than"),
    "bad escape": (b'version: "\\UFFFFFFFF"', "not YAML"),
    "surrogate": (b'version: "\\uD800"', "half a character"),
    "control": (b"version: \x01", "not YAML"),
}


@pytest.mark.parametrize("case", BAD_BYTES)
def test_bytes_that_are_no_suite_are_refused(case, tmp_path):
    """Whatever a file holds, the complaint names the file and the problem."""
    content, problem = BAD_BYTES[case]
    file = tmp_path / "x.yaml"
    file.write_bytes(content)
    with pytest.raises(ScenarioError, match=problem) as caught:
        load_suite(file)
    assert caught.value.file == str(file)
    assert caught.value.remedy


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    """A sparse file of 50 GB takes no memory and no time."""
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(50 * 10**9)
    with pytest.raises(ScenarioError, match="50,000,000,000 bytes"):
        load_suite(file)


def test_billion_laughs_are_not_expanded():
    """The classic bomb is refused at its first anchor."""
    lines = ["version: 1", "a: &a [lol, lol]"]
    lines += [
        f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    with pytest.raises(ScenarioError, match=r"bomb\.yaml:2: a: an anchor or alias"):
        parse_suite("\n".join(lines), "bomb.yaml")


def test_too_many_values_are_refused_as_they_are_counted(monkeypatch):
    """The count stops the reading: what follows the last value allowed is never seen."""
    monkeypatch.setattr("harness.scenario.tree.MOST_NODES", 1000)
    with pytest.raises(ScenarioError, match="more than 1,000 values"):
        parse_suite("a: [" + "1," * 1001 + "&never", "many.yaml")


@pytest.mark.parametrize("name", ["missing.yaml", "nul\0.yaml", "x" * 300, "missing/folder"])
def test_a_path_that_is_not_there_is_refused(name, tmp_path):
    """A missing file, an impossible name: a complaint, never a traceback."""
    with pytest.raises(ScenarioError, match=r"cannot be read|no such file|too long"):
        load_suite(os.path.join(tmp_path, name))  # noqa: PTH118  # as a user types it
    with pytest.raises(ScenarioError):
        load_suites([os.path.join(tmp_path, name)])  # noqa: PTH118


def test_a_folder_and_a_pipe_are_no_suites(tmp_path):
    """Only regular files are opened: a pipe would block for ever."""
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in (tmp_path, tmp_path / "pipe.yaml"):
        with pytest.raises(ScenarioError, match="not a regular file"):
            load_suite(path)


def test_a_folder_without_suites_is_refused(tmp_path):
    """An empty folder is a mistake, not an empty run."""
    with pytest.raises(ScenarioError, match="a folder without suites"):
        load_suites([tmp_path])


def test_a_missing_file_is_answered_with_the_nearest_name(tmp_path):
    """Did you mean the file next to it."""
    (tmp_path / "three-token.yaml").write_text(GOOD, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"did you mean 'three-token\.yaml'"):
        load_suites([tmp_path / "tree-token.yaml"])


def test_two_suites_of_one_name_are_refused_but_one_file_twice_is_one_suite(tmp_path):
    """The second file is named, with the first; spelling a path twice is harmless."""
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(GOOD, encoding="utf-8")
    assert len(load_suites([tmp_path / "a.yaml", tmp_path / "." / "a.yaml"])) == 1
    with pytest.raises(
        ScenarioError, match=r"b\.yaml: suite: a second suite 'good', after .*a\.yaml"
    ):
        load_suites([tmp_path])


def test_an_undeclared_sampler_is_refused_where_the_declared_ones_are_known():
    """Nothing named in a file is looked up anywhere but in what the user declared."""
    text = GOOD.replace("rule: speculative", "sampler: os.system")
    with pytest.raises(ScenarioError, match=r"scenarios\[0\].sampler: no sampler 'os.system'"):
        parse_suite(text, "s.yaml", samplers=("mine",))
    assert parse_suite(text, "s.yaml").scenarios[0].sampler.name == "os.system"


def test_validate_names_everything_misshapen(tmp_path):
    """Three faults, three lines; a good file, none."""
    bad = GOOD.replace("trials: 1000", "trials: 0").replace("suite: good", "suite: ../x")
    (tmp_path / "bad.yaml").write_text(bad.replace("rule:", "ruel:"), encoding="utf-8")
    assert [e.line for e in validate([tmp_path])] == [2, 6, 9]
    (tmp_path / "bad.yaml").write_text(GOOD, encoding="utf-8")
    assert validate([tmp_path]) == []
    assert [e.problem for e in validate([tmp_path / "no.yaml"])] == ["no such file or folder"]


def test_a_shared_prefix_of_complaints_is_the_file_and_line():
    """Editors and terminals make `file:line` a link."""
    text = textwrap.dedent(GOOD).replace("0.1]", "0.2]")
    with pytest.raises(ScenarioError, match=r"^dir/s\.yaml:4: target\.probs: .*; .*$"):
        parse_suite(text, "dir/s.yaml")
