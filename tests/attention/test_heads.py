"""Heads: split and joined by values, and the whole of multi-head attention against PyTorch's."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import (
    causal_mask,
    join_heads,
    multi_head_attention,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)

# Splitting and joining


@given(st.lists(st.integers(0, 3), max_size=2), *(st.integers(1, 4) for _ in range(3)))
def test_split_and_join_are_inverse(leading, n, n_heads, d_k):
    x = np.arange(np.prod(leading, dtype=int) * n * n_heads * d_k).reshape(*leading, n, n_heads * d_k)
    heads = split_heads(x, n_heads)
    assert heads.shape == (*leading, n_heads, n, d_k)
    np.testing.assert_array_equal(join_heads(heads), x)
    np.testing.assert_array_equal(split_heads(join_heads(heads), n_heads), heads)
    for h in range(n_heads):  # being inverse is not enough: a shuffle has an inverse, too
        np.testing.assert_array_equal(heads[..., h, :, :], x[..., h * d_k : (h + 1) * d_k])


def test_join_puts_heads_side_by_side(normal):
    heads = normal(2, 3, 4, 5)
    np.testing.assert_array_equal(join_heads(heads), np.concatenate([heads[:, h] for h in range(3)], axis=-1))


def test_one_head_is_the_whole(normal):
    x = normal(2, 4, 6)
    np.testing.assert_array_equal(split_heads(x, 1), x[:, None])


# Multi-head attention against PyTorch's module


def torchs(d_model, n_heads, **widths):
    """Return PyTorch's module and its four matrices, turned to multiply from the right."""
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(
        d_model, n_heads, bias=False, batch_first=True, dtype=torch.float64, **widths
    )
    packed = module.in_proj_weight
    if packed is None:
        W = module.q_proj_weight, module.k_proj_weight, module.v_proj_weight
    else:
        W = packed.chunk(3)
    return module, [w.detach().T for w in (*W, module.out_proj.weight)]


def assert_like_torch(tokens, n_heads, mask=None, bias=None, is_causal=False, **widths):
    query, key, value = (torch.from_numpy(x) for x in tokens)
    module, W = torchs(query.shape[-1], n_heads, **widths)
    hidden = None if mask is None else ~mask  # the module's mask is the other way round: True = hidden
    if is_causal:
        hidden = ~causal_mask(query.shape[-2], key.shape[-2], like=query)
    if hidden is not None:
        shape = (len(query), n_heads, query.shape[-2], key.shape[-2])
        hidden = (hidden[..., None, :, :] if hidden.ndim == 3 else hidden).expand(shape).flatten(0, 1)
    attn_mask = hidden if bias is None else bias.flatten(0, 1)
    output, weights = module(query, key, value, attn_mask=attn_mask, average_attn_weights=False)
    got = multi_head_attention(query, key, value, *W, n_heads, mask, bias=bias, is_causal=is_causal)
    torch.testing.assert_close(got.output, output)
    torch.testing.assert_close(got.weights, weights)
    in_numpy = multi_head_attention(
        *tokens,
        *(w.numpy() for w in W),
        n_heads,
        None if mask is None else mask.numpy(),
        bias=None if bias is None else bias.numpy(),
        is_causal=is_causal,
    )
    np.testing.assert_allclose(in_numpy.output, output.detach())
    np.testing.assert_allclose(in_numpy.weights, weights.detach())


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_self_attention(normal, n_heads):
    tokens = normal(2, 5, 12)
    assert_like_torch([tokens] * 3, n_heads)
    assert_like_torch([tokens] * 3, n_heads, is_causal=True)


@pytest.mark.parametrize("n_heads", [2, 3])
def test_cross_attention(normal, n_heads):
    """Keys and values with widths of their own, and another number of tokens."""
    assert_like_torch([normal(2, 4, 6), normal(2, 7, 6), normal(2, 7, 6)], n_heads)
    assert_like_torch([normal(2, 4, 6), normal(2, 7, 5), normal(2, 7, 3)], n_heads, kdim=5, vdim=3)


def test_masks_and_biases(normal):
    query, key, value = normal(3, 4, 6), normal(3, 5, 6), normal(3, 5, 6)
    for mask in (padding_mask([1, 5, 3], 5), causal_mask(4, 5), normal(3, 4, 5) > -1):
        mask = torch.from_numpy(np.array(mask))
        mask[..., 0] = True  # the module answers NaN where a query may attend to nothing
        assert_like_torch([query, key, value], 2, mask=mask)
    assert_like_torch([query, key, value], 2, bias=torch.from_numpy(normal(3, 2, 4, 5)))


def test_the_mask_is_one_for_each_sequence_even_where_there_are_as_many_heads(normal):
    """With batch == n_heads a mask per sequence fits the heads axis as well, and would be used there, silently."""
    tokens, mask = normal(2, 3, 4), padding_mask([1, 3], 3)
    W = [normal(4, 4) for _ in range(4)]
    together = multi_head_attention(tokens, tokens, tokens, *W, n_heads=2, mask=mask)
    for b in range(2):
        alone = multi_head_attention(*[tokens[b]] * 3, *W, n_heads=2, mask=mask[b])
        np.testing.assert_allclose(together.output[b], alone.output)
        np.testing.assert_allclose(together.weights[b], alone.weights)
    assert (together.weights[0, :, :, 1:] == 0).all()
    assert (together.weights[1] > 0).all()


