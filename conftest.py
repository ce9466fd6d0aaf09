"""What every folder of tests may ask for: the built book, a browser, a small book of one's own to break.

The book is built once a session, by the README's own command. A test that needs it, or builds a small one,
is slow: ``python -m pytest -m "not slow"`` leaves it out.
"""

import functools
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parent
SLOW_FIXTURES = {"site", "small_book", "book", "lab"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The book under test is built as the workflow of a fork builds it: with buttons, and with an address.
FORK = {
    "GITHUB_REPOSITORY": "someone/look-it-up",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REF_TYPE": "branch",
    "GITHUB_REF_NAME": "main",
    "SITE_URL": "https://someone.github.io/look-it-up/",
}
NO_BROWSER = "no Chromium: install it (the README says how) or set CHROMIUM to the path of one"
# Quiet, without a sandbox (containers have none), and without asking any host for updates.
BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items):
    """Mark as slow whatever builds a book."""
    for item in items:
        if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI a test that is skipped is a test that failed: something that it needs was not installed."""
    report = (yield).get_result()
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept: {call.excinfo.value}"


def readme_commands():
    """Return the README's two commands: the one that builds the book, and the one that tests it."""
    found = re.findall(
        r"^ *python -m pip install -r requirements\S* && .+$",
        (ROOT / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert len(found) == 2, f"the README should have exactly two commands, found {found}"
    return [command.strip() for command in found]


def run_build(command, folder, output=None, **env):
    """Run a build command in a folder; return the finished process, its stderr within its stdout."""
    here = str(Path(sys.executable).parent)
    env = os.environ | {"PATH": here + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"} | env
    extra = ["--path-output", str(output)] if output else []
    return subprocess.run(
        [*shlex.split(command), *extra],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built book: the README's build step, run once, into a folder of its own.

    Whoever works on the tests themselves may set BUILT_SITE to a book that is already built, with FORK in the environment.
    """
    if built := os.environ.get("BUILT_SITE"):
        return Path(built).resolve()
    output = tmp_path_factory.mktemp("book")
    done = run_build(readme_commands()[0].partition("&&")[2], ROOT, output, **FORK)
    assert done.returncode == 0, done.stdout[-6000:]
    return output / "_build" / "html"


@pytest.fixture(scope="session")
def pages(site):
    """The names of the built book's pages, such as ``chapters/01-library.html``.

    Not among them: index.html, which only leads on, and 404.html, which a server shows at any address.
    """
    found = {
        path.relative_to(site).as_posix() for path in site.rglob("*.html") if "_static" not in path.parts
    }
    return sorted(found - {"index.html", "404.html"})


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *arguments):
        """Say nothing."""


class QuietServer(ThreadingHTTPServer):
    """Says nothing when a browser closes a page half-way."""

    def handle_error(self, request, client_address):
        """Say nothing."""


@pytest.fixture(scope="session")
def serve():
    """A function that serves a folder on this machine and returns the address."""
    servers = []

    def start(folder):
        handler = functools.partial(QuietHandler, directory=str(folder))
        servers.append(QuietServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def site_url(site, serve):
    """The address of the built book, served on this machine."""
    return serve(site)


def find_browser():
    """Return the path of a Chromium, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium, driven by Playwright."""
    path = find_browser()
    if path is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser):
    """A function that opens a page; it takes Playwright's options, such as ``java_script_enabled=False``."""
    contexts = []

    def open_page(**options):
        contexts.append(browser.new_context(service_workers="block", **options))
        return contexts[-1].new_page()

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(new_page):
    """A function that opens a URL; a console error, a missing file or a request to another host fails the test."""
    wrong = []

    def open_at(url, width=1280, **options):
        page = new_page(viewport={"width": width, "height": 900}, **options)
        page.set_default_timeout(15_000)
        home = host(url)
        page.route(
            lambda address: host(address) not in (home, ""),
            lambda route: (wrong.append(route.request.url), route.abort()),
        )
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("response", lambda response: response.status >= 400 and wrong.append(response.url))
        # A request that is only broken off, because the page leads on to another, misses nothing.
        page.on(
            "requestfailed",
            lambda request: "ABORTED" not in request.failure and wrong.append(request.url),
        )
        page.goto(url)
        return page

    open_at.wrong = wrong
    yield open_at
    assert wrong == []


def host(url):
    """Return a URL's host and port; of a file, the empty text."""
    return urlsplit(url).netloc


class SmallBook:
    """A book of a few pages with the real configuration, extension and library, to be broken by a test."""

    def __init__(self, folder):
        """Copy what a book needs, and begin it with one page."""
        self.folder = folder
        for name in ("lib", "sphinx_ext"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "_config.yml", folder)
        self.write("intro.md", "# A small book\n\nIt is here to be broken.\n")

    def write(self, name, text):
        """Write a file of the book."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")

    def notebook(self, name, *cells, tags=()):
        """Write a notebook with a title and these code cells."""
        import nbformat.v4 as nb

        notebook = nb.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        notebook.cells = [nb.new_markdown_cell(f"# {name}", id="title")]
        notebook.cells += [
            nb.new_code_cell(code, id=f"code-{i}", metadata={"tags": list(tags)})
            for i, code in enumerate(cells)
        ]
        self.write(name, nbformat_text(notebook))

    def build(self, **env):
        """Build the book with all its pages; return the finished process."""
        found = [path for suffix in ("md", "ipynb") for path in self.folder.glob(f"chapters/*.{suffix}")]
        chapters = "".join(f"  - file: chapters/{path.stem}\n" for path in sorted(found))
        self.write(
            "_toc.yml", "format: jb-book\nroot: intro\n" + ("chapters:\n" + chapters if chapters else "")
        )
        return run_build("jupyter-book build .", self.folder, PYTHONPATH=str(self.folder), **env)

    def page(self, name):
        """Return the HTML of a built page."""
        return (self.folder / "_build" / "html" / name).read_text(encoding="utf-8")


def nbformat_text(notebook):
    """Return a notebook as the text of its file."""
    import nbformat

    return nbformat.writes(notebook)


@pytest.fixture
def small_book(tmp_path):
    """A book of one's own."""
    return SmallBook(tmp_path)


@pytest.fixture(scope="session")
def environment():
    """The environment for processes that import the book: its root is importable, no site is being built."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LOOK_IT_UP_")}
    return kept | {"PYTHONPATH": str(ROOT), "PATH": path, "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="session")
def start_jupyterlab(environment):
    """A function that serves a folder with JupyterLab, with nothing of the reader's own settings: its address.

    Or what another command serves, in the folder ``cwd``.
    """
    servers = []

    def start(folder, command=(), cwd=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
        lab = {f"JUPYTERLAB_{name}_DIR": str(folder / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
        options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token="]
        options += ["--ServerApp.port_retries=0", "--LabApp.news_url="]
        options += ["--LabApp.expose_app_in_browser=True"]
        options += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
        log = folder / "log"
        with log.open("w") as out:
            command = [*(command or ["jupyter", "lab", f"--notebook-dir={folder}"]), *options]
            env = environment | own | lab
            servers.append(subprocess.Popen(command, cwd=cwd, env=env, stdout=out, stderr=out))
        wait_until_it_answers(f"http://127.0.0.1:{port}/api", servers[-1], log)
        return f"http://127.0.0.1:{port}"

    yield start
    for server in servers:
        server.terminate()
        server.wait(30)


def wait_until_it_answers(address, server, log, seconds=120):
    """Ask an address again and again until it answers; say what the log says if it does not."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30):
                return
        except OSError:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"JupyterLab did not start: {log.read_text('utf-8')}") from None
            time.sleep(0.1)
