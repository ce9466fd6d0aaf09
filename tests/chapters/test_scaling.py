"""What chapter 03 measures is what was measured before, by other code, and what theory says.

The numbers in `BEFORE` come from another program (other seeds, 4000 queries); two measurements may differ by four
standard errors of their difference.
"""

import numpy as np
import pytest
import torch

from lib.attention import additive_attention, softmax
from lib.scaling import (
    _measure,
    additive_variance,
    component_correlation_factor,
    entropy,
    jacobian_norm,
    mean_with_error,
    measure_queries,
    query_jacobian_norm,
    share_with_error,
    softmax_jacobian,
    variance_with_error,
)

# d_k: entropy without the scale and with it, ‖J‖ without and with, share of largest weights > 0.99, of ‖J‖ < 0.01
BEFORE = {
    4: ((2.797, 0.012), (3.695, 0.005), (0.2583, 0.0010), (0.1807, 0.0006), None, None),
    16: ((1.385, 0.011), (3.693, 0.003), (0.2938, 0.0018), (0.1822, 0.0004), 0.023, 0.017),
    64: ((0.589, 0.008), (3.686, 0.002), (0.2118, 0.0027), (0.1834, 0.0003), 0.197, 0.165),
    256: ((0.274, 0.006), (3.687, 0.002), (0.1281, 0.0026), (0.1833, 0.0003), 0.481, 0.435),
    1024: ((0.118, 0.004), (3.685, 0.002), (0.0640, 0.0021), (0.1836, 0.0003), 0.714, 0.676),
}
# d_k: median ‖J‖ without the scale and with it, median ‖dw/dq‖ without
MEDIANS = {16: (0.331, 0.177, 1.22), 64: (0.186, 0.180, 1.46)}


@pytest.fixture(scope="module")
def measured():
    return {d_k: measure_queries(d_k, n_query=1000) for d_k in BEFORE}


def agree(mine, theirs):
    (a, error_a), (b, error_b) = mine, theirs
    return abs(a - b) < 4 * np.hypot(error_a, error_b)


@pytest.mark.parametrize("d_k", BEFORE)
def test_entropy_and_gradient_are_those_measured_before(measured, d_k):
    unscaled, scaled = measured[d_k]
    for mine, theirs in zip(
        (unscaled.entropy, scaled.entropy, unscaled.jacobian, scaled.jacobian), BEFORE[d_k][:4], strict=True
    ):
        assert agree(mean_with_error(mine), theirs)


@pytest.mark.parametrize("d_k", [16, 64, 256, 1024])
def test_the_share_of_queries_without_gradient_is_that_measured_before(measured, d_k):
    unscaled, scaled = measured[d_k]
    sure, silent = BEFORE[d_k][4:]
    for hits, share in ((unscaled.largest > 0.99, sure), (unscaled.jacobian < 0.01, silent)):
        assert agree(share_with_error(hits), (share, np.sqrt(share * (1 - share) / 4000)))
    assert (scaled.jacobian > 0.01).all() and (scaled.largest < 0.99).all()


@pytest.mark.parametrize("d_k", MEDIANS)
def test_medians_are_those_measured_before(measured, d_k):
    unscaled, scaled = measured[d_k]
    median = [np.median(x) for x in (unscaled.jacobian, scaled.jacobian, unscaled.follows_query)]
    np.testing.assert_allclose(
        median, MEDIANS[d_k], rtol=0.12
    )  # the bands are wide: a median of 1000 is off by 5 %


def test_where_keys_are_many_fewer_queries_lose_their_gradient():
    """Independent of `measure_queries`: for a given query the scores of normal keys are normal, as wide as it is long."""
    rng = np.random.default_rng(5)
    shares = []
    for n_key in (8, 64, 1024):
        unscaled, _ = measure_queries(64, n_key=n_key, n_query=400)
        mine = share_with_error(unscaled.jacobian < 0.01)
        length = np.linalg.norm(rng.normal(size=(2000, 64)), axis=-1, keepdims=True)
        a = softmax(length * rng.normal(size=(2000, n_key)))
        largest = a.max(axis=-1)
        # only a clear winner can have a ‖J‖ below 0.01, so make the whole matrix for those
        exact = np.array([np.linalg.norm(np.diag(row) - np.outer(row, row)) for row in a[largest > 0.95]])
        theirs = share_with_error(
            np.concatenate([exact < 0.01, np.zeros((largest <= 0.95).sum(), dtype=bool)])
        )
        assert agree(mine, theirs)
        shares.append(mine[0])
    assert shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_jacobians_are_those_of_autograd(scale):
    rng = np.random.default_rng(0)
    query, keys = rng.normal(size=3), rng.normal(size=(5, 3))
    scores = scale * keys @ query
    weights = softmax(scores)
    J = torch.autograd.functional.jacobian(softmax, torch.tensor(scores)).numpy()
    np.testing.assert_allclose(softmax_jacobian(weights), J, atol=1e-15)
    assert jacobian_norm(weights) == pytest.approx(np.linalg.norm(J))
    by_query = torch.autograd.functional.jacobian(
        lambda q: softmax(scale * torch.tensor(keys) @ q), torch.tensor(query)
    )
    assert query_jacobian_norm(weights, keys, scale) == pytest.approx(np.linalg.norm(by_query))


