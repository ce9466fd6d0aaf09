"""The whole cycle with the real nbgrader and the real sandbox: what each kind of submission gets, all in one class."""

import copy
import csv
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing

import nbformat
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("sandbox_there")]
FULL, QUICK = 15, "\nc.SandboxExecute.cell_seconds = 3\nc.SandboxExecute.total_seconds = 60\n"
BY_HAND, GRADED, NOT_GRADED = "needs manual grading", "graded", "NOT GRADED"
STUBBORN = """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass"""
PATCHES = """
np.allclose = lambda *a, **k: True
np.isfinite = lambda a: np.ones(1, dtype=bool)
np.testing.assert_allclose = lambda *a, **k: None
import builtins
builtins.abs = lambda x: 0.0
builtins.float = lambda x=0: 1.0
abs = builtins.abs
class Fake:
    def __getattr__(self, name):
        return lambda *a, **k: True
get_ipython().ast_transformers.append(None)"""


def after(notebook, cell_id, code):
    """Code at the end of a cell, outside of the function."""
    cell = next(cell for cell in notebook.cells if cell.id == cell_id)
    cell.source += "\n" + code
    return notebook


def without(notebook, drop):
    notebook.cells = [cell for cell in notebook.cells if not drop(cell)]
    return notebook


def is_check(cell):
    return cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")


def rewritten(notebook):
    for cell in notebook.cells:
        if is_check(cell):
            cell.source = "100.0"
            cell.metadata["nbgrader"]["points"] = 100
    return notebook


def doubled(notebook, cell_id, first="", second=None):
    place = next(i for i, cell in enumerate(notebook.cells) if cell.id == cell_id)
    twin = copy.deepcopy(notebook.cells[place])
    twin.source, twin["id"] = first or twin.source, "a-twin"
    if second is not None:
        notebook.cells[place].source = second
    notebook.cells.insert(place, twin)
    return notebook


def bare(notebook, keep_ids):
    for cell in notebook.cells:
        cell.metadata.clear()
        if not keep_ids:
            del cell["id"]
    notebook["nbformat_minor"] = 5 if keep_ids else 4
    return notebook


def kernel(notebook, name, language):
    notebook.metadata["kernelspec"] = {"name": name, "display_name": name, "language": language}
    notebook.metadata["language_info"] = {"name": language}
    return notebook


def own_cell(notebook, text):
    return without(notebook, lambda cell: cell.id == "why") | {
        "cells": [*without(notebook, lambda cell: cell.id == "why").cells, nbformat.v4.new_markdown_cell(text)]
    }


