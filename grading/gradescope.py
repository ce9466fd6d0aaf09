"""The same checks as a Gradescope autograder: Gradescope runs one submission at a time, each in a
container of its own."""

import json
import zipfile
from pathlib import Path

import nbformat

from grading import report
from grading.grade import grade

CODE = Path(__file__).resolve().parent
SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when it builds the container.
set -e
python3 -m venv /autograder/environment
/autograder/environment/bin/pip install nbgrader==0.9.6 numpy
"""
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission. GRADESCOPE and PYTHON can be set to try it elsewhere.
set -e
top="${GRADESCOPE:-/autograder}"
python="${PYTHON:-/autograder/environment/bin/python}"
cd "$top/source"
"$python" -m grading gradescope-results %s "$top/submission" "$top/results/results.json"
"""


def make_zip(course, name, target):
    """Write the autograder's zip file: our code, the course's configuration, and the instructor's
    notebook."""
    course.check_name(name)
    target = Path(target)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(CODE.glob("*.py")):
            archive.write(path, f"grading/{path.name}")
        archive.write(course.root / "nbgrader_config.py", "exercises/nbgrader_config.py")
        archive.write(course.source(name), f"exercises/source/{name}/{name}.ipynb")
        for script, text in (("setup.sh", SETUP), ("run_autograder", RUN % name)):
            about = zipfile.ZipInfo(script)
            about.external_attr = 0o755 << 16
            archive.writestr(about, text)
    return target


def write_results(course, name, inbox, target):
    """Grade the one submission in a folder and write Gradescope's results.json."""
    notebooks = sorted(Path(inbox).rglob("*.ipynb"))
    if len(notebooks) != 1:
        text = f"{len(notebooks)} notebooks were handed in: hand in one, {name}.ipynb."
        Path(target).write_text(json.dumps({"score": 0, "output": text, "tests": []}))
        return
    ((student, row),) = grade(course, name, inbox).items()
    Path(target).write_text(json.dumps(results(course, name, student, row), indent=1))


def results(course, name, student, row):
    """One row of the table in Gradescope's form. A written answer counts 0 until a person has read it."""
    if row["status"] == report.NOT_GRADED:
        return {"score": 0, "output": row["notes"], "tests": []}
    tests = []
    for cell in nbformat.read(course.autograded(student, name), 4).cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("grade"):
            errors = [
                output.evalue or output.ename
                for output in cell.get("outputs", [])
                if output.output_type == "error"
            ]
            by_hand = "read by a person" if mark.get("solution") else ""
            tests.append(
                {
                    "name": mark["grade_id"],
                    "score": float(row.get(mark["grade_id"]) or 0),
                    "max_score": float(mark["points"]),
                    "output": errors[0] if errors else by_hand,
                }
            )
    return {"score": float(row["score"]), "output": row["notes"], "tests": tests}
