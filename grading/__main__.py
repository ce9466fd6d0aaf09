"""The command line: ``python -m grading --help``."""

import argparse
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")  # nbgrader's and nbconvert's, which say nothing to an instructor

from grading import export, leaks, report  # noqa: E402
from grading.course import HERE, Course, Problem  # noqa: E402
from grading.grade import grade, regrade_table  # noqa: E402
from grading.gradescope import make_zip, write_results  # noqa: E402
from grading.release import release  # noqa: E402


def parser():
    """The commands and their arguments."""
    top = argparse.ArgumentParser(
        prog="python -m grading",
        description="Hand out an assignment, collect, grade, return.",
        epilog="Exit status: 0 all is well, 1 somebody not graded or a leak found, 2 it did not run.",
    )
    top.add_argument(
        "--course", type=Path, default=HERE, metavar="FOLDER", help="the course folder (default: exercises/)"
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, text, /, **arguments):
        sub = commands.add_parser(name, help=text, description=text)
        for argument, about in arguments.items():
            sub.add_argument(
                argument, help=about, **({"choices": list(export.KEYS)} if argument == "platform" else {})
            )

    command(
        "release", "make the student's version, which is the book's page", name="the assignment, as lookup"
    )
    command(
        "grade",
        "grade what was handed in",
        name="the assignment, as lookup",
        inbox="a folder of notebooks, a folder of students' folders, or the zip of Canvas or Moodle",
    )
    command("table", "write table and feedback anew after grading by hand", name="the assignment")
    command(
        "export",
        "fill one column of the platform's own table",
        name="the assignment",
        platform="canvas: its gradebook export; moodle: its grading worksheet",
        csv="the platform's table",
        column="the column's name, as it stands there",
        out="the file to write",
    )
    command(
        "gradescope",
        "make the zip file for a Gradescope autograder",
        name="the assignment",
        out="the zip file",
    )
    command(
        "gradescope-results",
        "grade one submission on Gradescope's machine",
        name="the assignment",
        inbox="folder",
        out="results.json",
    )
    command("leaks", "search a built site for solutions and hidden tests", folder="the site, as _build/html")
    return top


def main(arguments=None):
    """Run one command and return the exit status."""
    given = parser().parse_args(arguments)
    course = Course(given.course.resolve())
    try:
        return _run(given, course)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2


def _run(given, course):
    match given.command:
        case "release":
            print(f"student's version and page: {release(course, given.name)}")
        case "grade":
            rows = grade(course, given.name, given.inbox)
            return int(any(row["status"] == report.NOT_GRADED for row in rows.values()))
        case "table":
            rows = regrade_table(course, given.name)
            return int(any(row["status"] == report.NOT_GRADED for row in rows.values()))
        case "export":
            filled, missing = export.export(
                course, given.name, given.platform, given.csv, given.column, given.out
            )
            print(
                f"{given.out}: {filled} filled in" + (f"; no row for {', '.join(missing)}" if missing else "")
            )
        case "gradescope":
            print(f"autograder: {make_zip(course, given.name, given.out)}")
        case "gradescope-results":
            write_results(course, given.name, given.inbox, given.out)
        case "leaks":
            found = leaks.in_site(given.folder, course.root.glob("source/*/*.ipynb"))
            print("\n".join(f"{file}: {line}" for file, line in found) or "no leak found")
            return int(bool(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
