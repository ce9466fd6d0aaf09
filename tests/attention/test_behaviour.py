"""What attention must do whatever library it is compared with."""

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch

import lib.attention
from lib.attention import (
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
)


def attend(*arrays, **options):
    return scaled_dot_product_attention(*arrays, **options)


# Weights and scale


def test_each_query_shares_out_one(normal):
    """Rows sum to 1 over the keys. With as many keys as queries the wrong axis could hide."""
    weights = attend(normal(2, 3, 4), normal(2, 7, 4), normal(2, 7, 5)).weights
    assert weights.shape == (2, 3, 7)
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), np.ones((2, 3)))


def test_weights_are_those_that_blended_the_values(normal):
    query, key, value = normal(2, 3, 4), normal(2, 7, 4), normal(2, 7, 5)
    mask = normal(3, 7) > 0
    output, weights = attend(query, key, value, mask=mask)
    np.testing.assert_allclose(output, weights @ value)
    assert (weights[:, ~mask] == 0).all()  # exactly: a hidden key gets nothing, not a little
    assert (weights[:, mask] > 0).all()


def test_by_hand():
    """Scores 2·ln 3 and 0, divided by √4: the first book gets 3 parts of 4."""
    query, key = np.array([[2 * np.log(3), 0, 0, 0]]), np.eye(4)[:2]
    output, weights = attend(query, key, np.array([[4.0], [8.0]]))
    np.testing.assert_allclose(weights, [[0.75, 0.25]])
    np.testing.assert_allclose(output, [[5.0]])


def test_scale_comes_from_the_last_axis_of_the_keys(normal):
    """Not from d_v, a number of tokens or of heads: every axis has its own length here."""
    query, key, value = normal(2, 6, 3, 5), normal(2, 6, 4, 5), normal(2, 6, 4, 7)
    wanted = softmax(np.einsum("bhqd,bhkd->bhqk", query, key) / np.sqrt(5))
    np.testing.assert_allclose(attend(query, key, value).weights, wanted)
    np.testing.assert_allclose(attend(query, key, value, scale=5**-0.5).weights, wanted)


def test_scale_of_zero_asks_nothing(normal):
    weights = attend(normal(3, 4), normal(5, 4), normal(5, 2), scale=0).weights
    np.testing.assert_array_equal(weights, np.full((3, 5), 0.2))


def test_values_have_a_width_of_their_own(normal):
    output, weights = attend(normal(3, 4), normal(5, 4), normal(5, 9))
    assert output.shape == (3, 9)
    assert weights.shape == (3, 5)


def test_keys_are_a_set(normal):
    """Shuffling the keys together with their values changes nothing; without them it does."""
    query, key, value, order = normal(3, 4), normal(6, 4), normal(6, 2), [3, 1, 5, 0, 2, 4]
    output, weights = attend(query, key, value)
    shuffled = attend(query, key[order], value[order])
    np.testing.assert_allclose(shuffled.output, output)
    np.testing.assert_allclose(shuffled.weights, weights[:, order])
    assert not np.allclose(attend(query, key[order], value).output, output)


def test_queries_do_not_see_each_other(normal):
    query, key, value = normal(3, 4), normal(6, 4), normal(6, 2)
    together = attend(query, key, value).output
    alone = [attend(query[i : i + 1], key, value).output[0] for i in range(3)]
    np.testing.assert_allclose(together, alone)


def test_the_result_has_names(normal):
    result = attend(normal(3, 4), normal(6, 4), normal(6, 2))
    output, weights = result
    assert result._fields == ("output", "weights")
    assert result.output is output
    assert result.weights is weights


# Masks


@pytest.mark.parametrize("how", ["is_causal", "mask", "mask and is_causal"])
def test_no_later_token_leaks(normal, how):
    """Change every token after t: no output up to t changes, and the one at t + 1 does."""
    n, allowed = 6, np.ones((6, 6), bool)
    options = {
        "is_causal": {"is_causal": True},
        "mask": {"mask": causal_mask(n, n)},
        "mask and is_causal": {"mask": allowed, "is_causal": True},
    }[how]
    tokens = normal(n, 4)
    before = attend(tokens, tokens, tokens, **options).output
    for t in range(n - 1):
        changed = tokens.copy()
        changed[t + 1 :] = normal(n - t - 1, 4)
        after = attend(changed, changed, changed, **options).output
        np.testing.assert_array_equal(after[: t + 1], before[: t + 1])
        assert not np.allclose(after[t + 1], before[t + 1])


