"""Every notebook of the book is kept as it should be; each rule is shown a notebook that breaks it."""

import json
import re
import subprocess
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
LONGEST_CELL = 20  # lines
DIRECTIVE = re.compile(r"^\s*(?:`{3,}|~{3,}|:{3,})\{[\w:-]+\}", re.MULTILINE)
ROLE = re.compile(r"\{[A-Za-z][\w:.-]*\}`")
TARGET = re.compile(r"^\([\w-]+\)=\s*$", re.MULTILINE)
# What Jupyter itself writes and the book does not need: versions of Python and of the kernel, which change with each machine.
KEPT_METADATA = {"kernelspec": {"display_name", "language", "name"}, "language_info": {"name"}}


def tracked(pattern):
    """Return the files of a pattern that git tracks, or would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted({ROOT / name for name in names if name and (ROOT / name).is_file()})


def state_faults(notebook):
    """Yield what a run, or another machine, left behind in a notebook."""
    for number, cell in enumerate(notebook["cells"], start=1):
        if cell.get("outputs"):
            yield f"cell {number} has outputs"
        if cell.get("execution_count") is not None:
            yield f"cell {number} has an execution count"
    for key, value in notebook["metadata"].items():
        extra = set(value) - KEPT_METADATA.get(key, set())
        if key not in KEPT_METADATA or extra:
            yield f"metadata {key}: {sorted(extra)} is not part of the book"


def id_faults(notebook):
    """Yield what is wrong with the ids of a notebook's cells."""
    if (notebook["nbformat"], notebook["nbformat_minor"]) < (4, 5):
        yield "cells have ids from format 4.5 on"
    ids = [cell.get("id") for cell in notebook["cells"]]
    yield from (f"cell {number} has no id" for number, name in enumerate(ids, start=1) if not name)
    yield from (
        f"two cells have the id {name}"
        for name in sorted({name for name in ids if name and ids.count(name) > 1})
    )


def chapter_faults(notebook):
    """Yield what would read wrong in plain JupyterLab, or is too long."""
    for number, cell in enumerate(notebook["cells"], start=1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            if len(source.splitlines()) > LONGEST_CELL:
                yield f"cell {number} has more than {LONGEST_CELL} lines"
            if "sys.path" in source:
                yield f"cell {number} touches sys.path"
        else:
            for kind, pattern in {"directive": DIRECTIVE, "role": ROLE, "target": TARGET}.items():
                if pattern.search(source):
                    yield f"cell {number} has a MyST {kind}: {pattern.search(source)[0].strip()}"


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


NOTEBOOKS, CHAPTERS = tracked("*.ipynb"), tracked("chapters/*.ipynb")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_holds_no_outputs_and_stable_ids(path):
    assert not [*state_faults(read(path)), *id_faults(read(path))]
    nbformat.validate(nbformat.reads(path.read_text(encoding="utf-8"), as_version=4))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_a_chapter_reads_right_in_plain_jupyterlab(path):
    assert not list(chapter_faults(read(path)))


def test_there_are_chapters():
    assert CHAPTERS


def notebook(**changes):
    """Return a notebook of one good text cell and one good code cell, the latter with changes."""
    text = {
        "cell_type": "markdown",
        "id": "text",
        "metadata": {},
        "source": ["$\\mathbb{R}$ and `code`\n", "\n", "| a |\n"],
    }
    code = {
        "cell_type": "code",
        "id": "code",
        "metadata": {},
        "source": ["1 + 1"],
        "outputs": [],
        "execution_count": None,
    }
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    return {"cells": [text, code | changes], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def test_a_good_notebook_has_no_fault():
    for rule in (state_faults, id_faults, chapter_faults):
        assert not list(rule(notebook()))


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        (state_faults, {"outputs": [{"output_type": "stream", "name": "stdout", "text": "2"}]}),
        (state_faults, {"execution_count": 1}),
        (id_faults, {"id": "text"}),
        (id_faults, {"id": None}),
        (chapter_faults, {"source": ["x = 1\n"] * 21}),
        (chapter_faults, {"source": ["import sys; sys.path.append('..')"]}),
        (chapter_faults, {"cell_type": "markdown", "source": ["```{note}\n", "x\n", "```"]}),
        (chapter_faults, {"cell_type": "markdown", "source": [":::{tip}\n", "x\n", ":::"]}),
        (chapter_faults, {"cell_type": "markdown", "source": ["see {doc}`intro`"]}),
        (chapter_faults, {"cell_type": "markdown", "source": ["(here)=\n", "# Heading"]}),
    ],
    ids=lambda value: value.__name__ if callable(value) else next(iter(value)),
)
def test_each_rule_rejects_a_planted_fault(rule, changes):
    assert len(list(rule(notebook(**changes)))) == 1


def test_leftover_metadata_and_an_old_format_are_rejected():
    assert list(
        state_faults(notebook() | {"metadata": {"language_info": {"name": "python", "version": "3.11.7"}}})
    )
    assert list(state_faults(notebook() | {"metadata": {"widgets": {"a": 1}}}))
    assert list(id_faults(notebook() | {"nbformat_minor": 4}))


def test_vs_code_draws_no_box_around_the_signs_in_the_code():
    """VS Code marks what looks like another character, unless the settings beside the book allow it."""
    settings = json.loads((ROOT / ".vscode/settings.json").read_text("utf-8"))
    allowed = set(settings["editor.unicodeHighlight.allowedCharacters"])
    cells = (cell for path in NOTEBOOKS for cell in nbformat.read(path, 4).cells if cell.cell_type == "code")
    assert {sign for cell in cells for sign in cell.source} & set("−×–—‐‑‒′∶∗") == allowed
