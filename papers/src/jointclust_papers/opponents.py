"""What others use: UMAP and HDBSCAN, and Leiden, where their packages are installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from random import Random
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import HDBSCAN
from sklearn.neighbors import kneighbors_graph

from jointclust_papers.experiments.experiment import Method

# Dimensions that UMAP is given for clustering rather than for looking.
_DIMENSIONS = 10


@dataclass(eq=False, repr=False)
class UMAPHDBSCAN(ClusterMixin, BaseEstimator):
    """HDBSCAN in a UMAP of ten dimensions: as many clusters as it finds; rows that it calls noise are one more."""

    n_neighbors: int = 15
    min_cluster_size: int = 15
    random_state: int | None = None

    def fit(self, X: NDArray, y: object = None) -> Self:
        from umap import UMAP

        n_components = min(_DIMENSIONS, X.shape[1], len(X) - 2)
        n_neighbors = min(self.n_neighbors, len(X) - 1)
        # UMAP's own start by eigenvectors fails on few rows.
        init = "spectral" if len(X) > 10 * _DIMENSIONS else "random"
        embedding = UMAP(
            n_neighbors=n_neighbors, n_components=n_components, min_dist=0.0, init=init, random_state=self.random_state
        ).fit_transform(X)
        size = min(self.min_cluster_size, len(X) // 2)
        self.labels_ = HDBSCAN(min_cluster_size=size, copy=False).fit(embedding).labels_
        return self


@dataclass(eq=False, repr=False)
class Leiden(ClusterMixin, BaseEstimator):
    """Leiden's communities of the neighbour graph, as single-cell tools cluster: as many as the resolution gives."""

    n_neighbors: int = 15
    resolution: float = 1.0
    random_state: int | None = None

    def fit(self, X: NDArray, y: object = None) -> Self:
        import igraph

        links = kneighbors_graph(X, min(self.n_neighbors, len(X) - 1)).tocoo()
        pairs = np.unique(np.sort(np.c_[links.row, links.col], axis=1), axis=0)
        graph = igraph.Graph(len(X), pairs.tolist())
        igraph.set_random_number_generator(Random(self.random_state))
        clustering = graph.community_leiden("modularity", resolution=self.resolution, n_iterations=-1)
        self.labels_ = np.asarray(clustering.membership)
        return self


def installed() -> dict[str, Method]:
    """Those whose packages are here, with a few values of what decides their number of clusters."""
    known: list[tuple[str, str, Method]] = [
        ("UMAP + HDBSCAN", "umap", (UMAPHDBSCAN(), {"min_cluster_size": [5, 15, 30]})),
        ("Leiden", "igraph", (Leiden(), {"resolution": [0.5, 1.0, 2.0]})),
    ]
    return {name: method for name, package, method in known if find_spec(package)}