def test_first_token_sees_itself_only_and_the_last_sees_all(normal):
    weights = attend(normal(4, 2), normal(4, 2), normal(4, 2), is_causal=True).weights
    np.testing.assert_array_equal(weights[0], [1, 0, 0, 0])
    assert (weights[-1] > 0).all()
    np.testing.assert_array_equal(weights > 0, causal_mask(4, 4))


def test_mask_and_is_causal_combine_by_and(normal):
    query, key, value, mask = normal(5, 4), normal(5, 4), normal(5, 2), normal(5, 5) > -0.5
    got = attend(query, key, value, mask=mask, is_causal=True)
    wanted = attend(query, key, value, mask=mask & causal_mask(5, 5))
    np.testing.assert_array_equal(got.output, wanted.output)
    np.testing.assert_array_equal(got.weights > 0, mask & causal_mask(5, 5))


def test_bias_is_added_before_the_softmax_and_after_the_scale(normal):
    query, key, value, bias = normal(3, 4), normal(5, 4), normal(5, 2), normal(3, 5)
    wanted = softmax(query @ key.T / 2 + bias)
    np.testing.assert_allclose(attend(query, key, value, bias=bias).weights, wanted)


def test_bias_does_not_unhide(normal):
    query, key, value = normal(2, 4), normal(3, 4), normal(3, 2)
    mask, bias = np.array([True, False, True]), np.array([0, 1e6, 0])
    got, wanted = attend(query, key, value, mask=mask, bias=bias), attend(query, key, value, mask=mask)
    np.testing.assert_array_equal(got.weights, wanted.weights)


def test_integer_bias_and_low_precision_bias(normal):
    query, key, value = normal(2, 4), normal(3, 4), normal(3, 2)
    wanted = attend(query, key, value, bias=np.array([0.0, 1.0, 2.0])).weights
    for dtype in (np.int64, np.float16, ml_dtypes.bfloat16):
        got = attend(query, key, value, bias=np.array([0, 1, 2], dtype=dtype)).weights
        np.testing.assert_array_equal(got, wanted)


def test_a_cache_continues_the_sequence(normal):
    """Two new queries against all keys, with an offset, are the last two rows of the whole."""
    query, key, value = normal(6, 4), normal(6, 4), normal(6, 2)
    whole = attend(query, key, value, is_causal=True).output
    step = attend(query[4:], key, value, mask=causal_mask(2, 6, offset=4)).output
    np.testing.assert_allclose(step, whole[4:])


@pytest.mark.parametrize("junk", [1e30, -1e30, 0.0])
def test_padding_never_changes_real_outputs(normal, junk):
    """Lengths 0 and n included. What stands in the padding is nobody's business."""
    lengths, n = [4, 0, 2, 1], 4
    query, key, value = normal(4, 3, 5), normal(4, n, 5), normal(4, n, 2)
    padded_key, padded_value = key.copy(), value.copy()
    for b, length in enumerate(lengths):
        padded_key[b, length:], padded_value[b, length:] = junk, junk
    got = attend(query, padded_key, padded_value, mask=padding_mask(lengths, n))
    for b, length in enumerate(lengths):
        alone = attend(query[b], key[b, :length], value[b, :length])
        np.testing.assert_allclose(got.output[b], alone.output)
        np.testing.assert_allclose(got.weights[b, :, :length], alone.weights)
        assert (got.weights[b, :, length:] == 0).all()


def test_leading_axes_broadcast(normal):
    """One set of keys for a batch of queries; a mask with fewer axes than the scores."""
    query, key, value, mask = normal(2, 3, 4, 5), normal(3, 6, 5), normal(1, 1, 6, 2), normal(4, 6) > 0
    got = attend(query, key, value, mask=mask)
    assert got.output.shape == (2, 3, 4, 2)
    for b in range(2):
        for h in range(3):
            wanted = attend(query[b, h], key[h], value[0, 0], mask=mask)
            np.testing.assert_allclose(got.output[b, h], wanted.output)
            np.testing.assert_allclose(got.weights[b, h], wanted.weights)


def test_values_may_have_more_leading_axes_than_the_scores(normal):
    got = attend(normal(3, 4), normal(5, 4), normal(2, 5, 6))
    assert got.output.shape == (2, 3, 6)
    assert got.weights.shape == (3, 5)


# Nothing to attend to, nothing there, and NaN


