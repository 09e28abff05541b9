"""Computes reference partitions for the comparison of candidates without labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from jointclust.estimators.fitting import fit_member, training_labels
from jointclust.exceptions import collected
from jointclust.methods.discriminative import LDAKMeans
from jointclust.methods.scoring import OptimalDiscriminantClustering
from jointclust.numerics.graph import distinct_rows
from jointclust.rows import threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Labels

_VARIANCES = (0.7, 0.8, 0.9, 0.95)
_DISCRIMINANTS = ((1e-3, "k-means++"), (1e-3, "whitened"), (0.1, "k-means++"))  # ridge in mean eigenvalues, start
_ITERATIONS = 12  # more iterations double the time and gain a fraction of a point
_NEIGHBORS = (5, 10)
_GRAPH_ROWS = 5_000  # with more rows the graphs take a sample


def reference_members(n_clusters: int, X: Any, coordinates: Coordinates) -> list[Any]:
    """Sixteen unfitted estimators of three kinds, because different kinds make different errors.

    They are LDA k-means, neighbour graphs of the rows, and neighbour graphs of the embedding of ODC.
    """
    levels = {variance: float(coordinates.keep(variance).eigenvalues.mean()) or 1.0 for variance in _VARIANCES}
    members: list[Any] = [
        LDAKMeans(n_clusters, variance=variance, ridge=ridge * level, init=init, max_iter=_ITERATIONS)
        for variance, level in levels.items()
        for ridge, init in _DISCRIMINANTS
    ]
    first, _ = distinct_rows(X if coordinates.weights is None else X[coordinates.present])
    most = max(2, first.size // 4)  # a graph that links every row with every other has no structure
    sample = _GRAPH_ROWS if coordinates.n_samples > _GRAPH_ROWS else None

    def graph(n_neighbors: int) -> OptimalDiscriminantClustering:
        return OptimalDiscriminantClustering(
            n_clusters, kernel="nearest_neighbors", n_neighbors=min(n_neighbors, most), n_landmarks=sample
        )

    embedding = OptimalDiscriminantClustering(n_clusters)
    members += map(graph, _NEIGHBORS)
    members += [Pipeline([("embedding", clone(embedding)), ("graph", graph(number))]) for number in _NEIGHBORS]
    return members


def reference_labels(
    members: list[Any],
    X: Any,
    coordinates: Coordinates,
    rng: np.random.RandomState,
    n_jobs: int | None,
    report: Callable[[], None] = lambda: None,
) -> list[Labels]:
    """Fit the references; returns the labels of each."""
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(members))

    def labels(index: int) -> Labels:
        fitted = fit_member(members[index], X, coordinates, coordinates.weights, int(seeds[index]))
        report()
        return training_labels(fitted, X)

    with collected(), threads.suited_to(coordinates.rank, n_jobs):
        return threads.each(labels, len(members), n_jobs)
