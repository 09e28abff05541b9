"""The estimators with soft labels: runs, probabilities, and what every one of them publishes and warns of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags, Tags

from jointclust._sklearn import CallbackContext, StrOptions
from jointclust.estimators import tasks
from jointclust.estimators.base import Clusterer
from jointclust.estimators.known import KnownRows, labels_to_start_from, n_known
from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.groups import Groups
from jointclust.numerics.partitions import assign, centers_of, cluster_order, cluster_sizes, keep
from jointclust.rows import Projected, Rows, Swept, blocks, is_lazy, sweep
from jointclust.rows.arrays import is_device_array, namespace, to_host
from jointclust.subspace.alternating import Ending, Run, alternate, best_of
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import to_start_from
from jointclust.types import Array, Float, Labels, Sweepable


@dataclass(frozen=True, eq=False)
class SoftState:
    """Where a run stands: the objective, and whatever sums the next step is made of; no soft labels are kept."""

    objective: float


class SoftMethod(ABC):
    """What a soft method supplies to the loop."""

    @abstractmethod
    def step(self, start: Any, previous: Any) -> SoftState:
        """Parameters from the sums of the previous pass, then one pass with them.

        At first there was none: ``start`` holds labels, or soft labels.
        """

    def rests(self, start: Any, previous: Any, state: Any) -> bool:
        """Never by its labels: soft ones move on when hard ones stand."""
        return False

    def merit(self, state: SoftState) -> float:
        """What to compare the states of a run by, greater is better."""
        return -state.objective

    def preference(self, state: SoftState) -> float:
        """What to compare runs by, greater is better."""
        return self.merit(state)


class SoftClusterer(Clusterer):
    """Base of the estimators whose labels are probabilities."""

    _per_row = (*Clusterer._per_row, "soft_labels_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Clusterer._parameter_constraints,
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
    }

    @abstractmethod
    def _prepare(
        self, coordinates: Coordinates, n_components: int, given: NDArray | None, rng: np.random.RandomState
    ) -> None:
        """Check and publish the parameters that all runs share."""

    @abstractmethod
    def _method(self, coordinates: Coordinates, n_components: int) -> SoftMethod:
        """The step to alternate."""

    @abstractmethod
    def _start(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> NDArray:
        """Labels, or soft labels, to start from."""

    @abstractmethod
    def _publish_parameters(self, coordinates: Coordinates, method: Any, run: Run) -> None:
        """Publish all that ``transform`` and ``predict_proba`` need."""

    @abstractmethod
    def _evidence(self, y: Array) -> Array:
        """What the soft labels of a block of rows in the embedding follow from: a number for each cluster."""

    @abstractmethod
    def _soft(self, evidence: Array) -> Array:
        """Soft labels of rows, for what tells of them, or of groups, for the mean of it."""

    @abstractmethod
    def _reorder(self, order: NDArray[np.intp]) -> None:
        """Renumber the clusters in what was published."""

    @abstractmethod
    def _losses(self, y: Array, soft: Array) -> Array:
        """What each row of a block in the embedding adds to the objective, with its soft labels."""

    def _constant(self) -> float:
        """What the parameters add to the objective."""
        return 0.0

    def _objective(self, Y: Sweepable, soft: Array, weights: Array | None) -> float:
        """The paper's objective of rows in the embedding with their soft labels."""
        bare = self._bare()

        def total(y: Array, block: Array, w: Array | None) -> Swept:
            losses = bare._losses(y, block)
            return Swept(sums=[namespace(y).sum(losses if w is None else losses * w)])

        width = max(Y.shape[1], self.n_clusters)
        return float(sweep(total, Y, soft, weights, width=width).sums[0]) + self._constant()

    @abstractmethod
    def _collapse_remedy(self) -> str:
        """What to do about clusters without rows."""

    # -- fit ----------------------------------------------------------------------------------------------------

    def _fit(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, facts: KnownRows, rng: np.random.RandomState
    ) -> tuple[CallbackContext, Rows]:
        coordinates = self._coordinates(X, sample_weight, rng)
        known, groups = facts(coordinates.rows, coordinates.weights)
        coordinates = replace(coordinates, known=known, groups=groups)
        n_components = self._n_components(coordinates)
        given, n_init = self._given_soft_labels(coordinates.n_samples)
        if given is not None:
            given = keep(coordinates.rows.beside(given), known)
        self._prepare(coordinates, n_components, given, rng)

        def run(index: int, generator: np.random.RandomState, task: CallbackContext) -> tuple[SoftMethod, Run]:
            method = self._method(coordinates, n_components)
            start = self._started(coordinates, n_components, generator) if given is None else given
            stop = tasks.iteration_reporter(self, task)
            return method, alternate(method, start, max_iter=self._most_iterations, tol=self.tol, stop=stop)

        context = tasks.begin(self, n_init)
        runs = tasks.make_runs(self, run, n_init, rng, coordinates.rank, context, self.max_iter)
        method, best = best_of(runs, lambda pair: pair[0].preference(pair[1].state))
        self.mean_ = coordinates.mean.astype(coordinates.rows.dtype)
        self._publish_parameters(coordinates, method, best)
        self._publish_soft_labels(coordinates, best, keep_order=given is not None)
        self._warn(coordinates, best)
        self._move_published(coordinates.rows)
        return context, coordinates.rows

    def _started(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Any:
        """A start; where it looks at a sample of the rows, its centers label the others."""
        some = to_start_from(coordinates, self.n_clusters, rng)
        if some is coordinates:
            return self._start(coordinates, n_components, rng)
        start = self._start(some, min(n_components, some.rank), rng)
        labels = start if start.ndim == 1 else start.argmax(axis=1).astype(np.int32)
        rows = some.rows.project(coordinates.basis, coordinates.mean)
        centers = centers_of(rows, labels, self.n_clusters, some.weights)
        return assign(coordinates.leading(coordinates.rank), centers, coordinates.known)

    @property
    def _most_iterations(self) -> int:
        return self.max_iter

    def _given_soft_labels(self, n_samples: int) -> tuple[NDArray | None, int]:
        """Soft labels to start from, if init holds labels or soft labels, and how many runs to make."""
        if isinstance(self.init, str):
            return None, self.n_init
        init = to_host(self.init) if is_device_array(self.init) else self.init
        if np.ndim(init) == 2:
            soft = np.array(init, dtype=np.float64)
        else:
            labels, _ = labels_to_start_from(self.init, self.n_init, n_samples, self.n_clusters)
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
                f"init tells only {distinct} of n_clusters={self.n_clusters} clusters apart, and chance the others: "
                "give each cluster rows of its own.",
                RuntimeWarning,
            )
        if self.n_init > 1 and np.ndim(init) == 2:
            tell(f"init gives the soft labels, so one run is made instead of n_init={self.n_init}.", RuntimeWarning)
        return soft, 1

    def _publish_soft_labels(self, coordinates: Coordinates, run: Run, *, keep_order: bool) -> None:
        """One last label step, with predict's own code, so that soft labels, labels and objective agree."""
        Y, weights = self._embedded(coordinates.rows), coordinates.weights
        known, groups = coordinates.known, coordinates.groups
        if not keep_order:
            (labels,) = self._labels_of(Y, known, groups, soft=False)
            sizes = cluster_sizes(labels, self.n_clusters, weights)
            self._reorder(cluster_order(sizes, centers_of(Y, labels, self.n_clusters, weights), n_known(self)))
            Y = self._embedded(coordinates.rows)
        self.soft_labels_, self.labels_ = soft, _ = self._labels_of(Y, known, groups)
        self.objective_ = self._objective(Y, soft, weights)
        # What a run tried after the state that is published does not belong to it.
        self.objective_history_ = np.array([*run.history[: run.best], self.objective_])
        self.n_iter_ = self.objective_history_.size
        self.converged_ = run.ending is Ending.CONVERGED

    def _warn(self, coordinates: Coordinates, run: Run) -> None:
        """Say everything that should keep a user from trusting the result."""
        sizes = cluster_sizes(self.labels_, self.n_clusters, coordinates.weights)
        empty = int(np.sum(sizes == 0))
        if coordinates.is_constant:
            tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
        elif empty:
            tell(
                f"{empty} of {self.n_clusters} clusters are the most likely one for no row. {self._collapse_remedy()}",
                CollapseWarning,
            )
        if run.ending is Ending.MAX_ITER and self.max_iter is None:
            tell(f"The labels were still improving after {self._most_iterations} iterations.", ConvergenceWarning)
        elif run.ending is not Ending.CONVERGED:
            tell(run.ending.value.format(max_iter=self.max_iter), ConvergenceWarning)

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
        bare, width, shared = self._bare(), max(Y.shape[1], 8 * self.n_clusters), None
        if groups is not None:
            shared = groups.averaged(sweep(lambda y: Swept(rows=[bare._evidence(y)]), Y, width=width).rows[0])

        def visit(y: Array, own: Array | None, evidence: Array | None) -> Swept:
            found = bare._label_block(y, own, evidence)
            return Swept(rows=found if soft else found[1:])

        return sweep(visit, Y, known, shared, width=width).rows

    def _label_block(self, y: Array, known: Array | None, shared: Array | None) -> list[Array]:
        soft = self._soft(self._evidence(y) if shared is None else shared)
        soft, xp = blocks.kept_soft(soft, known), namespace(y)
        return [soft, xp.astype(xp.argmax(soft, axis=1), xp.int32)]

    def predict(self, X: ArrayLike) -> Labels:
        """The most likely cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        """
        if is_lazy(X):
            return self._lazily("predict", X, (), np.int32)
        return self._labels_of(self._embedded(self._check(X, "predict")), soft=False)[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks ask for it of everything that has predict_proba, and then expect two columns or four.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_clusters > 2)
        return tags

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        return -self._objective(Y, self._labels_of(Y)[0], weights)
