"""How dot products grow with d_k, and what that does to the gradient of a softmax.

What chapter *scaling* measures. Where it stands: on `lib.attention`, under the chapter; NumPy only.
Nothing here is needed to compute attention.

Contents: `mean_with_error`, `variance_with_error` and `share_with_error`, a measured number and how far to
trust it; `entropy`, `softmax_jacobian`, `jacobian_norm` and `query_jacobian_norm`, what one row of weights
looks like to a learner; `measure_queries`, all of them for many random queries;
`component_correlation_factor`, how far queries and keys are from the paper's assumption;
`additive_variance`, how far the scores of additive attention spread.
"""

from numbers import Integral
from typing import NamedTuple

import numpy as np

from lib.attention import softmax

__all__ = [
    "Measured",
    "additive_variance",
    "component_correlation_factor",
    "entropy",
    "jacobian_norm",
    "mean_with_error",
    "measure_queries",
    "query_jacobian_norm",
    "share_with_error",
    "softmax_jacobian",
    "variance_with_error",
]

NUMBERS_AT_ONCE = 2**18  # keys are drawn in portions of 2 MB, which fit in the cache: half the time


class Measured(NamedTuple):
    """What `measure_queries` found, one number a query in each array of shape ``(n_query,)``.

    ``largest`` is the largest weight, ``gap`` how far the largest score is above the second, ``entropy`` that
    of the weights, ``jacobian`` how much the weights move when the scores do, ``follows_query`` how much they
    move when the query does.
    """

    largest: np.ndarray
    gap: np.ndarray
    entropy: np.ndarray
    jacobian: np.ndarray
    follows_query: np.ndarray


def mean_with_error(x):
    """Return the mean of the numbers ``x`` and its standard error.

    >>> mean_with_error(np.array([-1.0, 1.0, -1.0, 1.0]))
    (0.0, 0.5)
    """
    return float(np.mean(x)), float(np.std(x) / np.sqrt(np.size(x)))


def variance_with_error(x):
    """Return the variance of the numbers ``x`` and its standard error.

    The variance would come out a little different with other random numbers; it lies within two standard
    errors of the true one in about 95 of 100 repetitions.

    >>> variance_with_error(np.array([-1.0, 1.0, -2.0, 2.0]))
    (2.5, 0.75)
    """
    x = np.asarray(x, dtype=float)
    squares = (x - x.mean()) ** 2
    return float(squares.mean()), float(squares.std() / np.sqrt(x.size))


def share_with_error(hits):
    """Return which share of the booleans ``hits`` is True, and its standard error.

    >>> share_with_error(np.array([True, False, True, False]))
    (0.5, 0.25)
    """
    share = float(np.mean(hits))
    return share, float(np.sqrt(share * (1 - share) / np.size(hits)))


def entropy(weights):
    """Return how spread out weights are: 0 if one has everything, ``ln n`` if all n are equal.

    ``exp(entropy)`` can be read as a number of keys: so many equal ones would be as spread out.
    The sum runs over the last axis: ``-Σ w ln w``, where 0 ln 0 counts as 0.

    >>> np.exp(entropy(np.array([[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0]]))).round(6)
    array([4., 2.])
    """
    weights = np.asarray(weights, dtype=float)
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)


