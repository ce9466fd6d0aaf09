"""What the tests of chapters share: a chapter's own names, from running its cells."""

from pathlib import Path

import nbformat
import pytest


@pytest.fixture(scope="session")
def chapter_04():
    """Return the names that chapter 04 defines. Its code cells are run here, in this process, as they stand."""
    notebook = nbformat.read(Path(__file__).parents[2] / "chapters" / "04-variants.ipynb", as_version=4)
    names = {"__name__": "chapter_04"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"04-variants, cell {cell.id}", "exec"), names)
    return names
