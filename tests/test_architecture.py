"""The architecture is a test: a module imports from lower layers and its own folder only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import harness

ROOT = Path(harness.__file__).parent
LAYERS = [
    {"errors", "arrays"},
    {"registry", "rng", "trials"},
    {"laws", "protocols"},
    {"sources"},
    {"rules", "samplers", "tallies", "executors"},
    {"checks"},
    {"scenario"},
    {"engine"},
    {"store", "reports", "plots"},
    {"assertions"},
    {"cli", "pytest_plugin"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
PEERS_THAT_SHARE = {
    ("protocols", "laws"),
    ("laws", "protocols"),
}  # law tables are part of the joints
OPEN = {"__init__", "__main__"}  # the front door: names of what lies behind

ONLY_IN = {
    "matplotlib": "plots/",
    "click": "cli/",
    "rich": "cli/",
    "ruamel": "scenario/",
    "torch": ("samplers/torch.py", "samplers/transformers.py", "samplers/vllm.py"),
    "transformers": "samplers/transformers.py",
    "vllm": "samplers/vllm.py",
    "pyarrow": "samplers/parquet.py",
    "dask": "executors/dask.py",
    "distributed": "executors/dask.py",
}
MODULES = sorted(path for path in ROOT.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Every absolute name that a module imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_from_lower_layers_and_its_own_folder(path):
    """Oracle: the table of layers above."""
    here = room(path)
    if here in OPEN:
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "harness" or len(parts) < 2 or parts[1] not in LEVEL:
            continue
        there = parts[1]
        allowed = there == here or LEVEL[there] < LEVEL[here] or (here, there) in PEERS_THAT_SHARE
        assert allowed, f"{here} (level {LEVEL[here]}) imports {name} (level {LEVEL[there]})"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_has_a_layer(path):
    """A new room needs a line in the table."""
    assert room(path) in LEVEL.keys() | OPEN


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_heavy_or_optional_library_has_one_home(path):
    """Oracle: the table of homes above."""
    where = str(path.relative_to(ROOT))
    for name in imported(path):
        homes = ONLY_IN.get(name.split(".")[0])
        if homes is not None:
            assert where.startswith(homes), f"{where} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_reads_code_from_data(path):
    """No pickle, eval, exec or yaml.load: scenario files and recordings come from strangers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {
        n.func.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    assert not called & {"eval", "exec"}
    assert not {name.split(".")[0] for name in imported(path)} & {
        "pickle",
        "dill",
        "yaml",
        "marshal",
    }


def test_only_rng_makes_generators():
    """Oracle: a search for the constructors; a stream has an address or it is not ours."""
    makers = {"default_rng", "Generator", "RandomState", "SFC64", "PCG64"}
    guests = {"rng.py", "samplers/"}  # adapters hand a seeded generator to somebody else's function
    for path in MODULES:
        where = str(path.relative_to(ROOT))
        if where.startswith(tuple(guests)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in makers, f"{where} makes a generator"
