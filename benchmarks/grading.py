"""How long a class takes, against plain nbgrader on the same perfect submissions, and how much memory.

    python benchmarks/grading.py [STUDENTS]

Both make grades and feedback pages, each in a fresh copy of the course, one after the other in one run.
The figures are seconds of wall time, seconds of processor time with all child processes, and the largest
memory of the main process.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def bench():
    """The helpers of the tests, loaded by their path."""
    spec = importlib.util.spec_from_file_location("bench", REPOSITORY / "tests" / "grading" / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Bench


def measure(folder, *commands):
    """Run commands in a folder; return seconds, processor seconds, and megabytes of the largest main
    process."""
    started, before, most = time.perf_counter(), os.times(), 0
    for command in commands:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", *command],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, f"{command} failed in {folder}"
        most = max(most, usage.ru_maxrss // 1024)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, used, most


def plain(folder, helpers, students):
    """nbgrader as it comes: no sandbox, no step of ours. The submissions are already where it looks."""
    (folder / "exercises").mkdir()
    (folder / "exercises" / "nbgrader_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "plain"\n'
    )
    for place in ("source", "submitted"):
        names = ["."] if place == "source" else students
        for name in names:
            notebook = helpers.source("lookup") if place == "source" else helpers.solved("lookup")
            helpers.save(notebook, folder / "exercises" / place / name / "lookup" / "lookup.ipynb")
    root = folder / "exercises"
    measure(root, ["nbgrader", "generate_assignment", "lookup"])
    return measure(
        root,
        ["nbgrader", "autograde", "lookup"],
        ["nbgrader", "generate_feedback", "lookup"],
        ["nbgrader", "export"],
    )


def ours(folder, helpers, students):
    """The command of this course, sandbox and all."""
    helpers.copy_course(folder)
    for name in students:
        helpers.save(helpers.solved("lookup"), folder / "inbox" / f"{name}.ipynb")
    measure(folder, ["grading", "release", "lookup"])
    return measure(folder, ["grading", "grade", "lookup", "inbox"])


def main():
    """Measure both and print the ratio."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    students, helpers = [f"student-{number:03}" for number in range(count)], bench()
    os.environ["PATH"] = os.pathsep.join(
        [os.path.dirname(sys.executable), os.environ["PATH"]]
    )  # plain nbgrader needs it
    results = {}
    for name, way in (("plain nbgrader", plain), ("this course", ours)):
        with tempfile.TemporaryDirectory() as folder:
            results[name] = seconds, used, memory = way(Path(folder), helpers, students)
        print(
            f"{name:15} {count} students: {seconds:6.1f} s, {used:6.1f} s of processor time, {memory} MB",
            flush=True,
        )
    (slow, busy, _), (mine, mine_busy, _) = results.values()
    print(f"ratio: {mine / slow:.2f} of the time, {mine_busy / busy:.2f} of the processor time")


if __name__ == "__main__":
    main()
