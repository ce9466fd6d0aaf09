"""Make the student's version of an assignment, and refuse to if anything is wrong with it."""

import re

import nbformat

from grading import execute, leaks, sandbox
from grading.course import Problem
from grading.master import HIDDEN
from grading.plugins import runnable


def release(course, name):
    """Write release/NAME/NAME.ipynb and enter the assignment into the gradebook.

    Raises
    ------
    Problem: the points do not add up, the instructor's own answers fail, an untouched notebook would get
    points, or
        a solution or hidden test can be read in the student's version. The version that was there before
        stays.
    """
    course.check_name(name)
    source, target = course.source(name), course.release(name)
    _refuse(wrong_points(nbformat.read(source, 4)), name)
    _refuse(failing_checks(course, nbformat.read(source, 4)), name)
    before = target.read_bytes() if target.exists() else None
    try:
        _generate(course, name)
        _refuse(
            [f"can be read there: {line}" for line in leaks.in_notebook(target, leaks.secrets(source).all)],
            name,
        )
        _refuse(free_points(course, nbformat.read(target, 4), nbformat.read(source, 4)), name)
    except BaseException:
        if before is None:
            target.unlink(missing_ok=True)
        else:
            target.write_bytes(before)
        raise
    return target


def _refuse(problems, name):
    if problems:
        raise Problem(f"{name} is not released:\n" + "\n".join(f"  - {problem}" for problem in problems))


def _generate(course, name):
    result = course.api().generate_assignment(name, force=True, create=True)
    if result["success"]:
        return
    log = result["log"] + (result.get("error") or "")
    if "associated with it" in log:  # with submissions
        raise Problem(
            f"{name} has graded submissions, so its cells cannot be added or removed. "
            "Change words or tests inside the cells that are there, or give the changed assignment "
            "a new name. Nothing was changed."
        )
    raise Problem(f"nbgrader could not make the student's version of {name}:\n{log[-1500:]}")


def wrong_points(source):
    """Compare the points that the headings state with those of the cells below them, and the total."""
    problems, stated, counted, heading = [], 0, 0, None
    total = sum(_points(cell) for cell in source.cells)
    said = re.search(r"(\d+) points", source.cells[0].source)
    if not said or int(said.group(1)) != total:
        problems.append(f'the first cell should say "{total:g} points", the sum of all cells')
    for cell in [*source.cells, None]:
        match = (
            re.search(r"^## (.*) \((\d+) points?\)", cell.source, re.M)
            if cell and cell.cell_type == "markdown"
            else None
        )
        if match or cell is None:
            if heading and stated != counted:
                problems.append(f'"{heading}" says {stated} points, its cells have {counted:g}')
            if match:
                heading, stated, counted = match.group(1), int(match.group(2)), 0
        if cell is not None:
            counted += _points(cell)
    return problems


def _points(cell):
    return cell.metadata.get("nbgrader", {}).get("points", 0)


def failing_checks(course, source):
    """Run the instructor's own notebook: every check must pass."""
    return [
        f"the instructor's own answer fails {name}: {message}"
        for name, message in _run(course, source).items()
        if message
    ]


def free_points(course, released, source):
    """Run an untouched student's version with the hidden tests in it: every check must fail."""
    tests = {
        cell.metadata.nbgrader["grade_id"]: cell.source
        for cell in source.cells
        if "nbgrader" in cell.metadata
    }
    for cell in released.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("grade") and not mark.get("solution") and HIDDEN.search(tests[mark["grade_id"]]):
            cell.source = tests[mark["grade_id"]]
    return [
        f"an untouched notebook passes {name}"
        for name, message in _run(course, released).items()
        if not message
    ]


def _run(course, notebook):
    """Each check's name and its message, which is empty if it passed."""
    _, cells = runnable(notebook)
    run = execute.run(cells, course.root, sandbox.Limits(), sandbox.missing() is None)
    return {
        cell.name: outputs[-1]["evalue"] or outputs[-1]["ename"]
        if outputs and outputs[-1]["output_type"] == "error"
        else ""
        for cell, outputs in zip(cells, run.outputs, strict=True)
        if cell.kind == "check"
    }
