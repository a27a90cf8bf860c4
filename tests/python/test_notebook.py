"""The notebook of docs/comparisons.md runs, and asserts its figures itself."""

import pytest
from conftest import ROOT


def test_notebook() -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "docs" / "comparisons.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", ())
    ]
    assert shown.count("image/svg+xml") == 2
