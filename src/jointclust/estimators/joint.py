"""Base of the estimators that alternate: it makes the runs, publishes the best and warns."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from jointclust._sklearn import CallbackContext
from jointclust.estimators import tasks
from jointclust.estimators.base import RESTARTS, Clusterer, warn_if_fewer
from jointclust.estimators.known import KnownRows, labels_to_start_from
from jointclust.exceptions import CollapseWarning, PlainKMeansWarning, tell
from jointclust.numerics.linalg import fix_signs, nearest_orthonormal
from jointclust.numerics.partitions import assign, keep, n_changed
from jointclust.rows import Rows
from jointclust.rows.arrays import to_host
from jointclust.subspace.alternating import Ending, Method, Run, State, Steps, alternate, best_of
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.decomposition import to_start_from
from jointclust.subspace.starts import start_kind, start_labels
from jointclust.types import Labels

# A run that leaves at least this share of the labels unchanged may have kept its start.
_KEPT = 0.9
# Iterations at the most where a method decides by itself when to stop.
MOST_ITERATIONS = 100
JointRun = Run[Clusters, State]


@dataclass(eq=False, repr=False, kw_only=True)
class AlternatingClusterer(Clusterer):
    """Base of the estimators that take steps in turns, from several starts.

    A subclass supplies :meth:`_method` and :meth:`_start`; ``_start_from_sample`` does this for rows that are costly
    to read: labels of all rows from those of some. ``_publish`` publishes the best run; ``_warn`` says why not to trust
    it.
    """

    max_iter: int | None = 100
    tol: float = 1e-6

    @abstractmethod
    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Steps:
        """The steps to alternate. It runs in several threads, on a sample too: it must not write to ``self``."""

    @abstractmethod
    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> NDArray:
        """Labels, or soft labels, to start run number ``index`` from."""

    def _prepare(
        self, coordinates: Coordinates, n_components: int, given: NDArray | None, rng: np.random.RandomState
    ) -> None:
        """Check and publish the parameters that all runs share."""

    def _given_start(self, n_samples: int) -> tuple[NDArray | None, int]:
        """The labels, or soft labels, that ``init`` holds, if any, and the number of runs to make."""
        return labels_to_start_from(self.init, self.n_init, n_samples, self.n_clusters)

    def _begin(self, coordinates: Coordinates, labels: NDArray) -> NDArray | Clusters:
        """Labels, or soft labels, as the steps take them."""
        return labels

    def _fit(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, facts: KnownRows, rng: np.random.RandomState
    ) -> tuple[CallbackContext, Rows]:
        coordinates = self._coordinates(X, sample_weight, rng)
        known, groups = facts(coordinates.rows, coordinates.weights)
        coordinates = replace(coordinates, known=known, groups=groups)
        n_components = self._n_components(coordinates)
        given, n_init = self._given_start(coordinates.n_samples)
        start = None if given is None else keep(coordinates.rows.beside(given), known)
        self._prepare(coordinates, n_components, start, rng)

        def run(index: int, generator: np.random.RandomState, task: CallbackContext) -> tuple[Steps, Run]:
            labels = started(self, index, coordinates, n_components, generator) if start is None else start
            method = self._method(coordinates, n_components, generator)
            begin, stop = self._begin(coordinates, labels), tasks.iteration_reporter(self, task)
            return method, alternate(method, begin, max_iter=self.max_iter or MOST_ITERATIONS, tol=self.tol, stop=stop)

        context = tasks.begin(self, n_init)
        runs = tasks.make_runs(self, run, n_init, rng, coordinates.rank, context, self.max_iter)
        method, best = best_of(runs, lambda pair: pair[0].merit(pair[1].state, final=True))
        self._publish(coordinates, method, best)
        self._warn(coordinates, method, best)
        if best.ending is Ending.MAX_ITER and self.max_iter is None:
            tell(f"The labels were still improving after {MOST_ITERATIONS} iterations.", ConvergenceWarning)
        elif best.ending is not Ending.CONVERGED:
            tell(best.ending.value.format(max_iter=self.max_iter), ConvergenceWarning)
        self._move_published(coordinates.rows)
        return context, coordinates.rows


def started(
    estimator: AlternatingClusterer, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState
) -> NDArray:
    """The labels, or soft labels, that run number ``index`` starts from; where rows are many, from a sample."""
    some = to_start_from(coordinates, estimator.n_clusters, rng)
    if some is coordinates:
        return estimator._start(index, coordinates, n_components, rng)
    return estimator._start_from_sample(index, coordinates, some, min(n_components, some.rank), rng)


@dataclass(eq=False, repr=False, kw_only=True)
class JointClusterer(AlternatingClusterer):
    """Base of the estimators that find clusters and a subspace together."""

    n_components: int | None = None

    def _start_restarts(self) -> int:
        return RESTARTS

    def _plain_kmeans_reason(self, coordinates: Coordinates, n_components: int) -> str | None:
        """Why these parameters make the method plain k-means, if they do."""
        return None

    def _collapse_remedy(self) -> str:
        """What to do about a collapse."""
        kept = 1.0 if self.variance is None else self.variance
        advice = 0.9 if kept > 0.9 else round(0.8 * kept, 2)
        return f"Keep fewer directions (variance={advice:g}), or change n_components."

    def _begin(self, coordinates: Coordinates, labels: NDArray) -> Clusters:
        return coordinates.clusters(labels, self.n_clusters)

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        kind, n_restarts = start_kind(str(self.init), index), self._start_restarts()
        return start_labels(kind, coordinates, self.n_clusters, n_components, rng, n_restarts, coordinates.weights)

    def _start_from_sample(
        self, index: int, coordinates: Coordinates, some: Coordinates, n_components: int, rng: np.random.RandomState
    ) -> Labels:
        """The nearest centers of a whole run on the sample."""
        method, labels = self._method(some, n_components, rng), self._start(index, some, n_components, rng)
        run = alternate(method, self._begin(some, labels), max_iter=self.max_iter or MOST_ITERATIONS, tol=self.tol)
        clusters, projection = run.state.clusters, run.state.projection
        embedding = coordinates.rows.project(some.loadings(projection), some.mean)
        return assign(embedding, clusters.centers(projection), coordinates.known)

    def _publish(self, coordinates: Coordinates, method: Method, run: JointRun) -> NDArray:
        """Settle at the fixed projection, with predict's own code, so that labels, predict and objective agree.

        Returns the embedding of the rows.
        """
        rows, projection = coordinates.rows, run.state.projection
        for name, value in method.published.items():
            setattr(self, name, value)
        self.mean_ = coordinates.mean.astype(rows.dtype)
        self.__dict__.pop("components_", None)
        if not self._in_full_space:
            loadings = coordinates.loadings(projection)
            if self._orthonormal:
                loadings = nearest_orthonormal(loadings)
            self.components_ = np.ascontiguousarray(fix_signs(loadings).T.astype(rows.dtype))
        Y = self._embed(rows)
        self._publish_clusters(Y, method.settle(Y, run.state), coordinates.weights, method.label)
        clusters = run.state.clusters.relabelled(self.labels_)
        self.objective_ = method.objective(clusters, projection, Y, self.cluster_centers_)
        self.objective_history_ = np.array(run.history)
        self.objective_history_[run.best] = self.objective_
        self.n_iter_, self.converged_ = len(run.history), run.ending is Ending.CONVERGED
        basis = np.linalg.qr(projection)[0]
        total = clusters.total_scatter(basis)
        self.variance_share_ = total / coordinates.total_variance if total > 0 else 0.0
        self.within_share_ = clusters.within_scatter(basis) / total if total > 0 else 0.0
        self.rank_, self.variance_kept_ = coordinates.rank, coordinates.variance_kept
        self.exact_ = coordinates.exact
        return Y

    def _warn(self, coordinates: Coordinates, method: Method, run: JointRun) -> None:
        name = type(self).__name__
        reason = self._plain_kmeans_reason(coordinates, run.state.projection.shape[1])
        if not warn_if_fewer(self, coordinates.is_constant) and _is_collapsed(method, run):
            tell(
                f"{name} collapsed: in the subspace it chose, rows sit on their own centroids whatever the labels are, "
                f"so the labels are hardly more than those it started from. {self._collapse_remedy()}",
                CollapseWarning,
            )
        if reason is not None and not coordinates.is_constant:
            tell(f"{name} is plain k-means here: {reason}", PlainKMeansWarning)


def _is_collapsed(method: Method, run: JointRun) -> bool:
    """Whether the labels mean nothing in the subspace: it shows no within-cluster scatter, or keeps any labels."""
    clusters, projection = run.state.clusters, run.state.projection
    if clusters.sizes.size == 1:
        return False
    basis = np.linalg.qr(projection)[0]
    within = clusters.coordinates.eigenvalues.sum() - np.sum(clusters.between_factor**2)
    if within <= 1e-10 * clusters.coordinates.eigenvalues.sum():
        return False  # the clusters have no scatter at all: they are perfect
    if clusters.within_scatter(basis) / basis.shape[1] <= 1e-10 * within / clusters.coordinates.rank:
        return True
    known, start = clusters.coordinates.known, run.start.labels
    n_free = clusters.coordinates.n_samples if known is None else n_changed(start, known)
    hardly_moved = n_changed(clusters.labels, start) < (1 - _KEPT) * n_free
    return bool(hardly_moved and _keeps_any_labels(clusters, method))


def _keeps_any_labels(clusters: Clusters, method: Method) -> bool:
    """Whether labels dealt out at random would survive the method's projections too, to the end."""
    if 4 * clusters.coordinates.rank < clusters.coordinates.n_samples:
        return False  # r directions explain about r/n of random labels, too little to keep them
    rows = clusters.coordinates.rows
    shuffled = rows.beside(np.random.RandomState(0).permutation(to_host(clusters.labels)))
    now = clusters.coordinates.clusters(shuffled, clusters.sizes.size)
    for _ in range(20):
        projection = method.project(now)
        labels = assign(clusters.coordinates.embed(projection), now.centers(projection))
        if n_changed(labels, shuffled) >= (1 - _KEPT) * rows.n_samples:
            return False
        if n_changed(labels, now.labels) == 0:
            break
        now = now.relabelled(labels)
    return True