def softmax_jacobian(weights):
    """Return how each weight answers to each score: entry i, j is the slope of weight i against score j.

    It is ``diag(a) - a aᵀ`` for the weights ``a``: ``a_i (1 - a_i)`` on the diagonal and
    ``-a_i a_j`` beside it.

    Parameters: ``weights`` ``(..., n)``, as `lib.attention.softmax` returns them.
    Returns ``(..., n, n)``.

    >>> softmax_jacobian(np.array([0.5, 0.5]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    weights = np.asarray(weights, dtype=float)
    return weights[..., None] * (np.eye(weights.shape[-1]) - weights[..., None, :])


def jacobian_norm(weights):
    """Return the length of `softmax_jacobian`: the root of the sum of its squared entries.

    It never makes the n × n matrix. And it never computes ``1 - a`` for a weight ``a`` near 1, which would
    lose all digits just where the gradient is small: it adds up the other weights instead.

    >>> float(jacobian_norm(np.array([0.5, 0.5])))
    0.5
    >>> float(jacobian_norm(np.array([1.0, 1e-20])))  # 2e-20: small, and yet not lost
    2e-20
    """
    weights = np.asarray(weights, dtype=float)
    others = np.sort(weights, axis=-1)
    largest, others = others[..., -1], others[..., :-1]
    rest, squares, fourths = (others.sum(axis=-1), (others**2).sum(axis=-1), (others**4).sum(axis=-1))
    on_diagonal = (largest * rest) ** 2 + (others**2 * (1 - others) ** 2).sum(axis=-1)
    beside = 2 * largest**2 * squares + np.maximum(squares**2 - fourths, 0)
    return np.sqrt(on_diagonal + beside)


def query_jacobian_norm(weights, keys, scale=1.0):
    """Return how much the weights move when the query does: the length of their Jacobian by the query.

    A score is ``scale · q · k``, so the slope of weight i is ``scale · a_i (k_i - k̄)`` with the blended
    key ``k̄ = Σ a_j k_j``.

    Parameters: ``weights`` ``(..., n_key)``, ``keys`` ``(..., n_key, d_k)``, ``scale`` as in attention.

    >>> float(query_jacobian_norm(np.array([0.5, 0.5]), np.array([[1.0], [-1.0]])))
    0.7071067811865476
    """
    from_blend = keys - weights[..., None, :] @ keys  # (..., n_key, d_k)
    lengths = (from_blend**2).sum(axis=-1)  # (..., n_key), squared
    return scale * np.sqrt((weights**2 * lengths).sum(axis=-1))


def measure_queries(d_k, *, n_key=64, n_query=2000, seed=0):
    """Let random queries look up random keys, and measure the weights without the scale and with it.

    All components are independent, with mean 0 and variance 1: the paper's assumption. Every query has keys
    of its own, so that the numbers of two queries have nothing to do with each other.

    Returns
    -------
    ``(unscaled, scaled)``, two `Measured`, of the same queries and keys

    Raises
    ------
    ValueError: ``d_k``, ``n_key`` or ``n_query`` is no whole number, or too small; a gap needs two keys.

    >>> unscaled, scaled = measure_queries(64, n_query=10)
    >>> unscaled.entropy.shape, bool(unscaled.entropy.mean() < scaled.entropy.mean())
    ((10,), True)
    """
    for name, n, least in (("d_k", d_k, 1), ("n_key", n_key, 2), ("n_query", n_query, 1)):
        if not isinstance(n, Integral) or isinstance(n, bool) or n < least:
            raise ValueError(
                f"{name} must be a whole number, {least} or more, got {n!r}: as in measure_queries(64)"
            )
    rng = np.random.default_rng(seed)
    at_once = max(1, NUMBERS_AT_ONCE // (n_key * d_k))
    portions = [
        _measure(rng.normal(size=(n, 1, d_k)), rng.normal(size=(n, n_key, d_k)))
        for n in (min(at_once, n_query - start) for start in range(0, n_query, at_once))
    ]
    return tuple(Measured(*np.concatenate(parts, axis=1)) for parts in zip(*portions, strict=True))


def _measure(query, keys):
    """Return what is measured of each query, without the scale and with it."""
    scores = (query @ np.swapaxes(keys, -1, -2))[:, 0]  # (n, n_key)
    found = []
    for scale in (1.0, keys.shape[-1] ** -0.5):
        weights = softmax(scores * scale)
        second, first = np.partition(scores * scale, (-2, -1), axis=-1)[:, -2:].T
        follows_query = query_jacobian_norm(weights, keys, scale)
        found.append(
            Measured(
                weights.max(axis=-1), first - second, entropy(weights), jacobian_norm(weights), follows_query
            )
        )
    return found


def component_correlation_factor(queries, keys):
    """Return how many times larger Var(q · k) is than independent components of mean 0 would make it.

    1 is the paper's assumption. Correlated components, and means that are not 0, make it larger.

    Parameters: ``queries`` ``(n, d_k)`` and ``keys`` ``(m, d_k)``; each query meets each key.

    >>> rng = np.random.default_rng(0)
    >>> queries, keys = rng.normal(size=(300, 8)), rng.normal(size=(300, 8))
    >>> round(component_correlation_factor(queries, keys), 1)
    1.0
    >>> round(component_correlation_factor(queries[:, [0] * 8], keys[:, [0] * 8]))  # one component, 8 times
    8
    """
    independent = float((queries.var(axis=0) * keys.var(axis=0)).sum())
    return float((queries @ keys.T).var()) / independent


def additive_variance(d_k, variance_of_v, rng, *, n_query=40, n_key=64, n_v=20):
    """Return the variance of the scores of additive attention, with random queries, keys and matrices.

    A score is ``v · tanh(q W_Q + k W_K)``, as in `lib.attention.additive_attention`. Queries and keys have
    variance 1, before the matrices and after them. The variance is taken over the keys, which compete, and is
    the mean over ``n_query`` queries and ``n_v`` vectors ``v``.

    Parameters: ``d_k`` the width of everything, ``variance_of_v`` of the numbers in ``v``, ``rng`` a NumPy
    generator of random numbers.

    >>> narrow, wide = (additive_variance(d_k, 1, np.random.default_rng(0)) for d_k in (16, 256))
    >>> 12 < wide / narrow < 20  # sixteen times as wide
    True
    """
    query, key = rng.normal(size=(n_query, 1, d_k)), rng.normal(size=(1, n_key, d_k))
    W_Q, W_K = rng.normal(size=(2, d_k, d_k)) / np.sqrt(d_k)  # keep the variance
    hidden = np.tanh(query @ W_Q + key @ W_K)  # (n_query, n_key, d_k)
    v = np.sqrt(variance_of_v) * rng.normal(size=(d_k, n_v))
    return float((hidden @ v).var(axis=1).mean())
