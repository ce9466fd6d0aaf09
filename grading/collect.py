"""Keep every notebook as it was received, and lay a readable one where nbgrader looks for it."""

import hashlib
import json
from datetime import UTC, datetime

import nbformat
from nbformat.notebooknode import from_dict
from nbformat.v4 import new_notebook

from grading.graft import recognised_share


class Unreadable(Exception):
    """What was handed in is no notebook of this assignment; the text says why."""


def collect(course, name, hand_in, master):
    """Store the student's notebook. Return nothing.

    Raises
    ------
    Unreadable: with the reason for the student's row. The file is kept all the same.
    """
    if hand_in.problem:
        raise Unreadable(hand_in.problem)
    try:
        data = hand_in.chosen.read()
    except Exception as problem:  # a broken zip, a disk error: one row
        raise Unreadable(f"it cannot be read: {problem}") from problem
    keep(course, name, hand_in.student, data)
    notebook = read_notebook(data)
    if recognised_share(notebook, master) < 0.5:
        raise Unreadable(f"it does not look like {name}: less than half of its questions are in it")
    target = course.submitted(hand_in.student, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    content = data if is_clean(data) else nbformat.writes(notebook).encode()
    if not target.exists() or target.read_bytes() != content:
        target.write_bytes(content)
        when = datetime.fromtimestamp(hand_in.chosen.when, UTC)
        (target.parent / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC\n")


def keep(course, name, student, data):
    """Write the bytes to received/NAME/STUDENT/, under a name made from them: nothing is ever overwritten."""
    path = course.root / "received" / name / student / f"{hashlib.sha256(data).hexdigest()[:16]}.ipynb"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read_notebook(data):
    """Make a clean notebook of version 4 from bytes: texts, grading marks and cell identifiers, and
    nothing else."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable("not a notebook: it is not text") from None
    except (ValueError, RecursionError):
        what = (
            "it is empty" if not data.strip() else "it is not JSON; was it saved or exported in another form?"
        )
        raise Unreadable(f"not a notebook: {what}") from None
    if not isinstance(value, dict):
        raise Unreadable("not a notebook: it holds no cells")
    if value.get("nbformat") in (1, 2, 3):
        value = _upgraded(value)
    cells, metadata = value.get("cells"), value.get("metadata")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("not a notebook: it holds no cells")
    metadata = metadata if isinstance(metadata, dict) else {}
    _check_language(metadata)
    notebook = new_notebook(
        metadata={"kernelspec": metadata["kernelspec"]}
        if isinstance(metadata.get("kernelspec"), dict)
        else {}
    )
    notebook.cells = [_clean_cell(cell, number) for number, cell in enumerate(cells)]
    return notebook


def _upgraded(value):
    try:
        return json.loads(nbformat.writes(nbformat.reads(json.dumps(value), as_version=4)))
    except Exception as problem:
        raise Unreadable(f"not a notebook: its format {value.get('nbformat')} cannot be read") from problem


def _check_language(metadata):
    kernel, info = metadata.get("kernelspec"), metadata.get("language_info")
    language = (kernel.get("language") if isinstance(kernel, dict) else None) or (
        info.get("name") if isinstance(info, dict) else None
    )
    if language and str(language).lower() not in ("python", "python3", "ipython"):
        raise Unreadable(f"written for {str(language)[:30]}, not for Python")


def _clean_cell(cell, number):
    kind = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown", "raw") else "raw"
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    metadata = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
    clean = {
        "cell_type": kind,
        "id": cell["id"] if isinstance(cell.get("id"), str) else f"unnamed-{number}",
        "metadata": {"nbgrader": metadata["nbgrader"]} if isinstance(metadata.get("nbgrader"), dict) else {},
        "source": source,
    }
    return from_dict(clean | {"outputs": [], "execution_count": None} if kind == "code" else clean)


def is_clean(data):
    """Whether nbgrader can read the file as it is: valid, version 4, every cell identifier once."""
    try:
        value = json.loads(data)
        nbformat.validate(value)
        ids = [cell.get("id") for cell in value["cells"]]
        return value["nbformat"] == 4 and (None in ids or len(ids) == len(set(ids)))
    except Exception:
        return False
