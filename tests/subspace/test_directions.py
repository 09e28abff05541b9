"""Directions of given labels, against what defines them."""

import numpy as np
import pytest

import jointclust as jc
from jointclust.consensus.embedding import discriminant_directions
from jointclust.subspace.directions import fisher_directions


@pytest.mark.parametrize("n_clusters", [4, 40])
def test_fisher_directions_solve_their_problem(n_clusters, rng):
    """``S_b Q = (S_w + ridge I) Q diag(theta)``, ``Q'(S_w + ridge I)Q = I``: fewer and more clusters than columns."""
    labels = np.arange(400, dtype=np.int32) % n_clusters
    X = rng.standard_normal((n_clusters, 10))[labels] + rng.standard_normal((400, 10))
    coordinates, ridge = jc.decompose(X, variance=None), 0.3
    clusters = coordinates.clusters(labels, n_clusters)
    Q = fisher_directions(clusters, 3, ridge)
    between = clusters.between_factor.T @ clusters.between_factor
    within = np.diag(coordinates.eigenvalues + ridge) - between
    np.testing.assert_allclose(Q.T @ within @ Q, np.eye(3), atol=1e-9)
    theta = np.diag(Q.T @ between @ Q)
    np.testing.assert_allclose(between @ Q, within @ Q * theta, rtol=1e-6, atol=1e-8)
    largest = np.sort(np.linalg.eigvals(np.linalg.solve(within, between)).real)[::-1][:3]
    np.testing.assert_allclose(theta, largest, rtol=1e-8)


@pytest.mark.parametrize("n_clusters", [5, 205])
def test_directions_of_a_consensus_solve_their_problem(n_clusters, rng):
    """Of few and of very many clusters, which are found from a smaller matrix."""
    labels = np.arange(1230, dtype=np.int32) % n_clusters
    T = 3 * rng.standard_normal((n_clusters, 220))[labels] + rng.standard_normal((1230, 220))
    mean, W = discriminant_directions(T, labels, n_clusters, None)
    centred = T - mean
    centers = np.stack([centred[labels == cluster].mean(axis=0) for cluster in range(n_clusters)])
    total, between = centred.T @ centred / 1230, centers[labels].T @ centers[labels] / 1230
    metric = total - between + np.trace(total) / 220 * np.eye(220)
    assert W.shape == (220, n_clusters - 1)
    np.testing.assert_allclose(W.T @ metric @ W, np.eye(n_clusters - 1), atol=1e-8)
    share = np.diag(W.T @ between @ W)
    assert np.all(np.diff(share) < 1e-9)
    np.testing.assert_allclose(between @ W, metric @ W * share, atol=1e-6)
