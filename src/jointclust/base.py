"""What all estimators share: validation, the runs, the last assignment, fitted attributes, warnings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, _fit_context
from sklearn.callback import CallbackContext, CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust import threads
from jointclust.alternating import Ending, Method, Run, alternate
from jointclust.coordinates import Clusters, Coordinates, check_weights, coordinates_of
from jointclust.exceptions import CollapseWarning, PlainKMeansWarning, tell
from jointclust.kmeans import assign, counts
from jointclust.linalg import fix_signs, nearest_orthonormal
from jointclust.projection import resolve_n_components
from jointclust.rows import as_rows
from jointclust.starts import start_kind, start_labels
from jointclust.types import Float, Labels

# Share of labels left in place from which on a run is suspected of having kept its start.
_KEPT = 0.9
# k-means restarts where a method has no parameter for them.
RESTARTS = 10


class JointClusterer(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ABC
):
    """Base of the estimators that find clusters and a subspace together.

    A subclass says what a step is (:meth:`_method`) and may refine the rest.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "variance": [Interval(Real, 0, 1, closed="right"), None],
        "max_rank": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "pca", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right")],
    }

    # Projections of most methods are orthonormal; the others invert by pseudo-inverse.
    _orthonormal: ClassVar[bool] = True

    @property
    def _in_full_space(self) -> bool:
        """Whether there is no projection: the embedding is ``X - mean_``."""
        return False

    # -- what a subclass supplies -------------------------------------------------------------------------------

    @abstractmethod
    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Method:
        """The step to alternate."""

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

    @abstractmethod
    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        """The objective of rows in the embedding, greater is better."""

    # -- fit ----------------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike | Coordinates, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters and the subspace.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
            The data, or its coordinates from :func:`jointclust.decompose`, which many fits can share.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weight 2 is the row twice, weight 0 an absent row (it still gets a label). Coordinates carry their own, and
            their own ``max_rank``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rng = check_random_state(self.random_state)
        coordinates = self._coordinates(X, sample_weight, rng)
        n_components = self._n_components(coordinates)
        given = self._given_labels(coordinates.n_samples)
        n_init = self.n_init
        if given is not None and n_init > 1:
            tell(f"init gives the labels, so one run is made instead of n_init={n_init}.", RuntimeWarning)
            n_init = 1

        context = self._init_callback_context(max_subtasks=n_init, sequential_subtasks=False)
        context.call_on_fit_task_begin(estimator=self)
        seeds = rng.randint(np.iinfo(np.int32).max, size=n_init)

        def run(index: int) -> tuple[Method, Run]:
            return self._run(index, coordinates, n_components, given, np.random.RandomState(seeds[index]), context)

        with threads.suited_to(coordinates.n_samples, coordinates.rank, self.n_jobs):
            if n_init == 1 or self.n_jobs in (None, 1):
                runs = [run(index) for index in range(n_init)]
            else:
                runs = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(run)(index) for index in range(n_init))
        method, best = max(runs, key=lambda pair: pair[0].merit(pair[1].state))
        self._publish(coordinates, method, best)
        self._warn(coordinates, method, best, n_components)
        context.call_on_fit_task_end(estimator=self)
        return self

    def _run(
        self,
        index: int,
        coordinates: Coordinates,
        n_components: int,
        given: Labels | None,
        rng: np.random.RandomState,
        context: CallbackContext,
    ) -> tuple[Method, Run]:
        """One run, reported to the callbacks as a task of its own."""
        task = context.subcontext("run", task_id=index, max_subtasks=self.max_iter)
        task.call_on_fit_task_begin(estimator=self)
        method = self._method(coordinates, n_components, rng)
        labels = given if given is not None else self._start(index, coordinates, n_components, rng)
        clusters = coordinates.clusters(labels, self.n_clusters)
        run = alternate(method, clusters, max_iter=self.max_iter, tol=self.tol, stop=self._reporter(task))
        task.call_on_fit_task_end(estimator=self)
        return method, run

    def _coordinates(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState
    ) -> Coordinates:
        if isinstance(X, Coordinates):
            if sample_weight is not None:
                raise ValueError("sample_weight belongs to the coordinates: pass it to decompose instead of fit.")
            if X.rows.is_sparse and self._in_full_space:
                raise TypeError("Sparse rows do not fit the full space: set n_components to work in principal ones.")
            coordinates = X.keep(self.variance)
            self.n_features_in_ = X.rows.n_features
            if X.feature_names is not None:
                self.feature_names_in_ = X.feature_names
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            X = self._validated(X, ensure_min_samples=2)
            coordinates = coordinates_of(
                as_rows(X), check_weights(sample_weight, X), variance=self.variance, max_rank=self.max_rank, rng=rng
            )
        present = coordinates.n_samples if coordinates.weights is None else np.count_nonzero(coordinates.weights)
        if self.n_clusters > present:
            kind = "rows" if coordinates.weights is None else "rows with weight"
            raise ValueError(f"n_clusters={self.n_clusters} exceeds the number of {kind} ({present}): lower it.")
        if not coordinates.exact and self.variance is not None and coordinates.variance_kept < self.variance:
            tell(
                f"The randomised decomposition of rank {coordinates.rank} carries {coordinates.variance_kept:.3g} of "
                f"the variance, less than variance={self.variance}. Raise max_rank to keep more.",
                UserWarning,
            )
        return coordinates

    def _n_components(self, coordinates: Coordinates) -> int:
        """Number of components the data allow."""
        return resolve_n_components(self.n_components, self.n_clusters - 1, coordinates)

    def _given_labels(self, n_samples: int) -> Labels | None:
        if isinstance(self.init, str):
            return None
        labels = np.asarray(self.init)
        if labels.shape != (n_samples,):
            raise ValueError(f"init as labels must have shape ({n_samples},), one label per row; got {labels.shape}.")
        if not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(f"init as labels must hold integers; got dtype {labels.dtype}.")
        if labels.min() < 0 or labels.max() >= self.n_clusters:
            raise ValueError(
                f"init as labels must lie in 0..{self.n_clusters - 1} (n_clusters={self.n_clusters}); "
                f"got {labels.min()}..{labels.max()}."
            )
        return labels.astype(np.int32)

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """Labels to start run number ``index`` from."""
        kind, n_restarts = start_kind(self.init, index), self._start_restarts()
        return start_labels(kind, coordinates, self.n_clusters, n_components, rng, n_restarts, coordinates.weights)

    def _reporter(self, task: CallbackContext) -> Callable[[], bool]:
        """Reports one finished iteration to the callbacks; True when one of them wants to stop."""

        def report() -> bool:
            iteration = task.subcontext("iteration")
            iteration.call_on_fit_task_begin(estimator=self)
            return bool(iteration.call_on_fit_task_end(estimator=self))

        return report

    # -- after the runs -----------------------------------------------------------------------------------------

    def _publish(self, coordinates: Coordinates, method: Method, run: Run) -> NDArray:
        """Settle at the fixed projection, with predict's own code, so that labels, predict and objective agree.

        Returns the embedding of the rows.
        """
        rows, weights, projection = coordinates.rows, coordinates.weights, run.state.projection
        self.mean_ = coordinates.mean.astype(rows.dtype)
        if not self._in_full_space:
            loadings = coordinates.loadings(projection)
            if self._orthonormal:
                loadings = nearest_orthonormal(loadings)
            self.components_ = np.ascontiguousarray(fix_signs(loadings).T.astype(rows.dtype))
        elif hasattr(self, "components_"):
            del self.components_
        Y = self._embed(rows)
        partition = method.settle(Y, run.state)
        centers = partition.centers.astype(rows.dtype)
        sizes = counts(assign(Y, centers), self.n_clusters, weights)
        # Largest first, empty ones last; among equals, nearest to the mean: the numbering does not depend on chance.
        self.cluster_centers_ = centers[np.lexsort((np.sum(partition.centers**2, axis=1), -sizes))]
        # An empty cluster shares the first one's center: on a tie the first wins, so no row ever falls to it.
        self.cluster_centers_[np.count_nonzero(sizes) :] = self.cluster_centers_[0]
        self.labels_ = assign(Y, self.cluster_centers_)
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

    def _warn(self, coordinates: Coordinates, method: Method, run: Run, n_components: int) -> None:
        """Say everything that should keep a user from trusting the result."""
        name = type(self).__name__
        found = np.unique(self.labels_).size
        reason = self._plain_kmeans_reason(coordinates, n_components)
        if coordinates.is_constant:
            tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
        elif found < self.n_clusters:
            tell(
                f"{found} clusters were found instead of n_clusters={self.n_clusters}: X has fewer distinct rows than "
                "that in the embedding. Lower n_clusters.",
                CollapseWarning,
            )
        elif _is_collapsed(method, run):
            tell(
                f"{name} collapsed: in the subspace it chose, rows sit on their own centroids whatever the labels are, "
                f"so the labels are hardly more than those it started from. {self._collapse_remedy()}",
                CollapseWarning,
            )
        if reason is not None and not coordinates.is_constant:
            tell(f"{name} is plain k-means here: {reason}", PlainKMeansWarning)
        if run.ending is not Ending.CONVERGED:
            tell(run.ending.value.format(max_iter=self.max_iter), ConvergenceWarning)

    # -- use ----------------------------------------------------------------------------------------------------

    def _embed(self, rows: Any) -> NDArray:
        if self._in_full_space:
            return rows.X - self.mean_.astype(rows.dtype)
        return rows.project(self.components_.T, self.mean_)

    def _check(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return as_rows(self._validated(X, reset=False))

    def _validated(self, X: ArrayLike | Coordinates, **options: Any) -> Any:
        if isinstance(X, Coordinates):
            raise TypeError("X holds Coordinates, which only fit takes: pass the rows themselves.")
        accepted = False if self._in_full_space else "csr"
        try:
            return validate_data(self, X, accept_sparse=accepted, dtype=[np.float64, np.float32], **options)
        except (TypeError, ValueError) as error:
            error.add_note("X must be a table of finite real numbers, rows by features, with two rows or more.")
            raise

    def predict(self, X: ArrayLike) -> Labels:
        """Label of the nearest cluster center in the embedding.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        """
        return assign(self._embed(self._check(X)), self.cluster_centers_)

    def transform(self, X: ArrayLike) -> NDArray:
        """Embedding of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        Y : array of shape (n_samples, n_components)
            ``(X - mean_) @ components_.T``.
        """
        return self._embed(self._check(X))

    def inverse_transform(self, Y: ArrayLike) -> NDArray:
        """Rows in the original features that the embedding stands for (least squares).

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Rows of an embedding, for example ``cluster_centers_``.

        Returns
        -------
        X : array of shape (n_samples, n_features)
            Rows in the original features.
        """
        check_is_fitted(self)
        rows: NDArray = check_array(Y, dtype=[np.float64, np.float32], input_name="Y")
        if rows.shape[1] != self._n_features_out:
            raise ValueError(f"Y must have {self._n_features_out} columns, one per component; got {rows.shape[1]}.")
        if self._in_full_space:
            return rows + self.mean_
        back = self.components_ if self._orthonormal else np.linalg.pinv(self.components_).T
        return rows @ back + self.mean_

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Objective on X with the fitted subspace and centers; greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        score : float
            The objective.
        """
        rows = self._check(X)
        Y = self._embed(rows)
        return self._score(Y, assign(Y, self.cluster_centers_), check_weights(sample_weight, Y))

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._in_full_space
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _is_collapsed(method: Method, run: Run) -> bool:
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
    hardly_moved = np.mean(clusters.labels == run.start.labels) > _KEPT
    return bool(hardly_moved and _keeps_any_labels(clusters, method))


def _keeps_any_labels(clusters: Clusters, method: Method) -> bool:
    """Whether labels dealt out at random would survive the method's projections too, to the end."""
    if 4 * clusters.coordinates.rank < clusters.labels.size:
        return False  # r directions explain about r/n of random labels, too little to keep them
    shuffled = np.random.RandomState(0).permutation(clusters.labels)
    now = clusters.coordinates.clusters(shuffled, clusters.sizes.size)
    for _ in range(20):
        projection = method.project(now)
        labels = assign(clusters.coordinates.embed(projection), now.centers(projection))
        if np.mean(labels == shuffled) <= _KEPT:
            return False
        if np.array_equal(labels, now.labels):
            break
        now = now.relabelled(labels)
    return True
