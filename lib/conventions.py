"""Masks of other libraries, turned into this book's and back.

Where it stands: beside `attention.py`, of which it uses only `causal_mask`. Nothing in the library needs it;
whoever brings a mask from elsewhere, or takes one there, does.

This book's mask is boolean and True = may attend, as in PyTorch's ``scaled_dot_product_attention``, JAX and
Keras. Others say:

====================  ===================================  ===========================
the mask says         who says so                          here
====================  ===================================  ===========================
True = hidden         PyTorch's ``nn.MultiheadAttention``  ``…_hidden``
… and its shapes      the same                             ``…_multihead_attention``
0 or -inf, added      many; Hugging Face in its models     ``…_additive``
1 or 0                Hugging Face's tokenizers            ``from_ones``
causal, by a corner   PyTorch's ``nn.attention.bias``      ``causal_…``
====================  ===================================  ===========================

No function guesses: what could be read in two ways is refused, with a line that says what to call instead.
And for a library that is not in the table, `how_it_reads` finds out by asking.
"""

from math import inf
from numbers import Integral

from array_api_compat import array_namespace, device, is_array_api_obj

from lib.attention import causal_mask

__all__ = [
    "causal_lower_right",
    "causal_upper_left",
    "from_additive",
    "from_hidden",
    "from_multihead_attention",
    "from_ones",
    "how_it_reads",
    "to_additive",
    "to_hidden",
    "to_multihead_attention",
]


def from_hidden(hidden):
    """Turn a mask where True = hidden into this book's, where True = may attend.

    Parameters
    ----------
    hidden : boolean array of any shape, such as the ``attn_mask`` of ``torch.nn.MultiheadAttention``

    Returns
    -------
    boolean array of the same shape, True = may attend

    Raises
    ------
    TypeError: ``hidden`` is not a boolean array.

    Source
    ------
    PyTorch, documentation of ``torch.nn.MultiheadAttention.forward``.

    Examples
    --------
    >>> import numpy as np
    >>> from_hidden(np.array([False, False, True]))
    array([ True,  True, False])
    """
    return _invert(_boolean("hidden", hidden))


def to_hidden(mask):
    """Turn this book's mask into one where True = hidden: the inverse of `from_hidden`.

    Parameters
    ----------
    mask : boolean array of any shape, True = may attend

    Returns
    -------
    boolean array of the same shape, True = hidden

    Raises
    ------
    TypeError: ``mask`` is not a boolean array.

    Source
    ------
    PyTorch, documentation of ``torch.nn.MultiheadAttention.forward``.

    Examples
    --------
    >>> to_hidden(causal_mask(2, 2))
    array([[False,  True],
           [False, False]])
    """
    return _invert(_boolean("mask", mask))


def from_additive(added):
    """Turn numbers that are added to the scores, 0 or -inf, into this book's mask.

    The most negative number of the dtype counts as -inf, because Hugging Face's models write it so.

    Parameters
    ----------
    added : array of floats of any shape, each 0 (may attend) or -inf (hidden)

    Returns
    -------
    boolean array of the same shape, True = may attend

    Raises
    ------
    TypeError: ``added`` is not an array of floats.
    ValueError: another number is in it, so that it is a bias and not a mask, or a mask of ones and zeros.

    Source
    ------
    Vaswani et al. 2017, section 3.2.3: "setting to -inf all values in the input of the softmax".

    Examples
    --------
    >>> import numpy as np
    >>> from_additive(np.array([0.0, 0.0, -np.inf]))
    array([ True,  True, False])
    """
    xp = _numbers("added", added)
    if not _is_float(xp, added):
        raise TypeError(
            f"added must hold floats, 0 or -inf, got {_name(added.dtype)}: for ones and zeros call from_ones"
        )
    visible = added == 0
    other = added[~visible & (added != -inf) & (added != xp.finfo(added.dtype).min)]
    if other.shape[0]:
        raise ValueError(
            f"added must hold 0 and -inf only, got {float(other[0]):g}: pass a bias as bias=, and call "
            "from_ones for ones and zeros"
        )
    return visible


