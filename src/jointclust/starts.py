"""Where a run starts: labels from k-means in some embedding, or given."""

from __future__ import annotations

import numpy as np

from jointclust.coordinates import Coordinates
from jointclust.kmeans import kmeans
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

    "pca": the leading coordinates; "random": a random subspace of the coordinates; "k-means++": all coordinates.
    "partition" draws the labels at random instead.
    """
    if init == "partition":
        order = np.argsort(rng.uniform(size=coordinates.n_samples))
        return (order % n_clusters).astype(np.int32)
    if init == "pca":
        embedding = coordinates.leading(n_components)
    elif init == "random":
        embedding = coordinates.embed(random_orthonormal(coordinates.rank, n_components, rng))
    else:
        embedding = coordinates.leading(coordinates.rank)
    return kmeans(embedding, n_clusters, rng, weights, n_restarts=n_restarts).labels