def submissions(bench, course):
    """Who hands in what, with the score, the status and the words that the row must have. None: nothing is scored."""
    solved = lambda **changes: bench.solved("lookup", **changes)  # noqa: E731
    peek = f"""
import glob, json
for folder in ("../source", "../../source", "../../../source", {str(course / "exercises" / "source")!r}):
    for path in glob.glob(folder + "/lookup/*.ipynb"):
        for cell in json.load(open(path))["cells"]:
            if cell["cell_type"] == "code" and "def " in "".join(cell["source"]):
                exec("".join(cell["source"]))"""
    hack = f"""
import glob, sqlite3
for path in (*glob.glob("../**/gradebook.db", recursive=True), {str(course / "exercises" / "gradebook.db")!r}):
    base = sqlite3.connect(path)
    base.execute("update grade set manual_score = 1000")
    base.commit()"""
    return {
        "perfect": (solved(), FULL, BY_HAND, ""),
        "untouched": (bench.released("lookup"), 0, GRADED, ""),
        "one-mistake": (solved(share="e = np.exp(scores); return e / e.sum()"), FULL - 1, BY_HAND, ""),
        # what stops plain nbgrader
        "endless": (solved(match="while True: pass"), FULL - 3, BY_HAND, "match-dot ran longer than 3"),
        "stubborn": (after(solved(), "match", STUBBORN), FULL - 3, BY_HAND, "match was left out: it could not be stopped"),
        "exits": (after(solved(), "match", "import os; os._exit(0)"), FULL - 3, BY_HAND, "match was left out: it ended"),
        "exits-later": (solved(blend="import os; os._exit(0)"), FULL - 2, BY_HAND, "blend-all was left out: it ended"),
        "memory": (solved(match="x = np.ones(750_000_000); return keys @ query"), FULL - 3, BY_HAND, ""),
        "forks": (after(solved(), "match", "import os\nwhile True: os.fork()"), FULL, BY_HAND, ""),
        "fills-disk": (solved(match="open('x', 'wb').write(b'x' * 10**8); return keys @ query"), FULL - 3, BY_HAND, ""),
        "chatty": (after(solved(), "match", "for i in range(200_000): print('x' * 100)"), FULL, BY_HAND, ""),
        "asks": (after(solved(), "match", "input('name? ')"), FULL, BY_HAND, ""),
        "syntax-error": (solved(match="return (keys @ query"), FULL - 3, BY_HAND, ""),
        # what fools it
        "deleted-checks": (without(solved(), is_check), FULL, BY_HAND, ""),
        "rewritten-checks": (rewritten(solved(share="return scores")), FULL - 2, BY_HAND, ""),
        "doubled": (doubled(solved(), "match"), FULL, BY_HAND, "handed in as 2 cells"),
        "split": (
            doubled(solved(), "blend", first="def helper(a, b):\n    return a @ b", second="def blend(w, v):\n    return helper(w, v)"),
            FULL, BY_HAND, "handed in as 2 cells",
        ),
        "marks-lost": (bare(solved(), keep_ids=True), FULL, BY_HAND, "grading marks were missing"),
        "all-marks-lost": (bare(solved(), keep_ids=False), FULL, BY_HAND, "grading marks were missing"),
        "answer-elsewhere": (own_cell(solved(), "It asks for a thing."), FULL, BY_HAND, "was found in a cell of the student's own"),
        "no-answer": (without(solved(), lambda cell: cell.id == "match"), FULL - 3, BY_HAND, "no cell for the answer match"),
        "warns": (solved(match="np.log(np.zeros(1)); import sys; print('!', file=sys.stderr); return keys @ query"), FULL, BY_HAND, ""),
        "patches": (after(solved(share="return scores", match="return -(keys @ query)"), "share", PATCHES), FULL - 4, BY_HAND, ""),
        "awards-itself": (solved(share="get_ipython().display_pub.publish({'text/plain': '100'}); print(100); return scores"), FULL - 2, BY_HAND, ""),
        "imports-lib": (solved(share="from lib.attention import softmax; return softmax(scores)"), FULL - 4, BY_HAND, ""),
        # what reaches out
        "peeks": (after(solved(match=None, share=None, blend=None, roles=None), "match", peek), 0, BY_HAND, ""),
        "hacks": (after(solved(share="return scores"), "share", hack), FULL - 2, BY_HAND, ""),
        "networks": (solved(match="import urllib.request as u; u.urlopen('http://127.0.0.1', timeout=2); return keys @ query"), FULL - 3, BY_HAND, ""),
        "scripts": (
            after(solved(why="<script>alert('why')</script> because"), "match",
                  "from IPython.display import HTML, display\ndisplay(HTML(\"<script>alert('out')</script>\"))\nprint(\"<script>alert('p')</script>\")"),
            FULL, BY_HAND, "",
        ),
        # what is no proper notebook
        "other-kernel": (kernel(solved(), "conda-env-mine-py", "python"), FULL, BY_HAND, "conda-env-mine-py"),
        "in-r": (kernel(solved(), "ir", "R"), None, NOT_GRADED, "written for R"),
        "not-json": ("{this is not json", None, NOT_GRADED, "it is not JSON"),
        "empty-file": ("", None, NOT_GRADED, "it is empty"),
        "not-cells": ("[1, 2]", None, NOT_GRADED, "holds no cells"),
        "deep": ("[" * 100_000, None, NOT_GRADED, "not a notebook"),
        "other-assignment": (bench.solved("scaling"), None, NOT_GRADED, "does not look like lookup"),
    }


@pytest.fixture(scope="session")
def graded(bench, tmp_path_factory):
    """The course after one run of the command on the whole class."""
    course = bench.copy_course(tmp_path_factory.mktemp("course"), QUICK)
    class_ = submissions(bench, course)
    for student, (notebook, *_) in class_.items():
        bench.save(notebook, course / "inbox" / student / "lookup.ipynb")
    bench.save(bench.solved("lookup"), course / "inbox" / "renamed" / "lookup (1).ipynb")
    (course / "inbox" / "linked").mkdir()
    (course / "inbox" / "linked" / "lookup.ipynb").symlink_to(course / "exercises" / "source" / "lookup" / "lookup.ipynb")
    bench.save("my homework", course / "inbox" / "no-notebook" / "answers.docx")
    before = {path: path.read_bytes() for path in (course / "inbox").rglob("*") if path.is_file()}
    done = bench.command(course, "grade", "lookup", "inbox")
    return course, class_, table(course), done, before