def test_nothing_to_attend_to_gives_zero(normal):
    """And no warning: warnings are errors in these tests."""
    mask = np.array([[True, True], [False, False], [True, False]])
    output, weights = attend(normal(3, 4), normal(2, 4), normal(2, 5), mask=mask)
    assert (output[1] == 0).all()
    assert (weights[1] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), [1, 0, 1])


def test_no_keys_give_zeros(normal):
    output, weights = attend(normal(2, 3, 4), normal(2, 0, 4), normal(2, 0, 5))
    np.testing.assert_array_equal(output, np.zeros((2, 3, 5)))
    assert weights.shape == (2, 3, 0)
    masked = attend(normal(3, 4), normal(0, 4), normal(0, 5), mask=np.ones((3, 0), bool))
    np.testing.assert_array_equal(masked.output, np.zeros((3, 5)))


def test_no_queries_give_an_empty_result(normal):
    output, weights = attend(normal(2, 0, 4), normal(2, 3, 4), normal(2, 3, 5))
    assert output.shape == (2, 0, 5)
    assert weights.shape == (2, 0, 3)


def test_no_queries_and_no_keys(normal):
    output, weights = attend(normal(0, 4), normal(0, 4), normal(0, 5), is_causal=True)
    assert output.shape == (0, 5)
    assert weights.shape == (0, 0)


def test_an_empty_batch(normal):
    assert attend(normal(0, 3, 4), normal(0, 2, 4), normal(0, 2, 5)).output.shape == (0, 3, 5)


@pytest.mark.parametrize("how", ["mask", "is_causal"])
def test_nan_in_a_hidden_key_changes_nothing(normal, how):
    query, key, value = normal(3, 4), normal(3, 4), normal(3, 2)
    options = {"mask": np.array([True, True, False])} if how == "mask" else {"is_causal": True}
    wanted = attend(query, key, value, **options)
    key[2] = np.nan
    got = attend(query, key, value, **options)
    rows = slice(None) if how == "mask" else slice(2)  # the last token may see itself
    np.testing.assert_array_equal(got.output[rows], wanted.output[rows])
    np.testing.assert_array_equal(got.weights[rows], wanted.weights[rows])


def test_nan_in_a_hidden_value_shows(normal):
    """0 · NaN is NaN. Hiding it would hide a bug in the caller's data; the docstring says so."""
    value = normal(3, 2)
    value[2] = np.nan
    got = attend(normal(3, 4), normal(3, 4), value, mask=np.array([True, True, False]))
    assert np.isnan(got.output).all()
    assert not np.isnan(got.weights).any()
    assert "0 · NaN is NaN" in scaled_dot_product_attention.__doc__


def test_nan_in_a_visible_key_shows(normal):
    key = normal(3, 4)
    key[1] = np.nan
    assert np.isnan(attend(normal(2, 4), key, normal(3, 2)).output).all()


# Large numbers and types


def test_scores_of_ten_thousand(normal):
    """exp(1e4) overflows; the differences are what counts."""
    key = np.array([[1e4], [1e4 - np.log(3)], [-1e4]])
    weights = attend(np.ones((1, 1)), key, normal(3, 2), scale=1.0).weights
    np.testing.assert_allclose(weights, [[0.75, 0.25, 0]], rtol=1e-9)
    weights = attend(np.ones((1, 1)), -key, normal(3, 2), scale=1.0).weights
    np.testing.assert_array_equal(weights, [[0, 0, 1]])


def test_a_hidden_key_stays_hidden_below_large_negative_scores():
    """A mask made with a finite number such as -1e4 or -1e9 loses to scores like these."""
    key = np.full((2, 1), -1e12)
    weights = attend(np.ones((1, 1)), key, np.ones((2, 1)), mask=np.array([True, False])).weights
    np.testing.assert_array_equal(weights, [[1, 0]])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    """q · k is 64 · 100 · 100 = 640,000, and float16 ends at 65,504."""
    full = torch.full if isinstance(dtype, torch.dtype) else np.full
    query, key, value = (full((2, 64), 100, dtype=dtype) for _ in range(3))
    output, weights = attend(query, key, value)
    assert output.dtype == weights.dtype == query.dtype
    assert (output == 100).all()
    assert (weights == 0.5).all()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_sums_in_float32(dtype):
    """4096 equal weights: a sum in float16 or bfloat16 would stop growing at 2048 or 256."""
    weights = softmax(np.zeros(4096, dtype))
    assert weights.dtype == dtype
    assert (weights == 2.0**-12).all()