def to_additive(mask, like=None):
    """Turn this book's mask into numbers to be added to the scores: 0 where a query may attend, else -inf.

    Parameters
    ----------
    mask : boolean array of any shape, True = may attend
    like : array of floats of the same library, optional. The result has its dtype (default: its usual float).

    Returns
    -------
    array of floats of the same shape

    Raises
    ------
    TypeError: ``mask`` is not boolean, or ``like`` does not hold floats.

    Source
    ------
    Vaswani et al. 2017, section 3.2.3.

    Examples
    --------
    >>> to_additive(causal_mask(2, 2))
    array([[  0., -inf],
           [  0.,   0.]])
    """
    xp = array_namespace(_boolean("mask", mask))
    if like is not None and not _is_float(_numbers("like", like), like):
        raise TypeError(f"like must hold floats, got {_name(like.dtype)}: whole numbers have no -inf")
    dtype = xp.__array_namespace_info__().default_dtypes()["real floating"] if like is None else like.dtype
    zeros = xp.zeros(mask.shape, dtype=dtype, device=device(mask))
    return xp.where(mask, zeros, xp.full_like(zeros, -inf))


def from_ones(ones):
    """Turn a mask of numbers, 1 = may attend and 0 = hidden, into this book's.

    A tokenizer's ``attention_mask`` has the shape ``(batch, n_key)``. Add an axis for the queries:
    ``from_ones(attention_mask)[:, None, :]``.

    Parameters
    ----------
    ones : array of numbers of any shape, each 1 or 0

    Returns
    -------
    boolean array of the same shape, True = may attend

    Raises
    ------
    TypeError: ``ones`` is boolean already, or not an array of numbers.
    ValueError: another number is in it.

    Source
    ------
    Hugging Face Transformers, glossary, "attention mask".

    Examples
    --------
    >>> import numpy as np
    >>> from_ones(np.array([1, 1, 0]))
    array([ True,  True, False])
    """
    _numbers("ones", ones)
    visible = ones == 1
    other = ones[~visible & (ones != 0)]
    if other.shape[0]:
        raise ValueError(
            f"ones must hold 1 and 0 only, got {float(other[0]):g}: for 0 and -inf call from_additive"
        )
    return visible


def from_multihead_attention(attn_mask=None, key_padding_mask=None, *, n_heads=None):
    """Turn the masks of ``torch.nn.MultiheadAttention`` into this book's one mask.

    Parameters
    ----------
    attn_mask : boolean array, True = hidden, of shape ``(n_query, n_key)``
        or ``(batch · n_heads, n_query, n_key)``
    key_padding_mask : boolean array, True = hidden, of shape ``(batch, n_key)``
        or, without a batch, ``(n_key,)``
    n_heads : int, needed where ``attn_mask`` has three axes: only so it can be cut into batch and heads

    Returns
    -------
    boolean array, True = may attend. ``(n_query, n_key)`` or ``(batch, n_query, n_key)``, as
    `lib.attention.multi_head_attention` takes it; with an ``attn_mask`` of three axes
    ``(batch, n_heads, n_query, n_key)``, for arrays that are split into heads.
    Without an ``attn_mask`` there is 1 in place of ``n_query``.

    Raises
    ------
    TypeError: a mask is not a boolean array, or both are missing.
    ValueError: a number of axes that the module does not know, or ``n_heads`` missing or not fitting.

    Source
    ------
    PyTorch, documentation of ``torch.nn.MultiheadAttention.forward``.

    Examples
    --------
    >>> import numpy as np
    >>> future, padded = np.array([[False, True], [False, False]]), np.array([[False, False], [False, True]])
    >>> from_multihead_attention(future, padded).astype(int)
    array([[[1, 0],
            [1, 1]],
    <BLANKLINE>
           [[1, 0],
            [1, 0]]])
    """
    if attn_mask is None and key_padding_mask is None:
        raise TypeError("attn_mask and key_padding_mask are both missing: give at least one of them")
    pairs = None if attn_mask is None else _from_attn_mask(attn_mask, n_heads)
    keys = None if key_padding_mask is None else _from_key_padding_mask(key_padding_mask)
    if pairs is None or keys is None:
        return keys if pairs is None else pairs
    if pairs.ndim == 4 and keys.ndim == 3:
        keys = keys[:, None, :, :]  # (batch, 1, 1, n_key): the same for all heads
    return pairs & keys


