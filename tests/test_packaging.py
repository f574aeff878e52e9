"""What is installed: declared dependencies, entry points, data files, one version, one gate."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import harness

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGE = Path(harness.__file__).parent
GATE = ROOT / ".ci" / "run"


def distribution(requirement):
    """The name of what is required, in the form that names are compared in."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def third_party(folder):
    """Top-level modules imported anywhere in a folder that are neither ours nor Python's."""
    names = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names - {"harness"}


def provided_by(module):
    """Names of the distributions of a module; its own name where it is not installed."""
    found = packages_distributions().get(module, [module])
    return {name.lower().replace("_", "-") for name in found}


def test_every_library_that_the_package_imports_is_declared():
    """Oracle: dependencies and extras of pyproject.toml.

    vllm is the user's own to install; pydantic_core is a part of pydantic, which pins it.
    """
    declared = {distribution(r) for r in PROJECT["dependencies"]}
    for extra in PROJECT["optional-dependencies"].values():
        declared |= {distribution(r) for r in extra}
    for module in third_party(PACKAGE) - {"vllm", "pydantic_core"}:
        assert provided_by(module) & declared, module


def test_no_dependency_is_declared_in_vain():
    """Oracle: the imports of the package."""
    used = {name for module in third_party(PACKAGE) for name in provided_by(module)}
    assert {distribution(r) for r in PROJECT["dependencies"]} <= used


def test_the_command_and_the_entry_points_lead_somewhere():
    """Oracle: the import system."""
    targets = [*PROJECT["scripts"].values()]
    targets += [t for group in PROJECT["entry-points"].values() for t in group.values()]
    for target in targets:
        assert importlib.util.find_spec(target.partition(":")[0]) is not None, target


def test_files_that_are_no_modules_lie_in_the_package():
    """What the wheel must carry beside Python: the mark of a typed package, the page's template."""
    assert (PACKAGE / "py.typed").is_file()
    assert list((PACKAGE / "reports" / "templates").glob("*.html"))


def test_the_changelog_begins_with_the_version_of_the_package():
    """Oracle: pyproject.toml."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[(.*?)\]", text, flags=re.MULTILINE)[1] == PROJECT["version"]


def test_the_gate_can_be_run():
    """Oracle: the file's mode, and bash, which reads it without running it."""
    assert os.access(GATE, os.X_OK)
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    subprocess.run([bash, "-n", GATE], check=True)


@pytest.mark.parametrize("where", [".ci", "harness", "scenarios", "notebooks", "README.md"])
def test_no_text_names_a_folder_of_somebody_s_machine(where):
    """The project runs anywhere: no home folders, no registries of one's own."""
    root = ROOT / where
    files = [root] if root.is_file() else [p for p in root.rglob("*") if p.is_file()]
    for path in files:
        if "__pycache__" in path.parts:
            continue
        found = re.search(rb"/home/\w|/root/\w|/work/\w|/Users/\w|--index-url", path.read_bytes())
        assert not found, f"{path}: {found}"
