"""The small parts of the build, each alone."""

import pytest
from docutils import nodes

from sphinx_ext.mathematics import FormulaError, render
from sphinx_ext.pages import describe, lighten, without_inline_scripts
from sphinx_ext.repository import Repository, from_ci, from_git, git, web_address


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://github.com/ann/book.git", "https://github.com/ann/book"),
        ("https://token@github.com/ann/book", "https://github.com/ann/book"),
        ("git@gitlab.com:ann/book.git", "https://gitlab.com/ann/book"),
        ("ssh://git@github.com:22/ann/book.git", "https://github.com/ann/book"),
        ("https://git.example.org/ann/book", None),
        ("../book.git", None),
        ("", None),
    ],
)
def test_the_web_page_of_a_remote(remote, page):
    assert web_address(remote) == page


def test_the_repository_is_the_one_that_ci_names():
    github = {
        "GITHUB_REPOSITORY": "fork/book",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REF_TYPE": "branch",
    }
    assert from_ci(github | {"GITHUB_REF_NAME": "draft"}) == Repository(
        "https://github.com/fork/book", "draft"
    )
    assert from_ci(github | {"GITHUB_REF_NAME": "7/merge"}).branch == "main"
    assert from_ci(github | {"GITHUB_REF_NAME": "v1", "GITHUB_REF_TYPE": "tag"}).branch == "main"
    gitlab = {"CI_PROJECT_URL": "https://gitlab.com/fork/book", "CI_COMMIT_BRANCH": "draft"}
    assert from_ci(gitlab) == Repository("https://gitlab.com/fork/book", "draft")
    assert from_ci({}) is None


def test_the_repository_is_gits_remote_where_there_is_no_ci(tmp_path):
    assert from_git(tmp_path) is None
    git(tmp_path, "init", "--initial-branch", "draft")
    assert from_git(tmp_path) is None
    git(tmp_path, "remote", "add", "origin", "git@github.com:fork/book.git")
    assert from_git(tmp_path) == Repository("https://github.com/fork/book", "draft")


def test_katex_renders_and_says_what_it_cannot_read():
    assert 'class="katex-display"' in render(r"\begin{aligned}a&=b\\&=c\end{aligned}", display=True)
    assert "<math" in render(r"\sqrt{d_k}")
    with pytest.raises(FormulaError, match="Undefined control sequence"):
        render(r"\nosuch")


def test_a_description_is_cut_at_a_word():
    document = nodes.section(
        "", nodes.title(text="T"), nodes.paragraph(text="One\nline."), nodes.paragraph(text="Two.")
    )
    assert describe(document) == "One line. Two."
    long = describe(nodes.section("", nodes.paragraph(text="some words " * 40)))
    assert long.endswith(("some…", "words…")) and len(long) <= 160
    assert describe(nodes.section("", nodes.title(text="T"))) == ""


def test_icon_rules_and_source_maps_are_taken_out():
    css = 'a{b:c}.fa-x:before,.fa-y:before{content:"\\f1"}@font-face{font-family:"Font Awesome 6 Free";src:url(x)}d{e:f}/*# sourceMappingURL=x.map*/'
    assert lighten(css) == "a{b:c}d{e:f}"
    assert lighten("run();\n//# sourceMappingURL=x.js.map\n") == "run();"


def test_buttons_with_inline_scripts_are_dropped():
    link, script = (
        {"type": "link", "url": "x", "text": ".ipynb", "icon": "file"},
        {"type": "javascript", "javascript": "go()"},
    )
    group = {"type": "group", "icon": "download"}
    assert without_inline_scripts([script, group | {"buttons": [link, script]}]) == [
        link | {"text": "", "icon": "download"}
    ]
    assert without_inline_scripts([group | {"buttons": [link, link]}]) == [group | {"buttons": [link, link]}]
    assert without_inline_scripts([group | {"buttons": [script]}]) == []
