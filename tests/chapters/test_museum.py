"""The bug museum of chapter 04: each test is passed by the book's library and failed by a public bug.

The exhibits and the tests are the chapter's own functions. Two more bugs that the chapter cites are rebuilt here.
"""

import numpy as np
import pytest
import torch

from lib.attention import causal_mask, scaled_dot_product_attention, softmax
from lib.conventions import how_it_reads
from lib.show.example import W_K, W_Q, W_V, X

Q, K, V = X @ W_Q, X @ W_K, X @ W_V
CAUSAL = causal_mask(8, 8)


@pytest.fixture
def exhibit(chapter_04):
    """Return a function of the chapter by its name."""
    return lambda name: chapter_04[name]


def by_weights(weights_of):
    """An attention over tokens, from a function that hides the future in scores and makes weights."""
    return lambda X: weights_of((X @ W_Q) @ (X @ W_K).T / 2, CAUSAL) @ (X @ W_V)


# Change the future: nothing before it may move


def test_no_output_moves_when_the_future_changes(exhibit):
    assert exhibit("count_leaks")(exhibit("with_mask")(CAUSAL), X) == 0
    assert (
        exhibit("count_leaks")(
            lambda X: scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, is_causal=True).output, X
        )
        == 0
    )


def test_exhibit_1_upside_down_moves_every_earlier_output(exhibit):
    """rasbt/LLMs-from-scratch, issue 1061."""
    assert exhibit("count_leaks")(exhibit("upside_down"), X) == 28


def test_off_by_one_moves_the_output_that_has_to_guess(exhibit):
    leaks = np.argwhere(
        np.triu(exhibit("influence")(exhibit("with_mask")(causal_mask(8, 8, offset=1)), X), k=1)
    )
    assert leaks.tolist() == [[i, i + 1] for i in range(7)]


def test_the_modules_polarity_given_to_the_function_leaks(exhibit):
    """pytorch/pytorch, pull requests 170415 and 120668: a mask for nn.MultiheadAttention, given to the function."""

    def migrated(X):
        hidden = torch.tensor(~CAUSAL)  # True = hidden, right for the module
        return torch.nn.functional.scaled_dot_product_attention(
            *(torch.tensor(X @ W) for W in (W_Q, W_K, W_V)), hidden
        ).numpy()

    assert exhibit("count_leaks")(migrated, X) == 28


def test_influence_is_the_mask_seen_from_outside(exhibit):
    rng = np.random.default_rng(1)
    mask = (rng.random((8, 8)) < 0.5) | np.eye(8, dtype=bool)
    assert (exhibit("influence")(exhibit("with_mask")(mask), X) == mask).all()
    too_strict = np.eye(8, dtype=bool)
    assert exhibit("count_leaks")(exhibit("with_mask")(too_strict), X) == 0
    assert not (exhibit("influence")(exhibit("with_mask")(too_strict), X) == CAUSAL).all()


# Token by token is one masked pass


def test_the_cache_agrees_with_one_masked_pass(exhibit):
    assert exhibit("cache_agrees")(exhibit("right_corner"))


def test_exhibit_2_the_wrong_corner_disagrees_with_one_masked_pass(exhibit):
    """pytorch/pytorch, issues 103082 and 144858."""
    wrong = exhibit("wrong_corner")
    assert not exhibit("cache_agrees")(wrong)
    steps = [wrong(Q[t : t + 1], K[: t + 1], V[: t + 1])[0] for t in range(8)]
    np.testing.assert_allclose(steps, np.tile(V[0], (8, 1)))  # the same vector again and again


# Hidden means exactly 0


def test_hidden_pairs_have_a_weight_of_exactly_0(exhibit):
    assert exhibit("hidden_get_nothing")(exhibit("hide"))


def test_exhibit_3_the_tiny_number_hides_nothing(exhibit):
    """hyunwoongko/transformer, issue 10."""
    assert not exhibit("hidden_get_nothing")(exhibit("tiny_fill"))
    assert exhibit("count_leaks")(by_weights(exhibit("tiny_fill")), X) == 28


def test_adding_the_mask_hides_nothing(exhibit):
    """bkitano/llama-from-scratch, issue 6."""
    assert not exhibit("hidden_get_nothing")(lambda scores, mask: softmax(scores + mask))


# Nobody to ask


def test_nobody_to_ask_is_zero():
    result = scaled_dot_product_attention(Q, K, V, mask=np.zeros((8, 8), dtype=bool))
    assert (result.weights == 0).all() and (result.output == 0).all()


def test_a_large_negative_number_averages_what_is_hidden():
    """d2l-ai/d2l-en, pull request 2423: a sequence of length 0."""
    weights = softmax(np.where(np.zeros((8, 8), dtype=bool), Q @ K.T / 2, -1e6))
    np.testing.assert_allclose(weights, 1 / 8)


# The chapter's own table of answers, said here once more: a new PyTorch that answers otherwise is noticed


def test_what_the_libraries_answered(exhibit):
    answers = [how_it_reads(exhibit(name)) for name in ("this_book", "torch_function", "torch_module")]
    columns = (found.values() for found in answers)
    assert list(zip(answers[0], *columns, strict=True)) == [
        ("True means", "may attend", "may attend", "hidden"),
        ("whole numbers", "refused", "refused", "refused"),
        ("floats", "refused", "added", "added"),
        ("is_causal, 2 × 5", "refused", "1 and 2 keys", "refused"),
        ("nobody to ask", "weights of 0", "weights of 0", "NaN"),
    ]


def test_three_ways_to_hide_have_three_results(exhibit):
    minus_infinity, large, added = exhibit("hidden_weight")
    np.testing.assert_allclose(minus_infinity, [0, 0, 0])
    np.testing.assert_allclose(large, [0, 1, 1], atol=1e-12)
    assert 0.4 < added[0] < 0.5 and np.allclose(added[1:], 1)
