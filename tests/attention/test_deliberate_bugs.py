"""The tests catch every deliberate bug, and the runner that says so can tell a bug from none."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).with_name("deliberate_bugs.py")


@pytest.fixture(scope="module")
def runner():
    """Load the runner by its path."""
    spec = importlib.util.spec_from_file_location("deliberate_bugs", RUNNER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the runner forks")
def test_every_bug_is_caught_and_no_bug_is_not(runner):
    """In a process of its own, because it forks: this one may have threads."""
    done = subprocess.run([sys.executable, RUNNER], capture_output=True, text=True)
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    found = dict(rows)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(found) == [bug.name for bug in (*runner.BUGS, runner.CONTROL)]
    assert all("test_" in test for name, test in found.items() if name != runner.CONTROL.name)
    assert found[runner.CONTROL.name] == "nothing, as it must be"


def test_there_are_enough_bugs_and_all_differ(runner):
    source = runner.SOURCE.read_text()
    versions = {runner.patched(source, bug) for bug in runner.BUGS}
    assert len(versions) == len({bug.name for bug in runner.BUGS}) == len(runner.BUGS) >= 25


def test_every_test_file_is_asked(runner):
    here = set(RUNNER.parent.glob("test_*.py")) - {Path(__file__)}
    assert set(runner.TESTS) == here


@pytest.mark.parametrize(
    "old, new, error, words",
    [
        ("no such text", "x", ValueError, "found 0 times"),
        ("mask", "x", ValueError, "must be in the source once"),
        ("import numpy\n", "import numpy\n", ValueError, "must differ from the old"),
        ("import numpy\n", "import (numpy\n", SyntaxError, "invalid syntax|never closed"),
    ],
)
def test_a_patch_that_is_no_patch_is_refused(runner, old, new, error, words):
    with pytest.raises(error, match=words):
        runner.patched(runner.SOURCE.read_text(), runner.Bug("a bug", old, new))


def test_what_counts_as_right(runner):
    bug, control = runner.BUGS[0], runner.CONTROL
    assert runner.verdict(bug, "test_x", "") == (True, "test_x")
    assert runner.verdict(bug, "", "") == (False, "NOT CAUGHT")
    assert runner.verdict(bug, "", "ERROR it did not run") == (False, "ERROR it did not run")
    assert runner.verdict(control, "", "")[0]
    assert not runner.verdict(control, "test_x", "")[0]
    assert not runner.verdict(control, "", "ERROR it did not run")[0]


@pytest.mark.parametrize("wrong, code", [(None, 0), (0, 1), (-1, 1)], ids=["none", "a bug", "the control"])
def test_the_exit_code_says_so(runner, monkeypatch, capsys, wrong, code):
    """One bug that no test catches, or a control that one does, is enough."""

    def run(bugs):
        tests = ["test_x"] * len(runner.BUGS) + [""]
        if wrong is not None:
            tests[wrong] = "" if tests[wrong] else "test_x"
        return [(bug, test, "") for bug, test in zip(bugs, tests, strict=True)]

    monkeypatch.setattr(runner, "run", run)
    assert runner.main() == code
    table = capsys.readouterr().out
    assert ("NOT CAUGHT" in table, " CAUGHT by" in table) == (wrong == 0, wrong == -1)
