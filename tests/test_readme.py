"""The README is executed: its programs run, its output is what the commands print today."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import COMMANDS, main
from harness.scenario import parse_suite
from harness.scenario.law_shape import PolicyShape
from harness.scenario.shape import ScenarioShape, SuiteShape

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(language):
    return [text for found, text in BLOCKS if found == language]


def command_after(marker):
    """The shell command in the code block after `<!-- command: MARKER -->`."""
    found = re.search(rf"<!-- command: {marker} -->\n```sh\n(.*?)\n```", README, re.DOTALL)
    assert found, marker
    return found[1]


@pytest.fixture
def newcomer(tmp_path, monkeypatch):
    """A folder like the checkout, in which nothing of the checkout can be changed."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", blocks("python"))
def test_a_program_of_the_readme_runs(text, newcomer):
    """Oracle: the assertions that the program makes."""
    exec(compile(text, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("text", blocks("console"), ids=lambda text: text.partition("\n")[0])
def test_a_command_prints_what_the_readme_shows(text, newcomer):
    """Oracle: the text of the README, up to spaces; `...` stands for times and names of folders."""
    command, _, shown = text.removeprefix("$ ").partition("\n")
    words = shlex.split(command)[1:]
    quick = ["--no-plots"] if words[0] == "run" else []
    got = CliRunner().invoke(main, [*words, *quick])
    assert got.exit_code == 0, got.output
    if not doctest.OutputChecker().check_output(shown, got.stdout, SAME):
        pytest.fail(f"README shows\n{shown}\nthe command prints\n{got.stdout}")


@pytest.mark.parametrize("text", blocks("yaml"))
def test_a_suite_of_the_readme_is_accepted_and_its_facts_hold(text):
    """Oracle: the strict loader, and the exact accounting that facts are held against."""
    from harness.engine.facts import contradicted

    suite = parse_suite(text, "README.md")
    counted = {"mine": 4, "speculation-on-off": 1}  # the matrix makes two of one
    assert len(suite.scenarios) == counted[suite.name]
    assert not contradicted(suite)


def test_a_complaint_that_a_comment_quotes_is_the_one_that_is_made(newcomer, capsys):
    """Oracle: the text after `#` in the program, up to its `...`."""
    text = next(text for text in blocks("python") if "ScenarioError" in text)
    quoted = re.search(r"print\(error\)\s+# (.*?)\.\.\.", text)[1]
    exec(compile(text, "README.md", "exec"), {"__name__": "readme"})
    assert quoted in capsys.readouterr().out


def test_the_table_of_commands_names_every_command():
    """Oracle: the table that the command line is made of."""
    section = README.partition("## Commands")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, flags=re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == COMMANDS.keys()


def test_the_table_of_keys_names_every_key():
    """Oracle: the shapes of suites, scenarios and policies, from which files are checked."""
    section = README.partition("## Writing a scenario")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section))
    known = {*SuiteShape.model_fields, *ScenarioShape.model_fields, *PolicyShape.model_fields}
    assert known - named == set()


@pytest.mark.parametrize("text", blocks("sh"))
def test_a_shell_line_calls_commands_and_options_that_exist(text):
    """Oracle: the commands' own parameters."""
    calls = re.findall(r"specharness (\w+)([^;&\n]*)", text)
    for name, rest in calls:
        options = {o for p in main.get_command(None, name).params for o in p.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= options


@pytest.mark.parametrize("marker", ["run", "tests"])
def test_the_two_commands_are_one_line_that_needs_nothing_but_python(marker):
    """Each makes its own environment and installs the checkout; `.ci/run` runs the second."""
    command = command_after(marker)
    assert "\n" not in command
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q ")
    assert {"run": ".venv/bin/specharness run", "tests": "-m pytest"}[marker] in command


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)#]+)\)", README))
def test_a_link_leads_to_a_file(link):
    """Oracle: the checkout."""
    assert (ROOT / link).is_file()


def test_files_that_the_text_names_exist():
    """Paths in backquotes that begin with a folder of the checkout."""
    folders = "scenarios|tests|notebooks|harness|\\.ci"
    for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", README):
        assert (ROOT / path).exists(), path


def test_the_accounting_table_is_the_exact_one():
    """Oracle: fractions worked out here from the p and q of the table itself."""
    from fractions import Fraction

    rows = re.findall(r"^\| ([ABC]) \| (.*) \|$", README, flags=re.MULTILINE)
    cells = {token: [Fraction(cell) for cell in row.split(" | ")] for token, row in rows}
    left = sum(max(p - q, 0) for p, q, *_ in cells.values())
    for p, q, *stated in cells.values():
        replaced = max(p - q, Fraction(0))
        assert stated == [min(Fraction(1), p / q), min(p, q), replaced / left, replaced, p]
