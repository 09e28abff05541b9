"""Clusters that are separated in rows that did not form them."""

import numpy as np
import pytest
import scipy.sparse as sp
from jointclust.number.curve import agreement_of

import jointclust as jc
from jointclust.number import unimodality


def between(X, seed=0):
    return unimodality.separated_clusters(jc.decompose(X), np.arange(len(X)), np.random.RandomState(seed))


def test_nuisance_directions_do_not_matter(rng):
    """No scaling of a direction without clusters changes the number, where k-means would be lost."""
    X, _ = jc.datasets.mixture(600, 12, 3, n_nuisance=0, random_state=2)
    for scale in (1, 30, 1000):
        assert between(np.hstack([X, scale * rng.standard_normal((600, 4))])).numbers == (3, 3)


def test_both_halves_find_the_clusters():
    X, y = jc.datasets.mixture(400, 30, 3, n_nuisance=3, separation=10, random_state=0)
    result = between(X)
    assert result.agreement == pytest.approx(1)
    assert result.numbers == (3, 3)
    assert agreement_of(result.labels, y[result.rows]) > 0.95


def test_noise_is_told_from_signal(rng):
    """Directions well above the noise's edge are counted, whatever the shape and however far the rank is cut."""
    for n, d in ((300, 100), (100, 300), (400, 20)):
        X = rng.standard_normal((n, d))
        X[:, :5] *= 8
        coordinates = jc.decompose(X)
        assert unimodality.rank_above_noise(coordinates) == pytest.approx(5, abs=1)
    X = rng.standard_normal((300, 200))
    X[:, :5] *= 8
    limited = jc.decompose(sp.csr_array(X), max_rank=50)
    assert not limited.exact
    assert unimodality.rank_above_noise(limited) == pytest.approx(5, abs=3)


def test_p_value(rng):
    flat, hill = rng.uniform(-2, 2, 500), rng.standard_normal(500)
    apart = np.concatenate([hill - 3, hill + 3])
    assert unimodality.unimodal_p_value(apart, -3, 3) < 1e-6
    assert unimodality.unimodal_p_value(hill, -1, 1) > 0.5
    assert unimodality.unimodal_p_value(flat, -1, 1) > 0.01
    assert unimodality.unimodal_p_value(np.zeros(0), 0, 1) == 1


def test_joined_labels_do_not_depend_on_the_scale_of_directions(rng):
    """The determinant of the within-cluster covariance is minimised up to a linear map."""
    X, y = jc.datasets.mixture(300, 6, 3, n_nuisance=2, random_state=0)
    start = np.where(rng.uniform(size=300) < 0.3, rng.randint(0, 3, 300), y).astype(np.int32)
    labels = unimodality.mixture_labels(X, start, 30)
    np.testing.assert_array_equal(labels, unimodality.mixture_labels(X * [1, 5, 0.1, 100, 2, 1], start, 30))
    assert np.mean(labels == y) == 1
