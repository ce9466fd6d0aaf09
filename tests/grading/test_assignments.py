"""Every check of every assignment: right answers pass, each wrong answer fails the check named for it and no other.

The cells run here as plain Python, in milliseconds; test_pipeline.py runs them in the real nbgrader and the real sandbox.
"""

import ast
import contextlib
import copy
import io
import re
import warnings

import nbformat
import numpy as np


def run(bench, name, answers, notebook=None):
    """Run the notebook with these answers; return the failed checks with what they say."""
    names, failed = {"__name__": "__main__"}, {}
    for cell_id, check, source in code_cells(notebook) if notebook else bench.code_with_answers(name, answers):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                exec(compile(source, cell_id, "exec"), dict(names) if check else names)
        except Exception as problem:
            failed[cell_id] = f"{type(problem).__name__}: {problem}"
    return failed


def code_cells(notebook):
    return [(c.id, c.metadata["nbgrader"]["grade"], c.source) for c in notebook.cells if c.cell_type == "code"]


def checks(bench, name, question=""):
    marked = [cell.id for cell in bench.source(name).cells if cell.cell_type == "code" and bench.mark(cell).get("grade")]
    return {check for check in marked if check.startswith(question)}


def test_the_instructors_own_answers_get_full_marks(bench, assignment):
    assert run(bench, assignment, {}) == {}


def test_an_untouched_notebook_gets_nothing(bench, assignment):
    source, released = bench.source(assignment), bench.released(assignment)
    untouched = copy.deepcopy(source)
    for cell in untouched.cells:
        if bench.mark(cell).get("solution"):
            cell.source = bench.cell(released, cell.id).source
    failed = run(bench, assignment, {}, untouched)
    assert set(failed) == checks(bench, assignment)
    assert all("Replace this line with your answer" in message for message in failed.values())


def test_a_wrong_answer_fails_the_check_named_for_it_and_no_other(bench, wrong):
    """And what the check says helps: a sentence of ours or the error of the student's own line, no bare AssertionError."""
    name, question, check, body = wrong
    failed = run(bench, name, {question: body})
    assert set(failed) == {check}, failed
    kind, _, message = failed[check].partition(": ")
    assert len(message) > 20 or kind != "AssertionError", message
    assert kind not in ("NameError", "KeyError"), message


def test_an_answer_far_from_right_loses_its_own_question_only(bench, gross):
    name, question, body = gross
    failed = run(bench, name, {question: body})
    assert failed and all(check.startswith(f"{question}-") for check in failed), failed


def test_every_check_is_needed_and_every_question_has_eight_wrong_answers(bench, assignment):
    module = bench.wrong_answers(assignment)
    assert {check for by_check in module.WRONG.values() for check in by_check} == checks(bench, assignment)
    for question, by_check in module.WRONG.items():
        assert checks(bench, assignment, f"{question}-") == set(by_check)
        bodies = [body for bodies in by_check.values() for body in bodies]
        assert len(set(bodies)) >= 8, question


def test_a_wrong_answer_that_is_right_would_be_noticed(bench):
    """The test above can fail: a right answer in disguise fails no check."""
    assert run(bench, "lookup", {"match": "return (keys * query).sum(axis=1)"}) == {}


def test_points_add_up_and_time_and_file_name_are_stated(bench, assignment):
    from grading.release import wrong_points

    source = bench.source(assignment)
    assert wrong_points(source) == []
    assert re.search(r"About \d+ minutes", source.cells[0].source)
    assert f"`{assignment}.ipynb`" in source.cells[0].source
    source.cells[0].source = source.cells[0].source.replace(" points", "0 points")
    assert wrong_points(source)


def test_students_need_only_numpy(bench, assignment):
    for cell in bench.released(assignment).cells:
        if cell.cell_type == "code":
            imports = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
            assert all(ast.unparse(node) == "import numpy as np" for node in imports), cell.source


def test_the_form_is_right(bench, assignment):
    """Identifiers that a lost grading mark can be found by; one written question; no outputs; plain Markdown."""
    source = bench.source(assignment)
    nbformat.validate(source)
    assert all(cell.id == bench.mark(cell)["grade_id"] for cell in source.cells)
    written = [cell for cell in source.cells if cell.cell_type == "markdown" and bench.mark(cell).get("grade")]
    assert len(written) == 1
    for cell in source.cells:
        assert not cell.get("outputs")
        assert cell.cell_type == "code" or not re.search(r"\{[\w-]+\}`|^:::|^```\{", cell.source, re.M)


def test_hidden_checks_come_after_an_instant_one(bench, assignment):
    """Each question can be tried at once; hidden tests are named as such in the student's version."""
    for question in bench.wrong_answers(assignment).WRONG:
        first = next(cell for cell in bench.source(assignment).cells if cell.id.startswith(f"{question}-") and cell.cell_type == "code")
        assert "HIDDEN" not in first.source
    hidden = [cell for cell in bench.source(assignment).cells if "HIDDEN" in cell.source]
    assert hidden and all(bench.cell(bench.released(assignment), cell.id).source.startswith("# Hidden check") for cell in hidden)
