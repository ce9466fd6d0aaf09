"""What opens pages for the tests of the explorers sees what must not happen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "body, seen",
    [
        ("<script>console.error('oh')</script>", "oh"),
        ("<script>throw new Error('thrown')</script>", "thrown"),
        ("<img src='nowhere.png' alt=''>", "nowhere.png"),
        ("<img src='https://example.org/x.png' alt=''>", "https://example.org/x.png"),
    ],
)
def test_what_must_not_happen_is_seen(body, seen, tmp_path, serve, open_page):
    (tmp_path / "index.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">{body}'
    )
    for url in (f"{serve(tmp_path)}/index.html", (tmp_path / "index.html").as_uri()):
        open_page(url).wait_for_load_state("networkidle")
        assert any(seen in what for what in open_page.wrong), url
        open_page.wrong.clear()


def test_what_is_in_order_is_let_through(tmp_path, serve, open_page):
    (tmp_path / "a.js").write_text("document.title = 'ran'")
    (tmp_path / "index.html").write_text(
        '<!DOCTYPE html><link rel="icon" href="data:,"><script src="a.js"></script>'
    )
    assert open_page(f"{serve(tmp_path)}/index.html").title() == "ran"
    assert open_page.wrong == []


@pytest.mark.slow
def test_what_is_seen_fails_the_test(tmp_path):
    shutil.copy(Path(__file__).parents[2] / "conftest.py", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    (tmp_path / "page.html").write_text("<link rel='icon' href='data:,'><script>console.error('oh')</script>")
    (tmp_path / "good.html").write_text("<link rel='icon' href='data:,'>")
    tests = "\n".join(
        f"def test_{name}(open_page):\n    open_page('{(tmp_path / f'{name}.html').as_uri()}')\n"
        for name in ("page", "good")
    )
    (tmp_path / "test_x.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q"]
    env = os.environ | {"PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "2 passed, 1 error" in done.stdout and "ERROR test_x.py::test_page" in done.stdout, done.stdout