@pytest.mark.parametrize("dtype", [np.float32, torch.float32])
def test_float32_stays_float32(dtype, normal):
    """Whatever float64 comes along: a bias, a scale of NumPy's, the square root in the formula."""
    convert = torch.tensor if isinstance(dtype, torch.dtype) else np.asarray
    query, key, value = (convert(normal(3, 4), dtype=dtype) for _ in range(3))
    bias = convert(normal(3, 3))
    for options in ({}, {"scale": np.float64(0.5)}, {"bias": bias}, {"is_causal": True}):
        output, weights = attend(query, key, value, **options)
        assert output.dtype == weights.dtype == dtype


@pytest.mark.parametrize("library", [np, torch])
def test_integers_become_floats(library):
    """A learner types integers, and must not get integer zeros back."""
    one_hot, value = library.asarray([[1, 0], [0, 1]]), library.asarray([[10], [20]])
    output, weights = attend(2 * one_hot, one_hot, value)
    wanted = attend(2.0 * one_hot, 1.0 * one_hot, 1.0 * value)
    assert output.dtype == wanted.output.dtype == library.asarray([0.5]).dtype
    assert (output == wanted.output).all()
    assert (weights == wanted.weights).all()
    assert softmax(library.asarray([1, 1])).tolist() == [0.5, 0.5]


def test_the_wider_type_wins(normal):
    query, key, value = normal(2, 3).astype(np.float16), normal(2, 3), np.eye(2, dtype=np.int64)
    assert attend(query, key, value).output.dtype == np.float64
    assert attend(query, key.astype(ml_dtypes.bfloat16), value).output.dtype == np.float32
    assert attend(query, key.astype(np.float16), value).output.dtype == np.float16


@pytest.mark.parametrize("library", [np, torch])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16"])
def test_inputs_are_left_as_they_were(normal, library, dtype):
    arrays = [library.asarray(3 * normal(3, 3)).__array__().astype(dtype) for _ in range(4)]
    arrays += [normal(3, 3) > 0]
    before = [x.copy() for x in arrays]
    query, key, value, bias, mask = (library.asarray(x) for x in arrays)
    attend(query, key, value, mask=mask, bias=bias, is_causal=True)
    softmax(query, axis=0)
    for x, original in zip((query, key, value, bias, mask), before, strict=True):
        np.testing.assert_array_equal(np.asarray(x), original)


# Softmax


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_softmax_over_any_axis(normal, axis):
    scores = normal(2, 3, 4)
    wanted = torch.softmax(torch.from_numpy(scores), axis).numpy()
    np.testing.assert_allclose(softmax(scores, axis), wanted)
    np.testing.assert_allclose(softmax(scores, axis=axis).sum(axis=axis), np.ones(wanted.sum(axis).shape))


def test_softmax_sees_differences_only(normal):
    scores = normal(5)
    np.testing.assert_allclose(softmax(scores + 1e4), softmax(scores))
    np.testing.assert_allclose(softmax(scores - 1e4), softmax(scores))


def test_softmax_of_nothing():
    assert softmax(np.zeros((2, 0))).shape == (2, 0)
    assert softmax(np.zeros((2, 0), np.float16)).dtype == np.float16
    np.testing.assert_array_equal(softmax(np.full((2, 2), -np.inf), axis=0), np.zeros((2, 2)))
    np.testing.assert_array_equal(softmax(np.array([-np.inf, 0.0])), [0, 1])


# Libraries


def test_it_works_without_torch():
    """In a fresh process whose every attempt to import PyTorch fails."""
    program = """
import sys

class NoTorch:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "torch":
            raise ImportError("no torch here")

sys.meta_path.insert(0, NoTorch())
import numpy
from lib.attention import multi_head_attention, scaled_dot_product_attention

eye = numpy.eye(4)
assert scaled_dot_product_attention(eye, eye, eye, is_causal=True).output[0, 0] == 1
assert multi_head_attention(eye, eye, eye, eye, eye, eye, eye, 2).output.shape == (4, 4)
assert "torch" not in sys.modules
"""
    root = Path(lib.attention.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_everything_happens_on_the_arrays_device():
    """PyTorch's device `meta` keeps shapes and no numbers, and refuses to meet the CPU."""
    x = torch.ones(2, 3, 4, device="meta")
    mask = padding_mask(torch.tensor([1, 3], device="cpu"), 3).to("meta")
    output, weights = attend(x, x, x, mask=mask, is_causal=True)
    assert (output.device.type, output.shape) == ("meta", (2, 3, 4))
    assert (weights.device.type, weights.shape) == ("meta", (2, 3, 3))
