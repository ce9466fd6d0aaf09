"""PyTorch's own samples for its `scaled_dot_product_attention`: 13 in each of three types.

They come from the table that PyTorch tests itself with (`torch.testing`, OpInfo). The truth is PyTorch in
float64; the tolerance is the one that the table states for float32, and torch.testing's for the other types.
"""

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from lib.attention import causal_mask, scaled_dot_product_attention

TORCH = torch.nn.functional.scaled_dot_product_attention
TOLERANCE = {  # rtol, atol
    torch.float64: (1e-7, 1e-7),
    torch.float32: (5e-6, 5e-5),
    torch.float16: (1e-3, 1e-3),
}


def collect():
    """Return (dtype, query, key, value, keyword arguments) of every sample without dropout."""
    (table,) = [op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention"]
    for dtype in TOLERANCE:
        torch.manual_seed(0)
        for sample in table.sample_inputs("cpu", dtype, requires_grad=False):
            key, value, *rest = sample.args
            options = dict(zip(["attn_mask"], rest, strict=False)) | sample.kwargs
            if not options.pop("dropout_p", 0):
                yield dtype, sample.input, key, value, options


SAMPLES = list(collect())


def ours(options, n_query, n_key):
    """Say PyTorch's arguments in our words; its causal mask starts at the first query and the first key."""
    return {
        "mask": causal_mask(n_query, n_key) if options.get("is_causal") else None,
        "bias": None if options.get("attn_mask") is None else options["attn_mask"].numpy(),
        "scale": options.get("scale"),
    }


def test_no_sample_is_lost():
    assert len(SAMPLES) == 39


@pytest.mark.parametrize(
    "dtype, query, key, value, options", SAMPLES, ids=[f"{i}-{s[0]}" for i, s in enumerate(SAMPLES)]
)
def test_opinfo(dtype, query, key, value, options):
    in_float64 = options | {"attn_mask": None if (m := options.get("attn_mask")) is None else m.double()}
    wanted = TORCH(query.double(), key.double(), value.double(), **in_float64)
    got = scaled_dot_product_attention(
        query.numpy(), key.numpy(), value.numpy(), **ours(options, query.shape[-2], key.shape[-2])
    )
    rtol, atol = TOLERANCE[dtype]
    output = torch.from_numpy(got.output)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), wanted, rtol=rtol, atol=atol)
