"""No solution and no hidden test of an assignment stands anywhere in the built book."""

import shutil
from pathlib import Path

from grading import leaks

EXERCISES = Path(__file__).parents[2] / "exercises"


def sources():
    """The instructors' notebooks, which hold what must not be seen."""
    found = sorted(EXERCISES.glob("source/*/*.ipynb"))
    assert len(found) >= 4
    return found


def test_the_built_book_gives_no_answer_away(site):
    assert list(site.glob("exercises/release/*/*.html")), "the assignments are pages of the book"
    assert leaks.in_site(site, sources()) == []


def test_a_solution_in_the_book_would_be_found(tmp_path):
    for source in sources():
        shutil.copy(source, tmp_path / source.name)
    assert {file for file, _ in leaks.in_site(tmp_path, sources())} == {source.name for source in sources()}
