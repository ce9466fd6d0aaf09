"""Additive attention, against its formula pair by pair."""

import numpy as np
import pytest
import torch

from lib.attention import additive_attention, padding_mask


def by_loop(query, key, value, W_Q, W_K, v, mask):
    """One query, one key, one score at a time: v · tanh(query W_Q + key W_K)."""
    output, weights = np.zeros((len(query), value.shape[1])), np.zeros((len(query), len(key)))
    for i, q in enumerate(query):
        scores = {j: v @ np.tanh(q @ W_Q + k @ W_K) for j, k in enumerate(key) if mask[i, j]}
        total = sum(np.exp(score) for score in scores.values())
        for j, score in scores.items():
            weights[i, j] = np.exp(score) / total
            output[i] += weights[i, j] * value[j]
    return output, weights


@pytest.fixture
def lookup(normal):
    """Every length differs: 3 queries of width 4, 6 keys of width 2, values of width 7, 5 hidden units."""
    return normal(2, 3, 4), normal(2, 6, 2), normal(2, 6, 7), normal(4, 5), normal(2, 5), normal(5)


def test_by_loop(lookup, normal):
    for mask in (np.ones((2, 3, 6), bool), normal(2, 3, 6) > 0, padding_mask([0, 4], 6)):
        output, weights = additive_attention(*lookup, mask=mask)
        assert (output.shape, weights.shape) == ((2, 3, 7), (2, 3, 6))
        for b in range(2):
            arrays = [x[b] for x in lookup[:3]]
            wanted = by_loop(*arrays, *lookup[3:], np.broadcast_to(mask, weights.shape)[b])
            np.testing.assert_allclose(output[b], wanted[0], atol=1e-12)
            np.testing.assert_allclose(weights[b], wanted[1], atol=1e-12)


def test_without_a_mask_every_query_sees_every_key(lookup):
    output, weights = additive_attention(*lookup)
    everything = additive_attention(*lookup, mask=np.ones((3, 6), bool))
    np.testing.assert_array_equal(output, everything.output)
    np.testing.assert_allclose(weights.sum(axis=-1), np.ones((2, 3)))


def test_nothing_is_divided(lookup):
    """Twice the v, twice the scores, whatever the width: so log-weights differ twice as much."""
    *arrays, v = lookup
    once, twice = (np.log(additive_attention(*arrays, c * v).weights) for c in (1, 2))
    np.testing.assert_allclose(np.diff(twice), 2 * np.diff(once))


def test_nothing_to_attend_to_and_nothing_there(lookup):
    query, key, value, *W = lookup
    output, weights = additive_attention(*lookup, mask=np.zeros((3, 1), bool))
    assert not output.any()
    assert not weights.any()
    assert not additive_attention(query, key[:, :0], value[:, :0], *W).output.any()
    assert additive_attention(query[:, :0], key, value, *W).output.shape == (2, 0, 7)


def test_nan_in_a_hidden_key_changes_nothing(lookup):
    mask = np.arange(6) < 4
    wanted = additive_attention(*lookup, mask=mask).output
    lookup[1][:, 4:] = np.nan
    np.testing.assert_array_equal(additive_attention(*lookup, mask=mask).output, wanted)


def test_types_and_libraries(lookup):
    wanted = additive_attention(*lookup)
    in_torch = additive_attention(*(torch.from_numpy(x) for x in lookup))
    np.testing.assert_allclose(in_torch.output, wanted.output)
    for dtype, rtol in ((np.float32, 1e-4), (np.float16, 1e-2)):
        output, weights = additive_attention(*(x.astype(dtype) for x in lookup))
        assert output.dtype == weights.dtype == dtype
        np.testing.assert_allclose(output, wanted.output, rtol=rtol, atol=rtol)
    one = np.ones((2, 2), int)
    assert additive_attention(one, one, one, one, one, one[0]).output.dtype == np.float64


def test_half_precision_is_computed_in_float32():
    """v · tanh(…) is 64 · 2000 = 128,000, and float16 ends at 65,504."""
    one = np.ones((2, 64), np.float16)
    eye, v = np.eye(64, dtype=np.float16), np.full(64, 2000, np.float16)
    assert (additive_attention(one, one, one, eye, eye, v).weights == 0.5).all()


def test_inputs_are_left_as_they_were(lookup):
    before = [x.copy() for x in lookup]
    additive_attention(*lookup, mask=np.arange(6) < 4)
    for x, original in zip(lookup, before, strict=True):
        np.testing.assert_array_equal(x, original)
