"""Who handed in what: folders, clones, and the two platforms' zip files, with everything that can be odd about them."""

import os
import stat
import zipfile

import pytest

from grading.course import Problem
from grading.inbox import read_inbox


def make(folder, *paths):
    for number, path in enumerate(paths):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path)
        os.utime(target, (1_700_000_000 + 3600 * number,) * 2)  # each is an hour newer than the one before
    return folder


def make_zip(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, 29, 12, 0, 0)), name)
    return path


def chosen(inbox):
    return {who.student: who.chosen.path if who.chosen else None for who in read_inbox(inbox, "lookup")}


def test_a_folder_of_notebooks_named_after_students(tmp_path):
    assert chosen(make(tmp_path, "anna.ipynb", "ben.ipynb")) == {"anna": "anna.ipynb", "ben": "ben.ipynb"}


def test_a_folder_for_each_student(tmp_path):
    assert chosen(make(tmp_path, "anna/lookup.ipynb", "ben/x/y/lookup.ipynb")) == {"anna": "anna/lookup.ipynb", "ben": "ben/x/y/lookup.ipynb"}


def test_clones_of_github_classroom(tmp_path):
    make(tmp_path, "lookup-anna/lookup.ipynb", "lookup-anna/README.md", "lookup-anna/.git/config", "lookup-ben/lookup.ipynb")
    assert chosen(tmp_path) == {"anna": "lookup-anna/lookup.ipynb", "ben": "lookup-ben/lookup.ipynb"}


def test_the_zip_of_canvas(tmp_path):
    path = make_zip(tmp_path / "s.zip", "doejo_101_9001_lookup.ipynb", "roeann_LATE_102_9002_lookup-1.ipynb", "poejim_103_9003_essay.pdf")
    people = {who.student: who for who in read_inbox(path, "lookup")}
    assert {who: people[who].name for who in people} == {"101": "doejo", "102": "roeann", "103": "poejim"}
    assert people["101"].notes == []
    assert "the platform says: late" in people["102"].notes and "handed in as 'lookup-1.ipynb'" in people["102"].notes
    assert people["103"].problem == "no notebook: essay.pdf"
    assert people["101"].chosen.read() == b"doejo_101_9001_lookup.ipynb"


@pytest.mark.parametrize(
    "names",
    [
        ("Jo Doe_101_assignsubmission_file_/lookup.ipynb", "Ann-Lea Roe_102_assignsubmission_file_/lookup.ipynb"),
        ("Jo Doe_101_assignsubmission_file_lookup.ipynb", "Ann-Lea Roe_102_assignsubmission_file_lookup.ipynb"),
        ("Course/Jo Doe_101_assignsubmission_file_/lookup.ipynb", "Course/Ann-Lea Roe_102_assignsubmission_file_/lookup.ipynb"),
    ],
)
def test_the_zip_of_moodle_in_both_forms_and_inside_a_folder(tmp_path, names):
    people = read_inbox(make_zip(tmp_path / "s.zip", *names), "lookup")
    assert [(who.student, who.name, who.problem, who.notes) for who in people] == [("101", "Jo Doe", "", []), ("102", "Ann-Lea Roe", "", [])]


def test_an_outer_folder_is_dropped_but_a_single_student_is_not(tmp_path):
    assert chosen(make(tmp_path / "a", "all/anna/lookup.ipynb", "all/ben/lookup.ipynb")) == {"anna": "anna/lookup.ipynb", "ben": "ben/lookup.ipynb"}
    assert list(chosen(make(tmp_path / "b", "anna/lookup.ipynb"))) == ["anna"]
    assert list(chosen(make(tmp_path / "c", "anna/lookup/lookup.ipynb"))) == ["anna"]


def test_of_several_notebooks_the_newest_with_the_right_name_is_taken(tmp_path):
    make(tmp_path, "anna/lookup.ipynb", "anna/lookup (1).ipynb", "anna/scaling.ipynb", "anna/.ipynb_checkpoints/lookup-checkpoint.ipynb")
    (who,) = read_inbox(tmp_path, "lookup")
    assert who.chosen.path == "anna/lookup (1).ipynb"
    assert "2 notebooks were handed in" in who.notes[0]


def test_another_name_is_accepted_and_said(tmp_path):
    (who,) = read_inbox(make(tmp_path, "anna/my homework.ipynb"), "lookup")
    assert who.chosen.path == "anna/my homework.ipynb" and "handed in as 'my homework.ipynb'" in who.notes


def test_a_link_is_never_followed(tmp_path):
    secret = make(tmp_path, "secret/lookup.ipynb") / "secret"
    inbox = tmp_path / "inbox"
    (inbox / "anna").mkdir(parents=True)
    (inbox / "anna" / "lookup.ipynb").symlink_to(secret / "lookup.ipynb")
    (inbox / "ben").symlink_to(secret)
    people = {who.student: who for who in read_inbox(inbox, "lookup")}
    assert "it is a link" in people["anna"].problem
    assert people["ben"].chosen is None and people["ben"].problem


def test_a_link_in_a_zip_is_refused_and_no_name_leaves_the_folder(tmp_path):
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("anna/lookup.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../../evil/lookup.ipynb", "{}")
    before = sorted(tmp_path.rglob("*"))
    people = {who.student: who for who in read_inbox(path, "lookup")}
    assert "it is a link" in people["anna"].problem
    assert all("/" not in who and not who.startswith(".") for who in people)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_huge_file_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("grading.inbox.SIZE_LIMIT", 10)
    (who,) = read_inbox(make(tmp_path, "anna/lookup.ipynb"), "lookup")
    assert "it has 17 bytes" in who.problem


def test_names_become_safe_and_stay_different(tmp_path):
    people = chosen(make(tmp_path, "Zoë Öz/lookup.ipynb", "a b/lookup.ipynb", "a_b/lookup.ipynb", "-rf/lookup.ipynb"))
    assert len(people) == 4 and {"Zoë_Öz", "a_b", "rf"} <= set(people)
    assert all(set(name) & set(" /*?[]") == set() for name in people)


@pytest.mark.parametrize("bad, says", [("missing", "there is no"), ("file.txt", "neither a folder nor a zip file")])
def test_no_inbox(tmp_path, bad, says):
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(Problem, match=says):
        read_inbox(tmp_path / bad, "lookup")
