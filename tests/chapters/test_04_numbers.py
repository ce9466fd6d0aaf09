"""A number in the prose of chapter 04 is the number in the output.

Each claim is a phrase of the chapter with its numbers put in by computing them: it must stand in the chapter, letter by
letter. And no decimal number may stand in the prose outside such a phrase.
"""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from lib.attention import causal_mask, padding_mask, scaled_dot_product_attention, softmax, window_mask
from lib.show.example import W_K, W_Q, W_V, X

NOTEBOOK = nbformat.read(Path(__file__).parents[2] / "chapters" / "04-variants.ipynb", as_version=4)
PROSE = " ".join(" ".join(cell.source for cell in NOTEBOOK.cells if cell.cell_type == "markdown").split())
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
READING = scaled_dot_product_attention(Q, K, V)
WRITING = scaled_dot_product_attention(Q, K, V, is_causal=True)


def claims():
    reading, writing = READING.weights, WRITING.weights
    yield f"that is the same as a mask with {reading.size} times *yes*"
    yield f"*look* gives {reading[5, 7]:.2f} to *up*, which stands two places after it"
    yield f"in the whole sentence *look* gave {reading[5, 7]:.2f} to *up*"

    answer = np.array([[0, 0, 0, 0, 0], [2, 0, 2, 0, 0], [0, 0, 0, 2, 0]])
    crossing = scaled_dot_product_attention(answer @ (2 * np.eye(5, 4)), K, V)
    please, consult, it = crossing.weights
    assert f"{consult[2]:.2f}" == f"{consult[7]:.2f}"
    yield f"*consult* gives {consult[5]:.2f} to *look*, and {consult[2]:.2f} to *forget* and to *up*"
    yield f"*it* gives {it[6]:.2f} to *it*"
    assert np.ptp(please) == 0
    yield f"a row of equal weights, {please[0]:.3f} for each of eight (the map prints {please[0]:.2f})"
    shapes = {
        "queries": answer @ np.eye(5, 4),
        "keys": K,
        "values": V,
        "weights": crossing.weights,
        "output": crossing.output,
    }
    general = {
        "queries": "n_query × d_k",
        "keys": "n_key × d_k",
        "values": "n_key × d_v",
        "weights": "n_query × n_key",
        "output": "n_query × d_v",
    }
    for name, array in shapes.items():
        yield f"| {name} | {general[name]} | {array.shape[0]} × {array.shape[1]} |"

    yield f"(e to the −10 is {np.exp(-10):.5f})"
    S = Q[5:] @ K[5:].T / 2
    e, A = np.exp(S), scaled_dot_product_attention(Q[5:], K[5:], V[5:], is_causal=True).weights
    yield f"| look | {S[0, 0]:g} | – | – | {e[0, 0]:g}, 0, 0 | {A[0, 0]:g}, 0, 0 |"
    yield f"| it | {S[1, 0]:g} | {S[1, 1]:g} | – | {e[1, 0]:.2f}, {e[1, 1]:g}, 0 | {A[1, 0]:.3f}, {A[1, 1]:.3f}, 0 |"
    yield f"| up | {S[2, 0]:g} | {S[2, 1]:g} | {S[2, 2]:g} | {e[2, 0]:.2f}, {e[2, 1]:.2f}, {e[2, 2]:g} | {A[2, 0]:.3f}, {A[2, 1]:.3f}, {A[2, 2]:.3f} |"

    seen = reading[5, :6].sum()
    yield f"The tokens that *look* can see had {seen:.3f} together"
    yield (
        f"{reading[5, 0]:.3f} for *if* has been divided by {seen:.3f} and become {writing[5, 0]:.3f} "
        "(the printed numbers are rounded)"
    )
    assert np.ptp(writing[5, [0, 1, 4]]) < 1e-12, "if, you and word get the same share"
    yield f"which sees *look* and gives it {writing[7, 5]:.2f}"
    yield f"the {reading[6, 4]:.2f} that *it* gave to *word* has become {writing[6, 4]:.2f}"
    yield f"with {len(X)} keys computed in place of {sum(range(1, 9))}"
    yield f"Eight tokens have {8 * 7 // 2} pairs"

    short = np.zeros((8, 5))
    short[:3] = X[5:]
    to_padding = scaled_dot_product_attention(short @ W_Q, short @ W_K, short @ W_V).weights[0, 3:].sum()
    yield f"the five rows that mean nothing had {to_padding:.3f} of *look*'s attention"
    rows, columns = torch.nn.MultiheadAttention(4, 1, bias=False).in_proj_weight.shape
    yield f"in three matrices of {rows // 3} × {columns} all {rows * columns} numbers have the gradient NaN"
    yield f"PyTorch {'.'.join(torch.__version__.split('.')[:2])}."

    tiny = softmax(np.where(causal_mask(8, 8), Q @ K.T / 2, -1e-12))
    yield f"Seven of eight keys are hidden from *if*, and they get {tiny[0, 1:].sum():.3f} of its attention"
    yield f"For *look* it is {tiny[5, 6:].sum():.3f}"


