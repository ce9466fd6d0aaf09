"""What the tests of the grading share: a course to spoil, and submissions of every kind."""

import copy
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ASSIGNMENTS = ("lookup", "five-steps", "scaling", "masks")
STUB = re.compile(r"( *)raise NotImplementedError\(.*\)")
SOLUTION = re.compile(r"( *)### BEGIN SOLUTION\n(.*?) *### END SOLUTION", re.S)


class Bench:
    """The repository's notebooks, and ways to make submissions from them."""

    repository = REPOSITORY
    assignments = ASSIGNMENTS

    @staticmethod
    def source(name):
        return nbformat.read(REPOSITORY / "exercises" / "source" / name / f"{name}.ipynb", 4)

    @staticmethod
    def released(name):
        return nbformat.read(REPOSITORY / "exercises" / "release" / name / f"{name}.ipynb", 4)

    @staticmethod
    def mark(cell):
        return cell.metadata.get("nbgrader", {})

    @classmethod
    def solutions(cls, name):
        """Answers to all questions: the instructor's bodies of functions, and some text for what a person reads."""
        answers = {}
        for cell in cls.source(name).cells:
            if cls.mark(cell).get("solution"):
                region = SOLUTION.search(cell.source)
                answers[cell.id] = textwrap.dedent(region.group(2)).strip() if region else "An answer in my own words."
        return answers

    @classmethod
    def fill(cls, notebook, answers):
        """Type answers into a released notebook: bodies of functions into code, texts into text."""
        notebook = copy.deepcopy(notebook)
        for cell in notebook.cells:
            if cell.id in answers:
                body = answers[cell.id]
                if cell.cell_type == "code":
                    assert STUB.search(cell.source), cell.id
                    cell.source = STUB.sub(lambda m, body=body: textwrap.indent(body, m.group(1)), cell.source)
                else:
                    cell.source = body
        return notebook

    @classmethod
    @functools.cache
    def code(cls, name):
        """The code cells of the instructor's notebook: (identifier, whether it is a check, source)."""
        return [(c.id, cls.mark(c)["grade"], c.source) for c in cls.source(name).cells if c.cell_type == "code"]

    @classmethod
    def code_with_answers(cls, name, answers):
        """The same, hidden tests and all, with other bodies in some of the functions."""
        for cell_id, check, source in cls.code(name):
            if cell_id in answers:
                source = SOLUTION.sub(lambda m, body=answers[cell_id]: textwrap.indent(body, m.group(1)), source)
            yield cell_id, check, source

    @classmethod
    def solved(cls, name, **changes):
        """A perfect submission, with some answers changed (``None``: left untouched)."""
        answers = cls.solutions(name) | changes
        return cls.fill(cls.released(name), {k: v for k, v in answers.items() if v is not None})

    @staticmethod
    def cell(notebook, cell_id):
        return next(cell for cell in notebook.cells if cell.id == cell_id)

    @staticmethod
    def wrong_answers(name):
        """The module of wrong answers to one assignment, loaded by its path."""
        path = Path(__file__).parent / "wrong_answers" / f"{name.replace('-', '_')}.py"
        spec = importlib.util.spec_from_file_location(f"wrong_answers_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @staticmethod
    def save(notebook, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook if isinstance(notebook, str) else json.dumps(notebook, indent=1), encoding="utf-8")
        return path

    @staticmethod
    def copy_course(folder, settings=""):
        """A copy of the course, and of what it needs, in a folder of its own: the tests spoil nothing."""
        for part in ("grading", "exercises/source"):
            shutil.copytree(REPOSITORY / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        config = (REPOSITORY / "exercises" / "nbgrader_config.py").read_text(encoding="utf-8")
        (folder / "exercises" / "nbgrader_config.py").write_text(config + settings, encoding="utf-8")
        (folder / "lib").mkdir()  # the course's library, which no submission may use
        for file in ("__init__.py", "attention.py"):
            shutil.copy(REPOSITORY / "lib" / file, folder / "lib" / file)
        return folder

    @staticmethod
    def command(folder, *arguments, **changes):
        """Run ``python -m grading`` in a copy of the course, as an instructor would who activated nothing."""
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        variables["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "grading", *map(str, arguments)],
            cwd=folder,
            env=variables | changes.pop("env", {}),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            **changes,
        )


@pytest.fixture(scope="session")
def bench():
    return Bench


def pytest_generate_tests(metafunc):
    """One test for each assignment, and one for each wrong answer."""
    modules = {name: Bench.wrong_answers(name) for name in ASSIGNMENTS}
    if "assignment" in metafunc.fixturenames:
        metafunc.parametrize("assignment", ASSIGNMENTS)
    if "wrong" in metafunc.fixturenames:
        cases = {
            f"{name}-{check}-{number}": (name, question, check, body)
            for name, module in modules.items()
            for question, checks in module.WRONG.items()
            for check, bodies in checks.items()
            for number, body in enumerate(bodies)
        }
        metafunc.parametrize("wrong", cases.values(), ids=cases)
    if "gross" in metafunc.fixturenames:
        cases = {
            f"{name}-{question}-{number}": (name, question, body)
            for name, module in modules.items()
            for question, bodies in module.GROSS.items()
            for number, body in enumerate(bodies)
        }
        metafunc.parametrize("gross", cases.values(), ids=cases)


@pytest.fixture(scope="session")
def sandbox_there():
    """For tests that need the sandbox. Where the project's own checks run, a missing one is a failure, no reason to skip."""
    from grading import sandbox

    if sandbox.missing() and not os.environ.get("CI"):
        pytest.skip(f"needs a sandbox: {sandbox.missing()}")
    assert sandbox.missing() is None, f"{sandbox.missing()}\n{sandbox.HOW_TO_GET_ONE}"
