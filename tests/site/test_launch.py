"""The buttons of a page lead to the repository that the book is built from, and the launch button opens the very chapter."""

import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from sphinx_ext.repository import Repository, launch_url

ROOT = Path(__file__).parents[2]
FORK = Repository(
    "https://github.com/someone/look-it-up", "main"
)  # conftest.py builds the book as this one's
LAUNCH = re.compile(r'<a href="(https://mybinder\.org/[^"]*)"')


def tracked(folder):
    """Return the files of a repository's tree."""
    command = ["git", "-C", folder, "ls-files"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())


def wrong_launches(pages, repository, tree):
    """Return what is wrong with the launch links of pages (their HTML by their name), beside a repository and its tree."""
    wrong = []
    for name, text in pages.items():
        links = LAUNCH.findall(text)
        source = name.replace(".html", ".ipynb")
        if len(links) != (source in tree):
            wrong.append(f"{name} has {len(links)} launch buttons")
        for address in map(urlsplit, links):
            _, _, _, owner, project, branch = address.path.split("/")
            path = parse_qs(address.query)["urlpath"][0].removeprefix("lab/tree/")
            if (
                f"https://github.com/{owner}/{project}" != repository.url
                or unquote(branch) != repository.branch
            ):
                wrong.append(f"{name} opens {owner}/{project} at {unquote(branch)}")
            if path not in tree or path != source:
                wrong.append(f"{name} opens {path}")
    return wrong


def test_every_chapters_button_opens_that_chapter(site, pages):
    texts = {name: (site / name).read_text("utf-8") for name in pages}
    assert any(LAUNCH.search(text) for text in texts.values())
    assert not wrong_launches(texts, FORK, tracked(ROOT))


@pytest.mark.parametrize(
    ("repository", "path", "wrong"),
    [
        (FORK, "chapters/01-library.ipynb", []),
        (FORK, "chapters/02-pipeline.ipynb", ["chapters/01-library.html opens chapters/02-pipeline.ipynb"]),
        (FORK, "chapters/01-gone.ipynb", ["chapters/01-library.html opens chapters/01-gone.ipynb"]),
        (
            FORK._replace(branch="a/b"),
            "chapters/01-library.ipynb",
            ["chapters/01-library.html opens someone/look-it-up at a/b"],
        ),
        (
            Repository("https://github.com/origin/book", "main"),
            "chapters/01-library.ipynb",
            ["chapters/01-library.html opens origin/book at main"],
        ),
    ],
)
def test_a_wrong_link_is_found(repository, path, wrong):
    text = f'<a href="{launch_url("https://mybinder.org", repository, path)}" target="_blank">'
    assert wrong_launches({"chapters/01-library.html": text}, FORK, tracked(ROOT)) == wrong


def test_a_missing_button_is_found():
    assert wrong_launches({"chapters/01-library.html": ""}, FORK, tracked(ROOT)) == [
        "chapters/01-library.html has 0 launch buttons"
    ]


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://github.com/ann/book", "gh/ann/book"),
        ("https://gitlab.com/ann/book", "gl/ann%2Fbook"),
        ("https://bitbucket.org/ann/book", "git/https%3A%2F%2Fbitbucket.org%2Fann%2Fbook"),
    ],
)
def test_binder_is_told_the_kind_of_repository_and_the_whole_branch(url, where):
    link = launch_url("https://hub.example.org", Repository(url, "a/b"), "chapters/01 x.ipynb")
    assert link == f"https://hub.example.org/v2/{where}/a%2Fb?urlpath=lab/tree/chapters/01%20x.ipynb"


def test_buttons_point_at_the_fork_and_without_a_repository_there_are_none(small_book):
    small_book.notebook("chapters/one.ipynb", "1 + 1")
    unknown = {
        "GIT_CEILING_DIRECTORIES": str(small_book.folder.parent),
        "GITHUB_REPOSITORY": "",
        "CI_PROJECT_URL": "",
    }
    assert small_book.build(**unknown).returncode == 0
    page = small_book.page("chapters/one.html")
    assert "github.com" not in page and not LAUNCH.search(page)
    fork = {"GITHUB_REPOSITORY": "fork/book", "GITHUB_REF_TYPE": "branch", "GITHUB_REF_NAME": "draft"}
    assert small_book.build(**fork).returncode == 0
    assert 'href="https://github.com/fork/book"' in small_book.page("intro.html")
    pages = {
        "chapters/one.html": small_book.page("chapters/one.html"),
        "intro.html": small_book.page("intro.html"),
    }
    assert not wrong_launches(
        pages, Repository("https://github.com/fork/book", "draft"), {"chapters/one.ipynb"}
    )


def test_a_fork_at_bitbucket_builds_too(small_book):
    """The theme has no page for new issues there, and would warn."""
    subprocess.run(["git", "init", "-q", small_book.folder], check=True)
    remote = ["remote", "add", "origin", "https://bitbucket.org/fork/book"]
    subprocess.run(["git", "-C", small_book.folder, *remote], check=True)
    done = small_book.build(GITHUB_REPOSITORY="", CI_PROJECT_URL="")
    assert done.returncode == 0, done.stdout
    assert 'href="https://bitbucket.org/fork/book"' in small_book.page("intro.html")