CLAIMS = list(claims())


@pytest.mark.parametrize("phrase", CLAIMS)
def test_what_the_prose_says_is_what_is_computed(phrase):
    assert phrase in PROSE


def unproved_numbers(text, phrases):
    """The decimal numbers of a text that stand in none of the phrases."""
    for phrase in sorted(phrases, key=len, reverse=True):
        text = text.replace(phrase, " ")
    return re.findall(r"\d+\.\d+", text)


def test_no_number_in_the_prose_goes_without_proof():
    assert unproved_numbers(PROSE, CLAIMS) == []


def test_a_number_without_proof_is_found():
    assert unproved_numbers("the weight is 0.61, and 0.5 more", ["the weight is 0.61"]) == ["0.5"]


def test_the_exercises_have_the_answers_that_their_hints_give(chapter_04):
    influence, count_leaks, with_mask = (
        chapter_04[name] for name in ("influence", "count_leaks", "with_mask")
    )
    prefix = causal_mask(8, 8)
    prefix[:3, :3] = True
    assert count_leaks(with_mask(prefix), X) == 3  # exercise 1

    layer = with_mask(window_mask(8, 8, left=1))
    two = influence(lambda X: layer(layer(X) @ W_V.T), X)
    assert (two == window_mask(8, 8, left=2)).all()  # exercise 2: each layer adds one step back

    def hidden_too_late(X):
        weights = softmax(X @ W_Q @ (X @ W_K).T / 2) * causal_mask(8, 8)
        assert (weights.sum(axis=-1)[:-1] < 1).all()
        return weights @ (X @ W_V)

    leaks = count_leaks(hidden_too_late, X)  # exercise 3
    assert f"It fails with {leaks} leaks" in PROSE


def test_one_hidden_row_makes_the_whole_module_nan(chapter_04):
    assert chapter_04["gradient"].isnan().all()
    assert chapter_04["layer"].in_proj_weight.isnan().all()  # after one step
    ours = chapter_04["W"].grad
    assert ours.numel() == chapter_04["gradient"].numel() and not ours.isnan().any()  # by this book


def test_a_hidden_value_must_be_a_number():
    for filler, same in ((0, True), (1000, True), (np.nan, False)):
        filled = V.copy()
        filled[7] = filler
        output = scaled_dot_product_attention(Q, K, filled, is_causal=True).output[5]
        assert np.allclose(output, WRITING.output[5]) == same


def test_the_self_tests_have_the_answers_that_they_give():
    assert causal_mask(2, 8, offset=6).sum(axis=-1).tolist() == [7, 8]  # question 3
    assert causal_mask(2, 8).sum(axis=-1).tolist() == [1, 2]
    assert softmax(np.array([-1.0, -2.0, 0.0])).argmax() == 2  # question 4
    assert padding_mask([8, 3], 8).shape == (2, 1, 8)
