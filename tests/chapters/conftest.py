"""What the tests of chapters share: a chapter's own names, from running its cells."""

from pathlib import Path

import nbformat
import pytest


def run(chapter):
    """Return the names that a chapter defines. Its code cells are run here, in this process, as they stand."""
    notebook = nbformat.read(Path(__file__).parents[2] / "chapters" / f"{chapter}.ipynb", as_version=4)
    names = {"__name__": chapter}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{chapter}, cell {cell.id}", "exec"), names)
    return names


@pytest.fixture(scope="session")
def chapter_03():
    """Return the names that chapter 03 defines. It trains: some 15 seconds."""
    import torch

    threads = torch.get_num_threads()
    names = run("03-scaling")
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)  # the chapter's own setting; Hypothesis needs the small numbers
    return names


@pytest.fixture(scope="session")
def chapter_04():
    """Return the names that chapter 04 defines."""
    return run("04-variants")
