"""Every public function on `array-api-strict`, which has the array API standard and nothing else.

What runs there runs on every library that follows the standard. Each is asked on a device that is not the
default, too: an array made on the default one would refuse to meet the others.
"""

import array_api_strict as xp
import numpy as np
import pytest

import lib.attention
from lib.attention import (
    additive_attention,
    causal_mask,
    join_heads,
    multi_head_attention,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
    split_heads,
    window_mask,
)

MASK = np.array([[True, False, True], [False, False, False]])
EMPTY_ROW = np.array([[0.5, -1.0], [-np.inf, -np.inf]])

CALLS = {  # `a` makes an array: normals of a shape, or the values given
    "softmax": lambda a: softmax(a(EMPTY_ROW)),
    "softmax, axis 0": lambda a: softmax(a((2, 3)), axis=0),
    "softmax, nothing": lambda a: softmax(a((2, 0))),
    "causal_mask": lambda a: causal_mask(2, 4, 2, like=a((1,))),
    "window_mask": lambda a: window_mask(3, 4, 1, 1, like=a((1,))),
    "padding_mask": lambda a: padding_mask(a(np.array([0, 2, 3])), 3),
    "split_heads": lambda a: split_heads(a((2, 3, 4)), 2),
    "join_heads": lambda a: join_heads(a((2, 2, 3, 2))),
    "scaled_dot_product_attention": lambda a: scaled_dot_product_attention(
        a((2, 2, 4)), a((3, 4)), a((1, 3, 5)), a(MASK), bias=a((2, 2, 3)), scale=0.3
    ),
    "scaled_dot_product_attention, causal": lambda a: scaled_dot_product_attention(
        a((2, 3, 4)), a((2, 3, 4)), a((2, 3, 4)), is_causal=True
    ),
    "scaled_dot_product_attention, integers": lambda a: scaled_dot_product_attention(
        a(np.eye(3, dtype=int)), a(np.eye(3, dtype=int)), a((3, 2)), bias=a(np.array([0, 1, 2]))
    ),
    "scaled_dot_product_attention, no keys": lambda a: scaled_dot_product_attention(
        a((2, 4)), a((0, 4)), a((0, 3))
    ),
    "multi_head_attention": lambda a: multi_head_attention(
        a((2, 2, 4)), a((2, 3, 4)), a((2, 3, 4)), a((4, 6)), a((4, 6)), a((4, 2)), a((2, 4)), 2, a(MASK)
    ),
    "additive_attention": lambda a: additive_attention(
        a((2, 2, 4)), a((2, 3, 2)), a((2, 3, 5)), a((4, 6)), a((2, 6)), a((6,)), a(MASK)
    ),
}


def maker(convert):
    """Return a function from a shape (drawn) or values (kept) to an array of one library."""
    rng = np.random.default_rng(0)
    return lambda x: convert(rng.normal(size=x) if isinstance(x, tuple) else x)


def test_every_public_function_is_asked():
    assert {name.partition(",")[0] for name in CALLS} == set(lib.attention.__all__) - {"Attention"}


@pytest.mark.parametrize("where", ["CPU_DEVICE", "device1"])
@pytest.mark.parametrize("name", CALLS)
def test_strict(name, where):
    device = xp.Device(where)
    got = CALLS[name](maker(lambda x: xp.asarray(x, device=device)))
    wanted = CALLS[name](maker(np.asarray))
    results = zip(got, wanted, strict=True) if isinstance(got, tuple) else [(got, wanted)]
    for x, y in results:
        assert type(x) is type(xp.asarray(0))
        assert x.device == device
        x = np.asarray(x.to_device(xp.Device("CPU_DEVICE")))
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, atol=1e-15)
