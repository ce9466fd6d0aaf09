"""Every error: one line that says what was wanted, what was given and how to fix it."""

import ast
import re
import traceback
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
import torch

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


def ones(*shape, dtype=float):
    return np.ones(shape, dtype)


def attend(query=(2, 4), key=(3, 4), value=(3, 5), mask=None, **options):
    arrays = (ones(*x) if isinstance(x, tuple) else x for x in (query, key, value))
    return scaled_dot_product_attention(*arrays, mask, **options)


def heads(
    query=(2, 4),
    key=(3, 4),
    value=(3, 4),
    W_Q=(4, 6),
    W_K=(4, 6),
    W_V=(4, 6),
    W_O=(6, 4),
    n_heads=2,
    mask=None,
):
    arrays = (ones(*x) for x in (query, key, value, W_Q, W_K, W_V, W_O))
    return multi_head_attention(*arrays, n_heads, mask)


def additive(query=(2, 4), key=(3, 2), value=(3, 7), W_Q=(4, 6), W_K=(2, 6), v=(6,), mask=None):
    return additive_attention(*(ones(*x) for x in (query, key, value, W_Q, W_K, v)), mask)


CASES = [
    # Shapes
    (
        lambda: attend(query=(2, 3, 8), key=(2, 5, 7), value=(2, 5, 7)),
        ValueError,
        "query and key must share their last axis (d_k), got query (2, 3, 8) and key (2, 5, 7): "
        "project both with the same d_k",
    ),
    (
        lambda: attend(query=(2, 0), key=(3, 0)),
        ValueError,
        "d_k must be at least 1, got query (2, 0) and key (3, 0): "
        "without numbers there is nothing to compare, give each token at least one",
    ),
    (
        lambda: attend(value=(4, 5)),
        ValueError,
        "key and value must share their next to last axis (n_key), got key (3, 4) and value (4, 5): "
        "give each key one value",
    ),
    (
        lambda: attend(query=(2, 2, 4), key=(5, 3, 4)),
        ValueError,
        "the leading axes of query, key and value must broadcast, got query (2, 2, 4), key (5, 3, 4) and "
        "value (3, 5): make them equal, or 1 where they are to be repeated",
    ),
    (
        lambda: attend(key=(2, 3, 4), value=(5, 3, 5)),
        ValueError,
        "the leading axes of query, key and value must broadcast, got query (2, 4), key (2, 3, 4) and "
        "value (5, 3, 5): make them equal, or 1 where they are to be repeated",
    ),
    (
        lambda: attend(query=(4,)),
        ValueError,
        "query must have at least 2 axes, (n_query, d_k), got shape (4,): add the missing axis, as in query[None]",
    ),
    (
        lambda: attend(key=(4,)),
        ValueError,
        "key must have at least 2 axes, (n_key, d_k), got shape (4,): add the missing axis, as in key[None]",
    ),
    (
        lambda: attend(value=(3,)),
        ValueError,
        "value must have at least 2 axes, (n_key, d_v), got shape (3,): add the missing axis, as in value[None]",
    ),
    # Not arrays, not numbers, not one library
    (
        lambda: attend(query=[[1.0, 2.0]]),
        TypeError,
        "query must be an array, got list: wrap it, as in numpy.asarray(query)",
    ),
    (
        lambda: attend(key=None),
        TypeError,
        "key must be an array, got NoneType: wrap it, as in numpy.asarray(key)",
    ),
    (
        lambda: attend(value=torch.ones(3, 5)),
        TypeError,
        "arrays must come from one library, got query of numpy, key of numpy, value of torch: "
        "convert them to the same one",
    ),
    (
        lambda: attend(query=ones(2, 4, dtype=complex)),
        TypeError,
        "query must hold real numbers, got complex128: convert it to a float dtype such as float32",
    ),
    (
        lambda: attend(value=ones(3, 5, dtype=bool)),
        TypeError,
        "value must hold real numbers, got bool: convert it to a float dtype such as float32",
    ),
    (
        lambda: softmax([1.0, 2.0]),
        TypeError,
        "scores must be an array, got list: wrap it, as in numpy.asarray(scores)",
    ),
    (
        lambda: softmax(torch.ones(2, dtype=torch.bool)),
        TypeError,
        "scores must hold real numbers, got bool: convert it to a float dtype such as float32",
    ),
    (
        lambda: softmax(ones(2, 3), axis=2),
        ValueError,
        "axis must be an axis of the scores, got 2 for shape (2, 3): -1 is the last one",
    ),
    (
        lambda: softmax(ones(2, 3), axis=-3),
        ValueError,
        "axis must be an axis of the scores, got -3 for shape (2, 3): -1 is the last one",
    ),
    (
        lambda: softmax(ones(2), axis=None),
        TypeError,
        "axis must be an integer, got None: pass one whole number",
    ),
    # Mask
    (
        lambda: attend(mask=ones(2, 3)),
        TypeError,
        "mask must be boolean, True = may attend, got float64: for ones and zeros write mask == 1, "
        "for zeros and -inf to be added pass it as bias=",
    ),
    (
        lambda: attend(mask=ones(2, 3, dtype=np.int32)),
        TypeError,
        "mask must be boolean, True = may attend, got int32: for ones and zeros write mask == 1, "
        "for zeros and -inf to be added pass it as bias=",
    ),
    (
        lambda: scaled_dot_product_attention(*[torch.ones(2, 4)] * 3, torch.zeros(2, 2)),
        TypeError,
        "mask must be boolean, True = may attend, got float32: for ones and zeros write mask == 1, "
        "for zeros and -inf to be added pass it as bias=",
    ),
    (
        lambda: attend(mask=[[True, True, False]]),
        TypeError,
        "mask must be a boolean array, True = may attend, got list: wrap it, as in numpy.asarray(mask)",
    ),
    (
        lambda: attend(mask=torch.ones(2, 3, dtype=torch.bool)),
        TypeError,
        "arrays must come from one library, got mask of torch, scores of numpy: convert them to the same one",
    ),
    (
        lambda: attend(mask=ones(3, 2, dtype=bool)),
        ValueError,
        "mask must broadcast to the scores (2, 3) without enlarging them, got (3, 2): "
        "its last two axes are (n_query, n_key), either of them may be 1",
    ),
    (
        lambda: attend(mask=ones(7, 2, 3, dtype=bool)),
        ValueError,
        "mask must broadcast to the scores (2, 3) without enlarging them, got (7, 2, 3): "
        "its last two axes are (n_query, n_key), either of them may be 1",
    ),
    (
        lambda: attend(query=(1, 4), mask=ones(2, 3, dtype=bool)),
        ValueError,
        "mask must broadcast to the scores (1, 3) without enlarging them, got (2, 3): "
        "its last two axes are (n_query, n_key), either of them may be 1",
    ),
    # Bias
    (
        lambda: attend(bias=ones(2, 3, dtype=bool)),
        TypeError,
        "bias must hold numbers to add to the scores, got bool: pass a boolean array as mask=",
    ),
    (
        lambda: attend(bias=ones(2, 3, dtype=complex)),
        TypeError,
        "bias must hold real numbers, got complex128: convert it to a float dtype such as float32",
    ),
    (
        lambda: attend(bias=1.0),
        TypeError,
        "bias must be an array, got float: wrap it, as in numpy.asarray(bias)",
    ),
    (
        lambda: attend(bias=torch.ones(2, 3)),
        TypeError,
        "arrays must come from one library, got bias of torch, scores of numpy: convert them to the same one",
    ),
    (
        lambda: attend(bias=ones(2, 2)),
        ValueError,
        "bias must broadcast to the scores (2, 3) without enlarging them, got (2, 2): "
        "its last two axes are (n_query, n_key), either of them may be 1",
    ),
    # is_causal and scale
    (
        lambda: attend(is_causal=True),
        ValueError,
        "is_causal=True needs n_query == n_key, got 2 and 3: "
        "pass mask=causal_mask(2, 3) if the first query stands at the first key, "
        "or mask=causal_mask(2, 3, offset=1) if the last query stands at the last key (a key-value cache)",
    ),
    (
        lambda: attend(scale=ones(2)),
        TypeError,
        "scale must be one number, got ndarray: leave it out for 1/√d_k, "
        "and for several scales multiply the query by them",
    ),
    (
        lambda: attend(scale=True),
        TypeError,
        "scale must be one number, got bool: leave it out for 1/√d_k, "
        "and for several scales multiply the query by them",
    ),
    (lambda: attend(scale=np.inf), ValueError, "scale must be finite, got inf: leave it out for 1/√d_k"),
    (
        lambda: attend(scale=float("nan")),
        ValueError,
        "scale must be finite, got nan: leave it out for 1/√d_k",
    ),
    # Making masks
    (lambda: causal_mask(2.0, 3), TypeError, "n_query must be an integer, got 2.0: pass one whole number"),
    (
        lambda: causal_mask(2, (3, 3)),
        TypeError,
        "n_key must be an integer, got (3, 3): pass one whole number",
    ),
    (lambda: causal_mask(2, 3, 0.5), TypeError, "offset must be an integer, got 0.5: pass one whole number"),
    (lambda: causal_mask(True, 3), TypeError, "n_query must be an integer, got True: pass one whole number"),
    (lambda: causal_mask(2, None), TypeError, "n_key must be an integer, got None: pass one whole number"),
    (lambda: causal_mask(-1, 3), ValueError, "n_query must be 0 or more, got -1: it counts tokens"),
    (lambda: window_mask(2, -3, 1), ValueError, "n_key must be 0 or more, got -3: it counts tokens"),
    (lambda: window_mask(2, 3, -1), ValueError, "left must be 0 or more, got -1: it counts tokens"),
    (lambda: window_mask(2, 3, 1, -1), ValueError, "right must be 0 or more, got -1: it counts tokens"),
    (lambda: window_mask(2, 3, 1.5), TypeError, "left must be an integer, got 1.5: pass one whole number"),
    (
        lambda: causal_mask(2, 3, like=[1]),
        TypeError,
        "like must be an array, got list: wrap it, as in numpy.asarray(like)",
    ),
    (
        lambda: padding_mask([1.0, 2.0], 3),
        TypeError,
        "lengths must be integers, got float64: give the number of real tokens a sequence",
    ),
    (
        lambda: padding_mask(torch.ones(2, dtype=torch.bool), 3),
        TypeError,
        "lengths must be integers, got bool: give the number of real tokens a sequence",
    ),
    (
        lambda: padding_mask([[1, 2]], 3),
        ValueError,
        "lengths must have the shape (batch,), got (1, 2): give one length a sequence",
    ),
    (
        lambda: padding_mask(2, 3),
        ValueError,
        "lengths must have the shape (batch,), got (): give one length a sequence",
    ),
    (
        lambda: padding_mask([1, 4, 2], 3),
        ValueError,
        "lengths must lie between 0 and n_key = 3, got 1 to 4: cut the sequences or pad them to more keys",
    ),
    (
        lambda: padding_mask(array_api_strict.asarray([-1, 3]), 3),
        ValueError,
        "lengths must lie between 0 and n_key = 3, got -1 to 3: cut the sequences or pad them to more keys",
    ),
    (lambda: padding_mask([1], -1), ValueError, "n_key must be 0 or more, got -1: it counts tokens"),
    # Heads
    (
        lambda: split_heads(ones(3, 8), 3),
        ValueError,
        "n_heads must divide d_model, got n_heads = 3 and d_model = 8: choose a divisor of 8",
    ),
    (
        lambda: split_heads(ones(3, 8), 0),
        ValueError,
        "n_heads must divide d_model, got n_heads = 0 and d_model = 8: choose a divisor of 8",
    ),
    (
        lambda: split_heads(ones(3, 8), -2),
        ValueError,
        "n_heads must divide d_model, got n_heads = -2 and d_model = 8: choose a divisor of 8",
    ),
    (
        lambda: split_heads(ones(3, 8), 2.0),
        TypeError,
        "n_heads must be an integer, got 2.0: pass one whole number",
    ),
    (
        lambda: split_heads(ones(8), 2),
        ValueError,
        "x must have at least 2 axes, (n, d_model), got shape (8,): add the missing axis, as in x[None]",
    ),
    (
        lambda: split_heads([[1]], 1),
        TypeError,
        "x must be an array, got list: wrap it, as in numpy.asarray(x)",
    ),
    (
        lambda: join_heads(ones(3, 8)),
        ValueError,
        "x must have at least 3 axes, (n_heads, n, d_v), got shape (3, 8): add the missing axis, as in x[None]",
    ),
    (lambda: join_heads([[[1]]]), TypeError, "x must be an array, got list: wrap it, as in numpy.asarray(x)"),
    (
        lambda: heads(W_Q=(5, 6)),
        ValueError,
        "W_Q must have one row for each of the 4 columns of query, got W_Q (5, 6) and query (2, 4): "
        "rows are tokens, so the product is query @ W_Q",
    ),
    (
        lambda: heads(W_V=(2, 4, 6)),
        ValueError,
        "W_V must have one row for each of the 4 columns of value, got W_V (2, 4, 6) and value (3, 4): "
        "rows are tokens, so the product is value @ W_V",
    ),
    (
        lambda: heads(W_O=(4, 6)),
        ValueError,
        "W_O must have one row for each of the 6 columns of joined heads, got W_O (4, 6) and joined_heads (2, 6): "
        "rows are tokens, so the product is joined_heads @ W_O",
    ),
    (
        lambda: heads(query=(4,)),
        ValueError,
        "query must have at least 2 axes, (n, d_model), got shape (4,): add the missing axis, as in query[None]",
    ),
    (
        lambda: heads(n_heads=4),
        ValueError,
        "n_heads must divide the columns of W_Q, got n_heads = 4 and the columns of W_Q = 6: choose a divisor of 6",
    ),
    (
        lambda: heads(W_V=(4, 7), W_O=(7, 4)),
        ValueError,
        "n_heads must divide the columns of W_V, got n_heads = 2 and the columns of W_V = 7: choose a divisor of 7",
    ),
    (
        lambda: heads(query=(2, 2, 4), key=(3, 3, 4), mask=ones(2, 3, dtype=bool)),
        ValueError,
        "the leading axes of query, key and value must broadcast, got query (2, 2, 2, 3), key (3, 2, 3, 3) and "
        "value (2, 3, 3): make them equal, or 1 where they are to be repeated",
    ),
    (
        lambda: heads(mask=ones(2, 2, 3, dtype=bool)),  # a mask for each head
        ValueError,
        "mask must broadcast to the scores (2, 3) without enlarging them, got (2, 2, 3): "
        "its last two axes are (n_query, n_key), either of them may be 1",
    ),
    (
        lambda: heads(mask=ones(2, 3)),
        TypeError,
        "mask must be boolean, True = may attend, got float64: for ones and zeros write mask == 1, "
        "for zeros and -inf to be added pass it as bias=",
    ),
    (
        lambda: heads(mask=[[True]]),
        TypeError,
        "mask must be a boolean array, True = may attend, got list: wrap it, as in numpy.asarray(mask)",
    ),
    # Additive
    (
        lambda: additive(W_K=(2, 5)),
        ValueError,
        "query and key must share their last axis (d_hidden), got query (2, 6) and key (3, 5): "
        "give W_Q and W_K the same number of columns",
    ),
    (
        lambda: additive(W_K=(4, 6)),
        ValueError,
        "W_K must have one row for each of the 2 columns of key, got W_K (4, 6) and key (3, 2): "
        "rows are tokens, so the product is key @ W_K",
    ),
    (
        lambda: additive(v=(6, 1)),
        ValueError,
        "v must have the shape (d_hidden,) = (6,), got (6, 1): give one number a hidden unit",
    ),
    (
        lambda: additive(mask=ones(3, 2, dtype=bool)),
        ValueError,
        "mask must broadcast to the scores (2, 3) without enlarging them, got (3, 2): "
        "its last two axes are (n_query, n_key), either of them may be 1",
    ),
]


@pytest.mark.parametrize("call, error, message", CASES, ids=[case[2][:40] for case in CASES])
def test_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
    assert type(caught.value) is error


def test_every_message_has_three_parts():
    """Wanted, given and the fix, on one line."""
    for _, _, message in CASES:
        wanted, _, rest = message.partition(", got ")
        given, _, fix = rest.partition(": ")
        assert wanted and given and fix, message
        assert "\n" not in message


def test_every_error_in_the_file_is_in_the_table():
    path = Path(lib.attention.__file__)
    lines = {node.lineno for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise)}
    reached = set()
    for call, error, _ in CASES:
        with pytest.raises(error) as caught:
            call()
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert Path(last.filename) == path
        reached.add(last.lineno)
    assert lines - reached == set()


def test_the_masks_that_is_causal_suggests():
    """Both run as they stand in the message, and do what it says."""
    with pytest.raises(ValueError) as caught:
        attend(is_causal=True)
    first, last = (eval(call) for call in re.findall(r"causal_mask\(.*?\)", str(caught.value)))
    assert first.tolist() == [[True, False, False], [True, True, False]]
    assert last.tolist() == [[True, True, False], [True, True, True]]
