"""The estimators that find the embedding first, by one decomposition, and the clusters in it by k-means."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from jointclust._sklearn import CallbackContext, StrOptions, fit_context
from jointclust.estimators.base import RESTARTS, Clusterer
from jointclust.numerics.kmeans import kmeans, lloyd
from jointclust.numerics.linalg import fix_signs
from jointclust.numerics.partitions import Partition, centers_of
from jointclust.rows import as_rows
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float


class EmbeddingClusterer(Clusterer):
    """Base of the estimators that end with k-means in an embedding. A subclass supplies :meth:`_fit_embedding`."""

    _orthonormal = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: Clusterer._parameter_constraints[name]
            for name in ("n_clusters", "n_components", "max_rank", "n_init", "random_state", "n_jobs")
        },
        "init": [StrOptions({"k-means++"}), "array-like"],
    }

    @property
    def _asked(self) -> int:
        """The number of components wanted, if the data allow it."""
        return max(self.n_clusters - 1, 1) if self.n_components is None else self.n_components

    @abstractmethod
    def _fit_embedding(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[NDArray, Float | None]:
        """Publish all that ``transform`` needs; return the embedding of the rows and their weights."""

    @abstractmethod
    def _finish(self, Y: NDArray, weights: Float | None) -> None:
        """Publish what depends on the labels, and say what should keep a user from trusting them."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike | Coordinates, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the embedding, and the clusters in it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
            The data, or its coordinates from :func:`jointclust.decompose`, which many fits can share.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weight 2 is the row twice, weight 0 an absent row (it still gets a label). Coordinates carry their own.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rng = check_random_state(self.random_state)
        Y, weights = self._fit_embedding(X, sample_weight, rng)
        given, n_init = self._given_labels(Y.shape[0])

        def run(index: int, generator: np.random.RandomState, _: CallbackContext) -> Partition:
            if given is not None:
                labels = given if isinstance(Y, np.ndarray) else as_rows(Y).beside(given)
                return lloyd(Y, centers_of(Y, labels, self.n_clusters, weights), weights)
            return kmeans(Y, self.n_clusters, generator, weights, n_restarts=RESTARTS)

        runs, context = self._make_runs(run, n_init, rng, Y.shape)
        self._publish_clusters(Y, min(runs, key=lambda partition: partition.inertia), weights)
        self._finish(Y, weights)
        self._move_published(as_rows(Y))
        context.call_on_fit_task_end(estimator=self)
        return self

    def _publish_projection(self, coordinates: Coordinates, projection: Float) -> NDArray:
        """A linear embedding, given in coordinates, as ``components_``; returns that of the rows."""
        rows = coordinates.rows
        self.mean_ = coordinates.mean.astype(rows.dtype)
        self.components_ = np.ascontiguousarray(fix_signs(coordinates.loadings(projection)).T.astype(rows.dtype))
        self.exact_ = coordinates.exact
        return self._embed(rows)
