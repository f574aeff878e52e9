"""What a name runs is declared by the user; a scenario file can name it and give it options."""

from __future__ import annotations

import pytest

from harness.engine.run import run_suite
from harness.errors import BadSetting, HarnessError, SamplerFailure, UnknownName
from harness.samplers.declared import declared, from_command_line, from_pyproject, samplers_of
from harness.samplers.imported import imported
from harness.samplers.spec import SamplerSpec
from harness.scenario import parse_suite

SUITE = """
version: 1
suite: hostile
vocabulary: [A, B, C]
target: {{probs: [0.6, 0.3, 0.1]}}
draft: {{probs: [0.5, 0.25, 0.25]}}
trials: 1000
scenarios:
  - name: one
    sampler: {sampler}
"""


def test_command_line_declares_each_kind(tmp_path):
    """A colon makes a function, a suffix a recording, a kind an adapter; the rest are programs."""
    specs = from_command_line(
        [
            "a=pkg.kernels:verify",
            "b=tokens.npy",
            "c=transformers:assisted",
            "d=./build/sampler --stdin",
            "e=pkg:gen,level=generator,arrays=torch,batch_size=8,timeout=2,factory=true",
        ],
        tmp_path,
    )
    assert [specs[name].kind for name in "abcd"] == [
        "python",
        "recorded",
        "transformers",
        "command",
    ]
    assert specs["d"].command == ("./build/sampler", "--stdin")
    e = specs["e"]
    assert (e.level, e.arrays, e.floats, e.batch_size, e.timeout, e.factory) == (
        "generator", "torch", "float32", 8, 2.0, True,
    )  # fmt: skip
    assert e.isolated
    assert not specs["a"].isolated


def test_pyproject_above_the_folder_declares(tmp_path):
    """Targets are looked for beside the file that declares them."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.specharness.samplers]\nmine = "kernels:verify"\n'
        'engine = {kind = "command", command = ["./sampler"], level = "generator", timeout = 60}\n'
    )
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    specs = from_pyproject(below)
    assert specs["mine"].target == "kernels:verify"
    assert specs["engine"].command == ("./sampler",)
    assert specs["engine"].folder == tmp_path


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("mine", "not NAME=PACKAGE.MODULE:FUNCTION"),
        ("mine=pkg:f,levle=generator", "did you mean 'level'"),
        ("mine=pkg:f,level=verifer", "did you mean 'verifier'"),
        ("mine=pkg:f,batch_size=0", "batch_size is 0"),
        ("mine=pkg:f,batch_size=many", "batch_size is 'many'"),
        ("mine=pkg:f,timeout=soon", "timeout is 'soon'"),
        ("mine=vllm:speculative", "no call 'speculative'"),
    ],
)
def test_wrong_declarations_are_explained(argument, told):
    """The complaint says where, what, and the way out."""
    with pytest.raises(BadSetting, match=told):
        declared([argument])


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("no_such_module_here:verify", "cannot import no_such_module_here"),
        ("functions.py:no_such_function", "no 'no_such_function'"),
        ("functions.py:np", "is a module, not a function"),
        ("no_such_file.py:verify", "cannot import no_such_file.py"),
    ],
)
def test_target_that_is_not_there_is_a_usage_error(target, told, declare, assignment):
    """Not a finding about a sampler: there is none."""
    with pytest.raises(BadSetting, match=told):
        declare(assignment(), target=target)


HOSTILE = [
    "os:system",
    "{name: 'os:system', command: 'touch owned'}",
    "{name: subprocess, target: 'evil:run', kind: python}",
    "{name: '../evil.py:run'}",
    "{name: mine, target: 'evil:run'}",
    "{name: mine, kind: command, command: [touch, owned]}",
    "{name: mine, python: ./evil, isolate: true, timeout: 1}",
    "{name: mine, folder: .., factory: true}",
    "{name: 'harness.samplers.host:main'}",
    "!!python/object/apply:os.system [touch owned]",
]


@pytest.mark.parametrize("sampler", HOSTILE)
def test_scenario_file_cannot_run_anything(sampler, tmp_path, monkeypatch):
    """Nothing that a scenario file names is imported or started: names are looked up among what
    the user declared, and options reach a declared function as values or are refused.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(
        "import pathlib\npathlib.Path('owned').touch()\nrun = print\n"
    )
    (tmp_path / "evil").write_text("#!/bin/sh\ntouch owned\n")
    (tmp_path / "evil").chmod(0o755)
    (tmp_path / "kernels.py").write_text("def verify(draft, q, p, rng): return p\n")
    samplers = samplers_of({"mine": SamplerSpec("mine", target="kernels:verify", folder=tmp_path)})
    with pytest.raises((UnknownName, BadSetting, HarnessError)):
        run_suite(
            parse_suite(SUITE.format(sampler=sampler), "x.yaml"), samplers=samplers, workers=1
        )
    assert not (tmp_path / "owned").exists()


def test_declared_sampler_runs_where_a_hostile_one_does_not(tmp_path):
    """The control of the test above: the same scenario with the plain name does run."""
    (tmp_path / "kernels_ok.py").write_text("def verify(draft, q, p, rng): return draft\n")
    samplers = samplers_of(
        {"mine": SamplerSpec("mine", target="kernels_ok:verify", folder=tmp_path)}
    )
    result = run_suite(parse_suite(SUITE.format(sampler="mine"), "x.yaml"), samplers=samplers)
    assert "shape" in result.scenarios[0].reason
    assert result.exit_code == 4


def test_options_never_become_declarations(assignment, declare):
    """An option named like a key of a declaration is the function's, and this one has none."""
    for key in ("target", "command", "kind", "python", "folder", "timeout", "isolate"):
        with pytest.raises(BadSetting, match=f"no option '{key}'"):
            declare(assignment(**{key: "x"}), target="functions.py:exact")


def test_failure_leaves_the_rest_of_the_suite(declare, assignment, tmp_path):
    """One scenario is invalid with its reason, the other is judged."""
    text = SUITE.format(sampler="broken") + "  - {name: two, rule: speculative, epsilon: 0.2}\n"
    (tmp_path / "broken_one.py").write_text("def verify(draft, q, p, rng): raise OSError('gone')\n")
    spec = SamplerSpec("broken", target="broken_one:verify", folder=tmp_path)
    result = run_suite(parse_suite(text, "x.yaml"), samplers=samplers_of({"broken": spec}))
    assert [s.verdict.value for s in result.scenarios] == ["invalid", "matches"]
    assert "OSError: gone (at broken_one.py:1)" in result.scenarios[0].reason
    assert result.exit_code == 4


def test_module_that_exits_when_imported_is_a_finding(tmp_path):
    """A script without a `__main__` guard ends its scenario, and not the run with its exit code."""
    (tmp_path / "script.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    with pytest.raises(SamplerFailure, match=r"importing script\.py: SystemExit: 0"):
        imported("script.py:verify", tmp_path)
