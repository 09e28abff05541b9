"""What the papers print, where the library does otherwise; to measure against, not to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

from jointclust._sklearn import StrOptions
from jointclust.estimators.base import Limits
from jointclust.estimators.joint import JointClusterer
from jointclust.methods.discriminant_kmeans import DisCluster
from jointclust.methods.discriminative import Discriminant, DiscriminativeEmbeddedClustering, _Discriminative
from jointclust.methods.ridge import UncorrelatedRidgeClustering, soft_labels
from jointclust.methods.robust import RobustEmbeddedClustering
from jointclust.methods.robust_kmeans import RobustKMeans
from jointclust.methods.scoring import OptimalDiscriminantClustering
from jointclust.methods.sparse_fuzzy import RobustSparseFuzzyKMeans
from jointclust.subspace.alternating import State
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.decomposition import decompose
from jointclust.subspace.starts import start_labels
from jointclust.types import Float, Labels

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
class _Printed(_Discriminative):
    """The rules of equations 24 and 26: ten draws in every step, judged with the old centroids or run to rest."""

    reading: str = "ours"

    def step(self, start: Clusters, previous: State | None) -> State:
        if self.reading == "ours" or self.update_rule == "fixed":
            return super().step(start, previous)
        clusters = start if previous is None else previous.clusters
        projection = self.project(clusters, None if previous is None else previous.projection)
        Y, centers = self.coordinates.seen_together(projection), clusters.centers(projection)
        labels, loss = self._draw(Y, centers)
        if self.update_rule == "comparison" and loss >= np.sum((Y - centers[clusters.labels]) ** 2):
            return self._nearest(projection, centers)
        return self._state(clusters, labels, projection)

    def _draw(self, Y: NDArray, centers: NDArray) -> tuple[Labels, float]:
        """The best of ten random labellings for the old centroids, or of ten runs of k-means from random rows."""
        if self.reading == "restarts":
            found = KMeans(len(centers), init="random", n_init=self.n_restarts, random_state=self.rng).fit(Y)
            return found.labels_.astype(np.int32), float(found.inertia_)
        draws = self.rng.randint(len(centers), size=(self.n_restarts, len(Y))).astype(np.int32)
        losses = [float(np.sum((Y - centers[labels]) ** 2)) for labels in draws]
        return draws[int(np.argmin(losses))], min(losses)


@dataclass(eq=False, repr=False)
class RuledDEC(DiscriminativeEmbeddedClustering):
    """DEC from one start for every rule, the best of ten k-means in PCA's subspace, with the rules as they are read.

    By ``reading``, "comparison" and "minimization" draw as the library does ("ours"); random labellings for the old
    centroids, in every step, as equations 24 and 26 are printed ("letter"); or k-means from random rows, in every step,
    as they may be meant ("restarts").
    """

    _limits: ClassVar[Limits] = {"reading": [StrOptions({"ours", "letter", "restarts"})]}

    reading: str = "ours"

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _Printed:
        return _Printed(**vars(super()._method(coordinates, n_components, rng)), reading=self.reading)

    def _start_restarts(self) -> int:
        return _STARTS

    _start = JointClusterer._start


# -- the other papers -------------------------------------------------------------------------------------------


@dataclass
class _TotalDiscriminant(Discriminant):
    """Discriminant directions with ``Q'(S_t + ridge I)Q = I``."""

    def project(self, clusters: Clusters) -> Float:
        found = super().project(clusters)
        total = self.coordinates.eigenvalues + self.ridge
        return found / np.sqrt(np.sum(found**2 * total[:, None], axis=0))


class TotalDisCluster(DisCluster):
    """DisCluster normalised by the total scatter, as before ODC's equation 3: the same subspace on another scale."""

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _TotalDiscriminant:
        return _TotalDiscriminant(**vars(super()._method(coordinates, n_components, rng)))


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


@dataclass(eq=False, repr=False)
class OrthogonalRidge(ClusterMixin, BaseEstimator):
    """RURR-SL with ``Z'Z = I`` in place of the uncorrelated constraint, by generalised power iteration (its ref. 31).

    The ridge is then a constant and vanishes. Runs until the hard labels rest.
    """

    n_clusters: int = 8
    max_iter: int = 100
    random_state: int | None = None

    def fit(self, X: NDArray | Coordinates, y: object = None) -> Self:
        here = decompose(X)
        rows = np.asarray(here.leading(here.rank), dtype=np.float64)
        labels = KMeans(self.n_clusters, n_init=_STARTS, random_state=self.random_state).fit(rows).labels_
        soft, Z = np.eye(self.n_clusters)[labels], np.eye(here.rank, self.n_clusters)
        history: list[float] = []
        for _ in range(self.max_iter):
            centred = soft - soft.mean(axis=0)
            products = rows.T @ centred
            Z = power_iteration(here.eigenvalues, max(np.sum(Z * products), 1e-12) / np.sum(centred**2) * products, Z)
            scale = max(float(np.sum(Z * products)), 1e-12) / float(np.sum(centred**2))
            V = rows @ Z + scale * soft.mean(axis=0)
            soft = np.asarray(soft_labels(V, scale))
            history.append(float(np.sum((V - scale * soft) ** 2)))
            before, labels = labels, np.argmax(soft, axis=1)
            if np.array_equal(before, labels) and len(history) > 1:
                break
        self.labels_, self.components_ = labels, here.loadings(Z).T
        self.objective_history_, self.n_iter_ = np.array(history), len(history)
        return self


def power_iteration(diagonal: Float, linear: Float, start: Float, n_steps: int = 50) -> Float:
    """``min tr(Z'DZ) - 2 tr(Z'B)`` over ``Z'Z = I``: the polar factor of ``(eta I - D)Z + B``, again and again."""
    shifted = diagonal.max() - diagonal
    Z = start
    for _ in range(n_steps):
        left, _, right = np.linalg.svd(shifted[:, None] * Z + linear, full_matrices=False)
        before, Z = Z, left @ right
        if np.abs(Z - before).max() < 1e-8:
            break
    return Z


@dataclass(eq=False, repr=False)
class AnchoredODC(ClusterMixin, BaseEstimator):
    """Kernel ODC on a few landmarks (Nystroem): rows drawn at random, or anchors, the centers of a k-means."""

    n_clusters: int = 8
    anchors: str = "rows"
    n_landmarks: int = 100
    random_state: int | None = None

    def fit(self, X: NDArray, y: object = None) -> Self:
        m = min(self.n_landmarks, len(X))
        if self.anchors == "k-means":
            landmarks = KMeans(m, n_init=1, max_iter=20, random_state=self.random_state).fit(X).cluster_centers_
        else:
            landmarks = X[np.random.RandomState(self.random_state).permutation(len(X))[:m]]
        gamma = 1.0 / float(np.sum(X.var(axis=0)))
        values, vectors = np.linalg.eigh(rbf_kernel(landmarks, gamma=gamma))
        kept = values > 1e-10 * values[-1]
        features = rbf_kernel(X, landmarks, gamma=gamma) @ (vectors[:, kept] / np.sqrt(values[kept]))
        model = OptimalDiscriminantClustering(self.n_clusters, random_state=self.random_state).fit(features)
        self.labels_ = model.labels_
        return self
