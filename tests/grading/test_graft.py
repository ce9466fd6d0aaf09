"""A submission is rebuilt on the instructor's cells, however it was mangled."""

import copy

import pytest

from grading.collect import Unreadable, read_notebook
from grading.graft import NOTES, graft, recognised_share, without_html
from grading.master import MasterCell


@pytest.fixture(scope="module")
def master(bench):
    """The instructor's cells of `lookup`, as the gradebook keeps them after a release."""
    released, cells = bench.released("lookup"), []
    for cell in bench.source("lookup").cells:
        mark = bench.mark(cell)
        source = bench.cell(released, cell.id).source if mark["solution"] else cell.source
        cells.append(MasterCell(cell.id, cell.cell_type, source, mark["locked"], "sum", mark["solution"], mark["grade"], False, mark.get("points")))
    return cells


def marked(notebook):
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in notebook.cells if "nbgrader" in cell.metadata}


def test_a_clean_submission_keeps_its_answers_and_gets_the_hidden_tests(bench, master):
    solved = bench.solved("lookup")
    result = graft(solved, master)
    assert list(marked(result)) == [entry.name for entry in master]
    assert marked(result)["match"] == bench.cell(solved, "match").source
    assert "HIDDEN TESTS" in marked(result)["match-dot"]
    assert NOTES not in result.metadata


def test_own_cells_stay_where_they_were_and_copies_of_checks_do_not(bench, master):
    solved = bench.solved("lookup")
    helper = copy.deepcopy(bench.cell(solved, "match"))
    helper.source, helper["id"], helper["metadata"] = "HELP = 1", "mine", {}
    solved.cells.insert(3, helper)
    names = [cell.source if "nbgrader" not in cell.metadata else cell.metadata.nbgrader.grade_id for cell in graft(solved, master).cells]
    assert names[3] == "HELP = 1" and len(names) == len(master) + 1


def test_the_submission_is_not_changed(bench, master):
    solved = bench.solved("lookup")
    kept = copy.deepcopy(solved)
    graft(solved, master)
    assert solved == kept


def test_html_loses_its_force():
    assert without_html("a <b and <script src=x> </p> <!-- x --> 1 < 2 <- i<j") == "a < b and < script src=x> < /p> < !-- x --> 1 < 2 <- i< j"


def test_how_much_of_the_assignment_is_in_a_notebook(bench, master):
    assert recognised_share(bench.solved("lookup"), master) == 1
    for other in ("five-steps", "scaling", "masks"):
        assert recognised_share(bench.solved(other), master) < 0.5


@pytest.mark.parametrize(
    "data, says",
    [
        (b"", "it is empty"),
        (b"\x89PNG\r\n\x1a\n", "it is not text"),
        (b"print('hello')", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"{}", "it holds no cells"),
        (b'{"cells": [1]}', "it holds no cells"),
        (b'{"cells": [], "metadata": {"language_info": {"name": "julia"}}}', "written for julia"),
        (b'{"nbformat": 3, "worksheets": 5}', "format 3 cannot be read"),
    ],
)
def test_what_is_no_notebook_is_named(data, says):
    with pytest.raises(Unreadable, match=says):
        read_notebook(data)


def test_odd_but_readable_notebooks_are_read():
    data = b'\xef\xbb\xbf{"cells": [{"cell_type": "code", "source": ["a = 1\\n", "b"], "metadata": [], "outputs": 7}, {"cell_type": "x", "source": null}], "metadata": []}'
    cells = read_notebook(data).cells
    assert (cells[0].source, cells[0].metadata, cells[0].outputs) == ("a = 1\nb", {}, [])
    assert cells[1].cell_type == "raw"


def test_the_old_format_is_read():
    data = b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"metadata": {}, "cells": [{"cell_type": "code", "input": ["x = 1"], "language": "python", "metadata": {}, "outputs": []}]}]}'
    assert read_notebook(data).cells[0].source == "x = 1"