def to_multihead_attention(mask, *, n_query=None, n_heads=None):
    """Turn this book's mask into the ``attn_mask`` of ``torch.nn.MultiheadAttention``: polarity and shape.

    Parameters
    ----------
    mask : boolean array, True = may attend, of shape ``(n_query, n_key)``, ``(batch, n_query, n_key)`` or
        ``(batch, n_heads, n_query, n_key)``; in place of ``n_query`` there may be 1, and in place of
        ``n_heads``, too
    n_query : int, needed where the mask has 1 in its place: the module does not broadcast
    n_heads : int, needed where the mask has a batch axis and no heads axis: the module wants one mask for
        each head of each sequence

    Returns
    -------
    boolean array, True = hidden: ``(n_query, n_key)`` or ``(batch · n_heads, n_query, n_key)``

    Raises
    ------
    TypeError: the mask is not a boolean array.
    ValueError: a number of axes other than 2, 3 or 4, or a count that is missing or does not fit.

    Notes
    -----
    A query that may attend to nothing gets weights of 0 in this book. ``torch.nn.MultiheadAttention`` gives
    NaN for it, unless it is called with ``need_weights=False``.

    Source
    ------
    PyTorch, documentation of ``torch.nn.MultiheadAttention.forward``.

    Examples
    --------
    >>> to_multihead_attention(causal_mask(2, 2))
    array([[False,  True],
           [False, False]])
    >>> import numpy as np
    >>> padding = np.array([[[True, True]], [[True, False]]])  # (batch, 1, n_key)
    >>> to_multihead_attention(padding, n_query=3, n_heads=8).shape
    (16, 3, 2)
    """
    xp = array_namespace(_boolean("mask", mask))
    if mask.ndim not in (2, 3, 4):
        raise ValueError(
            f"mask must have 2, 3 or 4 axes, ending in (n_query, n_key), got shape {tuple(mask.shape)}: add "
            "or join axes"
        )
    n_query = _fitting("n_query", n_query, mask.shape[-2])
    if mask.ndim == 2:
        return _invert(xp.broadcast_to(mask, (n_query, mask.shape[-1])))
    n_heads = _fitting("n_heads", n_heads, 1 if mask.ndim == 3 else mask.shape[1])
    batch, n_key = mask.shape[0], mask.shape[-1]
    mask = mask[:, None, :, :] if mask.ndim == 3 else mask  # (batch, 1 or n_heads, 1 or n_query, n_key)
    mask = xp.broadcast_to(mask, (batch, n_heads, n_query, n_key))
    return _invert(xp.reshape(mask, (batch * n_heads, n_query, n_key)))


def causal_upper_left(n_query, n_key, *, like=None):
    """Hide the future where the first query stands at the first key: the diagonal starts upper left.

    Parameters
    ----------
    n_query, n_key : int
    like : array, optional. The mask is of its library and on its device (default: a NumPy array).

    Returns
    -------
    boolean array ``(n_query, n_key)``, True = may attend: ``is_causal=True`` in PyTorch, JAX and Keras

    Raises
    ------
    TypeError, ValueError: as `lib.attention.causal_mask`.

    Source
    ------
    PyTorch, ``torch.nn.attention.bias.causal_upper_left``.

    Examples
    --------
    >>> causal_upper_left(2, 5).astype(int)
    array([[1, 0, 0, 0, 0],
           [1, 1, 0, 0, 0]])
    """
    return causal_mask(n_query, n_key, like=like)


