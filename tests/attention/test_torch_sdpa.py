"""Equal to PyTorch's `scaled_dot_product_attention`, over whatever Hypothesis thinks of."""

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from lib.attention import causal_mask, scaled_dot_product_attention

TORCH = torch.nn.functional.scaled_dot_product_attention
STEP = {
    "float16": 2**-10,
    "bfloat16": 2**-7,
    "float32": 2**-23,
    "float64": 2**-52,
}  # from 1 to the next number


def to_numpy(x, dtype):
    return x.numpy().astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def to_torch(x, dtype):
    return x.to(getattr(torch, dtype))


@st.composite
def fitting(draw, shape):
    """Draw a shape that broadcasts to this one: some axes 1, some of the first left out."""
    kept = [draw(st.sampled_from([1, n])) for n in shape]
    return kept[draw(st.integers(0, len(kept))) :]


@st.composite
def lookups(draw, square=False):
    """Draw (query, key, value) whose leading axes broadcast, and a mask and a bias, or None, that fit them."""
    n_query, n_key, d_k, d_v = (draw(st.integers(1, 5)) for _ in range(4))
    n_key = n_query if square else n_key
    q, k, v = draw(mutually_broadcastable_shapes(num_shapes=3, max_dims=2, max_side=3)).input_shapes
    scores = np.broadcast_shapes(q, k) + (n_query, n_key)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    size, often_hidden = draw(st.sampled_from([0.1, 1, 10])), draw(st.sampled_from([-0.5, 1]))
    arrays = size * normal(*q, n_query, d_k), normal(*k, n_key, d_k), normal(*v, n_key, d_v)
    mask = normal(*draw(fitting(scores))) > often_hidden if draw(st.booleans()) else None
    bias = normal(*draw(fitting(scores))) if draw(st.booleans()) else None
    return arrays, mask, bias


def reference(query, key, value, mask=None, bias=None, **options):
    """PyTorch's output. It takes one `attn_mask` for both, and its fast paths want equal leading axes."""
    leading = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (x.expand(*leading, *x.shape[-2:]) for x in (query, key, value))
    attn_mask = bias if mask is None else mask
    if mask is not None and bias is not None:
        attn_mask = torch.where(mask, bias, -torch.inf)
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*leading, query.shape[-2], key.shape[-2])
    return TORCH(query, key, value, attn_mask=attn_mask, **options)


def assert_equal(got, wanted, dtype):
    assert str(got.dtype).removeprefix("torch.") == dtype
    got = got.double() if torch.is_tensor(got) else torch.from_numpy(got.astype(np.float64))
    # Scores reach 100, and exp makes their rounding a relative error. Half types compute in float32, then round.
    atol = 2 * STEP[dtype] + 400 * min(STEP[dtype], STEP["float32"])
    torch.testing.assert_close(got, wanted, rtol=2 * STEP[dtype], atol=atol)


@pytest.mark.parametrize("convert", [to_numpy, to_torch])
@pytest.mark.parametrize("dtype", STEP)
@given(lookup=lookups(), scale=st.sampled_from([None, 0.3, -1.0, 0.0]))
def test_values(convert, dtype, lookup, scale):
    arrays, mask, bias = lookup
    query, key, value = (to_torch(x, dtype).double() for x in arrays)  # what the type keeps of the numbers
    output, weights = scaled_dot_product_attention(
        *(convert(x, dtype) for x in (query, key, value)),
        None if mask is None else convert(mask, "bool"),
        bias=None if bias is None else convert(bias, "float64"),
        scale=scale,
    )
    assert_equal(output, reference(query, key, value, mask, bias, scale=scale), dtype)
    one_each = torch.eye(key.shape[-2], dtype=torch.float64)  # looking up the unit vectors gives the weights
    assert_equal(
        weights, reference(query, key, one_each, mask, bias, scale=scale).expand(weights.shape), dtype
    )


@given(lookup=lookups(square=True))
def test_causal(lookup):
    arrays, mask, bias = lookup
    n = arrays[0].shape[-2]
    got = scaled_dot_product_attention(*arrays, is_causal=True).output
    torch.testing.assert_close(got, reference(*arrays, is_causal=True))

    past = causal_mask(n, n, like=arrays[0])
    got = scaled_dot_product_attention(*arrays, mask, bias=bias, is_causal=True).output
    torch.testing.assert_close(got, reference(*arrays, past if mask is None else mask & past, bias))


@given(lookup=lookups(), with_nothing=st.booleans())
def test_gradients(lookup, with_nothing):
    arrays, mask, bias = lookup
    bias = torch.zeros(arrays[1].shape[-2], dtype=torch.float64) if bias is None else bias
    mask = torch.zeros(1, dtype=torch.bool) if with_nothing else mask
    inputs = [x.requires_grad_() for x in (*arrays, bias)]
    got = scaled_dot_product_attention(*arrays, mask, bias=bias).output
    wanted = reference(*arrays, mask, bias)
    upstream = torch.linspace(-1, 2, got.numel(), dtype=torch.float64).reshape(got.shape)
    ours, theirs = (torch.autograd.grad(y, inputs, upstream) for y in (got, wanted))
    torch.testing.assert_close(ours, theirs)
    if with_nothing:
        assert all((gradient == 0).all() for gradient in ours)
