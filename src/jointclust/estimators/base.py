"""What all estimators share: validation, the last assignment, use of what was fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust._sklearn import CallbackContext, CallbackSupportMixin, Interval, StrOptions, fit_context
from jointclust.estimators.known import KnownRows, check_place, known_beside, n_known
from jointclust.estimators.shared_docs import completed
from jointclust.exceptions import CollapseWarning, ScaleWarning, tell
from jointclust.numerics.groups import Groups
from jointclust.numerics.partitions import Partition, assign, cluster_order, cluster_sizes, merged
from jointclust.rows import (
    PLACES,
    Rows,
    Store,
    as_rows,
    as_table,
    check_elsewhere,
    computed,
    in_memory,
    is_elsewhere,
    is_lazy,
    is_remote,
    kind_of,
    lazily,
    materialised,
    n_present,
    outliving,
    tidied,
)
from jointclust.rows.arrays import described, is_device_array, like, precision, to_host
from jointclust.subspace.coordinates import Coordinates, fingerprint_of, passes_of
from jointclust.subspace.decomposition import check_rows, check_weights, coordinates_of
from jointclust.subspace.directions import TRADE_OFFS, resolve_n_components, wanted_components
from jointclust.types import Array, Float, Labels, Sweepable

# k-means restarts where a method has no parameter for them.
RESTARTS = 10
# What values parameters may have, by name.
Limits = dict[str, list[Any]]
_AT_LEAST_ONE, _SHARE = Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right")


class TakesRows(BaseEstimator):
    """Checks rows, or coordinates, to be fitted, their names and weights; for clusterers and others."""

    # Whether the rows may be sparse; clusterers compute it.
    _accepts_sparse: bool = True
    # Limits of parameters that several estimators have; a subclass adds its own, and where it differs.
    _limits: ClassVar[Limits] = {
        "n_clusters": [_AT_LEAST_ONE],
        "n_components": [_AT_LEAST_ONE, None],
        "trade_off": [Interval(Real, 0, None, closed="both"), StrOptions(set(TRADE_OFFS))],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "variance": [_SHARE, None],
        "max_rank": [_AT_LEAST_ONE],
        "init": [StrOptions({"k-means++", "pca", "random"}), "array-like"],
        "n_init": [_AT_LEAST_ONE],
        "max_iter": [_AT_LEAST_ONE],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, _AT_LEAST_ONE, Interval(Integral, None, -1, closed="right")],
    }

    @property
    def _parameter_constraints(self) -> Limits:
        """The limits of this estimator's parameters, as scikit-learn reads them; a user's subclass may add others."""
        limits = ChainMap(*(vars(cls).get("_limits", {}) for cls in type(self).__mro__))
        return {name: limits[name] for name in self.get_params(deep=False) if name in limits}

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring: it only names the parameters and attributes that other estimators have too."""
        super().__init_subclass__(**options)
        cls.__doc__ = completed(cls.__doc__)

    def _refuse(self, X: Any) -> None:
        """Raise where rows lie in a place that they cannot be fitted in."""

    def __getstate__(self) -> dict[str, Any]:
        """The attributes to save; those on Dask's workers are brought here, as the workers may be gone later."""
        return {name: computed(value, name) for name, value in super().__getstate__().items()}

    def _coordinates_of(
        self,
        X: ArrayLike | Coordinates,
        sample_weight: ArrayLike | None,
        rng: np.random.RandomState,
        *,
        variance: float | None = None,
        min_samples: int = 2,
        **options: int | None,
    ) -> Coordinates:
        """The coordinates given, or those of the rows given; notes the number and names of the columns."""
        if not isinstance(X, Coordinates):
            rows = self._validated(X, ensure_min_samples=min_samples)
            weights = check_weights(sample_weight, rows)
            return coordinates_of(as_rows(rows), weights, variance=variance, rng=rng, **options)  # type: ignore[arg-type]
        if sample_weight is not None:
            raise ValueError("sample_weight belongs to the coordinates: pass it to decompose instead of fit.")
        if X.n_samples < min_samples:
            raise ValueError(
                f"X holds coordinates of {X.n_samples} rows, while a minimum of {min_samples} is required."
            )
        self._refuse(X.rows.X)
        self.n_features_in_ = X.rows.n_features
        if X.feature_names is not None:
            self.feature_names_in_ = X.feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return X.keep(variance)

    def _validated(self, X: ArrayLike | Coordinates, **options: Any) -> Any:
        """Rows, and y where it is among the options, as scikit-learn checks them."""
        check_rows(X)
        accepted = "csr" if self._accepts_sparse else False
        try:
            return validate_data(self, tidied(X), accept_sparse=accepted, dtype=[np.float64, np.float32], **options)
        except (TypeError, ValueError) as error:
            error.add_note(
                "X must be a table of finite real numbers, rows by features, with two rows or more. Text, categories "
                'and gaps are for JointConsensus(views="auto"); MixedEncoder and LowRankImputer make numbers of them.'
            )
            raise


