"""Rebuild a submission on the instructor's cells: only the answers, and cells of the student's own, come
from outside.

So it does not matter whether checks were deleted, rewritten or doubled, or whether the marks that
nbgrader hides in a cell's metadata were lost on the way. Pure functions on notebooks; nothing is read,
run or written here.
"""

import re

from nbformat.notebooknode import from_dict

from grading.master import defined_names

NOTES = "grading_notes"  # where a notebook keeps what the grader has to say about it


def add_note(notebook, text):
    """Keep a remark for the instructor's table and the student's feedback page, once."""
    notes = notebook.metadata.setdefault(NOTES, [])
    if text not in notes:
        notes.append(text)


def graft(submission, master):
    """Return a new notebook: the master's cells, with the submission's answers in them.

    Parameters
    ----------
    submission : NotebookNode, version 4, as handed in; it is not changed
    master : list of `MasterCell`

    Returns
    -------
    NotebookNode whose marked cells are exactly the master's, in the master's order
    """
    found = _Found(master)
    for cell in submission.cells:
        found.take(cell)
    notebook = from_dict(
        {
            "cells": [],
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": _KERNEL, "language_info": {"name": "python"}},
        }
    )
    _note_origin(notebook, submission, found)
    for cell in found.own[None]:
        notebook.cells.append(cell)
    before = None
    for entry in master:
        source = found.answer(entry, before, notebook) if entry.answer else entry.source
        notebook.cells.append(_marked(entry, source))
        notebook.cells += found.own.get(entry.name, [])
        before = entry.name
    for index, cell in enumerate(notebook.cells):
        if "nbgrader" not in cell.metadata:
            cell["id"] = f"own-{index}"
    return notebook


def recognised_share(submission, master):
    """How much of the assignment is in a notebook: the share of its cells or of its answers, whichever is
    larger."""
    found = _Found(master)
    names = {found.recognise(cell)[0] for cell in submission.cells} - {None}
    answers = {entry.name for entry in master if entry.answer}
    return max(len(names) / len(master), len(names & answers) / max(len(answers), 1))


_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def _note_origin(notebook, submission, found):
    kernel = submission.metadata.get("kernelspec", {})
    name = kernel.get("name", "python3") if isinstance(kernel, dict) else "?"
    if name != "python3":
        add_note(notebook, f"made with the kernel {str(name)[:40]!r}; graded with python3")
    if found.unmarked:
        add_note(
            notebook,
            "grading marks were missing; matched by text or name: " + ", ".join(sorted(found.unmarked)),
        )


class _Found:
    """A submission's cells, sorted: answers by question, and the student's own cells by the cell they
    follow."""

    def __init__(self, master):
        self.by_name = {entry.name: entry for entry in master}
        self.given_texts = {
            text: entry.name
            for entry in master
            if not entry.answer
            for text in (entry.source.strip(), entry.visible)
        }
        self.functions = {
            name: entry.name
            for entry in master
            if entry.answer and entry.cell_type == "code"
            for name in defined_names(entry.source)
        }
        self.answers, self.own, self.unmarked, self.last = {}, {None: []}, set(), None

    def take(self, cell):
        name, by_mark = self.recognise(cell)
        if name is None:
            if cell.source.strip():
                self.own.setdefault(self.last, []).append(_own(cell))
            return
        self.last = name
        if not by_mark:
            self.unmarked.add(name)
        if self.by_name[name].answer:
            text = cell.source if self.by_name[name].cell_type == "code" else without_html(cell.source)
            self.answers.setdefault(name, []).append(text)

    def recognise(self, cell):
        """Which marked cell this is, and whether its mark says so. The cell's own id is the name, too."""
        mark = cell.metadata.get("nbgrader")
        name = mark.get("grade_id") if isinstance(mark, dict) else None
        if isinstance(name, str) and name in self.by_name:
            return name, True
        if cell.get("id") in self.by_name:
            return cell["id"], False
        text = cell.source.strip()
        if text in self.given_texts:
            return self.given_texts[text], False
        if cell.cell_type == "code":
            for function in sorted(defined_names(cell.source) & set(self.functions)):
                return self.functions[function], False
        return None, False

    def answer(self, entry, before, notebook):
        """The student's text for one answer cell; several cells are joined in their order."""
        parts = self.answers.get(entry.name)
        if not parts and entry.cell_type == "markdown":
            parts = self.written_elsewhere(before)
            if parts:
                add_note(
                    notebook, f"the written answer {entry.name} was found in a cell of the student's own"
                )
        if not parts:
            add_note(notebook, f"no cell for the answer {entry.name} was handed in")
            return entry.source
        if len(parts) > 1:
            add_note(
                notebook, f"the answer {entry.name} was handed in as {len(parts)} cells; joined in order"
            )
        changed = [part for part in parts if part.strip() != entry.source.strip()]
        return "\n\n".join(changed or parts[:1])

    def written_elsewhere(self, before):
        """Text cells of the student's own, after the question: an answer typed into a new cell. They are
        moved."""
        cells = self.own.get(before, [])
        text = [cell for cell in cells if cell.cell_type == "markdown"]
        self.own[before] = [cell for cell in cells if cell.cell_type != "markdown"]
        return [cell.source for cell in text]


def without_html(text):
    """Take the force out of HTML in a student's text: it is shown to the instructor, in the instructor's
    browser.

    >>> without_html("if i < j, then <script>")
    'if i < j, then < script>'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "< ", text)


def _own(cell):
    if cell.cell_type == "code":
        return _cell("code", str(cell.source), {})
    return _cell("markdown" if cell.cell_type == "markdown" else "raw", without_html(str(cell.source)), {})


def _marked(entry, source):
    mark = {
        "schema_version": 3,
        "grade_id": entry.name,
        "grade": entry.grade,
        "solution": entry.answer,
        "locked": entry.locked,
        "task": entry.task,
        "checksum": entry.checksum,
        "cell_type": entry.cell_type,
    }
    if entry.points is not None:
        mark["points"] = float(entry.points)
    return _cell(entry.cell_type, source, {"nbgrader": mark}, re.sub(r"[^\w-]", "-", entry.name)[:64])


def _cell(kind, source, metadata, cell_id="own"):
    cell = {"cell_type": kind, "source": source, "metadata": metadata, "id": cell_id}
    return from_dict(cell | {"outputs": [], "execution_count": None} if kind == "code" else cell)
