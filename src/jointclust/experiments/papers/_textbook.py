"""What the papers print, where the library does otherwise; to measure against, not to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from jointclust._sklearn import StrOptions
from jointclust.estimators.base import Limits
from jointclust.estimators.joint import JointClusterer
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering, _Discriminative
from jointclust.methods.ridge import UncorrelatedRidgeClustering
from jointclust.methods.robust import RobustEmbeddedClustering
from jointclust.methods.robust_kmeans import RobustKMeans
from jointclust.methods.sparse_fuzzy import RobustSparseFuzzyKMeans
from jointclust.subspace.alternating import State
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.starts import start_labels
from jointclust.types import Labels

# As in every item: see _lab, which is no part of what a fit depends on.
_STARTS = 10


@dataclass(eq=False, repr=False)
class TextbookDEC(ClusterMixin, BaseEstimator):
    """PCA and k-means, then form S_w, full eigendecomposition, nearest centroid, until the labels rest."""

    n_clusters: int = 8
    n_components: int = 2
    trade_off: float = 1.5
    max_iter: int = 100
    random_state: int | None = None

    def fit(self, X: NDArray, y: object = None) -> Self:
        X = X - X.mean(axis=0)
        total = X.T @ X
        Q = scipy.linalg.eigh(total)[1][:, ::-1][:, : self.n_components]
        labels = KMeans(self.n_clusters, n_init=_STARTS, random_state=self.random_state).fit(X @ Q).labels_
        for _ in range(self.max_iter):
            # An emptied cluster starts again from the first row.
            means = np.array(
                [X[labels == k].mean(axis=0) if np.any(labels == k) else X[0] for k in range(self.n_clusters)]
            )
            residual = X - means[labels]
            Q = scipy.linalg.eigh(total - self.trade_off * (residual.T @ residual))[1][:, ::-1][:, : self.n_components]
            before, labels = labels, np.argmin((((X @ Q)[:, None] - means @ Q) ** 2).sum(axis=2), axis=1)
            if np.array_equal(before, labels):
                break
        self.labels_ = labels
        return self


# -- DEC's updating rules ---------------------------------------------------------------------------------------


@dataclass
class _Restarting(_Discriminative):
    """The rules of equations 24 and 26 as they may be meant: ten runs of k-means from random rows in every step."""

    def step(self, start: Clusters, previous: State | None) -> State:
        if self.reading != "restarts" or self.update_rule == "fixed":
            return super().step(start, previous)
        clusters = start if previous is None else previous.clusters
        projection = self.project(clusters, None if previous is None else previous.projection)
        Y, centers = self.coordinates.seen_together(projection), clusters.centers(projection)
        found = KMeans(len(centers), init="random", n_init=self.n_restarts, random_state=self.rng).fit(Y)
        if self.update_rule == "comparison" and found.inertia_ >= np.sum((Y - centers[clusters.labels]) ** 2):
            return self._nearest(projection, centers)
        return self._state(clusters, found.labels_.astype(np.int32), projection)


@dataclass(eq=False, repr=False)
class RuledDEC(DiscriminativeEmbeddedClustering):
    """DEC from one start for every rule, the best of ten k-means in PCA's subspace, with the rules as they are read.

    One more ``reading`` than the library has: "restarts".
    """

    _limits: ClassVar[Limits] = {"reading": [StrOptions({"ours", "as printed", "restarts"})]}

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _Restarting:
        return _Restarting(**vars(super()._method(coordinates, n_components, rng)))

    def _start_restarts(self) -> int:
        return _STARTS

    _start = JointClusterer._start


# -- the other papers -------------------------------------------------------------------------------------------


class RidgeFromTen(UncorrelatedRidgeClustering):
    """URR-SL and RURR-SL from the best of ten k-means on all coordinates, where the library takes a hundred."""

    def _kmeans_labels(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        return start_labels("k-means++", coordinates, self.n_clusters, n_components, rng, _STARTS, coordinates.weights)


class ECFromTen(RobustEmbeddedClustering):
    """EC and OLSDA from the best of ten plain k-means, where the library also tries one that far rows count less in."""

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        if self.init == "random":
            return super()._start(index, coordinates, n_components, rng)
        return JointClusterer._start(self, index, coordinates, n_components, rng)


class RMKMCFromTen(RobustKMeans):
    """The same for robust k-means."""

    _start = JointClusterer._start


class RSFKMFromTen(RobustSparseFuzzyKMeans):
    """The same for robust sparse fuzzy k-means."""

    def _kmeans_labels(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        kind, weights = self._start_kind, coordinates.weights
        return start_labels(kind, coordinates, self.n_clusters, n_components, rng, _STARTS, weights)