def test_a_mask_of_the_keys_alone(normal):
    tokens, W, mask = normal(2, 3, 4), [normal(4, 4) for _ in range(4)], np.array([True, False, True])
    weights = multi_head_attention(tokens, tokens, tokens, *W, n_heads=2, mask=mask).weights
    assert (weights[..., 1] == 0).all()
    assert (weights[..., [0, 2]] > 0).all()


# What PyTorch's module cannot be asked


def test_the_scale_is_the_heads(normal):
    """1/√d_k with the d_k of one head, which PyTorch's equality shows as well; here from the formula."""
    X, W_Q, W_K = normal(5, 6), normal(6, 6), normal(6, 6)
    weights = multi_head_attention(X, X, X, W_Q, W_K, np.eye(6), np.eye(6), n_heads=3).weights
    for h, columns in enumerate([slice(0, 2), slice(2, 4), slice(4, 6)]):
        exponentials = np.exp((X @ W_Q[:, columns]) @ (X @ W_K[:, columns]).T / np.sqrt(2))
        np.testing.assert_allclose(weights[h], exponentials / exponentials.sum(axis=1, keepdims=True))


def test_values_have_a_width_of_their_own(normal):
    """Head by head, by hand: d_k = 2, d_v = 5, d_model = 4 in and 3 out."""
    query, key = normal(2, 3, 4), normal(2, 6, 4)
    W_Q, W_K, W_V, W_O = normal(4, 4), normal(4, 4), normal(4, 10), normal(10, 3)
    output, weights = multi_head_attention(query, key, key, W_Q, W_K, W_V, W_O, n_heads=2)
    total = 0
    for h in range(2):
        k, v = slice(2 * h, 2 * h + 2), slice(5 * h, 5 * h + 5)
        head = scaled_dot_product_attention(query @ W_Q[:, k], key @ W_K[:, k], key @ W_V[:, v])
        np.testing.assert_allclose(weights[:, h], head.weights)
        total = total + head.output @ W_O[v]
    assert output.shape == (2, 3, 3)
    np.testing.assert_allclose(output, total)


def test_no_later_token_leaks(normal):
    tokens, W = normal(5, 4), [normal(4, 4) for _ in range(4)]
    before = multi_head_attention(*[tokens] * 3, *W, n_heads=2, is_causal=True).output
    for t in range(4):
        changed = tokens.copy()
        changed[t + 1 :] = normal(4 - t, 4)
        after = multi_head_attention(*[changed] * 3, *W, n_heads=2, is_causal=True).output
        np.testing.assert_allclose(after[: t + 1], before[: t + 1], rtol=1e-12)
        assert not np.allclose(after[t + 1], before[t + 1])


def test_without_positions_order_does_not_count(normal):
    """Shuffle the tokens and the outputs are shuffled with them, nothing else."""
    tokens, W, order = normal(5, 4), [normal(4, 4) for _ in range(4)], [3, 0, 4, 2, 1]
    output = multi_head_attention(*[tokens] * 3, *W, n_heads=2).output
    shuffled = multi_head_attention(*[tokens[order]] * 3, *W, n_heads=2).output
    np.testing.assert_allclose(shuffled, output[order])


def test_nothing_to_attend_to_gives_zero(normal):
    tokens, W = normal(2, 3, 4), [normal(4, 4) for _ in range(4)]
    output, weights = multi_head_attention(*[tokens] * 3, *W, n_heads=2, mask=padding_mask([0, 3], 3))
    assert (output[0] == 0).all()
    assert (weights[0] == 0).all()
    assert (output[1] != 0).all()


def test_types(normal):
    """Half precision goes through all five steps in float32; integers become floats; float32 stays."""
    tokens, W = normal(4, 4), [normal(4, 4) for _ in range(4)]
    tokens, W = tokens.astype(np.float16), [w.astype(np.float16) for w in W]
    output, weights = multi_head_attention(*[tokens] * 3, *W, n_heads=2)
    exact = multi_head_attention(*[tokens.astype(float)] * 3, *(w.astype(float) for w in W), n_heads=2)
    assert output.dtype == weights.dtype == np.float16
    np.testing.assert_allclose(output, exact.output, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(weights, exact.weights, rtol=1e-3, atol=1e-7)
    big = np.full((2, 4), 100, np.float16)  # the projections alone pass 65,504 here
    assert (
        multi_head_attention(*[big] * 3, *[np.full((4, 4), 200, np.float16)] * 3, np.eye(4) / 200, 2).weights
        == 0.5
    ).all()

    in_float32 = multi_head_attention(
        *[tokens.astype(np.float32)] * 3, *(w.astype(np.float32) for w in W), n_heads=2
    )
    assert in_float32.output.dtype == in_float32.weights.dtype == np.float32
    eye = np.eye(4, dtype=int)
    assert multi_head_attention(eye, eye, eye, eye, eye, eye, eye, n_heads=2).output.dtype == np.float64


def test_inputs_are_left_as_they_were(normal):
    arrays = [normal(3, 4) for _ in range(3)] + [normal(4, 4) for _ in range(4)]
    before = [x.copy() for x in arrays]
    multi_head_attention(*arrays, n_heads=2, mask=np.eye(3, dtype=bool), bias=normal(3, 3), is_causal=True)
    for x, original in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(x, original)
