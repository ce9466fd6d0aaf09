"""One browser and one built site for all the tests of the explorers."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]


def guide_example():
    """The explorer that the guide writes in ten lines."""
    return re.search(r"```python\n(.*?)```", (ROOT / "guide/explorers.md").read_text(), re.S)[1]


# A page with what the guide's own page lacks: the pipeline, two of a kind, the guide's example, a static picture.
PAGE = {
    "pipeline": "from lib.show.explorers import masks, pipeline\n\npipeline()",
    "first": "masks()",
    "second": "masks()",
    "example": guide_example(),
    "picture": """from lib.show.svg import Picture, in_style, new_figure

@in_style
def picture():
    fig, ax = new_figure()
    ax.bar(["look", "it", "up"], [1, 2, 3])
    return Picture(fig, "Three bars, each one higher than the last.")

picture()""",
}


@pytest.fixture(scope="session")
def book(tmp_path_factory, environment):
    """A small book with the real settings, built twice: the second time from the cache."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "sphinx_ext/static").mkdir(parents=True)
    shutil.copy(ROOT / "sphinx_ext/static/favicon.svg", folder / "sphinx_ext/static")
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / "guide").mkdir()
    shutil.copy(Path(__file__).parent / "demo.ipynb", folder / "guide/explorers-demo.ipynb")
    (folder / "guide/explorers.md").write_text("# Explorers\n\nThis page has none.\n")
    cells = [new_code_cell(source, id=name) for name, source in PAGE.items()]
    title = nbformat.v4.new_markdown_cell("# Others", id="title")
    nbformat.write(new_notebook(cells=[title, *cells]), folder / "others.ipynb")
    (folder / "intro.md").write_text("# Start\n\nNothing to move here.\n")
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters:\n- file: guide/explorers\n- file: guide/explorers-demo\n- file: others\n"
    )
    for _ in range(2):
        build(folder, environment)
        (folder / "intro.md").write_text("# Start\n\nNothing to move here, and this was changed.\n")
    return folder


def build(folder, environment):
    done = subprocess.run(
        ["jupyter-book", "build", str(folder)], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def built(environment):
    return functools.partial(build, environment=environment)


@pytest.fixture(scope="session")
def site(book):
    return book / "_build" / "html"


@pytest.fixture(scope="session")
def served(site, serve):
    """The site's address on a server of this machine."""
    return serve(site)
