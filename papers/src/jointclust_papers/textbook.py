"""The methods as the papers print them, where the library differs: for comparisons, not for use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
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
from jointclust.subspace.decomposition import decompose
from jointclust.subspace.starts import start_labels
from jointclust.types import Labels

# As in every item: see lab, which is no part of what a fit depends on.
_STARTS, _LEADING = 10, 0.9


@dataclass(eq=False, repr=False)
class TextbookDEC(ClusterMixin, BaseEstimator):
    """DEC as printed: PCA and k-means, then form S_w, full eigendecomposition, nearest centroid, until labels rest.

    Random labellings, which the rule 'comparison' draws, never win against the old centroids, and are not drawn. With
    ``lda`` the directions are those of LDA and the labels those of k-means, as in LDAKM. Without iterations, or with a
    trade-off of 0, it is PCAKM.
    """

    n_clusters: int = 8
    n_components: int = 2
    trade_off: float = 1.5
    lda: bool = False
    max_iter: int = 100
    n_init: int = _STARTS
    random_state: int | None = None

    def fit(self, X: NDArray, y: object = None) -> Self:
        X = X - X.mean(axis=0)
        total, rng = X.T @ X, np.random.RandomState(self.random_state)
        Q = _leading_vectors(total, self.n_components)
        labels = self._kmeans(X @ Q, rng)
        self.n_iter_ = 0
        for self.n_iter_ in range(1, 1 + (0 if self.trade_off == 0 else self.max_iter)):  # noqa: B020
            # An emptied cluster starts again from the first row.
            means = np.array(
                [X[labels == k].mean(axis=0) if np.any(labels == k) else X[0] for k in range(self.n_clusters)]
            )
            residual = X - means[labels]
            Q = self._directions(total, residual.T @ residual)
            before = labels
            labels = self._kmeans(X @ Q, rng) if self.lda else _nearest(X @ Q, means @ Q)
            if np.array_equal(before, labels):
                break
        self.labels_, self.components_ = labels, Q.T
        return self

    def _directions(self, total: NDArray, within: NDArray) -> NDArray:
        if self.lda:
            ridge = 1e-6 * np.trace(total) / len(total) * np.eye(len(total))
            return scipy.linalg.eigh(total - within, within + ridge)[1][:, ::-1][:, : self.n_components]
        if np.isinf(self.trade_off):
            return _leading_vectors(-within, self.n_components)
        return _leading_vectors(total - self.trade_off * within, self.n_components)

    def _kmeans(self, Y: NDArray, rng: np.random.RandomState) -> NDArray:
        return KMeans(self.n_clusters, n_init=self.n_init, random_state=rng).fit(Y).labels_


def _leading_vectors(matrix: NDArray, n: int) -> NDArray:
    return scipy.linalg.eigh(matrix)[1][:, ::-1][:, :n]


def _nearest(Y: NDArray, centers: NDArray) -> NDArray:
    return np.argmin(((Y[:, None] - centers) ** 2).sum(axis=2), axis=1)


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
        fitted = KMeans(len(centers), init="random", n_init=self.n_restarts, random_state=self.rng).fit(Y)
        if self.update_rule == "comparison" and fitted.inertia_ >= np.sum((Y - centers[clusters.labels]) ** 2):
            return self._nearest(projection, centers)
        return self._state(clusters, fitted.labels_.astype(np.int32), projection)


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


# -- outliers ---------------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Spoiled(ClusterMixin, BaseEstimator):
    """A clusterer on rows of which a share is spoiled, in the directions with 90% of the variance that is then there.

    "shuffled" adds images with their pixels in random order and "noise" images of uniform noise, which lie farther
    away; labels are of the rows that were given. "covered" puts noise on a quarter of an image, "mislabelled" starts
    from k-means with rows in wrong clusters.
    """

    estimator: Any = None
    n_clusters: int = 8
    kind: str = "clean"
    share: float = 0.1
    width: float = 0.95
    random_state: int | None = None

    def fit(self, X: NDArray, y: object = None) -> Self:
        rng = np.random.RandomState(self.random_state)
        rows, spoiled = self._spoil(np.asarray(X, dtype=float), rng)
        kept = decompose(rows).keep(_LEADING)
        Y = np.asarray(kept.leading(kept.rank))
        model = clone(self.estimator).set_params(n_clusters=self.n_clusters, random_state=self.random_state)
        if "n_components" in model.get_params():
            model.set_params(n_components=max(round(self.width * Y.shape[1]), 1))
        if self.kind == "mislabelled":
            model.set_params(**self._start(model, Y, spoiled, rng))
        model.fit(Y)
        self.labels_ = np.asarray(model.labels_)[: len(X)]
        weights = getattr(model, "sample_weights_", None)
        if weights is not None and spoiled.any():
            self.weight_ratio_ = float(weights[spoiled].mean() / weights[~spoiled].mean())
        return self

    def _spoil(self, X: NDArray, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
        """The rows, and which of them are spoiled."""
        n, n_features = X.shape
        m, low, high = round(self.share * n), X.min(), X.max()
        spoiled = np.zeros(n, dtype=bool)
        if self.kind in ("shuffled", "noise"):
            added = rng.uniform(low, high, (m, n_features))
            if self.kind == "shuffled":
                added = np.array([rng.permutation(row) for row in X[rng.permutation(n)[:m]]])
            return np.r_[X, added], np.r_[spoiled, np.ones(m, dtype=bool)]
        if self.kind == "clean":
            return X, spoiled
        spoiled[rng.permutation(n)[:m]] = True
        if self.kind == "covered":
            side = int(np.sqrt(n_features))
            images = X[:, : side * side].reshape(n, side, side).copy()
            half = side // 2
            for i in np.flatnonzero(spoiled):
                a, b = rng.randint(side - half + 1, size=2)
                images[i, a : a + half, b : b + half] = rng.uniform(low, high, (half, half))
            X = np.c_[images.reshape(n, -1), X[:, side * side :]]
        return X, spoiled

    def _start(self, model: Any, Y: NDArray, spoiled: NDArray, rng: np.random.RandomState) -> dict[str, Any]:
        labels = KMeans(self.n_clusters, n_init=_STARTS, random_state=rng).fit(Y).labels_
        labels[spoiled] = rng.randint(self.n_clusters, size=int(spoiled.sum()))
        if isinstance(model, KMeans):
            centers = [Y[labels == k].mean(axis=0) if np.any(labels == k) else Y[0] for k in range(self.n_clusters)]
            return {"init": np.array(centers), "n_init": 1}
        return {"init": labels}
