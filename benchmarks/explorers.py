"""What an explorer costs in kB, milliseconds an input and seconds a build, beside plain ipywidgets.interact.

    python benchmarks/explorers.py

Two small books with the same two draw functions (masks, 40 settings; scaling, 22): one shows them with
`explore`, the other with `ipywidgets.interact` and a matplotlib figure, as one would without this library.
Both are built with the same settings and then driven in Chromium, on the built page and in JupyterLab.
Printed, never asserted.
"""

import gzip
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
OURS = """from lib.show.explorers import masks, scaling
masks()"""
PLAIN = """%matplotlib inline
import ipywidgets
import matplotlib.pyplot as plt
from lib.show.explorers import MASKS, draw_masks

@ipywidgets.interact(kind=ipywidgets.ToggleButtons(options=MASKS, value="causal"), row=(0, 7))
def masks(kind="causal", row=5):
    print(draw_masks(plt.figure(figsize=(5, 4.1)), kind, row))
    plt.show()"""
OURS_2 = "scaling()"
PLAIN_2 = """from lib.show.explorers import draw_scaling

D_K = ipywidgets.SelectionSlider(options=[2**p for p in range(11)], value=64)

@ipywidgets.interact(d_k=D_K, scaled=False)
def scaling(d_k=64, scaled=False):
    print(draw_scaling(plt.figure(figsize=(5, 3.7)), d_k, scaled))
    plt.show()"""
CONFIG = """title: Benchmark
only_build_toc_files: true
execute: {execute_notebooks: cache, timeout: 90}
sphinx: {config: {extensions: [%s], html_context: {default_mode: auto}, nb_ipywidgets_js: {}}}
"""
EXTENSIONS = "sphinx_copybutton, myst_nb, jupyter_book, sphinx_external_toc, sphinx_book_theme"


def environment():
    """Return the environment in which books are built and JupyterLab runs."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PYTHONPATH": str(ROOT), "PATH": path}


def make_book(folder, cells, extensions):
    """Write a book of one notebook."""
    folder.mkdir()
    (folder / "_config.yml").write_text(CONFIG % extensions)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters:\n- file: page\n")
    (folder / "intro.md").write_text("# Start\n")
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(metadata={"kernelspec": kernel})
    notebook.cells = [new_markdown_cell("# Page"), *map(new_code_cell, cells)]
    nbformat.write(notebook, folder / "page.ipynb")
    return folder


def seconds_to_build(folder):
    """Build a book and return the seconds that it took."""
    start = time.perf_counter()
    command = ["jupyter-book", "build", "-q", str(folder)]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    return time.perf_counter() - start


def build_three_times(folder):
    """Return seconds for the first build, one where the cells run again, one where nothing changed."""
    first = seconds_to_build(folder)
    shutil.rmtree(folder / "_build/.jupyter_cache")
    shutil.rmtree(folder / "_build/.doctrees", ignore_errors=True)
    return first, seconds_to_build(folder), seconds_to_build(folder)


def kilobytes(folder):
    """Return the page's size and what the outputs have of it, compressed."""
    text = (folder / "_build/html/page.html").read_text()
    outputs = "".join(re.findall(r'(?s)<div class="cell_output.*?(?=<div class="cell |</article>)', text))
    state = "".join(re.findall(r'(?s)<script type="application/vnd.jupyter.widget-state.*?</script>', text))
    return [len(gzip.compress(part.encode(), 9)) / 1000 for part in (text, outputs + state)]


# Milliseconds from an input to the frame that shows it, on the page

PAGE_INPUTS = """async () => {
    const root = document.querySelector(".lu-explorer"), view = root.querySelector(".lu-view");
    const range = root.querySelector("[type=range]"), times = [], scripts = [];
    for (let i = 0; i < 50; i++) {
        await new Promise(done => setTimeout(done, 20 + 7 * (i % 5)));
        const start = performance.now();
        range.value = (Number(range.value) + 3) % 8;
        range.dispatchEvent(new Event("input", {bubbles: true}));
        scripts.push(performance.now() - start);
        view.getBoundingClientRect();
        await new Promise(done => requestAnimationFrame(() => { const c = new MessageChannel();
            c.port1.onmessage = done; c.port2.postMessage(0); }));  // after the next frame was painted
        times.push(performance.now() - start);
    }
    return [times, scripts];
}"""


