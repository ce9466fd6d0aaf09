"""The instructor's cells of an assignment, as the gradebook keeps them since `release`."""

import ast
import re
from dataclasses import dataclass

from nbgrader.api import Gradebook

HIDDEN = re.compile(r"^[^\n]*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS[^\n]*\n?", re.S | re.M)


@dataclass(frozen=True)
class MasterCell:
    """One cell with a grading mark. ``points`` is None where nothing is graded."""

    name: str
    cell_type: str
    source: str
    locked: bool
    checksum: str
    answer: bool
    grade: bool
    task: bool
    points: float | None

    @property
    def kind(self):
        """What the cell is when it runs: "answer", "check" or "given"."""
        return "answer" if self.answer else "check" if self.grade else "given"

    @property
    def visible(self):
        """The source as the student got it: without hidden tests."""
        return HIDDEN.sub("", self.source).strip()


def read_master(db_url, assignment, notebook):
    """Return the list of `MasterCell` of one notebook, in order."""
    with Gradebook(db_url) as gradebook:
        book = gradebook.find_notebook(notebook, assignment)
        graded = {cell.name: cell.max_score for cell in (*book.grade_cells, *book.task_cells)}
        answers = {cell.name for cell in book.solution_cells}
        tasks = {cell.name for cell in book.task_cells}
        return [
            MasterCell(
                name=cell.name,
                cell_type=cell.cell_type,
                source=cell.source,
                locked=bool(cell.locked),
                checksum=cell.checksum,
                answer=cell.name in answers,
                grade=cell.name in graded and cell.name not in tasks,
                task=cell.name in tasks,
                points=graded.get(cell.name),
            )
            for cell in book.source_cells
        ]


def defined_names(source):
    """The functions and classes that a cell defines at its top level, even if it does not parse.

    >>> sorted(defined_names("def match(query):\\n    return (\\n"))
    ['match']
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(re.findall(r"^(?:async\s+)?(?:def|class)\s+(\w+)", source, re.M))
    return {
        node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
