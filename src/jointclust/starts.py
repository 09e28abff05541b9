"""Where a run starts: labels from k-means in some embedding, or given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jointclust.coordinates import Coordinates
from jointclust.kmeans import assign, centers_of, kmeans, residuals
from jointclust.linalg import random_orthonormal
from jointclust.types import Float, Labels

# PCA gives one subspace; runs after the first also look elsewhere, where PCA would stick.
_PCA_CYCLE = ("pca", "random", "partition")


def start_kind(init: str, index: int) -> str:
    """The kind of start of run number ``index``."""
    return _PCA_CYCLE[index % 3] if init == "pca" else init


def start_labels(
    init: str,
    coordinates: Coordinates,
    n_clusters: int,
    n_components: int,
    rng: np.random.RandomState,
    n_restarts: int,
    weights: Float | None,
) -> Labels:
    """Labels of k-means in the embedding that ``init`` names.

    "pca": the leading coordinates; "whitened": these, each with the same variance; "random": a random subspace of the
    coordinates; "k-means++": all coordinates.
    "partition" draws the labels at random instead.
    """
    if init == "partition":
        order = np.argsort(rng.uniform(size=coordinates.n_samples))
        return (order % n_clusters).astype(np.int32)
    if init == "pca":
        embedding = coordinates.leading(n_components)
    elif init == "whitened":
        spread = np.sqrt(np.where(coordinates.eigenvalues > 0, coordinates.eigenvalues, 1.0))[:n_components]
        embedding = coordinates.leading(n_components) / spread.astype(coordinates.rows.dtype)
    elif init == "random":
        embedding = coordinates.embed(random_orthonormal(coordinates.rank, n_components, rng))
    else:
        embedding = coordinates.leading(coordinates.rank)
    return kmeans(embedding, n_clusters, rng, weights, n_restarts=n_restarts).labels


def robust_start_labels(
    init: str,
    plain: Labels,
    coordinates: Coordinates,
    n_clusters: int,
    n_components: int,
    rng: np.random.RandomState,
    n_restarts: int,
) -> Labels:
    """Labels of k-means in which far rows count less, or the plain ones: whichever centers are nearer to the rows."""
    scores, own = coordinates.leading(coordinates.rank), own_weights(coordinates)
    reduced = reduced_weights(scores, own)
    if np.array_equal(reduced, own):
        return plain
    robust = start_labels(init, coordinates, n_clusters, n_components, rng, n_restarts, reduced)

    def distance(labels: Labels, weights: Float) -> float:
        centers = centers_of(scores, labels, n_clusters, weights)
        return float(own @ residuals(scores, assign(scores, centers), centers))

    return robust if distance(robust, reduced) <= distance(plain, own) else plain


def reduced_weights(scores: NDArray, own: Float) -> Float:
    """Weights less for rows beyond twice the median radius, where k-means++ would look for centers first."""
    radius = np.sqrt(np.einsum("ij,ij->i", scores, scores, dtype=np.float64))
    order = np.argsort(radius)
    cumulative = np.cumsum(own[order])
    median = radius[order[np.searchsorted(cumulative, cumulative[-1] / 2)]]
    far = radius > 2 * median if median > 0 else np.zeros(radius.size, dtype=bool)
    return np.where(far, own * (2 * median / np.where(far, radius, 1.0)) ** 2, own)


def own_weights(coordinates: Coordinates) -> Float:
    """Sample weights; ones when there are none."""
    return np.ones(coordinates.n_samples) if coordinates.weights is None else coordinates.weights
