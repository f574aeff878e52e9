"""Notebooks run from top to bottom, and are kept without what a run leaves in them."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SECONDS_A_CELL = 300


def read(path):
    return nbformat.read(path, as_version=4)


def test_there_are_notebooks():
    """The tests below would pass over an empty folder."""
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    """Oracle: the file; outputs and execution counts are of one machine and one day."""
    notebook = read(path)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    assert "version" not in notebook.metadata.get("language_info", {})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path):
    """Oracle: the assertions in its cells; and every picture that it shows is a PNG."""
    notebook = read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own event loop, on some platforms
        NotebookClient(
            notebook,
            timeout=SECONDS_A_CELL,
            kernel_name="python3",
            resources={"metadata": {"path": str(path.parent)}},
        ).execute()
    shown = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert not [o for o in shown if o.output_type == "error" or o.get("name") == "stderr"]