def test_a_small_gradient_keeps_its_digits():
    weights = softmax(np.array([80.0, 0.0, 0.0]))  # 1 - weights[0] is 0 in the computer, and 4e-35 in truth
    rest = np.exp(-80.0)
    # on the diagonal 2 r, r, r; beside it four times r; all else is smaller than r²
    np.testing.assert_allclose(jacobian_norm(weights) / rest, np.sqrt(4 + 1 + 1 + 4), rtol=1e-9)


def test_jacobian_norm_is_that_of_the_whole_matrix():
    weights = softmax(3 * np.random.default_rng(0).normal(size=(50, 7)))
    np.testing.assert_allclose(
        jacobian_norm(weights), np.linalg.norm(softmax_jacobian(weights), axis=(-2, -1))
    )


def test_entropy_is_between_that_of_one_and_that_of_all():
    np.testing.assert_allclose(entropy(np.array([[1.0, 0, 0, 0], [0.25] * 4])), [0, np.log(4)])


def test_a_measurement_does_not_depend_on_how_many_are_measured_at_once(monkeypatch):
    whole = measure_queries(4, n_key=8, n_query=10)
    assert [x.shape for x in whole[0]] == [(10,)] * 5
    assert all((x > 0).all() for x in whole[0])
    monkeypatch.setattr("lib.scaling.NUMBERS_AT_ONCE", 1)
    one_by_one = measure_queries(4, n_key=8, n_query=10)
    assert [x.shape for x in one_by_one[1]] == [(10,)] * 5


def test_the_standard_error_of_a_variance_is_how_far_variances_spread():
    rng = np.random.default_rng(0)
    repeated = [variance_with_error(rng.normal(size=500)) for _ in range(400)]
    variances, errors = np.transpose(repeated)
    assert np.mean(errors) == pytest.approx(variances.std(), rel=0.15)


def test_correlated_components_are_found():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 500, 16))
    together = [np.sqrt(0.5) * x + np.sqrt(0.5) * rng.normal(size=(500, 1)) for x in (q, k)]
    assert component_correlation_factor(q, k) == pytest.approx(1, abs=0.1)
    assert component_correlation_factor(*together) == pytest.approx(
        1 + 15 * 0.5**2, rel=0.2
    )  # by formula 4.75


def test_the_variance_of_additive_scores_is_that_of_lib_attention():
    """The logarithms of the weights are the scores, but for a number that a whole row shares."""
    found = additive_variance(6, 0.3, np.random.default_rng(3), n_query=5, n_key=7, n_v=1)
    rng = np.random.default_rng(3)
    query, key = rng.normal(size=(5, 6)), rng.normal(size=(7, 6))
    W_Q, W_K = rng.normal(size=(2, 6, 6)) / np.sqrt(6)
    v = np.sqrt(0.3) * rng.normal(size=6)
    weights = additive_attention(query, key, key, W_Q, W_K, v).weights
    assert found == pytest.approx(np.log(weights).var(axis=-1).mean())


def test_additive_scores_grow_with_d_k_unless_v_is_filled_with_smaller_numbers():
    rng = np.random.default_rng(0)
    ones, glorot = (
        [additive_variance(d, variance, rng) for d, variance in zip((16, 256), variances, strict=True)]
        for variances in ((1, 1), (2 / 17, 2 / 257))
    )
    assert ones[1] / ones[0] == pytest.approx(16, rel=0.25)
    assert glorot[1] / glorot[0] == pytest.approx(1, abs=0.4)


def test_the_gap_is_between_the_two_largest_scores():
    scores = (
        np.random.default_rng(0).normal(size=(10, 1, 4)),
        np.random.default_rng(1).normal(size=(10, 8, 4)),
    )
    query, keys = scores
    unscaled, scaled = _measure(query, keys)
    ordered = np.sort((query @ np.swapaxes(keys, -1, -2))[:, 0], axis=-1)
    np.testing.assert_allclose(unscaled.gap, ordered[:, -1] - ordered[:, -2])
    np.testing.assert_allclose(scaled.gap, unscaled.gap / 2)


@pytest.mark.parametrize(
    "bad", [dict(d_k="64"), dict(d_k=-3), dict(d_k=True), dict(d_k=4, n_key=1), dict(d_k=4, n_query=2.5)]
)
def test_what_does_not_count_is_refused(bad):
    name, given = list(bad.items())[-1]
    with pytest.raises(
        ValueError, match=rf"^{name} must be a whole number, [12] or more, got {given!r}: as in"
    ):
        measure_queries(**bad)
