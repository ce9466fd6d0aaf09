"""From an inbox to grades: one row and one feedback page for each student, whatever was handed in."""

import shutil
import sys
from collections import Counter
from pathlib import Path

import nbformat

from grading import ahead, report, sandbox
from grading.collect import Unreadable, collect
from grading.course import Problem
from grading.graft import graft
from grading.inbox import read_inbox
from grading.master import read_master
from grading.plugins import UNSAFE, SandboxExecute, runnable
from grading.release import release


def grade(course, name, inbox, *, ask=input):
    """Grade everybody in the inbox, and return their rows.

    The rows of students who are not in the inbox stay in the table as they were, and so does what was
    graded by hand.
    """
    course.check_name(name)
    api = course.api()
    settings = SandboxExecute(config=api.config)
    sandboxed = _tell_about_sandbox(settings, ask)
    if not course.is_released(name):
        release(course, name)
    master = read_master(course.db_url, name, name)
    hand_ins = _hand_ins(course, name, inbox)
    problems = _collect_all(course, name, hand_ins, master)
    rows = {}
    jobs = (
        (hand_in.student, _cells(course, name, hand_in.student, master))
        for hand_in in hand_ins
        if sandboxed and hand_in.student not in problems
    )
    try:
        with ahead.running(jobs, settings.limits) as advance:
            for number, hand_in in enumerate(hand_ins, start=1):
                if hand_in.student not in problems:
                    advance()
                row = _row(course, api, name, hand_in, problems.get(hand_in.student))
                if not sandboxed:
                    row["notes"] = "; ".join(dict.fromkeys([UNSAFE, *filter(None, row["notes"].split("; "))]))
                rows[hand_in.student] = row
                _say(number, len(hand_ins), row)
    finally:  # also when the instructor stops it half-way
        report.write_table(course, name, report.read_table(course, name) | rows)
    returns = report.write_returns(course, name, hand_ins) if Path(inbox).is_file() else None
    _summary(course, name, rows, returns)
    return rows


def regrade_table(course, name):
    """Write the table and the feedback pages anew from the gradebook, after grading by hand. Nothing runs."""
    course.check_name(name)
    api, rows = course.api(), report.read_table(course, name)
    with course.gradebook() as gradebook:
        students = [submission.student.id for submission in gradebook.assignment_submissions(name)]
    for student in students:
        old = rows.get(student, {"student": student, "name": "", "notes": ""})
        problem = report.write_feedback(course, api, name, student)
        kept = {column: old[column] for column in ("student", "name", "notes")}
        if old.get("status") != report.NOT_GRADED:
            rows[student] = kept | report.row_from_gradebook(course, name, student)
        if problem:
            rows[student]["notes"] += f"; feedback page: {problem}"
    report.write_table(course, name, rows)
    _summary(course, name, rows, None)
    return rows


def _tell_about_sandbox(settings, ask):
    """Say before anything runs whether there is a sandbox, and how to get one."""
    if settings.sandboxed:
        print(
            "Submitted code runs in a sandbox: no network, no home, no course folder, "
            "limited time and memory."
        )
        return True
    reason = sandbox.missing() or "it is switched off in nbgrader_config.py"
    print(
        f"WARNING: no sandbox, {reason}.\nSubmitted code will run with your rights: "
        "it can read your files, use your network and "
        f"change the gradebook.\nEach row will say so.\n{sandbox.HOW_TO_GET_ONE}\n",
        flush=True,
    )
    if sys.stdin.isatty() and ask("Grade without a sandbox? [y/N] ").strip().lower() not in ("y", "yes"):
        raise Problem("nothing was graded")
    return False


def _hand_ins(course, name, inbox):
    hand_ins = read_inbox(inbox, name)
    if (
        Path(inbox).resolve() == (course.root / "submitted").resolve()
    ):  # what `nbgrader collect` brought: all assignments
        for hand_in in hand_ins:
            hand_in.entries = [entry for entry in hand_in.entries if entry.parts[1:2] == (name,)]
        hand_ins = [hand_in for hand_in in hand_ins if hand_in.entries]
    if not hand_ins:
        raise Problem(f"nothing was handed in: {inbox} is empty")
    return hand_ins


def _collect_all(course, name, hand_ins, master):
    """Store all notebooks first, and return the reasons of those that cannot be graded."""
    problems = {}
    for hand_in in hand_ins:
        try:
            collect(course, name, hand_in, master)
        except Unreadable as problem:
            problems[hand_in.student] = str(problem)
    return problems


def _cells(course, name, student, master):
    submission = nbformat.read(course.submitted(student, name), 4)
    return runnable(graft(submission, master))[1]


def _row(course, api, name, hand_in, problem):
    """Grade one student. Whatever goes wrong costs this row and no other."""
    row = {"student": hand_in.student, "name": hand_in.name, "status": report.NOT_GRADED}
    notes = list(hand_in.notes)
    if problem:
        return row | {"notes": "; ".join([problem, *notes])}
    by_hand = report.ByHand(course, name, hand_in.student)
    try:
        result = api.autograde(name, hand_in.student, force=True, create=True)
        if result["success"]:
            by_hand.put_back()
            notes += report.grader_notes(course, name, hand_in.student)
            problem = report.write_feedback(course, api, name, hand_in.student)
            row |= report.row_from_gradebook(course, name, hand_in.student)
            notes += [f"feedback page: {problem}"] if problem else []
        else:
            notes.append(report.last_error(result))
            _keep_log(course, name, hand_in.student, result)
    except Exception as error:
        notes.append(f"{type(error).__name__}: {error}"[:300])
    return row | {"notes": "; ".join(notes)}


def _keep_log(course, name, student, result):
    folder = course.root / "failed"
    folder.mkdir(exist_ok=True)
    (folder / f"{student}-{name}.log").write_text(
        result["log"] + (result.get("error") or ""), encoding="utf-8"
    )


def _say(number, of, row):
    score = f"{row['score']}/{row['max_score']}" if row.get("score") else "–"
    width = max(shutil.get_terminal_size().columns, 60) if sys.stdout.isatty() else 1000
    print(
        f"[{number}/{of}] {row['student']:<20} {score:>7}  {row['status']}  {row['notes']}"[:width],
        flush=True,
    )


def _summary(course, name, rows, returns):
    counts = Counter(row["status"] for row in rows.values())
    print("\n" + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    print(f"grades:   {course.table(name)}\nfeedback: {course.root / 'feedback'}/STUDENT/{name}/{name}.html")
    if returns:
        print(f"to return: {returns}")
    if counts[report.BY_HAND]:
        print(
            "Grade the written answers on nbgrader's page (see the guide), "
            f"then: python -m grading table {name}"
        )
    if unsafe := sum(UNSAFE in row["notes"] for row in rows.values()):
        print(f"{unsafe} were graded without a sandbox.")
    for row in rows.values():
        if row["status"] == report.NOT_GRADED:
            print(f"NOT GRADED: {row['student']}: {row['notes']}")
