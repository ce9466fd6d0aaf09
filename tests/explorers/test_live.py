"""The explorers with a kernel: in JupyterLab, in a real browser."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lab(tmp_path_factory, start_jupyterlab):
    """The address of a notebook that shows two explorers, in JupyterLab."""
    folder = tmp_path_factory.mktemp("lab")
    cells = [
        new_code_cell(f"from lib.show.explorers import {name}\n\n{name}()", id=name)
        for name in ("masks", "scaling")
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "live.ipynb")
    return f"{start_jupyterlab(folder)}/lab/tree/live.ipynb?reset"


@pytest.fixture(scope="module")
def notebook(lab, browser):
    """The notebook in JupyterLab, all cells run."""
    page = browser.new_context(viewport={"width": 1300, "height": 1200}).new_page()
    page.set_default_timeout(60_000)
    page.goto(lab)
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # else it runs nothing
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
