"""The three masks, against their definitions pair by pair, and against each other."""

from itertools import product

import array_api_strict
import numpy as np
import pytest
import torch
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

from lib.attention import causal_mask, padding_mask, window_mask

SIZES = list(product(range(5), range(5)))


def pairs(n_query, n_key, allowed):
    """Ask about each pair, one at a time."""
    rows = [[allowed(i, j) for j in range(n_key)] for i in range(n_query)]
    return np.array(rows, dtype=bool).reshape(n_query, n_key)


def assert_mask(got, wanted):
    assert got.dtype == bool
    np.testing.assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("offset", range(-3, 5))
def test_causal(offset):
    for n_query, n_key in SIZES:
        wanted = pairs(n_query, n_key, lambda i, j: j <= i + offset)
        assert_mask(causal_mask(n_query, n_key, offset), wanted)
        assert_mask(causal_mask(n_query, n_key, offset=offset), wanted)


def test_causal_without_an_offset_starts_at_the_first_key():
    for n_query, n_key in SIZES:
        assert_mask(causal_mask(n_query, n_key), pairs(n_query, n_key, lambda i, j: j <= i))


@pytest.mark.parametrize("left, right", list(product([None, 0, 1, 3], repeat=2)))
@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_window(left, right, offset):
    back = np.inf if left is None else left
    ahead = np.inf if right is None else right
    for n_query, n_key in SIZES:
        wanted = pairs(n_query, n_key, lambda i, j: i + offset - back <= j <= i + offset + ahead)
        assert_mask(window_mask(n_query, n_key, left, right, offset), wanted)


def test_window_looks_back_only_by_default():
    assert_mask(window_mask(4, 6, 2), window_mask(4, 6, left=2, right=0, offset=0))


@pytest.mark.parametrize("as_array", [list, tuple, np.array, lambda x: np.array(x, np.uint8)])
def test_padding(as_array):
    lengths = [3, 0, 4, 1]
    got = padding_mask(as_array(lengths), 4)
    assert got.shape == (4, 1, 4)
    assert_mask(got[:, 0], pairs(4, 4, lambda b, j: j < lengths[b]))


def test_padding_needs_no_sequence_and_no_key():
    assert padding_mask(np.zeros(0, int), 4).shape == (0, 1, 4)
    assert padding_mask([0, 0], 0).shape == (2, 1, 0)


@pytest.mark.parametrize("library", [np, torch, array_api_strict])
def test_padding_counts_past_a_small_integer_type(library):
    got = padding_mask(library.asarray([200, 0], dtype=library.uint8), 300)
    assert int(library.sum(library.asarray(got, dtype=library.int64))) == 200


# Relations


def test_relations():
    """Causal is a window without a left end; windows widen; a window is past and future together."""
    for (n_query, n_key), offset in product(SIZES, [-1, 0, 2]):
        sizes = n_query, n_key
        causal = causal_mask(*sizes, offset)
        assert_mask(window_mask(*sizes, None, 0, offset), causal)
        assert window_mask(*sizes, None, None, offset).all()
        assert_mask(window_mask(*sizes, n_query + n_key + 3, 0, offset), causal)
        back, ahead = window_mask(*sizes, 1, None, offset), window_mask(*sizes, None, 2, offset)
        assert_mask(window_mask(*sizes, 1, 2, offset), back & ahead)
        assert not (window_mask(*sizes, 1, 1, offset) & ~window_mask(*sizes, 2, 2, offset)).any()


def test_offset_is_the_length_of_the_cache():
    """The last rows of the whole square are what the new queries see."""
    for cached, new in SIZES:
        n = cached + new
        assert_mask(causal_mask(new, n, offset=cached), causal_mask(n, n)[cached:])
        assert_mask(window_mask(new, n, 2, 1, offset=cached), window_mask(n, n, 2, 1)[cached:])


def test_both_alignments_are_torchs():
    for n_query, n_key in [(1, 1), (1, 4), (2, 4), (3, 4), (4, 4)]:  # PyTorch warns of more queries than keys
        top_left = causal_upper_left(n_query, n_key)._materialize().numpy()
        bottom_right = causal_lower_right(n_query, n_key)._materialize().numpy()
        assert_mask(causal_mask(n_query, n_key), top_left)
        assert_mask(causal_mask(n_query, n_key, offset=n_key - n_query), bottom_right)


# Library and device


@pytest.mark.parametrize("function", [causal_mask, window_mask])
def test_like(function):
    sizes = (2, 3) if function is causal_mask else (2, 3, 1)
    mask = lambda like: function(*sizes, like=like)  # noqa: E731
    assert isinstance(mask(None), np.ndarray)
    assert isinstance(mask(np.float32([1])), np.ndarray)
    on_meta = mask(torch.ones(1, device="meta"))
    assert (on_meta.device.type, on_meta.dtype, on_meta.shape) == ("meta", torch.bool, (2, 3))
    assert mask(torch.ones(1)).tolist() == mask(None).tolist()
    other = array_api_strict.Device("device1")
    strict = mask(array_api_strict.ones(1, device=other))
    assert (strict.device, strict.dtype, strict.shape) == (other, array_api_strict.bool, (2, 3))


def test_padding_is_of_the_lengths_library_and_device():
    assert isinstance(padding_mask([1, 2], 2), np.ndarray)
    assert padding_mask(torch.tensor([1, 2]), 2).tolist() == padding_mask([1, 2], 2).tolist()
    other = array_api_strict.Device("device1")
    strict = padding_mask(array_api_strict.asarray([1, 2], device=other), 2)
    assert (strict.device, strict.dtype, strict.shape) == (other, array_api_strict.bool, (2, 1, 2))
