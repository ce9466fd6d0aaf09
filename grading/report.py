"""The table of grades, the feedback pages, and what an instructor graded by hand."""

import csv
import os
import re
import zipfile
from pathlib import Path

import nbformat
from nbgrader.api import MissingEntry

from grading.graft import NOTES

FIRST = ("student", "name", "status", "score", "max_score")
MATHJAX = re.compile(r"<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->", re.DOTALL)
FORMULA = re.compile(r"\$|\\\(|\\\[|\\begin\{")  # what MathJax looks for
GRADED, BY_HAND, NOT_GRADED = "graded", "needs manual grading", "NOT GRADED"


def row_from_gradebook(course, name, student):
    """A student's row: status, score, and the points of each check."""
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission(name, student)
        row = {
            "status": BY_HAND if submission.needs_manual_grade else GRADED,
            "score": f"{submission.score:g}",
            "max_score": f"{submission.max_score:g}",
        }
        for notebook in submission.notebooks:
            for grade in sorted(notebook.grades, key=lambda grade: grade.name):
                known = grade.manual_score is not None or grade.auto_score is not None
                row[grade.name] = f"{grade.score:g}" if known else ""
    return row


def grader_notes(course, name, student):
    """What the grader noted about a submission while it ran."""
    return list(nbformat.read(course.autograded(student, name), 4).metadata.get(NOTES, []))


def write_feedback(course, api, name, student):
    """Make the student's feedback page; return an empty string, or what went wrong."""
    result = api.generate_feedback(name, student, force=True)
    if not result["success"]:
        return last_error(result)
    page = course.feedback(student, name)
    page.write_text(without_idle_mathjax(page.read_text(encoding="utf-8")), encoding="utf-8")
    return ""


def without_idle_mathjax(page):
    """Return a page without nbgrader's MathJax, if it has no formula: MathJax is loaded from another host.

    >>> head = "<!-- Load mathjax --><script>$</script><!-- End of mathjax configuration -->"
    >>> without_idle_mathjax(f"{head}<p>no formula</p>")
    '<p>no formula</p>'
    >>> without_idle_mathjax(f"{head}<p>$x$</p>") == f"{head}<p>$x$</p>"
    True
    """
    without = MATHJAX.sub("", page)
    text = re.sub(r"<(script|style)\b.*?</\1>", "", without, flags=re.DOTALL)
    return page if FORMULA.search(text) else without


def last_error(result):
    """The last line of nbgrader's log that names an error; its own "see above" is none."""
    lines = [
        line.strip()
        for line in (result["log"] + "\n" + (result.get("error") or "")).splitlines()
        if line.strip()
    ]
    named = [
        line
        for line in lines
        if re.match(r"[\w.]+(Error|Exception|NoStart): ", line) and "NbGraderException" not in line
    ]
    return (named or lines or ["unknown error"])[-1][:300]


def read_table(course, name):
    """The rows of an earlier run, by student."""
    path = course.table(name)
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def write_table(course, name, rows):
    """Write the table, ordered by student; the old one is replaced in one step."""
    rows = [rows[student] for student in sorted(rows)]
    checks = dict.fromkeys(column for row in rows for column in row if column not in (*FIRST, "notes"))
    temporary = course.table(name).with_suffix(".new")
    with open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*FIRST, *checks, "notes"], restval="")
        writer.writeheader()
        writer.writerows({column: _no_formula(value) for column, value in row.items()} for row in rows)
    os.replace(temporary, course.table(name))


def _no_formula(value):
    """A text that a spreadsheet would take for a formula gets an apostrophe in front; a student chose it."""
    return f"'{value}" if str(value)[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def write_returns(course, name, hand_ins):
    """Pack the feedback pages under the names that the platform gave, so that it can take them back.
    Return the path."""
    path = course.root / f"return-{name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for hand_in in hand_ins:
            page = course.feedback(hand_in.student, name)
            if hand_in.chosen and page.exists():
                archive.write(page, str(Path(hand_in.chosen.path).with_suffix(".html")))
    return path


class ByHand:
    """What was graded by hand in one submission, taken before it runs again and put back after.

    nbgrader keeps the points but asks for them to be confirmed. Where the answer is still the same, that
    is not needed.
    """

    def __init__(self, course, name, student):
        """Take down what is confirmed now."""
        self.course, self.name, self.student = course, name, student
        self.answers, self.confirmed = self._answers(), set()
        with course.gradebook() as gradebook:
            try:
                submission = gradebook.find_submission(name, student)
            except MissingEntry:
                return
            self.confirmed = {
                grade.name
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.manual_score is not None and not grade.needs_manual_grade
            }

    def _answers(self):
        path = self.course.autograded(self.student, self.name)
        if not path.exists():
            return {}
        marked = ((cell, cell.metadata.get("nbgrader", {})) for cell in nbformat.read(path, 4).cells)
        return {mark["grade_id"]: cell.source for cell, mark in marked if mark.get("solution")}

    def put_back(self):
        """Confirm again what had been confirmed, wherever the answer did not change."""
        if not self.confirmed:
            return
        now = self._answers()
        with self.course.gradebook() as gradebook:
            for notebook in gradebook.find_submission(self.name, self.student).notebooks:
                for grade in notebook.grades:
                    same = (
                        now == self.answers
                        if grade.name not in now
                        else now[grade.name] == self.answers.get(grade.name)
                    )
                    if grade.name in self.confirmed and same:
                        grade.needs_manual_grade = False
            gradebook.db.commit()
