"""ONNX's own cases for its `Attention` operator, all that a plain attention can be asked.

The package `onnx` makes them: inputs, and outputs by its NumPy reference. What the operator knows and a plain
attention does not (heads packed into the last axis, a cache of past keys, padded caches, windows, grouped
queries) is lowered here to what it does know: concatenated keys, repeated heads, a boolean mask and a bias.
Left out is soft capping of the scores, which is another function.
"""

import importlib

import numpy as np
import pytest
from onnx import helper
from onnx.backend.test.case import node

from lib.attention import join_heads, scaled_dot_product_attention, split_heads

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk")


def collect():
    """Return (name, attributes, inputs, outputs) of every Attention case."""
    # Importing this one module makes its cases. `collect_testcases("Attention")` is the same, but first
    # computes the cases of all other operators, for ten seconds.
    importlib.import_module("onnx.backend.test.case.node.attention")
    for case in node._NodeTestCases:
        operator = case.model.graph.node[0]
        if operator.op_type == "Attention" and "_expanded" not in case.name:
            attributes = {a.name: helper.get_attribute_value(a) for a in operator.attribute}
            inputs, outputs = case.data_sets[0]
            given = [name for name, used in zip(INPUTS, operator.input, strict=False) if used]
            wanted = [name for name, used in zip(OUTPUTS, operator.output, strict=False) if used]
            inputs = dict(zip(given, inputs, strict=True))
            yield case.name, attributes, inputs, dict(zip(wanted, outputs, strict=True))


def lower(attributes, inputs):
    """Return query, key, value, mask and bias for a plain attention."""
    query, key, value = (inputs[name] for name in "QKV")
    if query.ndim == 3:
        query = split_heads(query, attributes["q_num_heads"])
        key, value = (split_heads(x, attributes["kv_num_heads"]) for x in (key, value))
    if "past_key" in inputs:
        key = np.concatenate([inputs["past_key"], key], axis=2)
        value = np.concatenate([inputs["past_value"], value], axis=2)
    mask, bias = masks(attributes, inputs, query.shape[2], key.shape[2])
    groups = query.shape[1] // key.shape[1]
    return query, np.repeat(key, groups, axis=1), np.repeat(value, groups, axis=1), mask, bias


def masks(attributes, inputs, n_query, n_key):
    """Return ONNX's four ways to hide a key as one boolean mask, and its numeric mask as the bias."""
    past = inputs["past_key"].shape[2] if "past_key" in inputs else 0
    lengths = inputs.get("nonpad_kv_seqlen", np.array([n_key])).reshape(-1, 1, 1, 1)
    offset = lengths - n_query if "nonpad_kv_seqlen" in inputs else past
    i, j = np.arange(n_query)[:, None] + offset, np.arange(n_key)
    mask = j < lengths
    if attributes.get("is_causal"):
        mask = mask & (j <= i)
    if (left := attributes.get("left_window_size", -1)) >= 0:
        mask = mask & (j >= i - left)
    if (right := attributes.get("right_window_size", -1)) >= 0:
        mask = mask & (j <= i + right)
    given = inputs.get("attn_mask")
    if given is None:
        return mask, None
    hidden = False if given.dtype == bool else -np.inf
    short = [(0, 0)] * (given.ndim - 1) + [(0, n_key - given.shape[-1])]
    given = np.pad(given, short, constant_values=hidden)
    return (mask & given, None) if given.dtype == bool else (mask, given)


CASES = list(collect())
PLAIN = [case for case in CASES if not case[1].get("softcap")]
# ONNX's own tolerance, but no finer than the type of the result can tell: 4 of its steps at 1.
ATOL = {"float32": 1e-7, "float16": 4 * 2**-10, "bfloat16": 4 * 2**-7}


def test_no_case_is_lost():
    assert len(CASES) == 93
    assert len(PLAIN) == 82


@pytest.mark.parametrize("name, attributes, inputs, outputs", PLAIN, ids=[case[0] for case in PLAIN])
def test_onnx(name, attributes, inputs, outputs):
    query, key, value, mask, bias = lower(attributes, inputs)
    output, weights = scaled_dot_product_attention(
        query, key, value, mask, bias=bias, scale=attributes.get("scale")
    )
    wanted = outputs["Y"]
    assert_same(join_heads(output) if wanted.ndim == 3 else output, wanted)
    if attributes.get("qk_matmul_output_mode") == 3:  # the operator's fourth output is the weights
        assert_same(weights, outputs["qk"])


def assert_same(got, wanted):
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    got, wanted, atol = got.astype(float), wanted.astype(float), ATOL[str(wanted.dtype)]
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=atol)
