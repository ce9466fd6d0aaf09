"""What the modules compute in the browser is what lib.attention computes."""

import re

import numpy as np
import pytest

from lib.attention import causal_mask, padding_mask, scaled_dot_product_attention, softmax, window_mask
from lib.show.hands_on import STATIC, Shelf
from lib.show.words import templates

IMPORT = """async text => { window.m = await import(URL.createObjectURL(new Blob([text], {type: "text/javascript"}))); }"""


@pytest.fixture(scope="module")
def module(browser):
    """Import a module as JupyterLab does, from a blob, and call what it exports."""
    page = browser.new_page()

    def module(name):
        page.evaluate(IMPORT, (STATIC / f"{name}.js").read_text("utf-8"))

        def call(function, *args):
            return page.evaluate(f"args => m.{function}(...args)", list(args))

        call.each = lambda function, inputs: page.evaluate(
            f"inputs => inputs.map(x => m.{function}(x))", inputs
        )
        return call

    yield module
    page.close()


def random_shelves():
    rng = np.random.default_rng(0)
    for i in range(60):
        n, size = int(rng.integers(2, 9)), [1, 3, 30, 120][i % 4]
        yield rng.uniform(-size, size, (1, 2)), rng.uniform(-size, size, (n, 2)), rng.normal(size=(n, 3)) * 10


EXTREME = [
    ([[100.0, 100.0]], [[70.0, 71.0], [71.0, 70.0], [-70.0, -71.0]]),  # scores of 1e4, and a tie
    ([[1.0, 0.0]], [[2.0, 5.0], [2.0, -5.0], [1.0, 0.0]]),  # a tie of two
    ([[0.0, 0.0]], [[1.0, 2.0], [3.0, 4.0], [-1.0, 0.0]]),  # every score 0: all tie
    ([[0.3, 0.1]], [[0.1, 0.3], [0.3, 0.1], [0.1, 0.3]]),
]
TEMPERATURES = [0.0, 1e-9, 1e-4, 0.05, 0.7, 1.0, 3.0, 1e3, 1e12, 1e308, np.inf]


def shelves():
    yield from random_shelves()
    for query, key in EXTREME:
        yield np.array(query), np.array(key), np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 6.0], [7.0, 8.0, -9.0]])


def cases():
    return [(*shelf, temperature) for shelf in shelves() for temperature in TEMPERATURES]


def looked_up(module):
    """What the browser computes for all the cases, in one call."""
    states = [
        dict(
            query=query.tolist(),
            key=key.tolist(),
            value=value.tolist(),
            temperature=None if t == np.inf else t,
        )
        for query, key, value, t in cases()
    ]
    return module("shelf").each("lookUp", states)


