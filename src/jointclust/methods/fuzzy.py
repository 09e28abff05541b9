"""Fuzzy k-means (Bezdek, 1981), and what it shares with its robust form."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils._param_validation import Interval, StrOptions

from jointclust.alternating import Run
from jointclust.base import RESTARTS
from jointclust.coordinates import Coordinates
from jointclust.exceptions import CollapseWarning, tell
from jointclust.kernels import unit_rows
from jointclust.linalg import fix_signs
from jointclust.projection import resolve_n_components
from jointclust.rows import block_length
from jointclust.soft import SoftClusterer, SoftMethod, SoftState
from jointclust.starts import start_labels
from jointclust.types import Float, Labels

# Share of the way from 1 to the fuzzifier at which all centers fall together: collapses nowhere on real data.
_SAFE = 0.1


@dataclass(frozen=True, eq=False)
class CenterState(SoftState):
    """Memberships with the centers they came from, and the squared distances from these."""

    centers: Float
    distances: Float


@dataclass
class Centers(SoftMethod):
    """A method that alternates centers and memberships of rows in an embedding that stays."""

    Y: NDArray
    weights: Float | None

    def step(self, clusters: NDArray, previous: Any) -> CenterState:
        centers = self.centers(clusters, previous)
        distances = squared_distances(self.Y, centers)
        soft = self.memberships(distances)
        losses = self.losses(distances, soft)
        objective = float(losses.sum() if self.weights is None else losses @ self.weights)
        return CenterState(soft, objective, centers, distances)

    @abstractmethod
    def centers(self, soft: NDArray, previous: CenterState | None) -> Float:
        """Centers for memberships."""

    @abstractmethod
    def memberships(self, distances: Float) -> NDArray:
        """Memberships for squared distances from the centers."""

    @abstractmethod
    def losses(self, distances: Float, soft: NDArray) -> Float:
        """What each row adds to the objective."""


def squared_distances(Y: NDArray, centers: Float) -> Float:
    """Of all rows from all centers, in float64."""
    out = np.empty((len(Y), len(centers)))
    with np.errstate(over="ignore", invalid="ignore"):
        _fill_squared_distances(Y, centers, out)
    if not np.isfinite(out).all():
        raise ValueError(
            "X holds rows so far from the centers that squared distances overflow: are they in other units?"
        )
    return np.maximum(out, 0.0, out=out)


def _fill_squared_distances(Y: NDArray, centers: Float, out: Float) -> None:
    offset = np.einsum("ij,ij->i", centers, centers)
    step = block_length(max(Y.shape[1], len(centers)), 2**20)
    for start in range(0, len(Y), step):
        block = Y[start : start + step].astype(np.float64, copy=False)
        squares = block @ (-2.0 * centers.T)
        squares += offset
        squares += np.einsum("ij,ij->i", block, block)[:, None]
        out[start : start + step] = squares


def weighted_means(Y: NDArray, mass: Float, fallback: Float | None) -> Float:
    """Means of the rows for each column of masses; a column without mass keeps its fallback, or the origin."""
    total = np.zeros((mass.shape[1], Y.shape[1]))
    step = block_length(Y.shape[1], 2**20)
    for start in range(0, len(Y), step):
        block = slice(start, start + step)
        total += mass[block].T @ Y[block].astype(np.float64, copy=False)
    sizes = mass.sum(axis=0)[:, None]
    kept = np.zeros_like(total) if fallback is None else fallback
    return np.where(sizes > 0, total / np.where(sizes > 0, sizes, 1.0), kept)


@dataclass
class _Fuzzy(Centers):
    fuzzifier: float

    def centers(self, soft: NDArray, previous: CenterState | None) -> Float:
        mass = soft**self.fuzzifier
        kept = None if previous is None else previous.centers
        return weighted_means(self.Y, mass if self.weights is None else self.weights[:, None] * mass, kept)

    def memberships(self, distances: Float) -> NDArray:
        return fuzzy_memberships(distances, self.fuzzifier)

    def losses(self, distances: Float, soft: NDArray) -> Float:
        return np.sum(soft**self.fuzzifier * distances, axis=1)


def fuzzy_memberships(distances: Float, fuzzifier: float) -> Float:
    """``1 / sum_k (d_j / d_k)^(1/(m-1))`` of squared distances, in logarithms; a row on a center belongs to it."""
    logarithms = np.log(np.maximum(distances, np.finfo(float).tiny)) / (1.0 - fuzzifier)
    logarithms -= logarithms.max(axis=1, keepdims=True)
    soft = np.exp(logarithms)
    return soft / soft.sum(axis=1, keepdims=True)


def collapsing_fuzzifier(Y: NDArray, weights: Float | None) -> float:
    """The fuzzifier from which on all centers may fall together in the mean (Yu, Cheng and Huang, 2004).

    ``1 / (1 - 2 l)`` with the largest eigenvalue l of the mean of ``y y' / |y|^2``; infinite for ``l >= 1/2``.
    """
    directions = unit_rows(Y.astype(np.float64, copy=False))
    present = np.einsum("ij,ij->i", directions, directions) > 0
    mass = present.astype(float) if weights is None else weights * present
    if mass.sum() == 0 or Y.shape[1] == 1:
        return np.inf

    def multiply(x: Float) -> Float:
        return directions.T @ (mass * (directions @ x.ravel())) / mass.sum()

    d = Y.shape[1]
    if d <= 64:
        share = float(np.linalg.eigvalsh(directions.T @ (mass[:, None] * directions) / mass.sum())[-1])
    else:
        operator = LinearOperator((d, d), matvec=multiply, dtype=np.float64)
        start = np.random.RandomState(0).standard_normal(d)
        share = float(eigsh(operator, 1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0])
    return 1.0 / (1.0 - 2.0 * share) if share < 0.5 else np.inf


class CenterClusterer(SoftClusterer):
    """What fuzzy k-means and its robust form share: centers in the full space, or in principal components."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: value for name, value in SoftClusterer._parameter_constraints.items() if name != "variance"
    }
    variance = None  # not a parameter: there is nothing to reduce, or n_components does it

    @property
    def _in_full_space(self) -> bool:
        return self.n_components is None

    def _n_components(self, coordinates: Coordinates) -> int:
        return resolve_n_components(self.n_components, coordinates.rank, coordinates)

    def _embedding(self, coordinates: Coordinates, n_components: int) -> NDArray:
        rows: Any = coordinates.rows
        if self._in_full_space:
            return rows.X - coordinates.mean.astype(rows.dtype)
        return coordinates.leading(n_components)

    def _start(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> NDArray:
        if self.init == "random":
            soft = rng.uniform(size=(coordinates.n_samples, self.n_clusters))
            return soft / soft.sum(axis=1, keepdims=True)
        return np.eye(self.n_clusters)[self._kmeans_labels(coordinates, n_components, rng)]

    @property
    def _start_kind(self) -> str:
        return "k-means++" if self._in_full_space else "pca"

    def _kmeans_labels(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        weights = coordinates.weights
        return start_labels(self._start_kind, coordinates, self.n_clusters, n_components, rng, RESTARTS, weights)

    def _publish_parameters(self, coordinates: Coordinates, method: Centers, run: Run) -> None:
        dtype, centers = coordinates.rows.dtype, run.state.centers
        self.__dict__.pop("components_", None)
        if not self._in_full_space:
            axes = coordinates.loadings(np.eye(coordinates.rank, centers.shape[1]))
            fixed = fix_signs(axes)
            self.components_ = np.ascontiguousarray(fixed.T.astype(dtype))
            centers = centers * np.sign(np.sum(fixed * axes, axis=0))
        self.cluster_centers_ = np.ascontiguousarray(centers.astype(dtype))

    def _reorder(self, order: NDArray[np.intp]) -> None:
        self.cluster_centers_ = np.ascontiguousarray(self.cluster_centers_[order])

    @abstractmethod
    def _fitted(self, Y: NDArray) -> Centers:
        """The method on new rows, with the parameters found."""

    def _probabilities(self, Y: NDArray) -> NDArray:
        distances = squared_distances(Y, self.cluster_centers_.astype(np.float64))
        return self._fitted(Y).memberships(distances)

    def _objective(self, Y: NDArray, soft: NDArray, weights: Float | None) -> float:
        distances = squared_distances(Y, self.cluster_centers_.astype(np.float64))
        losses = self._fitted(Y).losses(distances, soft.astype(np.float64))
        return float(losses.sum() if weights is None else losses @ weights)


class FuzzyKMeans(CenterClusterer):
    r"""Fuzzy k-means (fuzzy c-means).

    .. math:: \min_{U,\, V} \; \sum_{i,\, j} u_{ij}^m \|x_i - v_j\|^2, \quad u_{ij} \ge 0, \; \sum_j u_{ij} = 1

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    x_i      row i, in the full space or in the leading principal components
    v_j      center j, ``cluster_centers_``
    u_ij     membership of row i in cluster j, ``soft_labels_``
    m        ``fuzzifier``; 1 would be k-means, more is softer
    ======== =============================================================================

    In high dimension distances are nearly equal, and the customary ``m = 2`` makes all memberships 1/c and all centers
    the mean. From ``1 / (1 - 2 l)`` on, l being the largest eigenvalue of the mean of ``x x' / |x|^2``, the mean
    attracts the centers; some of them meet well before. "auto" goes a tenth of the way from 1 to that value, and never
    beyond 2.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    fuzzifier : float or "auto", default="auto"
        The exponent m, above 1.
    n_components : int, default=None
        Principal components to cluster in; None is the full space, without PCA.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
        ``min(n_samples, n_features) > 4000``.
    init : {"k-means++", "random"} or array, default="k-means++"
        k-means, best of ten starts; random memberships; or labels, or memberships of shape (n_samples, n_clusters), to
        start from.
    n_init : int, default=1
        Runs, the best of which is kept.
    max_iter : int, default=100
        Iterations of a run.
    tol : float, default=1e-6
        Relative change of the objective at which a run has converged.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable.
    n_jobs : int, default=None
        Threads over which the ``n_init`` runs are spread. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Largest membership of each row; cluster 0 is the largest unless ``init`` gave labels.
    soft_labels_ : array of shape (n_samples, n_clusters)
        Memberships; equal to ``predict_proba`` of the training data.
    cluster_centers_ : array of shape (n_clusters, n_components or n_features)
        Centers in the embedding.
    components_ : array of shape (n_components, n_features)
        Principal axes; only with ``n_components``.
    mean_ : array of shape (n_features,)
        Mean row, subtracted first.
    fuzzifier_ : float
        The exponent used.
    collapsing_fuzzifier_ : float
        The exponent from which on the mean attracts all centers; infinite when none does.
    objective_, objective_history_, n_iter_, converged_
        The objective above, its value after each iteration, their number, and whether the run came to rest.

    References
    ----------
    J. C. Bezdek, "Pattern recognition with fuzzy objective function algorithms", 1981. J. Yu, Q. Cheng and H. Huang,
    "Analysis of the weighting exponent in the FCM", IEEE Transactions on Systems, Man, and Cybernetics B 34(1), 2004.

    Examples
    --------
    >>> import jointclust as jc
    >>> digits = jc.datasets.load("digits")
    >>> model = jc.FuzzyKMeans(10, random_state=0).fit(digits.data)
    >>> round(model.fuzzifier_, 2), model.soft_labels_.shape
    (1.04, (1797, 10))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CenterClusterer._parameter_constraints,
        "fuzzifier": [Interval(Real, 1, None, closed="neither"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fuzzifier: float | str = "auto",
        n_components: int | None = None,
        max_rank: int = 500,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.n_components = n_components
        self.max_rank = max_rank
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _prepare(
        self, coordinates: Coordinates, n_components: int, given: NDArray | None, rng: np.random.RandomState
    ) -> None:
        self.collapsing_fuzzifier_ = collapsing_fuzzifier(
            self._embedding(coordinates, n_components), coordinates.weights
        )
        self.fuzzifier_ = self._safe_fuzzifier if self.fuzzifier == "auto" else float(self.fuzzifier)

    @property
    def _safe_fuzzifier(self) -> float:
        return min(2.0, 1.0 + _SAFE * (self.collapsing_fuzzifier_ - 1.0))

    def _method(self, coordinates: Coordinates, n_components: int) -> _Fuzzy:
        return _Fuzzy(self._embedding(coordinates, n_components), coordinates.weights, self.fuzzifier_)

    def _fitted(self, Y: NDArray) -> _Fuzzy:
        return _Fuzzy(Y, None, self.fuzzifier_)

    def _warn(self, coordinates: Coordinates, run: Run) -> None:
        super()._warn(coordinates, run)
        if coordinates.is_constant or self.n_clusters == 1 or np.unique(self.labels_).size < self.n_clusters:
            return
        centers = self.cluster_centers_.astype(np.float64)
        nearest = squared_distances(self._embed(coordinates.rows), centers).min(axis=1)
        between = squared_distances(centers, centers)
        np.fill_diagonal(between, np.inf)
        meeting = int(np.sum(between.min(axis=1) < 1e-6 * weighted_median(nearest, coordinates.weights)))
        sharpness = float(np.average(np.sum(self.soft_labels_**2, axis=1), weights=coordinates.weights))
        if meeting or sharpness * self.n_clusters < 1.1:
            what = f"{meeting} centers fell together" if meeting else "all memberships are nearly equal"
            tell(
                f"FuzzyKMeans collapsed: {what} at fuzzifier={self.fuzzifier_:.4g}. {self._collapse_remedy()}",
                CollapseWarning,
            )

    def _collapse_remedy(self) -> str:
        if self.fuzzifier_ > self._safe_fuzzifier:
            return f'Lower fuzzifier: {self._safe_fuzzifier:.4g} ("auto") is safe on data like these.'
        return "Lower n_clusters, or fuzzifier."


def weighted_median(values: Float, weights: Float | None) -> float:
    """The middle value when each is repeated as often as its weight says."""
    if weights is None:
        weights = np.ones_like(values)
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulative, 0.5 * cumulative[-1])])
