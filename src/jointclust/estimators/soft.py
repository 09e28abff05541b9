"""Base of the estimators with soft labels: it makes the runs, publishes the best and warns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import ClassifierTags, Tags

from jointclust._sklearn import StrOptions
from jointclust.estimators.base import Limits
from jointclust.estimators.joint import AlternatingClusterer
from jointclust.estimators.known import n_known
from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.groups import Groups
from jointclust.numerics.partitions import assign, centers_of, cluster_order, cluster_sizes
from jointclust.rows import Projected, Rows, Swept, blocks, is_lazy, sweep
from jointclust.rows.arrays import is_device_array, namespace, to_host
from jointclust.subspace.alternating import Ending, Run
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Array, Float, Labels, Sweepable


class SoftRule(Protocol):
    """How rows in an embedding get soft labels, for the parameters that a step or a fit found."""

    def evidence(self, y: Array) -> Array:
        """One number for each row and cluster, from which its soft labels follow; rows of a group share the mean."""

    def soft(self, evidence: Array) -> Array:
        """The soft labels."""

    def losses(self, evidence: Array, soft: Array) -> Array:
        """What each row adds to the objective, with its soft labels."""


class SoftClusterer(AlternatingClusterer):
    """Base of the estimators whose labels are probabilities.

    A subclass also supplies ``_reorder``, which renumbers the clusters in what was published, and ``_collapse_remedy``,
    advice about clusters without rows.
    """

    _per_row = (*AlternatingClusterer._per_row, "soft_labels_")
    _limits: ClassVar[Limits] = {"init": [StrOptions({"k-means++", "random"}), "array-like"]}

    @property
    @abstractmethod
    def _rule(self) -> SoftRule:
        """Soft labels by what was published."""

    @abstractmethod
    def _kmeans_labels(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """Labels of k-means to start from."""

    @abstractmethod
    def _publish_parameters(self, coordinates: Coordinates, method: Any, run: Run) -> None:
        """Publish all that ``transform`` and ``predict_proba`` need."""

    def _objective(self, Y: Sweepable, soft: Array, weights: Array | None) -> float:
        """The paper's objective of rows in the embedding with their soft labels."""
        rule = self._rule

        def total(y: Array, block: Array, w: Array | None) -> Swept:
            losses = rule.losses(rule.evidence(y), block)
            return Swept(sums=[namespace(y).sum(losses if w is None else losses * w)])

        width = max(Y.shape[1], self.n_clusters)
        return float(sweep(total, Y, soft, weights, width=width).sums[0])

    # -- fit ----------------------------------------------------------------------------------------------------

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> NDArray:
        if self.init == "random" and coordinates.known is None:
            soft = rng.uniform(size=(coordinates.n_samples, self.n_clusters))
            return coordinates.rows.beside(soft / soft.sum(axis=1, keepdims=True))
        return self._kmeans_labels(coordinates, n_components, rng)

    def _start_from_sample(
        self, index: int, coordinates: Coordinates, some: Coordinates, n_components: int, rng: np.random.RandomState
    ) -> Labels:
        """The nearest centers of the start's clusters."""
        start = self._start(index, some, n_components, rng)
        labels = start if start.ndim == 1 else start.argmax(axis=1).astype(np.int32)
        rows = some.rows.project(coordinates.basis, coordinates.mean)
        centers = centers_of(rows, labels, self.n_clusters, some.weights)
        return assign(coordinates.leading(coordinates.rank), centers, coordinates.known)

    def _given_start(self, n_samples: int) -> tuple[NDArray | None, int]:
        init = to_host(self.init) if is_device_array(self.init) else self.init
        if np.ndim(init) == 2:
            soft = np.array(init, dtype=np.float64)
        else:
            labels, n_init = super()._given_start(n_samples)
            if labels is None:
                return None, n_init
            soft = np.eye(self.n_clusters)[labels]
        if soft.shape != (n_samples, self.n_clusters):
            raise ValueError(
                f"init as soft labels must have shape ({n_samples}, {self.n_clusters}), rows by clusters; got "
                f"{soft.shape}."
            )
        if not np.isfinite(soft).all() or soft.min() < 0 or np.abs(soft.sum(axis=1) - 1).max() > 1e-6:
            raise ValueError("init as soft labels must hold numbers from 0 to 1 that sum to 1 in each row.")
        distinct = np.linalg.matrix_rank(soft - soft.mean(axis=0), tol=1e-6) + 1
        if distinct < self.n_clusters:
            tell(
                f"init separates only {distinct} of n_clusters={self.n_clusters} clusters, the others by chance: "
                "give each cluster rows of its own.",
                RuntimeWarning,
            )
        if self.n_init > 1 and np.ndim(init) == 2:
            tell(f"init gives the soft labels, so one run is made instead of n_init={self.n_init}.", RuntimeWarning)
        return soft, 1

    def _publish(self, coordinates: Coordinates, method: Any, run: Run) -> Sweepable:
        """One last label step, with predict's own code, so that soft labels, labels and objective agree."""
        self.mean_ = coordinates.mean.astype(coordinates.rows.dtype)
        self._publish_parameters(coordinates, method, run)
        Y, weights = self._embedded(coordinates.rows), coordinates.weights
        known, groups = coordinates.known, coordinates.groups
        if isinstance(self.init, str):  # labels that were given keep their numbers
            (labels,) = self._labels_of(Y, known, groups, soft=False)
            sizes = cluster_sizes(labels, self.n_clusters, weights)
            self._reorder(cluster_order(sizes, centers_of(Y, labels, self.n_clusters, weights), n_known(self)))
            Y = self._embedded(coordinates.rows)
        self.soft_labels_, self.labels_ = soft, _ = self._labels_of(Y, known, groups)
        self.objective_ = self._objective(Y, soft, weights)
        # Objectives after the published state belong to steps that were undone.
        self.objective_history_ = np.array([*run.history[: run.best], self.objective_])
        self.n_iter_, self.converged_ = self.objective_history_.size, run.ending is Ending.CONVERGED
        return Y

    def _warn(self, coordinates: Coordinates, method: Any, run: Run) -> None:
        sizes = cluster_sizes(self.labels_, self.n_clusters, coordinates.weights)
        empty = int(np.sum(sizes == 0))
        if coordinates.is_constant:
            tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
        elif empty:
            tell(
                f"{empty} of {self.n_clusters} clusters are the most likely one for no row. {self._collapse_remedy()}",
                CollapseWarning,
            )

    # -- use ----------------------------------------------------------------------------------------------------

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Soft labels of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_clusters)
            Not negative, each row summing to 1; equal to ``soft_labels_`` for the training rows.
        """
        if is_lazy(X):
            return self._lazily("predict_proba", X, (self.n_clusters,), np.float64)
        return self._labels_of(self._embedded(self._check(X, "predict_proba")))[0]

    def _embedded(self, rows: Rows) -> Sweepable:
        """Rows in the embedding; on a device computed when it is swept, for with many clusters it outgrows them."""
        if rows.device is None:
            return self._embed(rows)
        return Projected(rows, None if self._in_full_space else self.components_.T, self.mean_)

    def _labels_of(
        self, Y: Sweepable, known: Array | None = None, groups: Groups | None = None, *, soft: bool = True
    ) -> Sequence[Any]:
        """Hard labels of rows in the embedding, after the soft ones where these are wanted."""
        # The nearest points of a simplex are found by way of several arrays of their size.
        rule, width, shared = self._rule, max(Y.shape[1], 8 * self.n_clusters), None
        if groups is not None:
            shared = groups.averaged(sweep(lambda y: Swept(rows=[rule.evidence(y)]), Y, width=width).rows[0])

        def visit(y: Array, own: Array | None, evidence: Array | None) -> Swept:
            soft_labels = blocks.kept_soft(rule.soft(rule.evidence(y) if evidence is None else evidence), own)
            labels = namespace(y).astype(namespace(y).argmax(soft_labels, axis=1), namespace(y).int32)
            return Swept(rows=[soft_labels, labels] if soft else [labels])

        return sweep(visit, Y, known, shared, width=width).rows

    def _predict(self, rows: Rows) -> Labels:
        return self._labels_of(self._embedded(rows), soft=False)[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks ask for it of everything that has predict_proba, and then expect two columns or four.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_clusters > 2)
        return tags

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        return -self._objective(Y, self._labels_of(Y)[0], weights)