def test_shelf_equals_lib_attention(module):
    for (query, key, value, temperature), got in zip(cases(), looked_up(module), strict=True):
        scores = query @ key.T
        if temperature == 0:  # the limit: the winners share the weight
            winners = np.isclose(scores, scores.max(), rtol=1e-9, atol=1e-9)
            wanted = scaled_dot_product_attention(query, key, value, winners, scale=0.0)
        else:
            wanted = scaled_dot_product_attention(query, key, value, scale=1 / temperature)
        np.testing.assert_allclose(got["scores"], scores[0], rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(
            got["weights"], wanted.weights[0], rtol=0, atol=1e-6, err_msg=f"T = {temperature}"
        )
        np.testing.assert_allclose(got["output"], wanted.output[0], rtol=1e-6, atol=1e-6)


def test_shelf_in_python_equals_the_browser(module):
    """``w.weights`` in the next cell is what the reader saw."""
    for (query, key, value, temperature), got in zip(cases(), looked_up(module), strict=True):
        shelf = Shelf(attention=scaled_dot_product_attention, words=templates("shelf"), names=list(map(str, range(len(key)))),
                      components=["a", "b", "c"], query=query, key=key, value=value, temperature=temperature)  # fmt: skip
        np.testing.assert_allclose(
            shelf.weights[0], got["weights"], rtol=0, atol=1e-6, err_msg=f"T = {temperature}"
        )
        np.testing.assert_allclose(shelf.output[0], got["output"], rtol=1e-6, atol=1e-6)


def test_hard_lookup_is_the_argmax_and_infinity_the_average(module):
    call = module("shelf")
    assert call("weights", [1.0, 3.0, 2.0], 0) == [0, 1, 0]
    assert call("weights", [3.0, 1.0, 3.0], 0) == [0.5, 0, 0.5]
    assert call("weights", [3.0, 1.0, 1e4, -1e4], float("inf")) == [0.25] * 4


def test_softmax_equals_lib_softmax(module):
    rng = np.random.default_rng(1)
    for name in ("shelf", "mask_editor"):
        call = module(name)
        for scores in [rng.normal(size=7) * 10.0**e for e in range(-3, 6)] + [
            np.full(4, 1e4),
            np.full(3, -1e4),
        ]:
            np.testing.assert_allclose(call("softmax", scores.tolist()), softmax(scores), rtol=0, atol=1e-12)
        assert call("softmax", [float("-inf"), 2.0]) == [0, 1]
        assert call("softmax", [float("-inf")] * 3) == [0, 0, 0]


def test_mask_editor_equals_lib_attention(module):
    call, rng = module("mask_editor"), np.random.default_rng(2)
    for i in range(40):
        n, d_k = int(rng.integers(2, 9)), int(rng.integers(1, 6))
        size = [1, 10, 60][i % 3]
        query, key, value = (
            rng.normal(size=(n, d_k)) * size,
            rng.normal(size=(n, d_k)) * size,
            rng.normal(size=(n, 2)),
        )
        key[-1] = key[0]  # a tie
        mask = rng.random((n, n)) < [0.15, 0.5, 0.9][i % 3]
        mask[0] = False  # a row without any key
        wanted = scaled_dot_product_attention(query, key, value, mask)
        state = dict(query=query.tolist(), key=key.tolist(), value=value.tolist(), mask=mask.tolist())
        for row, got in enumerate(call.each("lookUp", [state | {"row": row} for row in range(n)])):
            np.testing.assert_allclose(got["weights"], wanted.weights[row], rtol=0, atol=1e-6)
            np.testing.assert_allclose(got["output"], wanted.output[row], rtol=0, atol=1e-6)


def test_presets_are_the_masks_of_lib(module):
    call = module("mask_editor")
    for n in (2, 5, 8):
        assert call("causalMask", n) == causal_mask(n, n).tolist()
        assert call("noMask", n) == [[True] * n] * n
        for length in range(n + 1):
            assert (
                call("paddingMask", n, length)
                == np.broadcast_to(padding_mask([length], n)[0], (n, n)).tolist()
            )
        for left, right in [(0, 0), (2, 0), (1, 1), (0, 3)]:
            assert call("windowMask", n, left, right) == window_mask(n, n, left, right).tolist()


SENTENCE = "if you forget a word look it up".split()
FORGET, WORD = SENTENCE.index("forget"), SENTENCE.index("word")


def changed(mask, *cells):
    mask = np.array(mask)
    for i, j in cells:
        mask[i, j] = ~mask[i, j]
    return mask


CAUSAL, NONE = causal_mask(8, 8), np.ones((8, 8), dtype=bool)
PADDING, WINDOW = np.broadcast_to(padding_mask([5], 8)[0], (8, 8)), window_mask(8, 8, 2)


@pytest.mark.parametrize(
    ("mask", "name"),
    [
        (NONE, "no mask"),
        (CAUSAL, "causal"),
        (PADDING, "padding: only the first 5 tokens are real, nobody sees the others"),
        (np.broadcast_to(padding_mask([7], 8)[0], (8, 8)), "padding: only the first 7 tokens are real, nobody sees the others"),
        (WINDOW, "window of 2 before and 0 after"),
        (window_mask(8, 8, 1, 1), "window of 1 before and 1 after"),
        (~NONE, "everything hidden: no token sees any"),
        (changed(CAUSAL, (FORGET, WORD)), "causal, but token 2 ‘forget’ sees token 4 ‘word’: a leak"),
        (
            changed(CAUSAL, (FORGET, WORD), (5, 0)),
            "causal, but token 2 ‘forget’ sees token 4 ‘word’: a leak; token 5 ‘look’ does not see token 0 ‘if’",
        ),
        (changed(PADDING, (0, 6)), "padding: only the first 5 tokens are real, nobody sees the others, "
         "but token 0 ‘if’ sees token 6 ‘it’: a leak"),
        (changed(WINDOW, (7, 1)), "window of 2 before and 0 after, but token 7 ‘up’ sees token 1 ‘you’"),
        (changed(NONE, (7, 1)), "no mask, but token 7 ‘up’ does not see token 1 ‘you’"),
        (np.eye(8, dtype=bool)[::-1], "custom: 8 of 64 cells are open, 4 of them look ahead"),
    ],
)  # fmt: skip
def test_a_mask_is_called_what_it_is(module, mask, name):
    state = dict(mask=mask.tolist(), tokens=SENTENCE, words=templates("mask"), left=2, real=5)
    assert module("mask_editor")("maskName", state) == name


def test_the_functions_that_both_modules_have_are_the_same():
    """No build step, so each file carries its own copy: they must not drift apart."""
    texts = [(STATIC / f"{name}.js").read_text("utf-8") for name in ("shelf", "mask_editor")]
    for function in ("scores", "softmax", "blend"):
        copies = [
            re.search(rf"\n/\*\* [^\n]*\nexport function {function}\(.*?\n}}\n", text, re.S)[0]
            for text in texts
        ]
        assert copies[0] == copies[1], function
    kept = [re.search(r"\n/\*\* In a notebook.*?\nfunction keepKey\(.*?\n}\n", text, re.S)[0] for text in texts]
    assert kept[0] == kept[1]
