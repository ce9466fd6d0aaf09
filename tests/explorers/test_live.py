"""The explorers with a kernel: in JupyterLab, in a real browser."""

import json
import socket
import subprocess
import time
import urllib.request

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lab(tmp_path_factory, environment):
    """JupyterLab's address, with a notebook that shows an explorer; nothing of the reader's own settings is used."""
    folder = tmp_path_factory.mktemp("lab")
    cells = [
        new_code_cell(f"from lib.show.explorers import {name}\n\n{name}()", id=name)
        for name in ("masks", "scaling")
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "live.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {
        f"JUPYTER{name}": str(folder / "own")
        for name in ("_CONFIG_DIR", "LAB_SETTINGS_DIR", "LAB_WORKSPACES_DIR", "_RUNTIME_DIR")
    }
    options = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
    ]
    options += [
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = (folder / "log").open("w")
    server = subprocess.Popen(["jupyter-lab", *options], env=environment | own, stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}/api", server)
        yield f"http://127.0.0.1:{port}/lab/tree/live.ipynb?reset"
    finally:
        server.terminate()
        server.wait(30)
        log.close()


def wait_for(address, server, seconds=60):
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address) as answer:
                return json.load(answer)
        except OSError:
            assert server.poll() is None and time.monotonic() < end, "JupyterLab did not start"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def notebook(lab, browser):
    """The notebook in JupyterLab, all cells run."""
    page = browser.new_context(viewport={"width": 1300, "height": 1200}).new_page()
    page.set_default_timeout(60_000)
    page.goto(lab)
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    page.get_by_text("Python 3").first.wait_for()
    page.get_by_role("menuitem", name="Run").first.click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".lu-explorer").nth(1).locator("svg").wait_for()
    yield page
    page.context.close()


def shows(root, *words):
    for text in words:
        root.get_by_text(text).first.wait_for()


def test_each_control_moves_the_picture(notebook):
    masks, scaling = notebook.locator(".lu-explorer").nth(0), notebook.locator(".lu-explorer").nth(1)
    shows(masks, "Mask: causal. Query 5", "Under which mask does a row have nothing")
    masks.get_by_role("button", name="causal and padding").click()
    shows(masks, "Mask: causal and padding. Query 5")
    slider = masks.get_by_role("slider")
    for _ in range(5):
        slider.press("ArrowLeft")
    shows(masks, "Query 0, “pad”, may attend to nothing", "nothing to attend to: all weights are 0")

    shows(scaling, "With d_k = 64 the scores q·k have a standard deviation of 8.0")
    scaling.get_by_role("checkbox").press("Space")
    shows(scaling, "With d_k = 64 the scores q·k / √d_k have a standard deviation of 1.0")
    scaling.get_by_role("slider").press("ArrowRight")
    shows(scaling, "With d_k = 128 the scores q·k / √d_k")


def test_pictures_have_the_ink_of_the_notebook(notebook):
    ink = "getComputedStyle(document.querySelector('.lu-view text')).fill"
    paper = "getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor"
    light = notebook.evaluate(f"[{ink}, {paper}]")
    notebook.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    notebook.wait_for_function(f"{paper} !== {json.dumps(light[1])}")
    dark = notebook.evaluate(f"[{ink}, {paper}]")
    assert luminance(light[0]) < 0.2 < 0.8 < luminance(light[1])
    assert luminance(dark[1]) < 0.2 < 0.6 < luminance(dark[0])


def luminance(colour):
    """A rough one: how bright, from 0 to 1."""
    red, green, blue = (int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return (0.3 * red + 0.6 * green + 0.1 * blue) / 255
