"""A number in the prose is the number in the output.

Each claim is a phrase of the chapter with its numbers put in by computing them: it must stand in the chapter, letter by
letter. And no decimal number may stand in the prose outside such a phrase.
"""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from lib.attention import scaled_dot_product_attention, softmax
from lib.show.example import SHELF_KEYS, SHELF_QUERY, SHELF_VALUES, W_K, W_Q, W_V, X

CHAPTERS = Path(__file__).parents[2] / "chapters"


def prose(name):
    """The words of a chapter: its Markdown cells, white space folded."""
    notebook = nbformat.read(CHAPTERS / f"{name}.ipynb", as_version=4)
    return " ".join(" ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown").split())


def minus(number, digits=1):
    """A number as the prose writes it, with a real minus sign."""
    return f"{number:.{digits}f}".replace("-", "−")


def library_claims():
    (q,), k = SHELF_QUERY, SHELF_KEYS
    s = (SHELF_QUERY @ k.T)[0]
    e, w = np.exp(s), softmax(s)
    yield f"| your query | {q[0]} | {q[1]} | |"
    yield f"| Star Atlas | {k[0, 0]} | {minus(k[0, 1])} | {q[0]} · {k[0, 0]} + {q[1]} · ({minus(k[0, 1])}) = **{s[0]:g}** |"
    yield f"| Lives of Astronomers | {k[1, 0]} | {k[1, 1]} | {q[0]} · {k[1, 0]} + {q[1]} · {k[1, 1]} = **{s[1]:g}** |"
    yield f"Raise e ≈ {np.e:.3f} to the power of each score"
    yield f"a lead of 1 in the score has become a factor of {np.e:.3f}"
    for j, book in enumerate(["Star Atlas", "Lives of Astronomers"]):
        yield f"| {book} | {minus(s[j], 2)} | {e[j]:.2f} | {e[j]:.2f} / {e.sum():.2f} = {w[j]:.3f} |"
    for j, book in enumerate(["A History of Rome", "Garden Plants", "Fairy Tales"], start=2):
        yield f"| {book} | {minus(s[j], 2)} | {e[j]:.2f} | {w[j]:.3f} |"
    yield f"| sum | | {e.sum():.2f} | 1 (but for rounding) |"
    yield f"with its score of {minus(s[4], 0)}, has a weight above 0, though the shelf prints it as {w[4]:.2f}"
    yield f"from {q[0]:.2f} to {q[0] + 0.01:.2f} in science"
    assert (SHELF_VALUES.sum(axis=-1) == 10).all()
    yield "of its ten pages, how many hold facts, stories and pictures"

    weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V).weights
    yield f"*look* gives {weights[5, 7]:.2f} to *up*: so much of its attention, and so it takes {weights[5, 7]:.2f} of *up*'s value"
    yield f"*look* gives itself {weights[5, 5]:.2f}"
    yield f"*it* gives {weights[6, 4]:.2f} to *word*, the thing that it stands for, and {weights[6, 5]:.2f} to *look*"
    yield f"With the other four scores of this chapter it is {w[4]:.3f}"
    yield f"({k[1, 0]}, {k[1, 1]}) becomes (3, 3)"
    doubled = softmax(SHELF_QUERY @ (k * [[1], [2], [1], [1], [1]]).T)[0, 1]
    yield f"Its score doubles from {s[1]:g} to {2 * s[1]:g}, and its weight grows from {w[1]:.3f} to {doubled:.3f}"
    yield "(0.5, −1.5) itself. For the second part"
    yield f"product with ({k[0, 0]}, {minus(k[0, 1])}) − ({minus(k[2, 0])}, {k[2, 1]}) must be 0"
    assert (k[0] - k[2] == [2.5, -2.5]).all()  # so: as much science as people
    assert 0.5 < softmax(s / 2.0)[1] < 0.51 and softmax(s / 2.1)[1] < 0.5
    yield f"At 2.0 it is {softmax(s / 2.0)[1]:.3f}, at 2.1 it is {softmax(s / 2.1)[1]:.3f}"
    yield f"multiplied by {e.sum():.2f}/{e.sum() + 1:.2f}"


