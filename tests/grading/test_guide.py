"""The guide for instructors: its commands exist, its template works, its ways in and out of the platforms work."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile

import pytest

from grading.__main__ import parser

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("sandbox_there")]


@pytest.fixture(scope="module")
def page(bench):
    return (bench.repository / "guide" / "instructors.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def course(bench, tmp_path_factory):
    return bench.copy_course(tmp_path_factory.mktemp("guide"))


def table(course, name):
    with open(course / "exercises" / f"grades-{name}.csv", newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_every_command_in_the_guide_exists(page):
    commands = re.findall(r"python -m grading ([^`\n]*)", page)
    assert len(commands) >= 8
    for command in commands:
        parser().parse_args(shlex.split(command))
    with pytest.raises(SystemExit):
        parser().parse_args(["grade", "lookup"])


def test_the_table_of_assignments_is_true(bench, page):
    for name in bench.assignments:
        source = bench.source(name)
        points = sum(bench.mark(cell).get("points", 0) for cell in source.cells)
        written = next(bench.mark(cell)["points"] for cell in source.cells if bench.mark(cell).get("grade") and cell.cell_type == "markdown")
        minutes = re.search(r"About (\d+) minutes", source.cells[0].source).group(1)
        assert re.search(rf"`{name}` \| \d \| {minutes} minutes \| {points}, {written} ", page), name


def test_settings_and_limits_that_the_guide_names_are_real(page):
    from grading.plugins import SandboxExecute
    from grading.sandbox import Limits

    for setting in re.findall(r"c\.SandboxExecute\.(\w+) =", page):
        assert setting in SandboxExecute.class_trait_names(config=True)
    limits = Limits()
    assert (limits.cell_seconds, limits.total_seconds, limits.memory_mb, limits.folder_mb) == (10, 60, 2048, 64)
    assert SandboxExecute().limits == limits


def test_the_template_is_a_whole_assignment(bench, course):
    """Copied, released, and graded as the guide says: the right answer, a wrong one, and an untouched notebook."""
    name = "template-assignment"
    template = (bench.repository / "guide" / f"{name}.ipynb").read_text(encoding="utf-8")
    bench.save(template, course / "exercises" / "source" / name / f"{name}.ipynb")
    done = bench.command(course, "release", name)
    assert done.returncode == 0, done.stderr
    released = (course / "exercises" / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    stub = r'raise NotImplementedError(\"Replace this line with your answer.\")'
    assert stub in released
    for student, answer in {"right": "return weights.sum(axis=-1)", "wrong": "return weights.sum(axis=0)", "untouched": stub}.items():
        bench.save(released.replace(stub, answer), course / "in" / f"{student}.ipynb")
    done = bench.command(course, "grade", name, "in")
    rows = table(course, name)
    assert done.returncode == 0, done.stdout
    assert {who: (row["total-form"], row["total-axis"]) for who, row in rows.items()} == {
        "right": ("1", "1"), "wrong": ("1", "0"), "untouched": ("0", "0"),
    }  # fmt: skip


def test_moodle_there_and_back(bench, course):
    inbox = course / "moodle.zip"
    with zipfile.ZipFile(inbox, "w") as archive:
        for number, name in ((101, "Jo Doe"), (102, "Ann Roe")):
            archive.writestr(f"{name}_{number}_assignsubmission_file_/lookup.ipynb", json.dumps(bench.solved("lookup", why=None)))
    done = bench.command(course, "grade", "lookup", inbox)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(course / "exercises" / "return-lookup.zip") as archive:
        assert sorted(archive.namelist()) == [
            "Ann Roe_102_assignsubmission_file_/lookup.html", "Jo Doe_101_assignsubmission_file_/lookup.html",
        ]  # fmt: skip
    (course / "worksheet.csv").write_text("Identifier,Full name,Grade,Maximum Grade\nParticipant 101,Jo Doe,,20\nParticipant 103,Jim Poe,,20\n")
    done = bench.command(course, "export", "lookup", "moodle", "worksheet.csv", "Grade", "filled.csv")
    assert "1 filled in; no row for 102" in done.stdout, done.stderr
    assert (course / "filled.csv").read_text().splitlines()[1:] == ["Participant 101,Jo Doe,15,20", "Participant 103,Jim Poe,,20"]


def test_what_nbgrader_collected_can_be_graded_where_it_is(bench, course):
    for student in ("anna", "ben"):
        bench.save(bench.solved("lookup"), course / "exercises" / "submitted" / student / "lookup" / "lookup.ipynb")
        bench.save(bench.solved("masks"), course / "exercises" / "submitted" / student / "masks" / "masks.ipynb")
    before = (course / "exercises" / "submitted" / "anna" / "lookup" / "lookup.ipynb").read_bytes()
    done = bench.command(course, "grade", "lookup", "exercises/submitted")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {table(course, "lookup")[who]["score"] for who in ("anna", "ben")} == {"15"}
    assert (course / "exercises" / "submitted" / "anna" / "lookup" / "lookup.ipynb").read_bytes() == before


def test_gradescope_runs_the_same_checks(bench, course, tmp_path):
    done = bench.command(course, "gradescope", "lookup", tmp_path / "autograder.zip")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        archive.extractall(tmp_path / "source")
        assert archive.getinfo("run_autograder").external_attr >> 16 & 0o111
    (tmp_path / "results").mkdir()
    bench.save(bench.solved("lookup", share="e = np.exp(scores); return e / e.sum()"), tmp_path / "submission" / "lookup.ipynb")
    script = ["bash", str(tmp_path / "source" / "run_autograder")]
    variables = os.environ | {"GRADESCOPE": str(tmp_path), "PYTHON": sys.executable, "PYTHONPATH": ""}
    ran = subprocess.run(script, env=variables, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert results["score"] == 14
    lost = {test["name"]: test["output"] for test in results["tests"] if test["score"] == 0}
    assert set(lost) == {"share-large", "why"} and "subtract the largest score" in lost["share-large"]


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("grade", "lookup", "nowhere"), "there is no nowhere"),
        (("grade", "lokup", "in"), "there is no assignment 'lokup'"),
        (("--course", "in", "release", "lookup"), "is no course folder"),
        (("export", "masks", "canvas", "x.csv", "Grade", "y.csv"), "no final score in"),
    ],
)
def test_a_mistake_gets_one_clear_line(bench, course, arguments, says):
    (course / "in").mkdir(exist_ok=True)
    done = bench.command(course, *arguments)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