def table(course, name="lookup"):
    with open(course / "exercises" / f"grades-{name}.csv", newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_command_worked_and_says_that_somebody_needs_a_look(graded):
    _, _, rows, done, _ = graded
    assert done.returncode == 1, done.stderr
    assert "Submitted code runs in a sandbox" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert f"[{len(rows)}/{len(rows)}]" in done.stdout
    assert "NOT GRADED: not-json: not a notebook: it is not JSON" in done.stdout


def test_every_kind_of_submission_gets_exactly_its_row(graded):
    _, class_, rows, _, _ = graded
    got = {who: (rows[who]["score"], rows[who]["status"]) for who in class_}
    assert got == {who: ("" if score is None else str(score), status) for who, (_, score, status, _) in class_.items()}
    unsaid = {who: rows[who]["notes"] for who, (*_, says) in class_.items() if says not in rows[who]["notes"]}
    assert not unsaid


def test_the_others_are_told_what_was_wrong_with_the_file(graded):
    _, _, rows, _, _ = graded
    assert rows["renamed"]["score"] == str(FULL) and "handed in as 'lookup (1).ipynb'" in rows["renamed"]["notes"]
    assert rows["linked"]["status"] == NOT_GRADED and "it is a link" in rows["linked"]["notes"]
    assert rows["no-notebook"]["status"] == NOT_GRADED and "no notebook: answers.docx" in rows["no-notebook"]["notes"]


def test_only_the_question_with_the_fault_loses_points(graded):
    _, _, rows, _, _ = graded
    for who, question in {"endless": "match", "stubborn": "match", "exits": "match", "exits-later": "blend", "memory": "match",
                          "syntax-error": "match", "rewritten-checks": "share", "imports-lib": "share", "hacks": "share"}.items():
        lost = {check for check, points in rows[who].items() if points == "0" and "-" in check}
        assert lost and all(check.startswith(question + "-") for check in lost), (who, lost)


def test_patched_numpy_hides_no_mistake(graded):
    row = graded[2]["patches"]
    assert row["share-sum"] == row["share-ratio"] == row["match-dot"] == row["match-sign"] == "0"
    assert row["blend-all"] == "1"


def test_the_gradebook_was_not_reached(graded):
    course, _, rows, _, _ = graded
    assert all(float(row["score"]) <= FULL for row in rows.values() if row["score"])
    with closing(sqlite3.connect(course / "exercises" / "gradebook.db")) as base:
        assert base.execute("select count(*) from grade where manual_score is not null").fetchone() == (0,)


def test_nothing_that_was_handed_in_is_lost_or_changed(graded):
    course, class_, _, _, before = graded
    assert before == {path: path.read_bytes() for path in (course / "inbox").rglob("*") if path.is_file()}
    for student in class_:
        kept = [path.read_bytes() for path in (course / "exercises" / "received" / "lookup" / student).iterdir()]
        assert kept == [before[course / "inbox" / student / "lookup.ipynb"]]


def feedback(course, student):
    return (course / "exercises" / "feedback" / student / "lookup" / "lookup.html").read_text(encoding="utf-8")


def test_feedback_says_what_is_wrong_and_hides_the_hidden_tests(graded, bench):
    from grading import leaks

    course, class_, rows, _, _ = graded
    assert "subtract the largest score from all of them first" in " ".join(feedback(course, "one-mistake").split())
    hidden = leaks.secrets(course / "exercises" / "source" / "lookup" / "lookup.ipynb").others
    for student in rows:
        if rows[student]["status"] != NOT_GRADED:
            text = re.sub(r"<[^>]+>", "", feedback(course, student)).replace("&quot;", '"').replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")
            assert not leaks.shown(text, hidden), student


def test_a_feedback_page_asks_no_other_host(graded):
    page = feedback(graded[0], "one-mistake")
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//[^"']+""", page)


def test_no_script_of_a_student_is_in_a_feedback_page(graded):
    page = feedback(graded[0], "scripts")
    assert "because" in page
    assert not re.search(r"<script>alert", page)


def test_feedback_begins_with_the_graders_notes(graded):
    assert "match was left out" in feedback(graded[0], "exits")


def test_a_late_student_disturbs_no_other_row_and_a_second_run_changes_nothing_graded_by_hand(graded, bench, tmp_path):
    from grading.course import Course

    course, _, rows, _, _ = graded
    home = Course(course / "exercises")
    with home.gradebook() as book:
        grade = next(g for g in book.find_submission("lookup", "perfect").notebooks[0].grades if g.name == "why")
        grade.manual_score, grade.needs_manual_grade = 4.5, False
        grade = next(g for g in book.find_submission("lookup", "one-mistake").notebooks[0].grades if g.name == "share-large")
        grade.manual_score, grade.needs_manual_grade = 0.5, False
        book.db.commit()
    bench.save(bench.solved("lookup"), tmp_path / "late.ipynb")
    bench.save(bench.solved("lookup"), tmp_path / "perfect.ipynb")
    bench.save(bench.solved("lookup", share="e = np.exp(scores); return e / e.sum()"), tmp_path / "one-mistake.ipynb")
    done = bench.command(course, "grade", "lookup", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    now = table(course)
    assert now.pop("late")["score"] == str(FULL)
    assert (now["perfect"]["score"], now["perfect"]["status"]) == ("19.5", GRADED)
    assert (now["one-mistake"]["score"], now["one-mistake"]["share-large"]) == ("14.5", "0.5")
    untouched = set(rows) - {"perfect", "one-mistake"}
    assert {who: now[who] for who in untouched} == {who: rows[who] for who in untouched}

    # another written answer has to be read again, and the points stand until then
    bench.save(bench.solved("lookup", why="Something else."), tmp_path / "perfect.ipynb")
    bench.command(course, "grade", "lookup", tmp_path)
    again = table(course)["perfect"]
    assert (again["status"], again["why"]) == (BY_HAND, "4.5")
    assert len(list((course / "exercises" / "received" / "lookup" / "perfect").iterdir())) >= 2


def test_the_table_after_grading_by_hand_runs_nothing(graded, bench):
    from grading.course import Course

    course = graded[0]
    with Course(course / "exercises").gradebook() as book:
        grade = next(g for g in book.find_submission("lookup", "warns").notebooks[0].grades if g.name == "why")
        grade.manual_score, grade.needs_manual_grade = 5.0, False
        book.db.commit()
    ran = (course / "exercises" / "autograded" / "warns" / "lookup" / "lookup.ipynb").stat().st_mtime_ns
    done = bench.command(course, "table", "lookup")
    row = table(course)["warns"]
    assert (row["score"], row["status"]) == ("20", GRADED), done.stderr
    assert table(course)["not-json"]["status"] == NOT_GRADED and done.returncode == 1
    assert ran == (course / "exercises" / "autograded" / "warns" / "lookup" / "lookup.ipynb").stat().st_mtime_ns


def test_exports_fill_one_column_and_leave_the_rest(graded, bench):
    course = graded[0]
    (course / "canvas.csv").write_text(
        'Student,ID,SIS Login ID,Section,Lookup (1),Other\n"    Points Possible",,,,20,5\n"Doe, Jo",1,untouched,A,,3\nNobody,2,nobody,A,7,4\n'
    )
    done = bench.command(course, "export", "lookup", "canvas", "canvas.csv", "Lookup (1)", "out.csv")
    with open(course / "out.csv", newline="") as file:
        got = {row["SIS Login ID"]: (row["Lookup (1)"], row["Other"]) for row in csv.DictReader(file)}
    assert got == {"": ("20", "5"), "untouched": ("0", "3"), "nobody": ("7", "4")}, done.stderr
    missing = bench.command(course, "export", "lookup", "moodle", "canvas.csv", "Grade", "out2.csv")
    assert missing.returncode == 2 and "no column 'Grade'" in missing.stderr and "Traceback" not in missing.stderr


def test_plain_nbgrader_works_on_the_same_folder(graded):
    course = graded[0]
    script = [sys.executable, "-W", "ignore", "-m", "nbgrader", "autograde", "lookup", "--student=exits", "--force"]
    bare_path = os.environ | {"PATH": "/usr/bin:/bin"}  # no environment is activated: alembic is not on the path
    done = subprocess.run(script, cwd=course / "exercises", capture_output=True, text=True, env=bare_path)
    assert done.returncode == 0, done.stderr[-2000:]
    ran = json.loads((course / "exercises" / "autograded" / "exits" / "lookup" / "lookup.ipynb").read_text())
    assert "match was left out" in str(ran["metadata"])


def fetch(server, address):
    """The page at an address, as soon as the server is up; an error if it is not up within two minutes, or dies."""
    give_up = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(address) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError:
            raise
        except urllib.error.URLError:  # not up yet
            assert server.poll() is None and time.monotonic() < give_up
            time.sleep(0.2)


def test_the_grading_page_shows_a_submission_and_runs_no_script_of_a_student(graded):
    from grading.course import Course

    course = graded[0] / "exercises"
    with Course(course).gradebook() as book:
        submission = book.find_submission_notebook("lookup", "lookup", "scripts").id
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--port={port}", "--port-retries=0", "--no-browser", "--allow-root", "--IdentityProvider.token=t"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "jupyterlab", *options], cwd=course, **quiet)
    try:
        assignment = json.loads(fetch(server, f"http://127.0.0.1:{port}/formgrader/api/assignment/lookup?token=t"))
        page = fetch(server, f"http://127.0.0.1:{port}/formgrader/submissions/{submission}/?token=t")
    finally:
        server.terminate()
        server.wait()
    assert (assignment["max_score"], assignment["max_written_score"]) == (20, 5)
    assert "because" in page and "keys @ query" in re.sub(r"<[^>]+>", "", page)
    assert not re.search(r"<script>\s*alert", page)
