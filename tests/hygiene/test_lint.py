"""Ruff, with the settings of pyproject.toml, finds nothing in the project, and would."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def ruff(*arguments):
    """Run `ruff check`; return the finished process."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_ruff_finds_nothing():
    done = ruff(".")
    assert done.returncode == 0, done.stdout


def test_ruff_would_find_a_fault(tmp_path):
    (tmp_path / "bad.py").write_text("import os\n")
    done = ruff("--config", "pyproject.toml", str(tmp_path / "bad.py"))
    assert done.returncode == 1 and "F401" in done.stdout