def causal_lower_right(n_query, n_key, *, like=None):
    """Hide the future where the last query stands at the last key, as with a key-value cache.

    Parameters
    ----------
    n_query, n_key : int
    like : array, optional. The mask is of its library and on its device (default: a NumPy array).

    Returns
    -------
    boolean array ``(n_query, n_key)``, True = may attend: what ``mask="causal"`` means in MLX

    Raises
    ------
    TypeError, ValueError: as `lib.attention.causal_mask`.

    Source
    ------
    PyTorch, ``torch.nn.attention.bias.causal_lower_right``.

    Examples
    --------
    >>> causal_lower_right(2, 5).astype(int)
    array([[1, 1, 1, 1, 0],
           [1, 1, 1, 1, 1]])
    """
    return causal_mask(n_query, n_key, offset=n_key - n_query, like=like)


REFUSALS = (TypeError, ValueError, RuntimeError, AssertionError)


def how_it_reads(weights_of):
    """Find out how a library reads a mask: put five questions to it, and look at the weights that come back.

    Parameters
    ----------
    weights_of : function of ``mask`` and ``is_causal``, both optional, that calls the library with two or more
        queries, more keys than that, and no two scores of a row far apart. It returns the weights
        ``(n_query, n_key)``.

    Returns
    -------
    dict from question to answer, in words
        - what True means: a mask has a single True, and its key gets all the weight ("may attend") or none
          ("hidden"), or else "neither";
        - what is done with a mask of whole numbers, and of floats: "added" to the scores, "refused", or "neither";
        - how many keys the first two queries see with ``is_causal=True``, where n_query and n_key differ;
        - what a query gets that may attend to nothing: "NaN", or the largest of its weights.

    Raises
    ------
    Whatever the library raises without a mask, or for a boolean mask.

    Examples
    --------
    >>> import numpy as np
    >>> from lib.attention import scaled_dot_product_attention
    >>> q, k = np.eye(2, 4), np.eye(5, 4)
    >>> def this_book(mask=None, is_causal=False):
    ...     return scaled_dot_product_attention(q, k, k, mask, is_causal=is_causal).weights
    >>> for question, answer in how_it_reads(this_book).items():
    ...     print(f"{question}: {answer}")
    True means: may attend
    whole numbers: refused
    floats: refused
    is_causal, 2 × 5: refused
    nobody to ask: weights of 0
    """
    free = weights_of()  # (n_query, n_key), without a mask
    xp, n_key = array_namespace(free), free.shape[-1]
    nowhere = xp.zeros(free.shape, dtype=xp.bool, device=device(free))
    last = nowhere | (xp.arange(n_key, device=device(free)) == n_key - 1)  # one True in each row
    true_means = {1.0: "may attend", 0.0: "hidden"}.get(float(weights_of(mask=last)[0, -1]), "neither")
    hide_all = _invert(nowhere) if true_means == "hidden" else nowhere
    return {
        "True means": true_means,
        "whole numbers": _is_added(weights_of, free, 2 * xp.astype(last, xp.int64)),
        "floats": _is_added(weights_of, free, 2 * xp.astype(last, free.dtype)),
        f"is_causal, {free.shape[0]} × {n_key}": _what_is_causal(weights_of),
        "nobody to ask": _what_an_empty_row_gets(weights_of(mask=hide_all)),
    }


def _is_added(weights_of, free, numbers):
    """Say whether a mask of numbers is added to the scores; ``free`` are the weights without it."""
    xp = array_namespace(free)
    try:
        found = weights_of(mask=numbers)
    except REFUSALS:
        return "refused"
    # A number added to a score multiplies e to the score, and so the share of that key, by e to the number.
    shares = free * xp.exp(xp.astype(numbers, free.dtype))
    expected = shares / xp.sum(shares, axis=-1, keepdims=True)
    return "added" if float(xp.max(xp.abs(found - expected))) < 1e-5 else "neither"


