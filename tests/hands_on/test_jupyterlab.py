"""With a kernel: moved in JupyterLab, the state reaches Python, and what Python sets shows."""

import os

import nbformat
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

CELLS = [
    """from lib.attention import causal_mask, scaled_dot_product_attention
from lib.show.hands_on import mask_editor, shelf
X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
w = shelf(["A", "B", "C"], X, X, [0.0, 0.0], components=["x", "y"], attention=scaled_dot_product_attention)
w""",
    """m = mask_editor("look it up".split(), X, X, X, attention=scaled_dot_product_attention)
m""",
    "print('read', w.query.tolist(), w.temperature, w.weights.round(3).tolist(), m.row, m.mask.astype(int).tolist())",
    "w.query = [[-2, 1]]; m.mask = causal_mask(3, 3)",
]


@pytest.fixture
def lab(tmp_path, start_jupyterlab):
    """The address of a JupyterLab with one notebook in it."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}  # else it asks for one
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel}, cells=cells)
    nbformat.write(notebook, tmp_path / "n.ipynb")
    return start_jupyterlab(tmp_path)


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1300, "height": 1800})
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def test_moved_in_jupyterlab_it_is_read_in_the_next_cell(lab, page):
    page.goto(f"{lab}/lab/tree/n.ipynb?reset")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(CELLS), timeout=60_000)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(
        timeout=60_000
    )  # else it runs nothing
    page.locator(".jp-CodeCell").nth(0).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".jp-CodeCell").nth(0).locator(".lu-say")).to_be_visible(timeout=60_000)
    page.keyboard.press("Shift+Enter")
    query = page.locator('.lu-handle[data-which="query"]')
    grid = page.locator(".lu-grid[role=grid]")
    expect(query).to_have_attribute("aria-valuetext", "x 0.00, y 0.00", timeout=60_000)

    # With the keyboard: the notebook must not take the arrow keys for itself.
    query.focus()
    for key in ["ArrowRight", "ArrowRight", "Shift+ArrowUp"]:
        page.keyboard.press(key)
    expect(query).to_have_attribute("aria-valuetext", "x 0.20, y 0.50")
    slider = page.locator(".lu-temperature input")
    slider.focus()
    before = int(slider.input_value())
    for key in ["ArrowRight", "ArrowUp", "ArrowLeft"]:
        page.keyboard.press(key)
    expect(slider).to_have_value(str(before + 1))
    expect(slider).to_be_focused()
    page.keyboard.press("End")
    # Nor may it take letters, which add and cut cells there.
    for control in [query, slider, grid.locator('[data-cell="2 0"]')]:
        control.focus()
        for key in ["a", "b", "x"]:
            page.keyboard.press(key)
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(CELLS))
    grid.locator('[data-cell="2 0"]').click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.locator(".jp-CodeCell").nth(2).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output")).to_have_text(
        "read [[0.2, 0.5]] inf [[0.333, 0.333, 0.333]] 2 [[1, 1, 1], [1, 1, 1], [0, 0, 1]]\n"
    )

    if folder := os.environ.get("LOOK_IT_UP_PICTURES"):  # to look at it
        page.screenshot(path=f"{folder}/jupyterlab.png")

    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(CELLS))  # a kernel has answered since the letters
    # And the other way: what a cell sets shows at once.
    page.keyboard.press("Shift+Enter")
    expect(query).to_have_attribute("aria-valuetext", "x −2.00, y 1.00")
    expect(page.locator(".jp-CodeCell").nth(1).locator(".lu-say")).to_contain_text("The mask is: causal.")
