"""One browser and one built site for all the tests of the hands-on explorers."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory, environment):
    """A small book with the demo notebook, built as the whole book is: the folder of its pages."""
    book = tmp_path_factory.mktemp("book")
    shutil.copy(Path(__file__).parent / "demo.ipynb", book / "demo.ipynb")
    (book / "sphinx_ext/static").mkdir(parents=True)
    shutil.copy(ROOT / "sphinx_ext/static/favicon.svg", book / "sphinx_ext/static")
    shutil.copy(ROOT / "_config.yml", book)
    (book / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters:\n- file: demo\n")
    (book / "intro.md").write_text("# A page without explorers\n\nNothing to move here.\n")
    build = ["jupyter-book", "build", "-q", str(book)]
    done = subprocess.run(build, env=environment, cwd=book, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return book / "_build" / "html"


@pytest.fixture
def demo(site, open_page):
    """Open the built demo page from its folder, as a reader with a stick would."""
    return lambda **options: open_page((site / "demo.html").as_uri(), **options)
