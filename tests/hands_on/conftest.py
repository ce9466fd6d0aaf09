"""One browser and one built site for all the tests of the hands-on explorers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
CONFIG = """
title: Hands-on
execute: {execute_notebooks: force, raise_on_error: true}
only_build_toc_files: true
html: {use_issues_button: false}
sphinx:
  extra_extensions: [sphinx_ext.hands_on]
  config: {html_context: {default_mode: auto}}
"""
# The theme writes one of its own scripts twice. What the whole book does about it is tested with the whole book.
THEMES_OWN = "Identifier 'THEBE_JS_URL' has already been declared"


@pytest.fixture(scope="session")
def environment():
    """The environment for processes that import the book: its root is importable, no site is being built."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if name != "LOOK_IT_UP_STATIC"}
    return kept | {"PYTHONPATH": str(ROOT), "PATH": path, "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="session")
def site(tmp_path_factory, environment):
    """A small book with the demo notebook, built as the whole book is: the folder of its pages."""
    book = tmp_path_factory.mktemp("book")
    shutil.copy(ROOT / "guide" / "hands-on-demo.ipynb", book / "demo.ipynb")
    (book / "_config.yml").write_text(CONFIG)
    (book / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters:\n- file: demo\n")
    (book / "intro.md").write_text("# A page without explorers\n\nNothing to move here.\n")
    build = ["jupyter-book", "build", "-W", "-q", str(book)]
    done = subprocess.run(build, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return book / "_build" / "html"


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Open a URL; at the end of the test, any console error or request to a host fails it."""
    contexts, wrong = [], []

    def open_page(url, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("http", "ws")) and wrong.append(request.url))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [text for text in wrong if THEMES_OWN not in text] == []


@pytest.fixture
def demo(site, open_page):
    """Open the built demo page from its folder, as a reader with a stick would."""
    return lambda **options: open_page((site / "demo.html").as_uri(), **options)
