"""Find solutions and hidden tests where students could read them: in the released notebook, in the built
site."""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

MARKS = ("### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "### BEGIN MARK SCHEME")
SHORTEST = 8  # a line with fewer characters that are not blank, such as "else:", gives nothing away
READABLE = {".html", ".ipynb", ".js", ".json", ".md", ".txt", ".py", ".xml"}


@dataclass(frozen=True)
class Secrets:
    """Lines that only the instructor may see. ``solutions`` are code that a chapter may show as well."""

    solutions: frozenset
    others: frozenset  # hidden tests and the answers to written questions

    @property
    def all(self):
        """Every secret line."""
        return self.solutions | self.others


def secrets(source):
    """Collect the secret lines of an instructor's notebook (a path): what stands in its marked regions
    and nowhere else."""
    found = {"public": set(), "solution": set(), "other": set()}
    for cell in nbformat.read(source, 4).cells:
        mark = cell.metadata.get("nbgrader", {})
        whole = mark.get("solution") and MARKS[0] not in cell.source
        place = ("other" if cell.cell_type == "markdown" else "solution") if whole else "public"
        for line in cell.source.splitlines():
            if "### BEGIN" in line:
                place = "solution" if MARKS[0] in line and cell.cell_type == "code" else "other"
            elif "### END" in line:
                place = "public"
            else:
                found[place].add(squeeze(line))
    long = {
        place: {ln for ln in lines if len(ln.replace(" ", "")) >= SHORTEST} for place, lines in found.items()
    }
    return Secrets(frozenset(long["solution"] - found["public"]), frozenset(long["other"] - found["public"]))


def squeeze(line):
    """A line without its indentation, marks of a comment, quotation or list, and doubled blanks.

    >>> squeeze("    # return  X @ W")
    'return X @ W'
    """
    return " ".join(line.lstrip(" \t#>*-").split())


def shown(text, lines):
    """Return the secret lines that stand in a text."""
    there = {squeeze(line) for line in text.replace("\\n", "\n").splitlines()}
    return sorted(there & lines)


def in_notebook(path, lines):
    """Return what a notebook shows anywhere: in cells, outputs, attachments, metadata; and marks that are
    left."""
    text = _text(Path(path))
    return shown(text, lines) + [mark for mark in MARKS if mark in text]


def _strings(value):
    """All strings in a JSON value; lists of lines are joined."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from _strings(item)


def in_site(folder, sources):
    """Return (file, line) for everything secret in a built site.

    Hidden tests and written answers are looked for everywhere. Solutions are looked for on the pages of
    the exercises: a chapter that teaches the softmax may write it down.
    """
    known = [secrets(source) for source in sources]
    everywhere = frozenset().union(*(secret.others for secret in known))
    everything = frozenset().union(*(secret.all for secret in known))
    hits = []
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix in READABLE and path.is_file():
            inside = path.relative_to(folder)
            lines = everything if "exercises" in inside.parts else everywhere
            hits += [(str(inside), line) for line in shown(_text(path), lines)]
    return hits


def _text(path):
    """What a person reads in a file: a notebook's strings, a page without its tags, anything else as it
    is."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".ipynb":
        return "\n".join(_strings(json.loads(text)))
    return html.unescape(re.sub(r"<[^>]+>", "", text)) if path.suffix == ".html" else text
