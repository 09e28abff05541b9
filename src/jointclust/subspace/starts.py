"""Where a run starts: labels from k-means in some embedding, or given."""

from __future__ import annotations

import numpy as np

from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.linalg import random_orthonormal
from jointclust.numerics.partitions import centers_of, n_changed, nearest_in
from jointclust.rows import Swept, blocks, sweep
from jointclust.rows.arrays import namespace
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Array, Labels

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
    weights: Array | None,
    careful: bool = True,
) -> Labels:
    """Labels of k-means in the embedding that ``init`` names.

    "pca": the leading coordinates; "whitened": these, each with the same variance; "random": a random subspace of the
    coordinates; "k-means++": all coordinates.
    "partition" draws the labels at random instead, unless some are known: those say where the clusters are.
    """
    if init == "partition" and coordinates.known is None:
        order = np.argsort(rng.uniform(size=coordinates.n_samples))
        return coordinates.rows.beside((order % n_clusters).astype(np.int32))
    if init == "pca":
        embedding = coordinates.leading(n_components)
    elif init == "whitened":
        spread = np.sqrt(np.where(coordinates.eigenvalues > 0, coordinates.eigenvalues, 1.0))[:n_components]
        embedding = coordinates.embed(np.eye(coordinates.rank, n_components) / spread)
    elif init == "random":
        embedding = coordinates.embed(random_orthonormal(coordinates.rank, n_components, rng))
    else:
        embedding = coordinates.leading(coordinates.rank)
    embedding = coordinates.together(embedding)
    known = coordinates.known
    return kmeans(embedding, n_clusters, rng, weights, known=known, n_restarts=n_restarts, careful=careful).labels


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
    if n_changed(reduced, own) == 0:
        return plain
    robust = start_labels(init, coordinates, n_clusters, n_components, rng, n_restarts, reduced)

    def distance(labels: Labels, weights: Array | None) -> float:
        centers = centers_of(scores, labels, n_clusters, weights)

        def total(y: Array, w: Array) -> Swept:
            return Swept(sums=[namespace(y).sum(w * blocks.residuals(y, nearest_in(y, centers), centers))])

        return float(sweep(total, scores, own, width=scores.shape[1]).sums[0])

    return robust if distance(robust, reduced) <= distance(plain, own) else plain


def reduced_weights(scores: Array, own: Array) -> Array:
    """Weights less for rows beyond twice the median radius, where k-means++ would look for centers first."""
    xp = namespace(scores)
    radius = xp.sqrt(blocks.squared_lengths(scores))
    order = xp.argsort(radius)
    cumulative = xp.cumulative_sum(xp.take(own, order))
    middle = xp.sum(xp.astype(cumulative < cumulative[-1] / 2, xp.int64))
    median = float(radius[int(order[int(middle)])])
    if median == 0:
        return own
    far = radius > 2 * median
    return xp.where(far, own * (2 * median / xp.where(far, radius, xp.ones_like(radius))) ** 2, own)


def own_weights(coordinates: Coordinates) -> Array:
    """Sample weights; ones when there are none."""
    weights = coordinates.weights
    return coordinates.rows.beside(np.ones(coordinates.n_samples)) if weights is None else weights