def page_milliseconds(browser, folder):
    """Return medians of 50 inputs: until the next frame is painted, and what the script took of it."""
    page = browser.new_page()
    page.goto((folder / "_build/html/page.html").as_uri())
    times, scripts = page.evaluate(PAGE_INPUTS)
    page.close()
    return statistics.median(times), statistics.median(scripts)


# The same in JupyterLab, there and back

LIVE_INPUTS = """async ([picture, pause]) => {
    const first = document.querySelector(picture).closest(".jp-Cell-outputArea");
    const buttons = [...first.querySelectorAll(".widget-toggle-buttons button")];
    const seen = () => first.querySelector(picture) || {}, now = () => seen().src || seen().innerHTML;
    const pressed = async button => {
        const before = now(), start = performance.now();
        button.click();
        for (let after = before; after === before || !after; after = now()) {
            if (performance.now() - start > 5000) return NaN;
            await new Promise(done => requestAnimationFrame(done));
        }
        return performance.now() - start;
    };
    const wait = () => new Promise(done => setTimeout(done, pause));
    const fresh = [], again = [];
    const row = first.querySelector(".noUi-handle");
    for (let i = 0; i < 4; i++) {  // every row is new for every mask
        const timed = async k => { await wait(); return pressed(buttons[k]); };
        for (const k of i % 2 ? [3, 2, 1, 0] : [4, 2, 3, 0]) fresh.push(await timed(k));
        for (const k of [2, 3, 2, 3]) again.push(await timed(k));
        row.dispatchEvent(new KeyboardEvent("keydown", {key: "Left", bubbles: true, cancelable: true}));
        await new Promise(done => setTimeout(done, 1500));
    }
    return [fresh, again];
}"""


def live_milliseconds(browser, folder, picture, pause):
    """Return medians of the round trip in JupyterLab: a new setting, and one that was seen before."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = "JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"
    own = dict.fromkeys(names, str(folder / "own"))
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token="]
    options += [f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None"]
    server = subprocess.Popen(
        ["jupyter-lab", *options],
        env=environment() | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/api")
        page = browser.new_page(viewport={"width": 1300, "height": 1200})
        page.set_default_timeout(60_000)
        page.goto(f"http://127.0.0.1:{port}/lab/tree/page.ipynb?reset")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # else it runs nothing
        page.get_by_role("menuitem", name="Run").first.click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.locator(picture).first.wait_for()
        page.wait_for_timeout(3000)
        measured = page.evaluate(LIVE_INPUTS, [picture, pause])
        page.close()
        return [statistics.median(times) for times in measured]
    finally:
        server.terminate()
        server.wait()


def wait_for(address):
    """Wait until a server answers."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(address) as answer:
                return json.load(answer)
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(address)


def main():
    """Build both books, drive both, and print a table."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        folder = Path(folder)
        ours = make_book(folder / "ours", [OURS, OURS_2], f"{EXTENSIONS}, sphinx_ext.explorers")
        plain = make_book(folder / "plain", [PLAIN, PLAIN_2], EXTENSIONS)
        table = [("", "explore", "interact")]
        builds = [build_three_times(book) for book in (ours, plain)]
        names = "first build", "cells run again", "nothing changed"
        for name, *seconds in zip(names, *builds, strict=True):
            table.append((f"seconds, {name}", *(f"{s:.1f}" for s in seconds)))
        for name, *sizes in zip(("page", "outputs"), kilobytes(ours), kilobytes(plain), strict=True):
            table.append((f"kB compressed, {name}", *(f"{size:.1f}" for size in sizes)))
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        painted, script = page_milliseconds(browser, ours)
        table.append(("ms an input on the page, painted", f"{painted:.1f}", "dead"))
        table.append(("ms an input on the page, script", f"{script:.1f}", "dead"))
        for pause, name in ((400, "with pauses of 0.4 s"), (0, "without a pause")):
            rows = zip(
                ("new", "seen"),
                live_milliseconds(browser, ours, ".lu-view svg", pause),
                live_milliseconds(browser, plain, ".jp-OutputArea img", pause),
                strict=True,
            )
            for kind, *times in rows:
                table.append((f"ms in JupyterLab, {kind} setting, {name}", *(f"{t:.0f}" for t in times)))
        browser.close()
    for name, *cells in table:
        print(f"{name:55}" + "".join(f"{cell:>12}" for cell in cells))


if __name__ == "__main__":
    main()
