"""Gradients by finite differences (`torch.autograd.gradcheck`), with a query that may attend to nothing."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from lib.attention import additive_attention, multi_head_attention, scaled_dot_product_attention, softmax

MASK = torch.tensor([[[1, 0, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 0]]]) == 1  # (batch, n_query, n_key)
NOTHING = (0, 1)  # sequence 0, query 1
HIDDEN = (0, 1)  # sequence 0, key 1


def parameters(*shapes):
    generator = torch.Generator().manual_seed(0)
    draw = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [x.requires_grad_() for x in draw]


def plain(query, key, value, bias=None, **options):
    return tuple(scaled_dot_product_attention(query, key, value, MASK, bias=bias, **options))


def heads(query, key, value, *W):
    return tuple(multi_head_attention(query, key, value, *W, n_heads=2, mask=MASK))


def additive(query, key, value, *W):
    return tuple(additive_attention(query, key, value, *W, mask=MASK))


INPUTS = {
    plain: parameters((2, 2, 4), (2, 3, 4), (2, 3, 5), (2, 2, 3)),
    heads: parameters((2, 2, 4), (2, 3, 4), (2, 3, 4), (4, 6), (4, 6), (4, 2), (2, 4)),
    additive: parameters((2, 2, 4), (2, 3, 3), (2, 3, 5), (4, 6), (3, 6), (6,)),
}


@pytest.mark.parametrize("attention", INPUTS)
def test_gradcheck(attention):
    assert gradcheck(attention, INPUTS[attention])


@pytest.mark.parametrize("attention", INPUTS)
def test_nothing_to_attend_to_has_gradient_zero(attention):
    """The gradient of weights and output together is finite everywhere, and 0 for that query."""
    output, weights = attention(*INPUTS[attention])
    loss = (output**2).sum() + (weights**2).sum() + output.sum()
    gradients = torch.autograd.grad(loss, INPUTS[attention])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all(gradient.any() for gradient in gradients)
    query, key, value = gradients[:3]
    assert (query[NOTHING] == 0).all()
    assert (key[HIDDEN] == 0).all()
    assert (value[HIDDEN] == 0).all()


@pytest.mark.parametrize("attention", INPUTS)
def test_a_batch_of_nothing_has_gradient_zero(attention, monkeypatch):
    monkeypatch.setitem(globals(), "MASK", torch.zeros(2, 2, 3, dtype=torch.bool))
    output, weights = attention(*INPUTS[attention])
    assert (output == 0).all()
    assert (weights == 0).all()
    gradients = torch.autograd.grad(output.sum() + weights.sum(), INPUTS[attention])
    assert all((gradient == 0).all() for gradient in gradients)


def test_is_causal_and_scale():
    query, key, value = parameters((2, 3, 4), (2, 3, 4), (2, 3, 2))
    last = torch.tensor([[False, True, True]])  # and so query 0 sees nothing
    run = lambda *qkv: tuple(scaled_dot_product_attention(*qkv, last, is_causal=True, scale=0.7))  # noqa: E731
    assert gradcheck(run, (query, key, value))
    gradient = torch.autograd.grad(run(query, key, value)[0].sum(), query)[0]
    assert (gradient[:, 0] == 0).all()
    assert gradient[:, 2].all()


def test_a_bias_of_minus_infinity_is_a_mask():
    query, key, value = parameters((2, 2, 4), (2, 3, 4), (2, 3, 5))
    bias = torch.where(MASK, 0.0, -torch.inf).double().requires_grad_()
    inputs = (query, key, value, bias)
    by_bias = scaled_dot_product_attention(query, key, value, bias=bias).output
    by_mask = scaled_dot_product_attention(query, key, value, MASK).output
    torch.testing.assert_close(by_bias, by_mask, rtol=0, atol=0)
    gradients = torch.autograd.grad(by_bias.sum(), inputs)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][NOTHING] == 0).all()


def test_second_derivatives():
    query, key, value = parameters((2, 2, 2), (2, 3, 2), (2, 3, 1))
    assert gradgradcheck(plain, (query, key, value))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis):
    (scores,) = parameters((3, 3))
    hidden = (
        torch.tensor([[1, 1, 0], [1, 1, 0], [0, 0, 0]]) == 1
    )  # the last row and the last column are hidden
    run = lambda x: softmax(torch.where(hidden, x, -torch.inf), axis)  # noqa: E731
    assert gradcheck(run, (scores,))
    gradient = torch.autograd.grad((run(scores) ** 2).sum(), scores)[0]
    assert (gradient[~hidden] == 0).all()
    assert gradient[hidden].all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_gradients_have_the_inputs_type(dtype):
    inputs = INPUTS[plain][:3]
    exact = torch.autograd.grad(plain(*inputs)[0].sum(), inputs)
    inputs = [x.detach().to(dtype).requires_grad_() for x in inputs]
    rough = torch.autograd.grad(plain(*inputs)[0].sum(), inputs)
    for got, wanted in zip(rough, exact, strict=True):
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), wanted, rtol=0.02, atol=0.02)
