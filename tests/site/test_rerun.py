"""A page runs again when anything that its code uses has changed, and only then."""

import re

import pytest

from sphinx_ext.rerun import fingerprint, follow_imports, imported_names, module_files

GREETING = "from lib.greeting import greet\n\nprint(greet())"


def executed(done):
    """Return the names of the notebooks that a build ran."""
    return sorted(re.findall(r"(\w+)\.ipynb: Executing notebook", done.stdout))


def test_a_change_in_lib_shows_on_the_pages_that_import_it_and_runs_no_other(small_book):
    small_book.write(
        "lib/greeting.py", "from lib import words2\n\n\ndef greet():\n    return 'good ' + words2.DAY\n"
    )
    small_book.write("lib/words2.py", "DAY = 'morning'\n")
    small_book.notebook("chapters/greets.ipynb", GREETING)
    small_book.notebook("chapters/silent.ipynb", "print('no import')")
    assert executed(small_book.build()) == ["greets", "silent"]
    assert "good morning" in small_book.page("chapters/greets.html")
    again = small_book.build()
    assert executed(again) == [] and "0 added, 0 changed, 0 removed" in again.stdout
    small_book.write("lib/words2.py", "DAY = 'evening'\n")
    assert executed(small_book.build()) == ["greets"]
    assert "good evening" in small_book.page("chapters/greets.html")


@pytest.fixture
def project(tmp_path):
    """A project of a package and a notebook folder, as a function that writes a file of it."""

    def write(name, text=""):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        return path

    write("lib/__init__.py")
    write("lib/show/__init__.py")
    write("lib/show/words.py", "WORDS = {}\n")
    write("lib/show/figures.py", "import matplotlib\nfrom . import words\n")
    write("lib/show/static/style.css", "a {}\n")
    write("lib/other.py", "")
    write("chapters/data.csv", "1,2\n")
    write.root = tmp_path
    return write


def print_of(project, code="from lib.show.figures import plot"):
    return fingerprint(code, project.root / "chapters", project.root)


@pytest.mark.parametrize(
    "name",
    [
        "lib/show/words.py",
        "lib/show/figures.py",
        "lib/show/__init__.py",
        "lib/__init__.py",
        "lib/show/static/style.css",
        "chapters/data.csv",
    ],
)
def test_the_fingerprint_covers_modules_packages_and_data(project, name):
    before = print_of(project)
    project(name, "CHANGED = 1\n")
    assert print_of(project) != before


def test_the_fingerprint_leaves_out_what_is_not_imported(project):
    before = print_of(project)
    project("lib/other.py", "CHANGED = 1\n")
    assert print_of(project) == before


def test_the_fingerprint_covers_the_books_language_and_the_versions_of_packages(project, monkeypatch):
    before = print_of(project)
    monkeypatch.setenv("LOOK_IT_UP_LANGUAGE", "zh")
    in_chinese = print_of(project)
    monkeypatch.setattr("sphinx_ext.rerun.version", lambda name: "0")
    assert len({before, in_chinese, print_of(project)}) == 3


def test_imports_are_followed(project):
    files, installed = follow_imports(imported_names("import lib.show.figures as f"), project.root)
    assert {file.name for file in files} == {"__init__.py", "figures.py", "words.py"}
    assert installed == {"matplotlib"}
    assert module_files("lib.show.words.WORDS", project.root) >= {project.root / "lib/show/words.py"}
