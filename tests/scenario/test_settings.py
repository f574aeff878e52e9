"""What scenarios take from their suite, what they set themselves, and what a matrix adds."""

from __future__ import annotations

from fractions import Fraction

import jsonschema
import pytest

from harness.scenario import Facts, SamplerRef, load_suite, load_suites, parse_suite, schema

HEAD = """\
version: 1
suite: s
vocabulary: [A, B, C]
target: {probs: [0.6, 0.3, 0.1]}
draft: {probs: [0.5, 0.25, 0.25]}
"""


def scenarios(body, head=HEAD):
    """Scenarios of a suite, by name."""
    return {s.name: s for s in parse_suite(head + body, "s.yaml").scenarios}


def test_a_scenario_overrides_its_suite():
    """Trials, epsilon, draft length, horizon, observables, stopping; the rest is inherited."""
    found = scenarios(
        "trials: 2e6\nepsilon: 0.02\nstop_early: true\nobserve: [output]\nscenarios:\n"
        "  - {name: a, rule: speculative}\n"
        "  - {name: b, rule: one-hot, trials: 5_000, epsilon: 1/200, stop_early: false,\n"
        "     draft_length: 3, horizon: 7, observe: [joint, trace]}\n"
    )
    a, b = found["a"], found["b"]
    assert (a.trials, a.epsilon, a.stop_early, a.observe) == (2_000_000, 0.02, True, ("output",))
    assert (b.trials, b.epsilon, b.stop_early, b.observe) == (
        5000,
        0.005,
        False,
        ("joint", "trace"),
    )
    assert (a.draft_length, a.horizon, b.draft_length, b.horizon) == (1, 1, 3, 7)


def test_a_longer_draft_looks_at_the_bonus_unless_told_otherwise():
    """The default horizon exceeds the draft length, so that the bonus token is seen."""
    found = scenarios("scenarios: [{name: a, rule: speculative, draft_length: 4}]")
    assert found["a"].horizon == 5


def test_what_must_differ_is_a_control_and_decoys_may_be_marked():
    """expect: differs means control, control: true marks a decoy, control: false a finding."""
    found = scenarios(
        "scenarios:\n"
        "  - {name: fault, rule: accept-everything, expect: differs}\n"
        "  - {name: decoy, rule: one-hot, control: true}\n"
        "  - {name: finding, sampler: theirs, expect: differs, control: false}\n"
        "  - {name: exact, rule: speculative}\n"
    )
    assert [s.control for s in found.values()] == [True, True, False, False]
    assert [s.expect for s in found.values()] == ["differs", "matches", "differs", "matches"]


def test_facts_are_fractions():
    """2/3 and 0.85 as written."""
    found = scenarios(
        "scenarios: [{name: a, rule: speculative,"
        " facts: {acceptance: 0.85, residual: {A: 2/3, C: 0}}}]"
    )
    assert found["a"].facts == Facts(
        acceptance=Fraction(17, 20), residual={"A": Fraction(2, 3), "C": Fraction(0)}
    )


def test_options_of_a_sampler_are_plain_data():
    """Decimals become floats, the rest stays; a name alone has no options."""
    found = scenarios(
        "scenarios:\n  - {name: a, sampler: mine}\n"
        "  - {name: b, sampler: {name: mine, x: 0.5, n: 3, deep: {on: true, list: [1/2, 1.5]}}}\n"
    )
    assert found["a"].sampler == SamplerRef("mine")
    options = {"x": 0.5, "n": 3, "deep": {"on": True, "list": ["1/2", 1.5]}}
    assert found["b"].sampler == SamplerRef("mine", options)


def test_a_suite_s_rule_or_sampler_is_the_default():
    """Either key of a scenario replaces both of the suite."""
    found = scenarios(
        "sampler: mine\nscenarios:\n  - {name: a}\n  - {name: b, rule: one-hot}\n"
        "  - {name: c, sampler: other}\n"
    )
    assert [(s.rule, s.sampler and s.sampler.name) for s in found.values()] == [
        (None, "mine"), ("one-hot", None), (None, "other")]  # fmt: skip


def test_a_matrix_is_a_cross_product_with_names_that_say_so():
    """Two temperatures by two vocabularies; numbers are named as they are written."""
    found = scenarios(
        "scenarios: [{name: exact, rule: speculative,"
        " matrix: {temperature: [0.70, 2], V: [2, 32]}}]",
        "version: 1\nsuite: s\ntarget: {generate: {zipf: {}}}\ndraft: {generate: {zipf: {}}}\n",
    )
    assert list(found) == [
        "exact [temperature=0.70, V=2]", "exact [temperature=0.70, V=32]",
        "exact [temperature=2, V=2]", "exact [temperature=2, V=32]"]  # fmt: skip
    assert [s.laws.vocabulary for s in found.values()] == [2, 32, 2, 32]
    assert found["exact [temperature=2, V=2]"].settings["p"]["policy"] == "temperature 2.0"


