"""The estimators that find the embedding first, by one decomposition, and the clusters in it by k-means."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from jointclust._sklearn import CallbackContext, StrOptions
from jointclust.estimators import tasks
from jointclust.estimators.base import RESTARTS, Clusterer, Limits, warn_if_fewer
from jointclust.estimators.known import KnownRows, labels_to_start_from
from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.kmeans import kmeans, lloyd
from jointclust.numerics.linalg import fix_signs
from jointclust.numerics.partitions import Partition, assign, centers_of, keep
from jointclust.rows import Rows, as_rows
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.directions import MOST_COMPONENTS
from jointclust.types import Float


def n_wanted(n_components: int | None, n_clusters: int) -> int:
    """The number of components wanted, if the data allow it."""
    return max(min(n_clusters - 1, MOST_COMPONENTS), 1) if n_components is None else n_components


@dataclass(frozen=True, eq=False)
class LinearMap:
    """``(X - mean) components'``, as an estimator publishes it: the fields are named after its attributes."""

    mean_: NDArray
    components_: NDArray
    exact_: bool

    @classmethod
    def from_coordinates(cls, coordinates: Coordinates, projection: Float) -> Self:
        """The map that a projection of coordinates is to the rows."""
        dtype = coordinates.rows.dtype
        components = np.ascontiguousarray(fix_signs(coordinates.loadings(projection)).T.astype(dtype))
        return cls(coordinates.mean.astype(dtype), components, coordinates.exact)

    def fitted_values(self, rows: Rows) -> NDArray:
        return rows.project(self.components_.T, self.mean_)


@dataclass(frozen=True, eq=False)
class Embedded:
    """Rows in the embedding that a fit found for them, and reasons to distrust clusters in it."""

    Y: NDArray
    weights: Float | None
    is_constant: bool
    doubt: str | None = None  # why clusters in it may be chance
    notes: tuple[Warning, ...] = ()  # further warnings
    swept: Rows | None = None  # the rows, where passes over them count
    iterated: bool = False  # whether the estimator has published a history of steps


@dataclass(eq=False, repr=False, kw_only=True)
class EmbeddingClusterer(Clusterer):
    """Base of the estimators that end with k-means in an embedding. A subclass supplies :meth:`_fit_embedding`."""

    n_components: int | None = None
    _orthonormal = False
    _limits: ClassVar[Limits] = {"init": [StrOptions({"k-means++"}), "array-like"]}

    @property
    def _n_wanted(self) -> int:
        return n_wanted(self.n_components, self.n_clusters)

    @abstractmethod
    def _fit_embedding(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: RandomState, task: CallbackContext
    ) -> Embedded:
        """Publish all that ``transform`` needs; return the embedding of the rows. Iterations belong to the task."""

    def _publish_objective(self, embedded: Embedded) -> None:
        """Publish ``objective_``, if it depends on the labels; that of an embedding found in steps is there already."""

    def _fit(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, facts: KnownRows, rng: np.random.RandomState
    ) -> tuple[CallbackContext, Rows | None]:
        n_tasks = 1 + (self.n_init if isinstance(self.init, str) else 1)
        context = tasks.begin(self, n_tasks)
        task = context.subcontext("embedding", task_id=n_tasks - 1, max_subtasks=None)
        task.call_on_fit_task_begin(estimator=self)
        embedded = self._fit_embedding(X, sample_weight, rng, task)
        task.call_on_fit_task_end(estimator=self)
        Y, weights = embedded.Y, embedded.weights
        known, groups = facts(as_rows(Y), weights)
        Y = Y if groups is None else groups.averaged(Y)
        given, n_init = labels_to_start_from(self.init, self.n_init, Y.shape[0], self.n_clusters)

        def run(index: int, generator: np.random.RandomState, _: CallbackContext) -> Partition:
            if given is not None:
                labels = given if isinstance(Y, np.ndarray) else as_rows(Y).beside(given)
                centers = centers_of(Y, keep(labels, known), self.n_clusters, weights)
                return lloyd(Y, centers, weights, known=known)
            return kmeans(Y, self.n_clusters, generator, weights, known=known, n_restarts=RESTARTS)

        runs = tasks.make_runs(self, run, n_init, rng, Y.shape[1], context)
        best = min(runs, key=lambda partition: partition.inertia)
        self._publish_clusters(Y, best, weights, partial(assign, known=known))
        self._publish_objective(embedded)
        if not embedded.iterated:
            self.objective_history_, self.n_iter_, self.converged_ = np.array([self.objective_]), 1, True
        self._warn(embedded)
        self._move_published(as_rows(Y))
        return context, embedded.swept

    def _warn(self, embedded: Embedded) -> None:
        """Warn of every reason to distrust the result."""
        if embedded.doubt is not None:
            tell(embedded.doubt, CollapseWarning)
        else:
            warn_if_fewer(self, embedded.is_constant)
        for note in embedded.notes:
            tell(str(note), type(note))
