"""What is refused, and how: file, line, path, problem and remedy on one line.

Oracle: each case is written with the place and the words that its author expects.
"""

from __future__ import annotations

import os
import textwrap

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

# what is replaced in GOOD, by what, then line, path, problem and remedy (parts of both)
SILLY = {
    "law sums to .98": ("0.3, 0.1]", "0.3, 0.08]", 4, "target.probs", "sum to 0.98", "normalise"),
    "negative": ("0.6, 0.3", "-0.6, 1.5", 4, "target.probs[0]", "-0.6 is negative", "at least 0"),
    "above one": ("0.6, 0.3", "1.6, -0.7", 4, "target.probs[0]", "1.6 is above 1", "at most 1"),
    "NaN": ("0.25, 0.25", "0.5, .nan", 5, "draft.probs[2]", "nan is not finite", "finite number"),
    "infinity": ("0.25, 0.25", "0.5, .inf", 5, "draft.probs[2]", "inf is not", "finite number"),
    "bare nan": ("0.25, 0.25", "0.5, nan", 5, "draft.probs[2]", "'nan' is not a number", "0.25"),
    "empty vocabulary": ("[A, B, C]", "[]", 3, "vocabulary", "empty list", "at least one"),
    "duplicate tokens": ("[A, B, C]", "[A, B, A]", 3, "vocabulary[2]", "'A' is named twice", "once"),
    "vocabulary of 0": ("[A, B, C]", "0", 3, "vocabulary", "0 is out of range", "from 1 to"),
    "vocabulary of 1e9": ("[A, B, C]", "1e9", 3, "vocabulary", "1e+09 is out of", "1,048,576"),
    "null token": ("[A, B, C]", "[A, B, null]", 3, "vocabulary[2]", "nothing is no", "quotes"),
    "true token": ("[A, B, C]", "[A, B, true]", 3, "vocabulary[2]", "true is no token", "quotes"),
    "decimal token": ("[A, B, C]", "[A, B, 1.5]", 3, "vocabulary[2]", "1.5 is no token", "quotes"),
    "lengths differ": ("[A, B, C]", "[A, B]", 4, "target.probs", "3 numbers for a voc", "every token"),
    "no numbers": ("{probs: [0.6, 0.3, 0.1]}", "{}", 4, "target", "without numbers", "give probs"),
    "empty law": ("[0.6, 0.3, 0.1]", "[]", 4, "target.probs", "without prob", "every token"),
    "law not a list": ("[0.6, 0.3, 0.1]", "0.6", 4, "target.probs", "not a list", "write a list"),
    "two sources": (".1]}", ".1], logits: [0, 0, 0]}", 4, "target", "both probs and logits", "keep one"),
    "quoted number": ("0.6, 0.3", "'0.6', 0.3", 4, "target.probs[0]", "quoted text", "without quotes"),
    "division by zero": ("0.6, 0.3", "3/0, 0.3", 4, "target.probs[0]", "divides by zero", "at least 1"),
    "unknown rule": ("speculative", "speculativ", 9, "scenarios[0].rule", "no rule 'speculativ'",
                     "did you mean 'speculative'?"),
    "unknown key": ("trials:", "trails:", 6, "trails", "unknown key 'trails'", "mean 'trials'?"),
    "unknown inner key": ("rule:", "ruel:", 9, "scenarios[0].ruel", "unknown key", "mean 'rule'?"),
    "trials 0": ("1000", "0", 6, "trials", "0 is out of range", "from 1 to 1,000,000,000,000"),
    "trials 1e30": ("1000", "1e30", 6, "trials", "1e+30 is out of range", "from 1 to"),
    "half a trial": ("1000", "10.5", 6, "trials", "10.5 is not a whole number", "from 1 to"),
    "hexadecimal": ("1000", "0x10", 6, "trials", "'0x10' is not a number", "write a decimal"),
    "octal": ("1000", "0o17", 6, "trials", "'0o17' is not a number", "write a decimal"),
    "old octal": ("1000", "0755", 6, "trials", "'0755' is not a number", "write a decimal"),
    "bool as number": ("1000", "true", 6, "trials", "true is not a number", "decimal"),
    "no value": ("1000", "", 6, "trials", "'trials' has no value", "remove the key"),
    "a list of trials": ("1000", "[1]", 6, "trials", "a list where a number", "one number"),
    "a number too long": ("1000", "1" * 5000, 6, "trials", "is not a number", "decimal"),
    "a power too large": ("1000", "1e99999", 6, "trials", "is not a number", "decimal"),
    "epsilon nan": ("trials: 1000", "epsilon: .nan", 6, "epsilon", "nan is not finite", "finite"),
    "epsilon inf": ("trials: 1000", "epsilon: .inf", 6, "epsilon", "inf is not finite", "finite"),
    "epsilon 0": ("trials: 1000", "epsilon: 0", 6, "epsilon", "0 is out of range", "(0, 1)"),
    "epsilon 1": ("trials: 1000", "epsilon: 1.0", 6, "epsilon", "1 is out of range", "(0, 1)"),
    "alpha 2": ("trials: 1000", "alpha: 2", 6, "alpha", "2 is out of range", "(0, 1)"),
    "seed -1": ("trials: 1000", "seed: -1", 6, "seed", "-1 is out of range", "from 0 to"),
    "rule and sampler": ("rule:", "sampler: mine\n    rule:", 9, "scenarios[0].sampler",
                         "both a rule and a sampler", "keep one"),
    "neither": ("    rule: speculative\n", "", 8, "scenarios[0]", "neither a rule nor a sampler",
                "add rule: or sampler:"),
    "no name": ("name: exact\n    ", "", 8, "scenarios[0]", "no 'name'", "add name:"),
    "no version": ("version: 1\n", "", 1, "", "no 'version'", "add version:"),
    "version 2": ("version: 1", "version: 2", 1, "version", "not a version", "version: 1"),
    "version true": ("version: 1", "version: true", 1, "version", "not a version", "version: 1"),
    "version text": ("version: 1", "version: '1'", 1, "version", "not a version", "version: 1"),
    "draft_length 0": ("trials: 1000", "draft_length: 0", 6, "draft_length", "0 is out", "1 to 16"),
    "draft_length 17": ("trials: 1000", "draft_length: 17", 6, "draft_length", "17 is", "1 to 16"),
    "horizon 0": ("trials: 1000", "horizon: 0", 6, "horizon", "0 is out of range", "1 to 1,024"),
    "horizon 2000": ("trials: 1000", "horizon: 2000", 6, "horizon", "2000 is out", "1 to 1,024"),
    "suite ../x": ("suite: good", "suite: ../x", 2, "suite", "'../x' cannot name", "A-Z"),
    "suite /x": ("suite: good", "suite: /etc/x", 2, "suite", "'/etc/x' cannot", "A-Z"),
    "suite x\\0": ("suite: good", 'suite: "x\\0"', 2, "suite", "control character", "remove"),
    "suite .": ("suite: good", "suite: .", 2, "suite", "'.' cannot", "A-Z"),
    "suite nul": ("suite: good", "suite: NUL.x", 2, "suite", "a device on Windows", "another name"),
    "suite long": ("suite: good", "suite: " + "x" * 65, 2, "suite", "cannot name", "at most 64"),
    "suite number": ("suite: good", "suite: 12", 2, "suite", "'12' where text", "quotes"),
    "scenario a/b": ("name: exact", "name: a/b", 8, "scenarios[0].name", "'a/b' cannot", "letters"),
    "escape in a text": ("trials: 1000", 'description: "\\e[31m"', 6, "description", "control", "remove"),
    "duplicate key": ("trials: 1000", "suite: again", 6, "suite", "duplicate key 'suite', first on line 2",
                      "keep one"),
    "same name": ("    rule: speculative\n", "    rule: speculative\n  - name: Exact\n"
                  "    rule: one-hot\n", 10, "scenarios[1].name", "a second scenario 'Exact', after the one on line 8",
                  "rename one"),
    "no scenarios": (GOOD[GOOD.index("scenarios:"):], "scenarios: []\n", 7, "scenarios", "no scenarios",
                     "at least one"),
    "a tab": ("trials: 1000", "trials:\t1000", 6, "", "a tab", "use spaces"),
    "anchor": ("[A, B, C]", "&v [A, B, C]", 3, "vocabulary", "an anchor or alias", "write the value"),
    "alias": ("1000", "*v", 6, "trials", "an anchor or alias", "write the value"),
    "tag": ("1000", "!!python/object/apply:os.system ['true']", 6, "trials", "a tag 'tag:yaml.org", "remove it"),
    "merge key": ("trials: 1000", "<<: {trials: 1}", 6, "<<", "unknown key '<<'", "known:"),
    "directive": ("version: 1", "%YAML 1.1\n---\nversion: 1", 2, "", "a % directive", "YAML 1.2"),
    "two documents": ("version: 1", "a: 1\n---\nversion: 1", 2, "", "a second document", "own file"),
    "bad syntax": ("[A, B, C]", "[A, B, C", 4, "", "not YAML: ", "syntax"),
    "deep nesting": ("1000", "[" * 100 + "]" * 100, 6, "trials[0]", "nested more than 24 deep", "flatten"),
    "observe nothing": ("trials: 1000", "observe: []", 6, "observe", "an empty list", "at least one"),
    "observe twice": ("trials: 1000", "observe: [joint, joint]", 6, "observe[1]", "'joint' is named twice", "once"),
    "observe else": ("trials: 1000", "observe: [outptu]", 6, "observe[0]", "no observable 'outptu'", "mean 'output'?"),
    "expect fails": ("rule:", "expect: fails\n    rule:", 9, "scenarios[0].expect", "no expectation 'fails'", "known: matches"),
    "control maybe": ("rule:", "control: maybe\n    rule:", 9, "scenarios[0].control", "'maybe' is neither", "true or false"),
    "fact of no token": ("rule:", "facts: {law: {D: 1}}\n    rule:", 9, "scenarios[0].facts.law.D", "no token 'D'", "known: A, B, C"),
    "fact above one": ("rule:", "facts: {acceptance: 3/2}\n    rule:", 9, "scenarios[0].facts.acceptance", "1.5 is out of range", "[0, 1]"),
    "facts of floats": ("rule:", "policy: {temperature: 0.7}\n    facts: {acceptance: 0.5}\n    rule:",
                        10, "scenarios[0].facts", "not exact", "policies without roots"),
    "temperature 0": ("trials: 1000", "policy: {temperature: 0}", 6, "policy.temperature", "0 is out", "(0, 1e+06]"),
    "top_p 0": ("trials: 1000", "policy: {top_p: 0}", 6, "policy.top_p", "0 is out of range", "(0, 1]"),
    "order unknown": ("trials: 1000", "policy: {order: vlm}", 6, "policy.order", "no order 'vlm'", "mean 'vllm'?"),
    "order of numbers": ("trials: 1000", "policy: {order: [1]}", 6, "policy.order", "neither a project", "vllm"),
    "order leaves out": ("trials: 1000", "policy: {top_k: 2, order: [top_p]}", 6, "policy", "leaves out top_k", "add it"),
    "made of nothing": ("{probs: [0.6, 0.3, 0.1]}", "{generate: {seed: 1}}", 4, "target.generate", "no kind of", "dirichlet"),
    "made of two": ("{probs: [0.6, 0.3, 0.1]}", "{generate: {zipf: {}, dirichlet: {}}}", 4, "target.generate", "dirichlet and zipf", "name one"),
    "near itself": ("{probs: [0.6, 0.3, 0.1]}", "{generate: {near_target: {noise: 1}}}", 4,
                    "target.generate.near_target", "near itself", "for drafts"),
    "unknown option": ("{probs: [0.6, 0.3, 0.1]}", "{generate: {zipf: {exponnt: 1}}}", 4,
                       "target.generate.zipf.exponnt", "unknown key", "mean 'exponent'?"),
    "no finite logit": ("{probs: [0.6, 0.3, 0.1]}", "{logits: [-.inf, -.inf, -.inf]}", 4, "target.logits", "no finite logit", "at least one"),
    "infinite logit": ("{probs: [0.6, 0.3, 0.1]}", "{logits: [.inf, 0, 0]}", 4, "target.logits[0]", "inf is not finite", "finite"),
    "too few rows": ("{probs: [0.6, 0.3, 0.1]}", "{rows: [[1, 0, 0]]}\nhorizon: 2", 4, "target.rows", "1 rows where 2 positions", "every position"),
    "bad row": ("{probs: [0.6, 0.3, 0.1]}", "{rows: [[1, 0, 0], [1, 0, 1]]}", 4, "target.rows[1]", "sum to 2", "normalise"),
    "chain without initial": ("{probs: [0.6, 0.3, 0.1]}", "{markov: {transition: []}}", 4, "target.markov", "incomplete chain", "initial:"),
    "chain misses a row": ("{probs: [0.6, 0.3, 0.1]}", "{markov: {initial: [1, 0, 0], transition: {A: [1, 0, 0]}}}", 4,
                           "target.markov.transition", "no law after 'B'", "every token"),
    "tables too large": ("[A, B, C]\ntarget: {probs: [0.6, 0.3, 0.1]}", "3000\ntarget: {markov: {order: 2, generate: {zipf: {}}}}",
                         4, "target.markov", "9,003,001 contexts of 3,000 tokens", "lower the order"),
    "axis of nothing": ("rule:", "matrix: {tempratur: [1]}\n    rule:", 9, "scenarios[0].matrix.tempratur", "no setting 'tempratur'", "mean 'temperature'?"),
    "axis without values": ("rule:", "matrix: {horizon: []}\n    rule:", 9, "scenarios[0].matrix.horizon", "without values", "give a list"),
    "axis out of range": ("rule:", "matrix: {draft_length: [1, 99]}\n    rule:", 9, "scenarios[0].matrix.draft_length[1]", "99 is out of range", "1 to 16"),
    "axis of mappings": ("rule:", "matrix: {target: [{probs: [1, 0, 0]}]}\n    rule:", 9, "scenarios[0].matrix.target[0]", "without a label", "label it"),
    "axes too many": ("rule:", "matrix: {trials: [%s], seed: [1]}\n    rule:" % ", ".join(map(str, range(1, 9))), 9,
                      "scenarios[0].matrix.seed", "no setting 'seed'", "known:"),
    "combinations too many": ("rule:", "matrix: {%s}\n    rule:" % ", ".join(
        f"{axis}: [{', '.join(map(str, range(1, 12)))}]" for axis in ("trials", "horizon", "draft_length")),
        9, "scenarios[0].matrix", "1,331 combinations", "keep to 1,000"),
    "no such end": ("trials: 1000", "end_token: D", 6, "end_token", "no token 'D'", "known: A, B, C"),
    "no such prompt": ("trials: 1000", "prompts: [[A], [D]]", 6, "prompts[1][0]", "no token 'D'", "known: A, B, C"),
}  # fmt: skip


@pytest.mark.parametrize("case", SILLY)
def test_a_silly_suite_is_refused_with_place_problem_and_remedy(case, tmp_path):
    """One line: file:line: path: problem; remedy."""
    old, new, line, path, problem, remedy = SILLY[case]
    file = tmp_path / "suite.yaml"
    assert GOOD.count(old) >= 1
    file.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_suite(file)
    error = caught.value
    assert (error.file, error.line, error.path[: len(path)]) == (str(file), line, path)
    assert problem in error.problem
    assert remedy in error.remedy
    assert len(str(error).splitlines()) == 1
    assert str(error).startswith(f"{file}:{line}: {path}")


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
    with pytest.raises(ScenarioError, match="bomb.yaml:2: a: an anchor or alias"):
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
    with pytest.raises(ScenarioError, match="did you mean 'three-token.yaml'"):
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
