"""With a kernel: moved in JupyterLab, the state reaches Python, and what Python sets shows."""

import os
import re
import subprocess
import urllib.request

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
def lab(tmp_path, environment):
    """A JupyterLab server with one notebook in it: its address, with the token."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}  # else it asks for one
    notebook = nbformat.v4.new_notebook(metadata=kernel, cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    nbformat.write(notebook, tmp_path / "n.ipynb")
    command = ["jupyter", "lab", "--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0",
               "--IdentityProvider.token=t", f"--ServerApp.root_dir={tmp_path}", "--LabApp.news_url=", "--LabApp.check_for_updates_class="
               "jupyterlab.NeverCheckForUpdate"]  # fmt: skip
    own = {"JUPYTER_CONFIG_DIR": str(tmp_path / "config"), "JUPYTER_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)}
    log = open(tmp_path / "log", "w+b")
    server = subprocess.Popen(command, env=environment | own, stdout=log, stderr=log)
    try:
        yield wait_for_address(server, tmp_path / "log")
    finally:
        server.terminate()
        server.wait(30)
        log.close()


def wait_for_address(server, log):
    """Read the log until the server names its address (it chooses a free port) and answers there."""
    while server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text("utf-8", "replace")):
            with urllib.request.urlopen(f"{found[0]}/api/status?token=t", timeout=30):
                return found[0]
        try:
            server.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
    raise RuntimeError(log.read_text("utf-8", "replace"))


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1300, "height": 1800})
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def test_moved_in_jupyterlab_it_is_read_in_the_next_cell(lab, page):
    page.goto(f"{lab}/lab/tree/n.ipynb?token=t&reset")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(CELLS), timeout=60_000)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=60_000)  # else it runs nothing
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
    page.locator(".lu-temperature input").focus()
    page.keyboard.press("End")
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

    # And the other way: what a cell sets shows at once.
    page.keyboard.press("Shift+Enter")
    expect(query).to_have_attribute("aria-valuetext", "x −2.00, y 1.00")
    expect(page.locator(".jp-CodeCell").nth(1).locator(".lu-say")).to_contain_text("The mask is: causal.")
