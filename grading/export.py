"""Fill the grades into one column of the learning platform's own table."""

import csv

from grading import report
from grading.course import Problem

# The columns in which a platform names its students, in the order in which they are tried.
KEYS = {
    "canvas": ("ID", "SIS Login ID", "SIS User ID", "Student"),
    "moodle": ("Identifier", "Username", "Email address", "ID number"),
}


def export(course, name, platform, table, column, target):
    """Copy a Canvas gradebook export or a Moodle grading worksheet with one column filled.

    Rows of students without a final score stay as they are. Return (filled in, students whose row was not
    found).
    """
    graded = {
        who: row["score"]
        for who, row in report.read_table(course, name).items()
        if row["status"] == report.GRADED
    }
    if not graded:
        raise Problem(f"no final score in {course.table(name)}: grade {name} first, the written answers, too")
    with open(table, newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        columns, rows = list(reader.fieldnames or []), list(reader)
    if column not in columns:
        raise Problem(f"{table} has no column {column!r}; it has: {', '.join(columns)}")
    filled = set()
    for row in rows:
        student = _student(row, platform, graded)
        if student:
            row[column] = graded[student]
            filled.add(student)
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    return len(filled), sorted(set(graded) - filled)


def _student(row, platform, graded):
    """Which graded student a row of the platform's table is about, or None."""
    by_name = {student.lower(): student for student in graded}
    for key in KEYS[platform]:
        value = (row.get(key) or "").strip().lower().removeprefix("participant ")
        for name in (value, value.partition("@")[0]):
            if name and name in by_name:
                return by_name[name]
    return None
