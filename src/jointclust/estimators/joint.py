"""The estimators that alternate: runs, the best of them, what it publishes and what it warns of."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from jointclust._sklearn import CallbackContext
from jointclust.estimators import tasks
from jointclust.estimators.base import RESTARTS, Clusterer
from jointclust.estimators.known import KnownRows, labels_to_start_from
from jointclust.exceptions import CollapseWarning, PlainKMeansWarning, tell
from jointclust.numerics.linalg import fix_signs, nearest_orthonormal
from jointclust.numerics.partitions import assign, keep, n_changed
from jointclust.rows import Rows
from jointclust.rows.arrays import to_host
from jointclust.subspace.alternating import Ending, Method, Run, State, alternate, best_of
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.decomposition import to_start_from
from jointclust.subspace.starts import start_kind, start_labels
from jointclust.types import Labels

# Share of labels left in place from which on a run is suspected of having kept its start.
_KEPT = 0.9
JointRun = Run[Clusters, State]


class JointClusterer(Clusterer):
    """Base of the estimators that find clusters and a subspace together, in turns.

    A subclass says what a step is (:meth:`_method`) and may refine the rest.
    """

    # -- what a subclass supplies -------------------------------------------------------------------------------

    @abstractmethod
    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Method:
        """The steps to alternate. It runs in several threads, on a sample too: it must not write to ``self``."""

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

    # -- fit ----------------------------------------------------------------------------------------------------

    def _fit(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, facts: KnownRows, rng: np.random.RandomState
    ) -> tuple[CallbackContext, Rows]:
        coordinates = self._coordinates(X, sample_weight, rng)
        known, groups = facts(coordinates.rows, coordinates.weights)
        coordinates = replace(coordinates, known=known, groups=groups)
        n_components = self._n_components(coordinates)
        given, n_init = labels_to_start_from(self.init, self.n_init, coordinates.n_samples, self.n_clusters)
        start = None if given is None else keep(coordinates.rows.beside(given), known)

        def run(index: int, generator: np.random.RandomState, task: CallbackContext) -> tuple[Method, JointRun]:
            labels = start if start is not None else self._started(index, coordinates, n_components, generator)
            method = self._method(coordinates, n_components, generator)
            clusters = coordinates.clusters(labels, self.n_clusters)
            stop = tasks.iteration_reporter(self, task)
            return method, alternate(method, clusters, max_iter=self.max_iter, tol=self.tol, stop=stop)

        context = tasks.begin(self, n_init)
        runs = tasks.make_runs(self, run, n_init, rng, coordinates.rank, context, self.max_iter)
        method, best = best_of(runs, lambda pair: pair[0].merit(pair[1].state))
        self._publish(coordinates, method, best)
        self._warn(coordinates, method, best, n_components)
        self._move_published(coordinates.rows)
        return context, coordinates.rows

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """Labels to start run number ``index`` from."""
        kind, n_restarts = start_kind(self.init, index), self._start_restarts()
        return start_labels(kind, coordinates, self.n_clusters, n_components, rng, n_restarts, coordinates.weights)

    def _started(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """A start; where it looks at a sample of the rows, from a whole run on that."""
        some = to_start_from(coordinates, self.n_clusters, rng)
        if some is coordinates:
            return self._start(index, coordinates, n_components, rng)
        q = min(n_components, some.rank)
        method, labels = self._method(some, q, rng), self._start(index, some, q, rng)
        run = alternate(method, some.clusters(labels, self.n_clusters), max_iter=self.max_iter, tol=self.tol)
        clusters, projection = run.state.clusters, run.state.projection
        embedding = coordinates.rows.project(some.loadings(projection), some.mean)
        return assign(embedding, clusters.centers(projection), coordinates.known)

    # -- after the runs -----------------------------------------------------------------------------------------

    def _publish(self, coordinates: Coordinates, method: Method, run: JointRun) -> NDArray:
        """Settle at the fixed projection, with predict's own code, so that labels, predict and objective agree.

        Returns the embedding of the rows.
        """
        rows, projection = coordinates.rows, run.state.projection
        for name, value in method.published.items():
            setattr(self, name, value)
        self.mean_ = coordinates.mean.astype(rows.dtype)
        if not self._in_full_space:
            loadings = coordinates.loadings(projection)
            if self._orthonormal:
                loadings = nearest_orthonormal(loadings)
            self.components_ = np.ascontiguousarray(fix_signs(loadings).T.astype(rows.dtype))
        elif hasattr(self, "components_"):
            del self.components_
        Y = self._embed(rows)
        self._publish_clusters(Y, method.settle(Y, run.state), coordinates.weights, method.label)
        clusters = run.state.clusters.relabelled(self.labels_)
        self.objective_ = method.objective(clusters, projection, Y, self.cluster_centers_)
        self.objective_history_ = np.array(run.history)
        self.objective_history_[run.best] = self.objective_
        self.n_iter_ = len(run.history)
        self.converged_ = run.ending is Ending.CONVERGED
        basis = np.linalg.qr(projection)[0]
        total = clusters.total_scatter(basis)
        self.variance_share_ = total / coordinates.total_variance if total > 0 else 0.0
        self.within_share_ = clusters.within_scatter(basis) / total if total > 0 else 0.0
        self.rank_ = coordinates.rank
        self.variance_kept_ = coordinates.variance_kept
        self.exact_ = coordinates.exact
        return Y

    def _warn(self, coordinates: Coordinates, method: Method, run: JointRun, n_components: int) -> None:
        """Say everything that should keep a user from trusting the result."""
        name = type(self).__name__
        reason = self._plain_kmeans_reason(coordinates, n_components)
        if not self._warn_if_fewer(coordinates.is_constant) and _is_collapsed(method, run):
            tell(
                f"{name} collapsed: in the subspace it chose, rows sit on their own centroids whatever the labels are, "
                f"so the labels are hardly more than those it started from. {self._collapse_remedy()}",
                CollapseWarning,
            )
        if reason is not None and not coordinates.is_constant:
            tell(f"{name} is plain k-means here: {reason}", PlainKMeansWarning)
        if run.ending is not Ending.CONVERGED:
            tell(run.ending.value.format(max_iter=self.max_iter), ConvergenceWarning)


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