def pipeline_claims():
    x = X[5:]
    Q, K, V = x @ W_Q, x @ W_K, x @ W_V
    S = Q @ K.T
    A = softmax(S / 2)
    O = A @ V
    e = np.exp(S[0] / 2)

    def row(r):
        return "(" + ", ".join(f"{number:g}" for number in r) + ")"

    yield f"So its query is 2 · {row(W_Q[0])} + 1 · {row(W_Q[4])} = **{row(Q[0])}**"
    for j, token in enumerate(["look", "it", "up"]):
        products = " + ".join(f"{a:g}·{b:g}" for a, b in zip(Q[0], K[j], strict=True))
        yield f"| {token} | {row(K[j])} | {products} = **{S[0, j]:g}** |"
        yield f"| {token} | " + " | ".join(f"{number:g}" for number in x[j]) + " |"
    yield f"Compare S[0, 2] = {S[0, 2]:g} with S[2, 0] = {S[2, 0]:g}"
    yield f"with the scaled scores {S[0, 0] / 2:g}, {S[0, 1] / 2:g} and {S[0, 2] / 2:g}"
    yield f"| e to the score | {e[0]:.2f} | {e[1]:.2f} | {e[2]:.2f} | {e.sum():.2f} |"
    yield f"| weight | {A[0, 0]:.3f} | {A[0, 1]:.3f} | {A[0, 2]:.3f} | 1 |"
    whole = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V).weights
    yield f"In the whole sentence *look* gave {whole[5, 7]:.2f} to *up*."
    yield f"gives most to its verb, *look* ({A[1, 0]:.2f})"
    yield f"*look* gives *up* more than before, {A[0, 2]:.2f} in place of {whole[5, 7]:.2f}"
    yield f'"*look* attends to *up* with {100 * A[0, 2]:.0f} %"'
    mixed = " + ".join(f"{A[0, j]:.3f} · {row(V[j])}" for j in range(3))
    yield f"{mixed} = **({O[0, 0]:.2f}, {O[0, 1]:.2f})**"
    forget, look = (X @ W_K)[[2, 5]]
    yield f"*forget*, found as {row(forget)}, has {forget @ forget:g} with itself and {forget @ look:g} with *look*, which is found as {row(look)}"
    yield f"`np.exp` overflows above {np.floor(np.log(np.finfo(float).max)):.0f}"
    yield "`weights[2, 5]` is 0.4."
    wrong = softmax(Q @ (X @ W_K).T / 2, axis=0)
    yield f"here between {wrong.sum(axis=-1).min():.1f} and {wrong.sum(axis=-1).max():.1f} in place of 1"
    assert ((wrong @ (X @ W_V)) > (X @ W_V).max(axis=0)).any(axis=-1).sum() == 2
    yield "two of the three outputs have a number larger than the largest value"
    yield "takes 0.4 of token 5's value"
    yield f"e³ = {np.exp(3):.2f}, so the weights are {np.exp(3):.2f}/{np.exp(3) + 2:.2f} and twice 1/{np.exp(3) + 2:.2f}"
    for feature, numbers in zip(
        ["an action", "a thing", "a direction", "a pointer", "a word that wants a partner"], W_Q, strict=True
    ):
        yield f"| {feature} looks for | " + " | ".join(f"{number:g}" for number in numbers) + " |"
    for feature, numbers in zip(
        ["an action", "a thing", "a direction", "a pointer", "a word that wants a partner"], W_K, strict=True
    ):
        yield f"| {feature} is found as | " + " | ".join(f"{number:g}" for number in numbers) + " |"
    for feature, numbers in zip(
        ["an action", "a thing", "a direction", "a pointer", "a word that wants a partner"], W_V, strict=True
    ):
        yield f"| {feature} hands over | " + " | ".join(f"{number:g}" for number in numbers) + " |"
    yield f"a text of 128K tokens ({128 * 1024:,})"


CLAIMS = {"01-library": list(library_claims()), "02-pipeline": list(pipeline_claims())}


@pytest.mark.parametrize(
    ("chapter", "phrase"), [(chapter, p) for chapter, phrases in CLAIMS.items() for p in phrases]
)
def test_what_the_prose_says_is_what_is_computed(chapter, phrase):
    assert phrase in prose(chapter)


def unproved_numbers(text, phrases):
    """The decimal numbers of a text that stand in none of the phrases."""
    for phrase in sorted(phrases, key=len, reverse=True):
        text = text.replace(phrase, " ")
    return re.findall(r"\d+\.\d+", text)


@pytest.mark.parametrize("chapter", CLAIMS)
def test_no_number_in_the_prose_goes_without_proof(chapter):
    assert unproved_numbers(prose(chapter), CLAIMS[chapter]) == []


def test_a_number_without_proof_is_found():
    assert unproved_numbers("the weight is 0.61, and 0.5 more", ["the weight is 0.61"]) == ["0.5"]


def test_the_exercises_have_the_answers_that_their_hints_give():
    changed = W_Q.copy()
    changed[2, 3] = 2  # chapter 02, exercise 2
    weights = scaled_dot_product_attention(X[5:] @ changed, X[5:] @ W_K, X[5:] @ W_V).weights
    assert weights[2].argmax() == 1
    none = scaled_dot_product_attention(X[5:] @ np.zeros_like(W_Q), X[5:] @ W_K, X[5:] @ W_V).weights
    np.testing.assert_allclose(none, 1 / 3)
    garden = softmax(
        SHELF_KEYS[3:4] @ SHELF_KEYS.T
    )  # chapter 01, exercise 1: a query that points where its key points
    assert garden.argmax() == 3