class LooksAtPairs(TakesRows):
    """The same for estimators that fit others: they need rows in memory, and take a sample of rows elsewhere.

    The others see rows without names, when they are fitted and when they predict: the names are compared once, here.
    """

    def _refuse(self, X: Any) -> None:
        if is_remote(X) or is_device_array(X):
            raise TypeError(f"{type(self).__name__} takes coordinates of rows in memory: it looks at pairs of rows.")

    def _coordinates_of(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState, **options: Any
    ) -> Coordinates:
        if not isinstance(X, Coordinates):
            X, sample_weight, _ = in_memory(X, type(self).__name__, rng, sample_weight)
        return replace(super()._coordinates_of(X, sample_weight, rng, **options), feature_names=None)


def check_n_clusters(n_clusters: int, n_samples: int, weights: Float | None) -> None:
    """There must be a row, one with weight, for each cluster."""
    present = n_samples if weights is None else n_present(weights)
    if n_clusters > present:
        kind = "rows" if weights is None else "rows with weight"
        raise ValueError(f"n_clusters={n_clusters} exceeds the number of {kind} ({present}): lower it.")


def _note_names(estimator: TakesRows, X: Any, *, reset: bool) -> None:
    """Count the columns of rows elsewhere, and note their names or compare them with those of the fit."""
    validate_data(estimator, getattr(X, "_meta", X) if hasattr(X, "columns") else X, skip_check_array=True, reset=reset)


def bring_here(estimator: TakesRows) -> None:
    """Copy results of a fit from Dask's workers, which they then outlive, as Dask arrays."""
    for name, value in list(vars(estimator).items()):
        if name.endswith("_") or name.startswith("_"):
            setattr(estimator, name, outliving(value))


def warn_of_scale(estimator: Clusterer, dominant: tuple[int, float] | None) -> None:
    """Say so where one column of a table decides."""
    if dominant is None:
        return
    column, share = dominant
    name = getattr(estimator, "feature_names_in_", np.arange(estimator.n_features_in_))[column]
    tell(
        f"Column {str(name)!r} carries {100 * share:.1f}% of the variance, so that the clusters are those of this "
        "column alone. Scale the columns first (scikit-learn's StandardScaler), or use JointConsensus, which does.",
        ScaleWarning,
    )


def warn_if_fewer(estimator: Clusterer, is_constant: bool) -> bool:
    """Say so when fewer clusters were found than asked for."""
    filled = np.count_nonzero(cluster_sizes(estimator.labels_, estimator.n_clusters))
    if is_constant:
        tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
    elif filled < estimator.n_clusters:
        tell(
            f"{filled} clusters were found instead of n_clusters={estimator.n_clusters}: X has fewer distinct rows "
            "than that in the embedding. Lower n_clusters.",
            CollapseWarning,
        )
    return is_constant or bool(filled < estimator.n_clusters)


