"""Attention: every function that the book explains, in one file.

Where it stands: this file imports nothing else of the book. The chapters, the figures and the
explorers import it; it knows nothing of them.

Conventions, said once:

- Rows are tokens. A weight matrix multiplies from the right: ``query = X @ W_Q``.
- *Scores* are the numbers before the softmax, *weights* the numbers after it.
- ``d_k`` is the width of one head, ``d_model`` that of the model; ``n_query`` and ``n_key`` count tokens.
- A ``mask`` is boolean, True = may attend. Numbers to be added to the scores are a ``bias``.
- The arrays may be NumPy's, PyTorch's (gradients flow through) or of any library that follows the array API
  standard. The lines are the same for all of them; ``xp`` is the library that the arrays came from.

Contents, from the bottom up: `softmax`; the masks `causal_mask`, `padding_mask`, `window_mask`;
`scaled_dot_product_attention`; `split_heads`, `join_heads` and `multi_head_attention`; `additive_attention`.
"""

from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy
from array_api_compat import array_namespace, device, is_array_api_obj

__all__ = [
    "Attention",
    "additive_attention",
    "causal_mask",
    "join_heads",
    "multi_head_attention",
    "padding_mask",
    "scaled_dot_product_attention",
    "softmax",
    "split_heads",
    "window_mask",
]


class Attention(NamedTuple):
    """What attention returns: the blended values, and the weights that blended them.

    ``output`` has the shape ``(..., n_query, d_v)``, ``weights`` the shape ``(..., n_query, n_key)``.
    """

    output: Any
    weights: Any


def softmax(scores, axis=-1):
    """Turn scores into weights that are 0 or more and sum to 1 along one axis.

    The largest score is subtracted first: the result is the same, and ``exp`` cannot overflow. Scores that
    are all ``-inf`` (a query that may attend to nothing) give weights of 0, not NaN, with a gradient of 0.

    Parameters
    ----------
    scores : array of any shape, real numbers
    axis : int, the axis whose entries compete. For attention it is the last one, the keys.

    Returns
    -------
    array like ``scores``; integers become floats, half precision is computed in float32 and cast back.

    Raises
    ------
    TypeError: ``scores`` is not an array of real numbers. ValueError: it has no such axis.

    Source
    ------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.array([2.0, 1.0, 0.0])).round(3)
    array([0.665, 0.245, 0.09 ])
    >>> softmax(np.array([-np.inf, -np.inf]))
    array([0., 0.])
    """
    xp, (scores,), dtype = _prepare(scores=scores)
    _check_axis(axis, scores)
    return xp.astype(_softmax(xp, scores, axis), dtype, copy=False)


def _softmax(xp, scores, axis=-1):
    if scores.shape[axis] == 0:
        return scores  # no entries, so nothing to share out
    largest = xp.max(scores, axis=axis, keepdims=True)
    # Guard here, before the exp. Repairing the NaN of (-inf) - (-inf) afterwards would leave NaN gradients.
    exponentials = xp.exp(scores - xp.where(largest == -inf, 0.0, largest))
    total = xp.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / xp.where(total == 0, 1.0, total)


def causal_mask(n_query, n_key, offset=0, *, like=None):
    """Let query i attend to key j only where j <= i + offset: nobody looks into the future.

    Parameters
    ----------
    n_query, n_key : int, how many queries and keys there are
    offset : int, how many keys come before the first query. 0 when queries and keys are the same tokens;
        the number of cached tokens when generating with a key-value cache.
    like : array, optional. The mask is of its library and on its device (default: a NumPy array).

    Returns
    -------
    boolean array of shape ``(n_query, n_key)``, True = may attend

    Raises
    ------
    TypeError: a count is not an integer, or ``like`` not an array. ValueError: a count is negative.

    Source
    ------
    Vaswani et al. 2017, section 3.2.3: "leftward" information flow only.

    Examples
    --------
    >>> causal_mask(3, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])

    Two new tokens after three cached ones:

    >>> causal_mask(2, 5, offset=3).astype(int)
    array([[1, 1, 1, 1, 0],
           [1, 1, 1, 1, 1]])
    """
    return window_mask(n_query, n_key, left=None, right=0, offset=offset, like=like)


