"""The student's version: made from the source, and refused when anything secret or wrong is in it."""

import json
import shutil

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from grading import leaks, release
from grading.course import Course, Problem

pytestmark = pytest.mark.slow  # each runs a notebook


def test_the_released_notebook_shows_nothing_secret(bench, assignment):
    course = Course(bench.repository / "exercises")
    secret = leaks.secrets(course.source(assignment))
    assert len(secret.solutions) > 3 and len(secret.others) > 10
    assert leaks.in_notebook(course.release(assignment), secret.all) == []


def test_the_instructors_notebook_itself_is_full_of_leaks(bench, assignment):
    source = bench.repository / "exercises" / "source" / assignment / f"{assignment}.ipynb"
    assert set(leaks.in_notebook(source, leaks.secrets(source).all)) >= set(leaks.MARKS[:2])


PLANTED = "return weights @ values"


@pytest.mark.parametrize(
    "where",
    [
        lambda nb: nb.cells[-1].update(source=nb.cells[-1].source + f"\n    # {PLANTED}"),
        lambda nb: nb.cells[2].update(source=f"- {PLANTED}"),
        lambda nb: nb.metadata.update(note=PLANTED),
        lambda nb: nb.cells[1].update(outputs=[{"output_type": "stream", "name": "stdout", "text": [f"x\n{PLANTED}\n"]}]),
        lambda nb: nb.cells[2].update(source=nb.cells[2].source + "\n### BEGIN SOLUTION"),
    ],
    ids=["comment", "list", "metadata", "output", "mark"],
)
def test_a_planted_leak_is_found_anywhere(bench, tmp_path, where):
    notebook = bench.released("lookup")
    where(notebook)
    path = bench.save(notebook, tmp_path / "lookup.ipynb")
    source = bench.repository / "exercises" / "source" / "lookup" / "lookup.ipynb"
    assert leaks.in_notebook(path, leaks.secrets(source).all)


def test_a_leak_in_a_built_site_is_found(bench, tmp_path):
    sources = list((bench.repository / "exercises" / "source").glob("*/*.ipynb"))
    site = tmp_path / "html"
    (site / "_sources" / "exercises").mkdir(parents=True)
    for name in bench.assignments:
        bench.save(bench.released(name), site / "_sources" / "exercises" / f"{name}.ipynb")
    (site / "chapter.html").write_text(f"<pre><span>return</span> weights @ values</pre> {PLANTED}")
    assert leaks.in_site(site, sources) == []  # a chapter may show how to blend
    (site / "exercises").mkdir()
    (site / "exercises" / "lookup.html").write_text("<pre>  <span>return</span> weights <b>@</b> values\n</pre>")
    (site / "old.html").write_text("<pre>\nassert (_got &lt; 0).all(), f&quot;x&quot;\n_got = np.asarray(share(np.array([1.0, 2.0, 4.0])), dtype=float).ravel()</pre>")
    assert {file for file, _ in leaks.in_site(site, sources)} == {"exercises/lookup.html", "old.html"}
    shutil.copy(sources[0], site / "_sources" / "solved.ipynb")
    assert any(file.endswith("solved.ipynb") for file, _ in leaks.in_site(site, sources))


@pytest.fixture(scope="module")
def course(bench, tmp_path_factory):
    return Course(bench.copy_course(tmp_path_factory.mktemp("release")) / "exercises")


def edit(course, cell_id, change):
    path = course.source("lookup")
    notebook = nbformat.read(path, 4)
    cell = next(cell for cell in notebook.cells if cell.id == cell_id)
    cell.source = change(cell.source)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_the_committed_pages_are_what_release_makes_now(bench, course, assignment):
    release.release(course, assignment)
    assert course.release(assignment).read_bytes() == (bench.repository / "exercises" / "release" / assignment / f"{assignment}.ipynb").read_bytes()


@pytest.mark.parametrize(
    "cell_id, change, says",
    [
        ("match", lambda s: s.replace("keys @ query", "keys @ query + 1"), "the instructor's own answer fails match-dot"),
        ("match-text", lambda s: s.replace("3 points", "4 points"), 'says 4 points, its cells have 3'),
        ("share-form", lambda s: "pass", "an untouched notebook passes share-form"),
    ],
    ids=["wrong answer", "points", "free points"],
)
def test_a_faulty_source_is_not_released_and_the_old_page_stays(course, cell_id, change, says):
    source = course.source("lookup").read_bytes()
    release.release(course, "lookup")
    page = course.release("lookup").read_bytes()
    edit(course, cell_id, change)
    with pytest.raises(Problem, match=says):
        release.release(course, "lookup")
    assert course.release("lookup").read_bytes() == page
    course.source("lookup").write_bytes(source)


def test_a_leak_on_the_way_is_refused_and_the_old_page_stays(course, monkeypatch):
    """Should nbgrader ever leave a solution in, by a mistake of its own or of a configuration."""
    release.release(course, "lookup")
    page = course.release("lookup").read_bytes()
    generate = release._generate

    def leaky(course, name):
        generate(course, name)
        path = course.release(name)
        path.write_text(path.read_text().replace("The answer is no single book", f"{PLANTED}\\nThe answer is no single book"))

    monkeypatch.setattr(release, "_generate", leaky)
    with pytest.raises(Problem, match=f"can be read there: {PLANTED}"):
        release.release(course, "lookup")
    assert course.release("lookup").read_bytes() == page


def test_students_can_run_it_in_a_jupyter_kernel(bench, assignment, tmp_path):
    """Filled in, every instant check passes; untouched, the first answer says what to do."""
    options = {"timeout": 120, "kernel_name": "python3", "resources": {"metadata": {"path": str(tmp_path)}}}
    NotebookClient(bench.solved(assignment), **options).execute()
    with pytest.raises(CellExecutionError, match="Replace this line with your answer"):
        NotebookClient(bench.released(assignment), **options).execute()


def test_an_unknown_name_gets_a_list_of_the_known_ones(course):
    with pytest.raises(Problem, match="there is no assignment 'lokup'.* there are five-steps, lookup, masks, scaling"):
        release.release(course, "lokup")
