"""The README's commands are the ones that CI runs, and CI accepts no skipped test."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_readme_has_the_two_commands():
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = [
        line.strip() for line in readme.splitlines() if line.strip().startswith("python -m pip install -r")
    ]
    assert commands == [
        "python -m pip install -r requirements.txt && jupyter-book build .",
        "python -m pip install -r requirements-dev.txt && python -m pytest",
    ]


def test_ci_runs_the_readmes_test_command_and_parses_as_bash():
    script = (ROOT / ".ci/run").read_text("utf-8")
    line = next(line for line in script.splitlines() if line.startswith("command=$(grep "))
    found = subprocess.run(
        ["bash", "-c", f'{line}; echo "$command"'], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "python -m pip install -r requirements-dev.txt && python -m pytest"
    assert "set -euo pipefail" in script and "pytest" not in script
    subprocess.run(["bash", "-n", ROOT / ".ci/run"], check=True)


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_skipped_test_fails_in_ci_alone(ci, code, tmp_path):
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    (tmp_path / "test_x.py").write_text(
        "import pytest\n\n\ndef test_x():\n    pytest.skip('no such tool')\n\n\ndef test_y():\n    pass\n"
    )
    env = os.environ | {"CI": ci, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code and ("no such tool" in done.stdout) == bool(code)


@pytest.mark.slow
def test_the_readmes_line_opens_jupyterlab_on_the_whole_book(start_jupyterlab, tmp_path):
    """Given a file alone, JupyterLab serves its folder, and no link leads out of that."""
    (line,) = re.findall(r"^ *(jupyter lab .+)$", (ROOT / "README.md").read_text("utf-8"), re.M)
    for command, answers in ((line, 200), (line.replace(" --notebook-dir=.", ""), 404)):
        folder = tmp_path / str(answers)
        folder.mkdir()
        address = start_jupyterlab(folder, shlex.split(command), ROOT)
        for name in ("exercises/release/lookup/lookup.ipynb", "guide/glossary.md"):
            assert status(f"{address}/api/contents/{name}?content=0") == answers


def status(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