def window_mask(n_query, n_key, left, right=0, offset=0, *, like=None):
    """Let query i attend to the keys from ``left`` places before it to ``right`` places after it.

    Key j is visible where ``i + offset - left <= j <= i + offset + right``.

    Parameters
    ----------
    n_query, n_key : int, how many queries and keys there are
    left, right : int or None, how many places back and ahead; None = no limit on that side
    offset : int, how many keys come before the first query, as in `causal_mask`
    like : array, optional. The mask is of its library and on its device (default: a NumPy array).

    Returns
    -------
    boolean array of shape ``(n_query, n_key)``, True = may attend

    Raises
    ------
    TypeError: a count is not an integer, or ``like`` not an array. ValueError: a count is negative.

    Source
    ------
    Beltagy et al. 2020, "Longformer", section 3.1 (sliding window); causal when ``right`` is 0.

    Examples
    --------
    >>> window_mask(4, 4, left=1).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    _check_counts(n_query=n_query, n_key=n_key, left=left, right=right)
    _check_integer("offset", offset)
    xp, where = (numpy, {}) if like is None else (_namespace(like=like), {"device": device(like)})
    j = xp.arange(n_key, **where)[None, :]  # (1, n_key)
    i = xp.arange(n_query, **where)[:, None] + offset  # (n_query, 1), counted among the keys
    allowed = xp.ones((n_query, n_key), dtype=xp.bool, **where)
    if left is not None:
        allowed = allowed & (j >= i - left)
    if right is not None:
        allowed = allowed & (j <= i + right)
    return allowed


def padding_mask(lengths, n_key):
    """Let every query of a sequence attend to its first ``length`` keys, and not to the padding after them.

    Parameters
    ----------
    lengths : integers of shape ``(batch,)``, as a list or an array: the real tokens of each sequence
    n_key : int, the padded length

    Returns
    -------
    boolean array of shape ``(batch, 1, n_key)``, True = may attend; the 1 stands for every query.
    For arrays with a heads axis, ``(batch, heads, n, d)``, insert it: ``padding_mask(…)[:, None]``.

    Raises
    ------
    TypeError: ``lengths`` are not integers. ValueError: a length is below 0 or above ``n_key``.

    Source
    ------
    Common practice; the paper does not speak of padding.

    Examples
    --------
    >>> padding_mask([3, 1], n_key=4).astype(int)
    array([[[1, 1, 1, 0]],
    <BLANKLINE>
           [[1, 0, 0, 0]]])
    """
    _check_counts(n_key=n_key)
    lengths = lengths if is_array_api_obj(lengths) else numpy.asarray(lengths)
    xp = array_namespace(lengths)
    if not xp.isdtype(lengths.dtype, "integral"):
        raise TypeError(
            f"lengths must be integers, got {_name(lengths.dtype)}: give the number of real tokens a sequence"
        )
    if lengths.ndim != 1:
        raise ValueError(
            f"lengths must have the shape (batch,), got {tuple(lengths.shape)}: give one length a sequence"
        )
    lengths = xp.astype(lengths, xp.int64)  # a small integer type may not hold n_key
    if xp.any(lengths < 0) or xp.any(lengths > n_key):
        raise ValueError(
            f"lengths must lie between 0 and n_key = {n_key}, got {int(xp.min(lengths))} to "
            f"{int(xp.max(lengths))}: cut the sequences or pad them to more keys"
        )
    return xp.arange(n_key, device=device(lengths))[None, None, :] < lengths[:, None, None]


def scaled_dot_product_attention(query, key, value, mask=None, *, bias=None, is_causal=False, scale=None):
    """Look something up: compare each query with every key, and blend the values in proportion.

    ``softmax(query @ keyᵀ / √d_k) @ value``, over the last two axes.

    Parameters
    ----------
    query : array ``(..., n_query, d_k)``, what each token is looking for
    key : array ``(..., n_key, d_k)``, what each token can be found by
    value : array ``(..., n_key, d_v)``, what each token hands over
    mask : boolean array, True = may attend; broadcasts to the scores ``(..., n_query, n_key)``. Where the
        arrays have a heads axis, a mask of one sequence each, ``(batch, n_query, n_key)``, needs one, too:
        ``mask[:, None]``.
    bias : array of numbers added to the scores before the softmax, broadcasting as ``mask`` does
    is_causal : bool, hide the future: as ``mask=causal_mask(n, n)``, and combined with ``mask`` by AND.
        Only where ``n_query == n_key``; otherwise pass a `causal_mask` with the offset that you mean.
    scale : float, what the scores are multiplied by. Default ``1/√d_k``, ``d_k`` from the keys' last axis.

    Returns
    -------
    Attention : a named tuple, ``output`` ``(..., n_query, d_v)`` and ``weights`` ``(..., n_query, n_key)``.
        Each row of weights sums to 1; that of a query that may attend to nothing is 0, as are its output and
        its gradient. Leading axes broadcast. Integers become floats; float16 and bfloat16 are computed in
        float32 and cast back.

    Raises
    ------
    TypeError: an argument is not an array of real numbers, arrays of two libraries meet, the mask is not
    boolean, or the scale not a number.
    ValueError: shapes that do not fit together, ``d_k`` of 0, or ``is_causal`` where ``n_query != n_key``.

    Notes
    -----
    A NaN in a key that nobody may attend to changes nothing in the output. A NaN in such a value does show,
    because 0 · NaN is NaN: clean padded values before you call. No argument is changed.

    Source
    ------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> query = np.array([[4.0, 0.0]])
    >>> key = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> value = np.array([[10.0], [20.0]])
    >>> output, weights = scaled_dot_product_attention(query, key, value)
    >>> weights.round(3)
    array([[0.944, 0.056]])
    >>> output.round(2)
    array([[10.56]])
    """
    xp, (query, key, value), dtype = _prepare(query=query, key=key, value=value)
    _check_attention_shapes(query, key, value)
    scale = key.shape[-1] ** -0.5 if scale is None else _check_scale(scale)

    scores = query @ xp.matrix_transpose(key)  # (..., n_query, n_key)
    scores = _hide(xp, scores * scale, mask, bias, is_causal)
    weights = _softmax(xp, scores)  # (..., n_query, n_key), rows sum to 1
    output = weights @ value  # (..., n_query, d_v)
    return Attention(xp.astype(output, dtype, copy=False), xp.astype(weights, dtype, copy=False))


def _hide(xp, scores, mask, bias, is_causal):
    """Add the bias, and set the score of every pair that may not meet to -inf."""
    n_query, n_key = scores.shape[-2:]
    if bias is not None:
        scores = scores + _check_bias(xp, bias, scores)
    if is_causal:
        if n_query != n_key:
            raise ValueError(
                f"is_causal=True needs n_query == n_key, got {n_query} and {n_key}: "
                f"pass mask=causal_mask({n_query}, {n_key}) if the first query stands at the first key, "
                f"or mask=causal_mask({n_query}, {n_key}, offset={n_key - n_query}) "
                "if the last query stands at the last key (a key-value cache)"
            )
        scores = xp.where(causal_mask(n_query, n_key, like=scores), scores, -inf)
    if mask is not None:
        _check_mask(mask, scores, scores.shape)
        scores = xp.where(mask, scores, -inf)
    return scores


def split_heads(x, n_heads):
    """Cut each token's vector into ``n_heads`` pieces, and put the heads before the tokens.

    Parameters
    ----------
    x : array ``(..., n, d_model)``
    n_heads : int, a divisor of ``d_model``

    Returns
    -------
    array ``(..., n_heads, n, d_model / n_heads)``: head h holds columns ``h·d_k`` to ``(h+1)·d_k`` of ``x``

    Raises
    ------
    TypeError: ``n_heads`` is not an integer, or ``x`` not an array.
    ValueError: ``n_heads`` does not divide ``d_model``, or ``x`` has fewer than two axes.

    Source
    ------
    Vaswani et al. 2017, section 3.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> split_heads(np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), n_heads=2)
    array([[[1, 2],
            [5, 6]],
    <BLANKLINE>
           [[3, 4],
            [7, 8]]])
    """
    xp = _namespace(x=x)
    _check_axes("x", x, 2, "(n, d_model)")
    *leading, n, d_model = x.shape
    _check_divisor(n_heads, d_model, "d_model")
    x = xp.reshape(x, (*leading, n, n_heads, d_model // n_heads))  # (..., n, n_heads, d_k)
    return xp.moveaxis(x, -2, -3)  # (..., n_heads, n, d_k)


def join_heads(x):
    """Put the heads' pieces side by side again: the inverse of `split_heads`.

    Parameters
    ----------
    x : array ``(..., n_heads, n, d_v)``

    Returns
    -------
    array ``(..., n, n_heads * d_v)``

    Raises
    ------
    TypeError: ``x`` is not an array. ValueError: it has fewer than three axes.

    Source
    ------
    Vaswani et al. 2017, section 3.2.2, "Concat".

    Examples
    --------
    >>> import numpy as np
    >>> join_heads(np.array([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]))
    array([[1, 2, 3, 4],
           [5, 6, 7, 8]])
    """
    xp = _namespace(x=x)
    _check_axes("x", x, 3, "(n_heads, n, d_v)")
    x = xp.moveaxis(x, -3, -2)  # (..., n, n_heads, d_v): without this step the heads are shuffled, not joined
    *leading, n, n_heads, d_v = x.shape
    return xp.reshape(x, (*leading, n, n_heads * d_v))


def multi_head_attention(
    query, key, value, W_Q, W_K, W_V, W_O, n_heads, mask=None, *, bias=None, is_causal=False
):
    """Look several things up at once: each head has its own projections, and the results are joined.

    ``join_heads(attention(query W_Q, key W_K, value W_V, head by head)) @ W_O``.
    For self-attention pass the same tokens three times; for cross-attention the decoder's as ``query`` and
    the encoder's as ``key`` and ``value``.

    Parameters
    ----------
    query : array ``(..., n_query, d_model)``
    key, value : arrays ``(..., n_key, d_model)`` (their widths may differ: they need only fit W_K and W_V)
    W_Q, W_K : arrays ``(d_model, n_heads * d_k)``; column block h belongs to head h
    W_V : array ``(d_model, n_heads * d_v)``
    W_O : array ``(n_heads * d_v, d_model)``
    n_heads : int
    mask : boolean array, True = may attend, broadcasting to ``(..., n_query, n_key)``: the inputs' leading
        axes and *no* heads axis, because all heads share it. So a mask of one sequence each cannot be taken
        for one of each head.
    bias : array added to the scores, broadcasting to ``(..., n_heads, n_query, n_key)``: heads may differ
    is_causal : bool, as in `scaled_dot_product_attention`

    Returns
    -------
    Attention : ``output`` ``(..., n_query, d_model)``, and one map of weights a head,
        ``(..., n_heads, n_query, n_key)``

    Raises
    ------
    TypeError, ValueError: as `scaled_dot_product_attention`, and where a matrix does not fit its input or
    cannot be cut into ``n_heads``.

    Source
    ------
    Vaswani et al. 2017, section 3.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> X, eye = np.eye(4), np.eye(4)
    >>> output, weights = multi_head_attention(X, X, X, eye, eye, eye, eye, n_heads=2)
    >>> output.shape, weights.shape
    ((4, 4), (2, 4, 4))
    """
    arrays = dict(query=query, key=key, value=value, W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O)
    xp, (query, key, value, W_Q, W_K, W_V, W_O), dtype = _prepare(**arrays)
    query = _project_to_heads(n_heads, query=query, W_Q=W_Q)  # (..., n_heads, n_query, d_k)
    key = _project_to_heads(n_heads, key=key, W_K=W_K)  # (..., n_heads, n_key, d_k)
    value = _project_to_heads(n_heads, value=value, W_V=W_V)  # (..., n_heads, n_key, d_v)
    if mask is not None:
        mask = _share_among_heads(mask, query, key)
    heads = scaled_dot_product_attention(query, key, value, mask, bias=bias, is_causal=is_causal)
    output = _project(joined_heads=join_heads(heads.output), W_O=W_O)  # (..., n_query, d_model)
    return Attention(xp.astype(output, dtype, copy=False), xp.astype(heads.weights, dtype, copy=False))


def additive_attention(query, key, value, W_Q, W_K, v, mask=None):
    """Score each pair with a small network instead of a dot product: ``v · tanh(query W_Q + key W_K)``.

    Nothing is divided: there is no sum over ``d_k`` products, and how large the scores are is up to ``v``.

    Parameters
    ----------
    query : array ``(..., n_query, d_query)``
    key : array ``(..., n_key, d_key)``
    value : array ``(..., n_key, d_v)``
    W_Q, W_K : arrays ``(d_query, d_hidden)`` and ``(d_key, d_hidden)``
    v : array ``(d_hidden,)``, which turns the hidden layer into one score
    mask : boolean array, True = may attend, broadcasting to ``(..., n_query, n_key)``

    Returns
    -------
    Attention : ``output`` ``(..., n_query, d_v)`` and ``weights`` ``(..., n_query, n_key)``

    Raises
    ------
    TypeError, ValueError: as `scaled_dot_product_attention`, and where a matrix does not fit its input.

    Source
    ------
    Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate",
    section A.1.2.

    Examples
    --------
    >>> import numpy as np
    >>> query, key, value = np.array([[1.0]]), np.array([[1.0], [-1.0]]), np.array([[10.0], [20.0]])
    >>> additive_attention(query, key, value, np.eye(1), np.eye(1), np.array([2.0])).weights.round(3)
    array([[0.873, 0.127]])
    """
    xp, (query, key, value, W_Q, W_K, v), dtype = _prepare(
        query=query, key=key, value=value, W_Q=W_Q, W_K=W_K, v=v
    )
    query, key = _project(query=query, W_Q=W_Q), _project(key=key, W_K=W_K)
    _check_attention_shapes(
        query, key, value, shared="d_hidden", remedy="give W_Q and W_K the same number of columns"
    )
    if tuple(v.shape) != query.shape[-1:]:
        raise ValueError(
            f"v must have the shape (d_hidden,) = ({query.shape[-1]},), got {tuple(v.shape)}: "
            "give one number a hidden unit"
        )

    hidden = xp.tanh(query[..., :, None, :] + key[..., None, :, :])  # (..., n_query, n_key, d_hidden)
    scores = _hide(xp, hidden @ v, mask, bias=None, is_causal=False)  # (..., n_query, n_key)
    weights = _softmax(xp, scores)
    output = weights @ value
    return Attention(xp.astype(output, dtype, copy=False), xp.astype(weights, dtype, copy=False))


# What follows prepares and checks arguments. Each message says what was wanted, what came and how to fix it.


def _namespace(**arrays):
    """Return the one library that all the arrays belong to."""
    for name, x in arrays.items():
        if not is_array_api_obj(x):
            raise TypeError(
                f"{name} must be an array, got {type(x).__name__}: wrap it, as in numpy.asarray({name})"
            )
    try:
        return array_namespace(*arrays.values())
    except TypeError:
        got = ", ".join(f"{name} of {type(x).__module__.partition('.')[0]}" for name, x in arrays.items())
        raise TypeError(
            f"arrays must come from one library, got {got}: convert them to the same one"
        ) from None


def _prepare(**arrays):
    """Return the library, the arrays in the dtype to compute in, and the dtype to return."""
    xp = _namespace(**arrays)
    _check_real(xp, **arrays)
    floats = {x.dtype for x in arrays.values() if _is_half(x.dtype) or not xp.isdtype(x.dtype, "integral")}
    if len(floats) > 1:  # NumPy knows no type that holds both float16 and bfloat16; float32 does
        floats = {xp.float32 if _is_half(dtype) else dtype for dtype in floats}
    default = xp.__array_namespace_info__().default_dtypes()["real floating"]
    dtype = xp.result_type(*floats) if floats else default
    # float16 overflows at 65504 and keeps 3 digits, bfloat16 keeps 2: too little for sums and exp.
    working = xp.float32 if _is_half(dtype) else dtype
    return xp, tuple(xp.astype(x, working, copy=False) for x in arrays.values()), dtype


def _is_half(dtype):
    return _name(dtype) in ("float16", "bfloat16")


def _check_real(xp, **arrays):
    for name, x in arrays.items():
        if not (_is_half(x.dtype) or xp.isdtype(x.dtype, ("integral", "real floating"))):
            raise TypeError(
                f"{name} must hold real numbers, got {_name(x.dtype)}: "
                "convert it to a float dtype such as float32"
            )


def _name(dtype):
    return str(dtype).rpartition(".")[2]  # "torch.float16" and "float16" are the same thing to a reader


def _project(**pair):
    """Return x @ W, or say which of the two does not fit: ``_project(query=query, W_Q=W_Q)``."""
    (name, x), (matrix, W) = pair.items()
    _check_axes(name, x, 2, "(n, d_model)")
    if W.ndim != 2 or W.shape[0] != x.shape[-1]:
        raise ValueError(
            f"{matrix} must have one row for each of the {x.shape[-1]} columns of {name.replace('_', ' ')}, "
            f"got {matrix} {tuple(W.shape)} and {name} {tuple(x.shape)}: "
            f"rows are tokens, so the product is {name} @ {matrix}"
        )
    return x @ W


def _project_to_heads(n_heads, **pair):
    """Return ``split_heads(x @ W, n_heads)``, or say which matrix cannot be cut: arguments as in `_project`."""
    _, matrix = pair
    x = _project(**pair)
    _check_divisor(n_heads, x.shape[-1], f"the columns of {matrix}")
    return split_heads(x, n_heads)


def _check_axes(name, x, at_least, shape):
    if x.ndim < at_least:
        raise ValueError(
            f"{name} must have at least {at_least} axes, {shape}, got shape {tuple(x.shape)}: "
            f"add the missing axis, as in {name}[None]"
        )


def _check_attention_shapes(query, key, value, shared="d_k", remedy="project both with the same d_k"):
    """Refuse shapes that cannot meet, in the words of the contract."""
    _check_axes("query", query, 2, "(n_query, d_k)")
    _check_axes("key", key, 2, "(n_key, d_k)")
    _check_axes("value", value, 2, "(n_key, d_v)")
    q, k, v = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    if q[-1] != k[-1]:
        raise ValueError(
            f"query and key must share their last axis ({shared}), got query {q} and key {k}: {remedy}"
        )
    if q[-1] == 0:
        raise ValueError(
            f"{shared} must be at least 1, got query {q} and key {k}: "
            "without numbers there is nothing to compare, give each token at least one"
        )
    if k[-2] != v[-2]:
        raise ValueError(
            f"key and value must share their next to last axis (n_key), got key {k} and value {v}: "
            "give each key one value"
        )
    if _broadcast(q[:-2], k[:-2], v[:-2]) is None:
        raise ValueError(
            f"the leading axes of query, key and value must broadcast, got query {q}, key {k} and value {v}: "
            "make them equal, or 1 where they are to be repeated"
        )


def _broadcast(*shapes):
    """Return the shape that these broadcast to, or None if they do not."""
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _check_scale(scale):
    if not isinstance(scale, Real) or isinstance(scale, bool):
        raise TypeError(
            f"scale must be one number, got {type(scale).__name__}: leave it out for 1/√d_k, "
            "and for several scales multiply the query by them"
        )
    if not isfinite(scale):
        raise ValueError(f"scale must be finite, got {scale}: leave it out for 1/√d_k")
    return float(scale)  # a plain float, because a NumPy float64 would turn float32 scores into float64


def _check_mask(mask, scores, shape):
    """Refuse a mask that is not boolean, not of the scores' library, or does not fit the scores' shape."""
    if not is_array_api_obj(mask):
        raise TypeError(
            f"mask must be a boolean array, True = may attend, got {type(mask).__name__}: "
            "wrap it, as in numpy.asarray(mask)"
        )
    if _name(mask.dtype) != "bool":
        raise TypeError(
            f"mask must be boolean, True = may attend, got {_name(mask.dtype)}: "
            "for ones and zeros write mask == 1, for zeros and -inf to be added pass it as bias="
        )
    _namespace(mask=mask, scores=scores)
    _check_fits("mask", mask, shape)


def _share_among_heads(mask, query, key):
    """Return the mask with a heads axis of 1, checked against the scores without theirs."""
    leading = _broadcast(query.shape[:-3], key.shape[:-3])
    if leading is not None:  # else query and key do not fit, and the attention says so
        _check_mask(mask, query, (*leading, query.shape[-2], key.shape[-2]))
    return mask[..., None, :, :] if getattr(mask, "ndim", 0) >= 2 else mask


def _check_bias(xp, bias, scores):
    """Return the bias in the scores' dtype if it holds numbers and fits them."""
    _namespace(bias=bias, scores=scores)
    if _name(bias.dtype) == "bool":
        raise TypeError(
            "bias must hold numbers to add to the scores, got bool: pass a boolean array as mask="
        )
    _check_real(xp, bias=bias)
    _check_fits("bias", bias, scores.shape)
    return xp.astype(bias, scores.dtype, copy=False)


def _check_fits(name, x, shape):
    if _broadcast(x.shape, shape) != tuple(shape):
        raise ValueError(
            f"{name} must broadcast to the scores {tuple(shape)} without enlarging them, "
            f"got {tuple(x.shape)}: its last two axes are (n_query, n_key), either of them may be 1"
        )


def _check_axis(axis, x):
    _check_integer("axis", axis)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"axis must be an axis of the scores, got {axis} for shape {tuple(x.shape)}: -1 is the last one"
        )


def _check_counts(**counts):
    for name, count in counts.items():
        if count is None and name in ("left", "right"):
            continue
        _check_integer(name, count)
        if count < 0:
            raise ValueError(f"{name} must be 0 or more, got {count}: it counts tokens")


def _check_divisor(n_heads, width, name):
    _check_integer("n_heads", n_heads)
    if n_heads < 1 or width % n_heads:
        raise ValueError(
            f"n_heads must divide {name}, got n_heads = {n_heads} and {name} = {width}: "
            f"choose a divisor of {width}"
        )


def _check_integer(name, number):
    if not isinstance(number, Integral) or isinstance(number, bool):
        raise TypeError(f"{name} must be an integer, got {number!r}: pass one whole number")