def test_cases_set_several_things_under_one_label():
    """A suite's matrix is every scenario's; an empty one of its own frees a scenario."""
    found = scenarios(
        "matrix:\n  cases:\n"
        "    near: {draft: {probs: [0.6, 0.2, 0.2]}, trials: 10}\n"
        "    far: {draft: {probs: [0, 0, 1]}, trials: 20}\n"
        "scenarios:\n  - {name: a, rule: speculative}\n  - {name: b, rule: one-hot, matrix: {}}\n"
    )
    assert list(found) == ["a [near]", "a [far]", "b"]
    assert [s.trials for s in found.values()] == [10, 20, 1_000_000]
    assert found["a [far]"].exact_laws.q.tolist() == [[0, 0, 1]]


def test_axes_reach_into_laws_and_samplers():
    """Dotted paths; a sampler named alone becomes a mapping, a policy of none is replaced."""
    found = scenarios(
        "scenarios: [{name: a, sampler: mine, policy: none,"
        " matrix: {sampler.batch_size: [1, 8], draft.policy.top_k: [1, 3]}}]"
    )
    assert [s.sampler.options["batch_size"] for s in found.values()] == [1, 1, 8, 8]
    assert [str(s.exact_laws.q[0, 0]) for s in found.values()] == ["1", "1/2"] * 2


def test_an_axis_that_no_law_would_follow_is_refused():
    """policy: is for laws without their own; setting it for others would change nothing."""
    head = HEAD.replace("]}", "], policy: {top_k: 2}}")
    with pytest.raises(Exception, match="target and draft have policies of their own"):
        scenarios("scenarios: [{name: a, rule: speculative, matrix: {temperature: [1, 2]}}]", head)


def test_the_suite_keeps_its_text_and_its_source(tmp_path):
    """The manifest repeats the file as read."""
    text = HEAD + "alpha: 1e-4\nseed: 7\nscenarios: [{name: a, rule: speculative}]\n"
    file = tmp_path / "s.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    suite = load_suite(file)
    assert suite.text == text.replace("\n", "\r\n")
    assert (suite.source, suite.alpha, suite.delta, suite.seed) == (str(file), 1e-4, 1e-6, 7)


def test_a_folder_s_suites_come_by_name_and_subfolders_wait_to_be_named(tmp_path):
    """scenarios/ does not run scenarios/third_party/."""
    (tmp_path / "sub").mkdir()
    body = "scenarios: [{name: a, rule: speculative}]\n"
    for name in ("b.yaml", "a.yml", "sub/c.yaml"):
        (tmp_path / name).write_text(HEAD.replace("suite: s", f"suite: {name[:1]}") + body)
    (tmp_path / "README.md").write_text("not a suite")
    assert [s.name for s in load_suites([tmp_path])] == ["a", "b"]


def test_the_schema_completes_rules_and_accepts_what_the_loader_accepts():
    """Oracle: the jsonschema package, on a file with most keys, and on the same file spoilt."""
    exported = schema(["speculative", "one-hot"])
    jsonschema.Draft202012Validator.check_schema(exported)
    good = {
        "version": 1, "suite": "s", "vocabulary": ["A", "B"], "alpha": 1e-6,
        "target": {"probs": ["2/3", "1/3"], "policy": {"top_k": 2, "order": "vllm"}},
        "draft": {"generate": {"near_target": {"noise": 0.5}, "seed": 2}, "policy": "none"},
        "applied": {"proposal": {"policy": {"greedy": True}}},
        "scenarios": [{"name": "a", "rule": "speculative", "matrix": {"temperature": [1]},
                       "facts": {"law": {"A": "2/3"}}},
                      {"name": "b", "sampler": "mine"},
                      {"name": "c", "sampler": {"name": "mine", "option": [1]}}],
    }  # fmt: skip
    checker = jsonschema.Draft202012Validator(exported)
    assert list(checker.iter_errors(good)) == []
    for key, bad in (("version", 2), ("trails", 1), ("vocabulary", None), ("suite", "../x")):
        assert list(checker.iter_errors({**good, key: bad}))
    good["scenarios"][0]["rule"] = "speculativ"
    assert list(checker.iter_errors(good))
