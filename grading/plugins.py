"""What the course puts into nbgrader, through nbgrader's own lists of preprocessors
(exercises/nbgrader_config.py).

So `nbgrader autograde`, the grading page in JupyterLab and `python -m grading grade` all do the same.
Each class is a thin coat over a module of ours: `graft`, `execute`.
"""

import re
import textwrap
from contextlib import contextmanager
from pathlib import Path

from nbformat.notebooknode import from_dict
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Float, Int

from grading import ahead, execute, sandbox
from grading.execute import Cell
from grading.graft import NOTES, add_note, graft
from grading.master import HIDDEN, read_master

UNSAFE = "graded WITHOUT a sandbox"


class Graft(NbGraderPreprocessor):
    """Rebuild the submission on the instructor's cells."""

    def preprocess(self, nb, resources):
        """See `grading.graft`."""
        about = resources["nbgrader"]
        return graft(nb, read_master(about["db_url"], about["assignment"], about["notebook"])), resources


class SandboxExecute(NbGraderPreprocessor):
    """Run the notebook in the sandbox and put the outputs into its cells."""

    cell_seconds = Float(10, help="a cell that runs longer is stopped").tag(config=True)
    total_seconds = Float(60, help="all cells of one submission together").tag(config=True)
    memory_mb = Int(2048, help="memory of one submission").tag(config=True)
    sandbox = Enum(
        ["auto", "require", "off"],
        "auto",
        help="auto: where one can be had; require: refuse to grade without; off: none",
    ).tag(config=True)

    @property
    def limits(self):
        """The configured limits as the sandbox wants them."""
        return sandbox.Limits(self.cell_seconds, self.total_seconds, self.memory_mb)

    @property
    def sandboxed(self):
        """Whether to use a sandbox; an error if one is required and there is none."""
        if self.sandbox == "require" and sandbox.missing():
            raise RuntimeError(
                f"SandboxExecute.sandbox = 'require', but {sandbox.missing()}\n{sandbox.HOW_TO_GET_ONE}"
            )
        return self.sandbox != "off" and sandbox.missing() is None

    def preprocess(self, nb, resources):
        """See `grading.execute`."""
        places, cells = runnable(nb)
        if self.sandboxed:
            run = ahead.run(resources["nbgrader"]["student"], cells, self.limits)
        else:
            add_note(nb, UNSAFE)
            with unchanged(Path(resources["nbgrader"]["db_url"].removeprefix("sqlite:///"))):
                run = execute.run(cells, ahead.COURSE, self.limits, sandboxed=False)
        for note in run.notes:
            add_note(nb, note)
        for number, (index, outputs) in enumerate(zip(places, run.outputs, strict=True), start=1):
            nb.cells[index].outputs = [from_dict(output) for output in outputs]
            nb.cells[index].execution_count = number
        return nb, resources


@contextmanager
def unchanged(gradebook):
    """Without a sandbox, at least put the gradebook back if a submission wrote into it."""
    before = gradebook.read_bytes()
    yield
    if gradebook.read_bytes() != before:
        gradebook.write_bytes(before)
        raise RuntimeError(
            "this submission changed the gradebook; it was put back, and the submission was not graded"
        )


def runnable(nb):
    """The code cells of a grafted notebook, and their places in it."""
    places = [index for index, cell in enumerate(nb.cells) if cell.cell_type == "code"]
    return places, [_as_cell(nb.cells[index], index) for index in places]


def _as_cell(cell, index):
    mark = cell.metadata.get("nbgrader")
    if not mark:
        return Cell(f"cell {index + 1}", "answer", cell.source)
    kind = "answer" if mark["solution"] else "check" if mark["grade"] else "given"
    return Cell(mark["grade_id"], kind, cell.source)


class OnlyErrorsCount(NbGraderPreprocessor):
    """In a check, an error fails and nothing else does: no warning, and no number that looks like points."""

    def preprocess_cell(self, cell, resources, index):
        """Drop what nbgrader would take for a failure or for points."""
        if cell.cell_type == "code" and utils.is_grade(cell) and not utils.is_solution(cell):
            cell.outputs = [output for output in cell.outputs if output.output_type == "error"]
        return cell, resources


class TidyFeedback(NbGraderPreprocessor):
    """Feedback says what a hidden test found, and never shows the test; the grader's notes stand at the
    top."""

    def preprocess(self, nb, resources):
        """Replace hidden tests by their one message, and let each check speak in lines that fit the page."""
        for cell in nb.cells:
            if cell.cell_type == "code" and utils.is_grade(cell):
                cell.source = HIDDEN.sub("# (hidden test)\n", cell.source).strip()
                for output in cell.outputs:
                    output.traceback = textwrap.wrap(f"{output.ename}: {output.evalue}", 80)
        notes = nb.metadata.get(NOTES, [])
        if notes:
            text = "**Notes from the grader**\n\n" + "\n".join(
                f"- {re.sub(r'[<>]', '', note)}" for note in notes
            )
            nb.cells.insert(
                0, from_dict({"cell_type": "markdown", "id": "grading-notes", "metadata": {}, "source": text})
            )
        return nb, resources
