"""The figures of chapter 04: what they say, to those who see them and to those who do not."""

import re

import numpy as np
import pytest

from lib.attention import causal_mask, scaled_dot_product_attention
from lib.show import figures
from lib.show.example import TOKENS, W_K, W_Q, W_V, X

NAMES = TOKENS[5:]  # look, it, up


def texts(picture):
    """The texts in a picture's SVG, in the order in which they are drawn."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture._repr_html_())


def test_a_mask_has_a_tick_for_each_yes_and_is_said_row_by_row():
    picture = figures.mask_map(causal_mask(3, 3), NAMES, NAMES)
    assert texts(picture).count("✓") == 6
    assert "look may ask look; it may ask look, it; up may ask look, it, up." in picture.description


def test_an_empty_row_of_a_mask_is_said():
    assert (
        "look asks nobody; it may ask look"
        in figures.mask_map(causal_mask(3, 3, offset=-1), NAMES, NAMES).description
    )


def test_a_hidden_weight_is_a_cross_and_a_small_one_a_number():
    mask = causal_mask(8, 8)
    weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, mask).weights
    shown = texts(figures.masked_weights(weights, mask, TOKENS, TOKENS))
    assert shown.count("×") == 28 and "0.01" in shown and "0.00" not in shown


def test_all_who_share_the_first_place_are_said():
    weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, is_causal=True).weights
    picture = figures.masked_weights(weights, causal_mask(8, 8), TOKENS, TOKENS, "title.causal")
    assert f"look asks if, you, word most ({weights[5, 0]:.2f})" in picture.description


def test_a_row_without_weights_is_said():
    picture = figures.masked_weights(np.eye(3) * [0, 1, 1], np.eye(3, dtype=bool), NAMES, NAMES)
    assert "look asks nobody; it asks it most (1.00)" in picture.description


def test_the_flow_has_a_box_and_a_shape_for_each_step_in_order():
    picture = figures.flow({"tokens": "3 words", "project": "3 × 4", "output": "3 × 2"})
    assert texts(picture) == [
        "tokens",
        "3 words",
        "project: Q, K, V",
        "3 × 4",
        "output",
        "3 × 2",
        "How does a token become an output?",
    ]
    assert "tokens: 3 words; project: Q, K, V: 3 × 4; output: 3 × 2." in picture.description


def test_both_halves_are_drawn_and_said():
    picture = figures.two_halves()
    shown = texts(picture)
    assert [
        shown.count(name) for name in ("self-attention", "cross-attention", "feed-forward", "causal mask")
    ] == [2, 1, 2, 1]
    assert "K and V come from there, Q from the decoder" in picture.description


def test_a_table_is_a_table_with_headings_and_harmless_text():
    table = figures.Table(["mask", "here"], [["True <means>", "may attend"]])
    assert '<th scope="col">here</th>' in table._repr_html_()
    assert '<th scope="row">True &lt;means&gt;</th><td>may attend</td>' in table._repr_html_()
    assert repr(table) == "mask | here\nTrue <means> | may attend"


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="each row must have 2 cells, got 1"):
        figures.Table(["mask", "here"], [["True means"]])


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: figures.weights_map(np.eye(8), NAMES, TOKENS), "8 rows need 8 names, got 3"),
        (lambda: figures.weights_map(np.eye(8), TOKENS, NAMES), "8 columns need 8 names, got 3"),
        (lambda: figures.mask_map(causal_mask(8, 8), NAMES, TOKENS), "8 rows need 8 names, got 3"),
        (
            lambda: figures.masked_weights(np.eye(3), np.eye(3) == 1, NAMES, TOKENS),
            "3 columns need 3 names, got 8",
        ),
        (lambda: figures.matrices([("X", X)], NAMES), "8 rows need 8 names, got 3"),
        (lambda: figures.queries_and_keys(X @ W_Q, X @ W_K, NAMES), "8 rows need 8 names, got 3"),
        (lambda: figures.bars(np.ones(8), NAMES), "8 weights need 8 names, got 3"),
        (lambda: figures.temperature_bars(np.ones((1, 8)), [1], NAMES), "8 weights need 8 names, got 3"),
        (lambda: figures.shelf_map(np.ones((5, 2)), NAMES, np.ones((1, 2))), "5 keys need 5 names, got 3"),
        (
            lambda: figures.hull(np.ones((4, 2)), np.ones((4, 2)), NAMES, ["x", "y"]),
            "4 values need 4 names, got 3",
        ),
    ],
)
def test_names_that_are_too_few_or_too_many_are_refused_in_one_line(draw, said):
    with pytest.raises(ValueError, match=f"^{said}: give one for each"):
        draw()
