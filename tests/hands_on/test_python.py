"""The Python side: what it takes, what it refuses, what it writes into a built page."""

import json
import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

from lib.attention import causal_mask, scaled_dot_product_attention
from lib.show.hands_on import MaskEditor, Shelf, _draw, mask_editor, shelf
from sphinx_ext.hands_on import inline_script, modules_on

BOOKS = dict(
    names=["Stars & <Planets>", "Rome", "Tales"],
    key=[[2, 0], [0, 2], [-1, 1]],
    value=[[9, 1], [1, 9], [3, 3]],
    components=["facts", "stories"],
    axes=["science", "people"],
    query=[1.0, 0.5],
    attention=scaled_dot_product_attention,
)
TOKENS = "look it up".split()
X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def editor(**changes):
    arguments = dict(tokens=TOKENS, query=X, key=X, value=X, attention=scaled_dot_product_attention) | changes
    return mask_editor(**arguments)


@pytest.fixture
def static(monkeypatch):
    monkeypatch.setenv("LOOK_IT_UP_FRAMES", "1")


def test_with_a_kernel_it_is_a_widget_whose_state_can_be_read_and_set():
    w = shelf(**BOOKS)
    assert "application/vnd.jupyter.widget-view+json" in w._repr_mimebundle_()[0]
    w.query = [[-1, 2]]
    wanted = scaled_dot_product_attention(np.array([[-1.0, 2.0]]), w.key, w.value, scale=1)
    np.testing.assert_array_equal(w.weights, wanted.weights)
    np.testing.assert_array_equal(w.output, wanted.output)
    m = editor()
    m.mask = causal_mask(3, 3)
    np.testing.assert_array_equal(m.weights, scaled_dot_product_attention(X, X, X, is_causal=True).weights)
    np.testing.assert_array_equal(m.output, scaled_dot_product_attention(X, X, X, is_causal=True).output)


def test_what_the_browser_sends_arrives_as_arrays():
    w, m = shelf(**BOOKS), editor()
    w.set_state({"query": [[0.5, -2]], "temperature": None})
    assert w.query.tolist() == [[0.5, -2.0]] and w.temperature == np.inf
    np.testing.assert_allclose(w.weights, 1 / 3)
    m.set_state({"mask": [[True, False, False]] * 3, "row": 2})
    assert m.mask.dtype == bool and m.row == 2
    np.testing.assert_array_equal(m.weights[2], [1, 0, 0])


def test_a_row_without_any_key_has_weights_and_output_0():
    m = editor(mask=np.zeros((3, 3), dtype=bool))
    assert not m.weights.any() and not m.output.any()


def test_arrays_cannot_be_written_into_unnoticed():
    with pytest.raises(ValueError, match="read-only"):
        shelf(**BOOKS).query[0, 0] = 3


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            dict(key=[[1, 2]]),
            ValueError,
            r"^key must have the shape \(3, 2\), got \(1, 2\): give one row for each book$",
        ),
        (dict(query=[1, 2, 3]), ValueError, r"^query must have the shape \(1, 2\), got \(1, 3\)"),
        (
            dict(value=[[1, 2], [1], [2, 3]]),
            ValueError,
            "^value must be a rectangular array, got rows of several lengths",
        ),
        (dict(value=[["a", "b"]] * 3), TypeError, "^value must hold real numbers, got <U1: give"),
        (dict(key=[[1, np.nan]] * 3), ValueError, "^key must be finite, got nan: replace"),
        (
            dict(query=[4, 0]),
            ValueError,
            r"^query must lie between -3 and 3 to be in the picture, got 4.0: scale it down$",
        ),
        (
            dict(temperature=-1),
            ValueError,
            "^temperature must be 0 or at least 1e-9, got -1: 0 is the hard lookup",
        ),
        (dict(temperature="hot"), TypeError, "^temperature must be a number, got 'hot'"),
        (dict(temperature=np.nan), ValueError, "^temperature must be 0 or at least"),
        (dict(names=["one"]), ValueError, "^a shelf needs at least 2 books, got 1"),
    ],
)
def test_shelf_refuses_in_one_line(changes, error, message):
    with pytest.raises(error, match=message) as caught:
        shelf(**BOOKS | changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (dict(mask=np.ones((3, 3))), TypeError, "^mask must be boolean, True = may attend, got float64: for ones and zeros write mask == 1$"),
        (dict(mask=causal_mask(2, 2)), ValueError, r"^mask must have the shape \(3, 3\), got \(2, 2\): give one row for each token$"),
        (dict(query=X[:, :1]), ValueError, r"^query and key must share their last axis \(d_k\), got \(1,\) and \(2,\)"),
        (dict(value=X[:2]), ValueError, r"^value must have the shape \(3, 2\), got \(2, 2\)"),
        (dict(value=[1, 2, 3]), ValueError, r"^value must have the shape \(3, any\), got \(3,\)"),
        (dict(row=3), ValueError, "^row must lie between 0 and 2, got 3: it counts the tokens from 0$"),
        (dict(tokens=["a"] * 11), ValueError, "^tokens must be 2 to 10, got 11: more cells are too small for a finger$"),
        (dict(real=4), ValueError, "^real must lie between 1 and 3, got 4"),
        (dict(left=-1), ValueError, "^left must lie between 0 and 3, got -1"),
    ],
)  # fmt: skip
def test_mask_editor_refuses_in_one_line(changes, error, message):
    with pytest.raises(error, match=message) as caught:
        editor(**changes)
    assert "\n" not in str(caught.value)


def test_built_into_a_page_it_is_plain_html(static):
    w, m = shelf(**BOOKS, temperature=np.inf), editor(row=1)
    assert (
        type(w) is Shelf and type(m) is MaskEditor
    )  # no widget: nothing of it can reach the page's widget state
    for widget in (w, m):
        bundle = widget._repr_mimebundle_()
        assert set(bundle) == {"text/html", "text/plain"}
        html = bundle["text/html"]
        assert not re.search(r"\s(style|on\w+)=", html)  # a strict Content-Security-Policy forbids both
        state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])
        assert state["query"] == widget.query.tolist()
    assert json.loads(w.to_json())["temperature"] is None
    assert "Plain average: every book has the weight 0.33" in w.to_html()
    assert "Token 1 ‘it’ sees 3 of 3 keys" in m.to_html()


def test_names_cannot_break_out_of_the_page(static):
    names = ["</script><i>", '"onload="x', "R & D"]
    page = BeautifulSoup(shelf(**BOOKS | dict(names=names)).to_html(), "html.parser")
    assert json.loads(page.script.string)["names"] == names
    assert [row.th.get_text().split(maxsplit=1)[1] for row in page.tbody.find_all("tr")] == names
    assert not page.find("i") and not [tag for tag in page.find_all() if "onload" in tag.attrs]


def test_a_module_that_cannot_draw_says_so():
    with pytest.raises(RuntimeError, match="^shelf.js failed to draw its default state: .*"):
        _draw("shelf", "{}")


def test_the_page_gets_each_module_once():
    page = '<div class="lu" data-hands-on="shelf">' * 2 + '<div class="lu" data-hands-on="mask_editor">'
    assert modules_on(page) == ["mask_editor", "shelf"]
    assert modules_on("<p>data-hands-on</p>") == []


def test_a_module_that_would_end_its_own_script_is_refused(monkeypatch, tmp_path):
    (tmp_path / "shelf.js").write_text("const s = '</script>';")
    monkeypatch.setattr("sphinx_ext.hands_on.STATIC", tmp_path)
    with pytest.raises(ValueError, match="shelf.js must not contain </script"):
        inline_script("shelf")