@dataclass(eq=False, repr=False)
class Clusterer(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, TakesRows, ABC):
    """Base of all estimators: an embedding of the rows, and the nearest of the cluster centers in it."""

    n_clusters: int = 8
    _: KW_ONLY
    max_rank: int = 500
    init: str | ArrayLike = "k-means++"
    n_init: int = 1
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    # Attributes with a value for each of the training rows.
    _per_row: ClassVar[tuple[str, ...]] = ("labels_",)
    # Projections of most methods are orthonormal; the others invert by pseudo-inverse.
    _orthonormal: ClassVar[bool] = True
    # Whether all directions are used unless ``n_components`` says how many.
    _unreduced: ClassVar[bool] = False

    @property
    def _in_full_space(self) -> bool:
        """Whether there is no projection: the embedding is ``X - mean_``."""
        return self._unreduced and self.n_components is None

    def _embedding(self, coordinates: Coordinates, n_components: int) -> Sweepable:
        """The rows in the full space, or in the leading principal components."""
        if self._in_full_space:
            return coordinates.rows.project(None, coordinates.mean)
        return coordinates.leading(n_components)

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return not self._in_full_space

    def _refusal(self, kind: str) -> str | None:
        """Why rows of a kind ("device", "file" or "dask") cannot be used, and what to do; None where they can."""
        return None

    def takes_coordinates(self, coordinates: Coordinates) -> bool:
        """Whether :meth:`fit` takes these coordinates of the rows; False where the method needs the rows themselves."""
        return not (self._in_full_space and coordinates.rows.is_sparse)

    def _embedding_dtype(self, dtype: np.dtype) -> type[np.floating]:
        """Precision of the embedding of rows with this one."""
        return np.float32 if dtype == np.float32 else np.float64

    def _refuse(self, X: Any) -> None:
        kind = kind_of(X)
        reason = None if kind == "memory" else self._refusal(kind)
        if reason is not None:
            raise TypeError(f"{type(self).__name__} takes no rows {PLACES[kind]}: {reason}")

    @abstractmethod
    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        """The objective of rows in the embedding, greater is better."""

    @abstractmethod
    def _fit(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, facts: KnownRows, rng: np.random.RandomState
    ) -> tuple[CallbackContext, Rows | None]:
        """Publish the clusters and warn; returns the task of the fit, and the rows if their passes are counted."""

    # -- fit ----------------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike | Coordinates,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        known_labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Find the clusters and the embedding that shows them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
            The data, or its coordinates from :func:`jointclust.decompose`, which many fits can share.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weight 2 is the row twice, weight 0 an absent row (it still gets a label). Coordinates carry their own, and
            their own ``max_rank``.
        known_labels : array-like of shape (n_samples,), optional
            Names or numbers that are known of some rows; -1, None, NaN or such text is unknown. A row keeps its label,
            whatever ``predict`` says of it; class ``classes_[i]`` is cluster i, and further clusters follow.
        groups : array-like of shape (n_samples,), optional
            Rows of a group get one label, by the sum over all of them; None or NaN is a row by itself. A known label of
            one row is that of its group. The rows have to lie in memory, or on a device.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_place(groups, X)
        before = passes_of(X)

        def facts(rows: Rows, weights: Array | None) -> tuple[Array | None, Groups | None]:
            known, row_groups, classes = known_beside(self.n_clusters, known_labels, groups, rows, weights)
            self.__dict__.pop("classes_", None)
            if classes is not None:
                self.classes_ = classes
            return known, row_groups

        context, rows = self._fit(X, sample_weight, facts, check_random_state(self.random_state))
        self._fingerprint = fingerprint_of(X)
        if rows is not None:
            self.n_passes_ = rows.n_passes - before + (not isinstance(X, Coordinates))  # coordinates count their own
        context.call_on_fit_task_end(estimator=self)
        return self

    def _coordinates(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState, **options: int
    ) -> Coordinates:
        if isinstance(X, Coordinates) and X.rows.is_sparse and self._in_full_space:
            raise TypeError("Sparse rows do not fit the full space: set n_components to work in principal ones.")
        options = {"variance": self.variance, "max_rank": self.max_rank, **options}
        coordinates = self._coordinates_of(X, sample_weight, rng, **options)
        check_n_clusters(self.n_clusters, coordinates.n_samples, coordinates.weights)
        warn_of_scale(self, None if coordinates.is_constant else coordinates.dominant)
        if not coordinates.exact and self.variance is not None and coordinates.variance_kept < self.variance:
            tell(
                f"The randomised decomposition of rank {coordinates.rank} carries {coordinates.variance_kept:.3g} of "
                f"the variance, less than variance={self.variance}. Raise max_rank to keep more.",
                UserWarning,
            )
        return coordinates

    def _n_components(self, coordinates: Coordinates) -> int:
        """Number of components the data allow."""
        return resolve_n_components(self.n_components, self._wanted_components(coordinates.rank), coordinates)

    def _wanted_components(self, rank: int) -> int:
        return rank if self._unreduced else wanted_components(self.n_clusters, rank)

    def _publish_clusters(
        self, Y: NDArray, partition: Partition, weights: Float | None, label: Callable[[NDArray, NDArray], Labels]
    ) -> None:
        """Number the clusters, and label the rows with predict's own code, so that the two agree."""
        centers = merged(partition.centers.astype(precision(Y)))
        sizes = cluster_sizes(label(Y, centers), self.n_clusters, weights)
        self.cluster_centers_ = centers[cluster_order(sizes, partition.centers, n_known(self))]
        # An empty cluster shares the first one's center: on a tie the first wins, so no row ever falls to it.
        self.cluster_centers_[np.count_nonzero(sizes) :] = self.cluster_centers_[0]
        self.labels_ = label(Y, self.cluster_centers_)

    # -- use ----------------------------------------------------------------------------------------------------

    def _embed(self, rows: Rows) -> NDArray:
        return rows.project(None if self._in_full_space else self.components_.T, self.mean_)

    def _check(self, X: ArrayLike, method: str) -> Rows:
        check_is_fitted(self)
        rows = as_rows(self._validated(X, reset=False))
        self._check_place(rows.X, method)
        return rows

    def _check_place(self, X: Any, method: str) -> None:
        fitted = self.__dict__.get("mean_", X)
        if described(X) != described(fitted):
            raise ValueError(
                f"Inputs passed to {type(self).__name__}.{method}() must use the same namespace and the same device as "
                f"those passed to fit(): X is {described(X)}, that of fit() was {described(fitted)}. Move X there."
            )

    def _move_published(self, rows: Rows) -> None:
        """Published arrays go where the rows are: a fit on a GPU has its attributes there, one with Dask here."""
        bring_here(self)
        if not is_device_array(rows.X):
            return
        parameters = self.get_params(deep=False)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and name not in (*parameters, "classes_") and value.dtype != object:
                setattr(self, name, rows.here(value))

    def _validated(
        self, X: ArrayLike | Coordinates, *, reset: bool = True, ensure_min_samples: int = 1, **options: Any
    ) -> Any:
        if not is_elsewhere(X):
            return super()._validated(X, reset=reset, ensure_min_samples=ensure_min_samples, **options)
        self._refuse(X)
        checked = check_elsewhere(X, accept_sparse=self._accepts_sparse, min_samples=ensure_min_samples)
        _note_names(self, X, reset=reset)
        return checked

    def predict(self, X: ArrayLike) -> Labels:
        """Cluster of each row: the nearest center in the embedding, or the largest of the soft labels.

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
        return self._predict(self._check(X, "predict"))

    def _predict(self, rows: Rows) -> Labels:
        return assign(self._embed(rows), self.cluster_centers_)

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
        if is_lazy(X):
            return self._lazily("transform", X, (self._n_features_out,), None)
        return materialised(self._embed(self._check(X, "transform")))

    def _lazily(self, method: str, X: Any, tail: tuple[int, ...], dtype: Any) -> Any:
        """A method of each chunk of a Dask array, when it is asked for; the training rows' own arrays stay here."""
        check_is_fitted(self)
        self._check_place(X, method)
        _note_names(self, X, reset=False)
        X = as_table(X)
        model = type(self).__new__(type(self))
        model.__dict__ |= {name: value for name, value in vars(self).items() if name not in self._per_row}
        return lazily(getattr(model, method), X, tail, dtype or self._embedding_dtype(X.dtype))

    def inverse_transform(self, Y: ArrayLike) -> NDArray:
        """Rows in the original features that the embedding stands for (least squares); not with a kernel.

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
        if is_elsewhere(Y):
            rows = check_elsewhere(Y, accept_sparse=False, min_samples=1)
        else:
            rows = check_array(Y, dtype=[np.float64, np.float32], input_name="Y")
        self._check_place(rows, "inverse_transform")
        rows = rows.read(slice(0, rows.shape[0])) if isinstance(rows, Store) else rows
        if rows.shape[1] != self._n_features_out:
            raise ValueError(f"Y must have {self._n_features_out} columns, one per component; got {rows.shape[1]}.")
        mean = like(to_host(self.mean_), rows) if is_device_array(rows) else self.mean_
        if self._in_full_space:
            return rows + mean
        components = to_host(self.components_)
        back = components if self._orthonormal else np.linalg.pinv(components).T
        return rows @ (like(back, rows) if is_device_array(rows) else back) + mean

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Objective on X with the fitted parameters, minus it where it is minimised: greater is better.

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
            The objective, or minus it.
        """
        rows = self._check(X, "score")
        Y = self._fitted_values(rows)
        return self._score(Y, assign(Y, self.cluster_centers_), check_weights(sample_weight, rows.X))

    def _fitted_values(self, rows: Rows) -> NDArray:
        """The embedding that the objective is about."""
        return self._embed(rows)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.array_api_support = self._refusal("device") is None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