def _what_is_causal(weights_of):
    """Say how many keys the first two queries see with ``is_causal=True``."""
    try:
        seen = weights_of(is_causal=True) > 0
    except REFUSALS:
        return "refused"
    first, second = (int(array_namespace(seen).count_nonzero(seen[i, :])) for i in (0, 1))
    return f"{first} and {second} keys"


def _what_an_empty_row_gets(weights):
    """Say what the weights of a query are that may attend to nothing."""
    xp = array_namespace(weights)
    return "NaN" if bool(xp.any(xp.isnan(weights))) else f"weights of {float(xp.max(weights)):g}"


# What follows checks arguments. Every message says what was given, what was wanted and how to fix it.


def _from_attn_mask(attn_mask, n_heads):
    """Return ``(n_query, n_key)``, or ``(batch, n_heads, n_query, n_key)``; True = may attend."""
    visible = _invert(_boolean("attn_mask", attn_mask))
    if visible.ndim == 2:
        return visible
    if visible.ndim != 3:
        raise ValueError(
            f"attn_mask must have 2 or 3 axes, got shape {tuple(visible.shape)}: the module takes no other"
        )
    if n_heads is None:
        raise ValueError(
            f"attn_mask {tuple(visible.shape)} joins batch and heads in its first axis: say n_heads=, so "
            "that it can be cut"
        )
    _count("n_heads", n_heads)
    if visible.shape[0] % n_heads:
        raise ValueError(
            f"the first axis of attn_mask must be batch · n_heads, got {visible.shape[0]} with n_heads = "
            f"{n_heads}: check n_heads"
        )
    return array_namespace(visible).reshape(
        visible, (visible.shape[0] // n_heads, n_heads, *visible.shape[1:])
    )


def _from_key_padding_mask(key_padding_mask):
    """Return ``(batch, 1, n_key)``, or ``(1, n_key)``; True = may attend."""
    visible = _invert(_boolean("key_padding_mask", key_padding_mask))
    if visible.ndim not in (1, 2):
        raise ValueError(
            f"key_padding_mask must have the shape (batch, n_key) or (n_key,), got {tuple(visible.shape)}: "
            "the module takes no other"
        )
    return visible[..., None, :]


def _fitting(name, wanted, found):
    """Return how many there are to be: ``wanted``, of which the mask has ``found`` (1 = the same for all)."""
    if wanted is None:
        if found == 1:
            raise ValueError(
                f"{name} is missing, and the mask has 1 in its place: say {name}=, because the module does "
                "not broadcast"
            )
        return found
    _count(name, wanted)
    if found not in (1, wanted):
        raise ValueError(
            f"{name} must be that of the mask, got {name} = {wanted} and a mask with {found}: leave it out, "
            "or mend the mask"
        )
    return wanted


def _count(name, number):
    if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{name} must be a whole number from 1 on, got {number!r}: it is a count")


def _boolean(name, mask):
    """Return the mask if it is a boolean array."""
    if not is_array_api_obj(mask):
        raise TypeError(
            f"{name} must be a boolean array, got {type(mask).__name__}: wrap it, as in numpy.asarray({name})"
        )
    if _name(mask.dtype) != "bool":
        raise TypeError(
            f"{name} must be boolean, got {_name(mask.dtype)}: call from_ones for ones and zeros, "
            "from_additive for 0 and -inf"
        )
    return mask


def _numbers(name, x):
    """Return the library of an array of real numbers."""
    if not is_array_api_obj(x):
        raise TypeError(
            f"{name} must be an array, got {type(x).__name__}: wrap it, as in numpy.asarray({name})"
        )
    if _name(x.dtype) == "bool":
        raise TypeError(
            f"{name} must hold numbers, got bool: it needs no conversion where True = may attend, otherwise "
            "call from_hidden"
        )
    return array_namespace(x)


def _is_float(xp, x):
    return _name(x.dtype) == "bfloat16" or xp.isdtype(x.dtype, "real floating")


def _invert(mask):
    return array_namespace(mask).logical_not(mask)


def _name(dtype):
    return str(dtype).rpartition(".")[2]  # "torch.bool" and "bool" are the same thing to a reader
