"""Clustering by uncorrelated ridge regression on soft labels (Zhang, Li, Wu and Zhao, 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import Limits
from jointclust.estimators.soft import SoftClusterer
from jointclust.exceptions import CollapseWarning, tell
from jointclust.methods.kernel_features import KernelClusterer
from jointclust.numerics.linalg import project_simplex
from jointclust.numerics.partitions import centers_of, means
from jointclust.rows import Swept, blocks
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.subspace.alternating import Run, Steps
from jointclust.subspace.coordinates import Block, Coordinates
from jointclust.subspace.directions import (
    fix_free_direction,
    orthogonal_regression,
    relative_ridge,
    uncorrelated_rotation,
)
from jointclust.subspace.starts import start_labels
from jointclust.types import Array, Float, Labels, Sweepable

# "auto" ridge, as a share of the variance over n_clusters - 1; from 0.1 to 1 it hardly matters on real data.
_RIDGE_SHARE = 0.3
# The k-means that a run starts from decides more than anything after it: many restarts, in the leading coordinates.
_RESTARTS, _START_VARIANCE = 100, 0.9


@dataclass(frozen=True, eq=False)
class _Targets:
    """alpha and b: the soft labels p of a row of XZ are those with ``alpha p`` nearest to it, shifted by b."""

    scale: float
    intercept: Float

    def evidence(self, y: Array) -> Array:
        V = blocks.float64(y)
        return V + like(self.intercept, V)

    def soft(self, evidence: Array) -> Array:
        return soft_labels(evidence, self.scale)

    def losses(self, evidence: Array, soft: Array) -> Array:
        return namespace(evidence).sum((evidence - self.scale * soft) ** 2, axis=1)


@dataclass(frozen=True, eq=False)
class _RidgeState:
    """The regression (Z in coordinates, alpha and b) with what the soft labels p that follow from it add up to.

    That is, sums over the rows of x p' (in coordinates), of p and of |p|^2.
    """

    objective: float
    projection: Float
    targets: _Targets
    explained: float
    n_empty: int
    sums: tuple[Float, Float, float]


@dataclass
class _UncorrelatedRidge(Steps[Array, _RidgeState]):
    """Algorithm 1 in whitened coordinates ``A = X (X'X + ridge I)^-1/2``."""

    coordinates: Coordinates
    n_clusters: int
    ridge: float
    rescale: bool | float
    by_labels: bool
    orthogonal: bool = False

    def __post_init__(self) -> None:
        shifted = self.coordinates.eigenvalues + self.ridge
        self.whitening = 1.0 / np.sqrt(np.where(shifted > 0, shifted, 1.0))  # of constant rows, without a ridge

    def step(self, start: Array, previous: _RidgeState | None) -> _RidgeState:
        products, soft, squares = self._first_sums(start) if previous is None else previous.sums
        mass = self.coordinates.mass
        mean = soft / mass
        spread = squares - mass * float(mean @ mean)
        if self.orthogonal:
            projection, scale = self._orthogonal(products, spread, previous)
        else:
            rotation, nuclear = uncorrelated_rotation(self.whitening[:, None] * products)
            projection, scale = self.whitening[:, None] * rotation, self._scale(nuclear, spread)
        return self._visit(projection, _Targets(scale, scale * mean))

    def _scale(self, product: float, spread: float) -> float:
        """The best alpha by the traces of ``Z'X'HP`` and ``P'HP``; ``rescale`` itself if it is a number, 1 if False."""
        informative = spread > 1e-13 * self.coordinates.mass and product > 1e-10 * np.sqrt(spread)
        return product / spread if self.rescale is True and informative else float(self.rescale or 1.0)

    def _orthogonal(self, products: Float, spread: float, previous: _RidgeState | None) -> tuple[Float, float]:
        """Z for the alpha that suits the Z before, then the alpha that suits it."""
        Z = uncorrelated_rotation(products)[0] if previous is None else previous.projection
        scale = self._scale(float(np.sum(Z * products)), spread)
        Z = orthogonal_regression(self.coordinates.eigenvalues, scale * products, Z)
        return Z, self._scale(float(np.sum(Z * products)), spread)

    def _visit(self, projection: Float, targets: _Targets) -> _RidgeState:
        """Soft labels for a regression: their objective, and the sums for the next one, in one pass."""
        n_clusters = self.n_clusters

        def visit(block: Block, shared: Array | None) -> Swept:
            V, w = targets.evidence(block.y), block.weights
            soft = targets.soft(V if shared is None else targets.evidence(shared))
            soft, xp = blocks.kept_soft(soft, block.known), namespace(V)
            losses = targets.losses(V, soft)
            hard = xp.astype(xp.argmax(soft, axis=1), xp.int32)
            labels = block.cluster_sums(hard, n_clusters, w)
            return Swept(sums=[xp.sum(losses if w is None else losses * w), *labels, *_soft_sums(block, soft)])

        # The rows of a group have their soft labels in common, which suit their mean.
        shared = None if self.coordinates.groups is None else self.coordinates.seen_together(projection)
        loss, sums, sizes, *rest = self.coordinates.sweep(visit, projection, shared, width=4 * n_clusters).sums
        objective = float(loss) + self.ridge * float(np.sum(projection**2))
        # What the hard labels L explain, tr(L'AA'L).
        factor = means(self.coordinates.inside(sums), np.sqrt(sizes))
        explained = float(np.sum((factor * self.whitening) ** 2))
        empty = int(np.count_nonzero(sizes == 0))
        return _RidgeState(objective, projection, targets, explained, empty, self._sums(rest))

    def _first_sums(self, start: Array) -> tuple[Float, Float, float]:
        """The sums for labels, or soft labels, to start from."""
        n_clusters = self.n_clusters

        def visit(block: Block, labels: Array) -> Swept:
            soft = blocks.one_hot(labels, n_clusters, None) if labels.ndim == 1 else labels
            return Swept(sums=_soft_sums(block, soft))

        return self._sums(self.coordinates.sweep(visit, None, start).sums)

    def _sums(self, parts: Sequence[Float]) -> tuple[Float, Float, float]:
        products, soft, squares = parts
        return self.coordinates.inside(products.T).T, soft, float(squares)

    @property
    def lower_bound(self) -> float:
        """What no objective lies below: labels have c - 1 directions to explain c columns of XZ with."""
        values, rank = self.coordinates.eigenvalues, min(self.n_clusters, self.coordinates.rank)
        if self.orthogonal:
            return self.ridge * rank + (float(values[-1]) if rank == self.n_clusters else 0.0)
        return rank - float((values * self.whitening**2)[: self.n_clusters - 1].sum())

    def merit(self, state: _RidgeState, *, final: bool = False) -> float:
        """What the hard labels explain, less a price for empty clusters above all of it; or minus the objective."""
        by_labels = self.by_labels or final
        return state.explained - 2.0 * self.n_clusters * state.n_empty if by_labels else -state.objective


def _soft_sums(block: Block, soft: Array) -> list[Array]:
    """Sums of ``x p'``, p and ``|p|^2`` over a block."""
    weighted = soft if block.weights is None else soft * block.weights[:, None]
    xp = namespace(soft)
    return [block.products(weighted), xp.sum(weighted, axis=0), xp.sum(weighted * soft)]


def soft_labels(V: Array, scale: float) -> Array:
    """Rows p on the simplex with ``alpha p`` nearest to the rows of V."""
    projected = project_simplex(V, scale)
    return projected / namespace(V).sum(projected, axis=1, keepdims=True)


@dataclass(eq=False, repr=False, kw_only=True)
class UncorrelatedRidgeClustering(KernelClusterer, SoftClusterer):
    r"""Uncorrelated ridge regression with soft labels (URR-SL), rescaled (RURR-SL) by default.

    .. math:: \min_{Z,\, b,\, \alpha,\, P} \; \|XZ + 1b' - \alpha P\|_F^2 + \lambda \|Z\|_F^2, \quad
              Z'(X'X + \lambda I)Z = I, \quad P \ge 0, \; P1 = 1

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    X        the centred rows
    P        soft labels, ``soft_labels_``: one probability per row and cluster
    Z        the regression on them, ``components_.T``
    b        ``intercept_``
    alpha    ``scale_``; given for URR-SL
    lambda   ``ridge_``, in squared units of the data
    ======== =============================================================================

    Each step solves for Z (one small singular value decomposition), alpha and b, then projects every row of
    ``XZ + 1b'`` on the simplex. The objective never increases, but it does not choose clusters: a flat set of soft
    labels, nearly all of them dense, attains its lower bound, and every start gets there. What decides is where a run
    starts and when it stops. By default it starts from k-means, and stops where the *hard* labels (the largest entry of
    each row) explain most of the whitened rows: ``tr(L'AA'L)`` with ``A = X (X'X + lambda I)^-1/2`` and the normalised
    one-hot labels L, the objective of :class:`DisKMeans`. Runs are compared by the same number.

    Parameters
    ----------
    n_clusters
    ridge : float or "auto", default="auto"
        The value lambda, added to X'X. "auto" is 0.3 times the total variance over ``n_clusters - 1``.
    rescale : bool or float, default=True
        Find alpha (RURR-SL); a number keeps it there (URR-SL), False at 1, where the mean of the soft labels outweighs
        the rows unless these are few, and most clusters end up empty.
    constraint : {"uncorrelated", "orthogonal"}, default="uncorrelated"
        "orthogonal" has ``Z'Z = I`` in place of the constraint above, which the paper compares with. The ridge is then
        a constant, and the regression takes a power iteration.
    kernel : {"linear", "rbf", "poly", "cosine", "nearest_neighbors", "precomputed"} or callable, default="linear"
        With another than "linear" the method works on features whose inner products are the kernel (kernel PCA), new
        rows included; ``dual_coef_`` then takes the place of ``components_``. Kernels are those of
        :class:`OptimalDiscriminantClustering`. A kernel has about as many directions as there are rows: keep
        few (``variance=0.9``, or less).
    gamma, degree, coef0, n_neighbors, n_landmarks, landmarks
    variance, max_rank
    init : {"k-means++", "random"} or array, default="k-means++"
        k-means in the leading coordinates (0.9 of the variance), best of 100 starts (fewer beyond 50 clusters);
        the paper's random soft labels; or labels, or soft labels of shape (n_samples, n_clusters), to start from.
    n_init : int, default=1
        Runs, of which the one with the best hard labels is kept.
    max_iter : int, default=None
        None stops by the hard labels, as above. A number runs the paper's algorithm for so many iterations or until the
        objective rests.
    tol : float, default=1e-6
        Relative change of the objective at which a run has converged, whatever ``max_iter`` is.
    random_state, n_jobs

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Largest entry of each row of ``soft_labels_``; cluster 0 is the largest unless ``init`` gave labels.
    classes_
    soft_labels_ : array of shape (n_samples, n_clusters)
        Probabilities; equal to ``predict_proba`` of the training data.
    components_ : array of shape (n_clusters, n_features)
        Z'.
    scale_ : float
        alpha.
    intercept_ : array of shape (n_clusters,)
        b, for rows less ``mean_``.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        Means of the clusters' rows in the embedding.
    mean_, ridge_
    objective_ : float
        The objective above, for the published attributes.
    objective_history_ : array, one value per iteration
        Objective after each iteration, up to the one that is returned.
    n_iter_ : int
        Iterations up to that one.
    converged_ : bool
        Whether the run rested: the hard labels explained no more for ten iterations, or (with ``max_iter``) the
        objective stopped.
    explained_ : float
        What the hard labels explain, ``tr(L'AA'L)``, of ``n_clusters - 1`` at the most.
    lower_bound_ : float
        The least value that the objective can have, ``c - sum of the c - 1 largest s^2 / (s^2 + lambda)``, with the
        rank of the data in place of c where that is less.
    rank_, variance_kept_, exact_, n_passes_

    References
    ----------
    R. Zhang, X. Li, T. Wu and Y. Zhao, "Data clustering via uncorrelated ridge regression", IEEE Transactions on Neural
    Networks and Learning Systems 32(1), 2021.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=30, n_clusters=4, random_state=0)
    >>> model = jc.UncorrelatedRidgeClustering(4, random_state=0).fit(X)
    >>> model.soft_labels_.shape, model.predict_proba(X[:2]).sum(axis=1).round(6).tolist()
    ((500, 4), [1.0, 1.0])
    """

    _orthonormal = False
    _limits: ClassVar[Limits] = {
        "rescale": ["boolean", Interval(Real, 0, None, closed="neither")],
        "constraint": [StrOptions({"uncorrelated", "orthogonal"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    ridge: float | str = "auto"
    rescale: bool | float = True
    constraint: str = "uncorrelated"
    variance: float | None = None
    max_iter: int | None = None

    def _n_components(self, coordinates: Coordinates) -> int:
        if self.n_clusters > coordinates.rank and not coordinates.is_constant:
            tell(
                f"n_clusters={self.n_clusters} exceeds the rank of the data ({coordinates.rank}), so that the columns "
                f"of Z cannot all be {self.constraint}: a partial isometry takes their place. Lower n_clusters.",
                CollapseWarning,
            )
        return self.n_clusters

    def _prepare(
        self, coordinates: Coordinates, n_components: int, given: NDArray | None, rng: np.random.RandomState
    ) -> None:
        singular = coordinates.is_constant or coordinates.rank < coordinates.rows.n_features
        singular = coordinates.is_constant or (singular and self.variance is None)
        if self.ridge == 0 and singular and self.constraint == "uncorrelated":
            raise ValueError(
                f"ridge=0 needs a total scatter of full rank, but it has rank {coordinates.rank} in "
                f"{coordinates.rows.n_features} dimensions. Set ridge > 0."
            )
        self.ridge_ = relative_ridge(self.ridge, _RIDGE_SHARE, coordinates.total_variance, self.n_clusters - 1)

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _UncorrelatedRidge:
        rescale = bool(self.rescale) if isinstance(self.rescale, np.bool) else self.rescale
        by_labels, orthogonal = self.max_iter is None, self.constraint == "orthogonal"
        return _UncorrelatedRidge(coordinates, self.n_clusters, self.ridge_, rescale, by_labels, orthogonal)

    def _kmeans_labels(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        leading = coordinates.keep(_START_VARIANCE)
        return start_labels("k-means++", leading, self.n_clusters, n_components, rng, _RESTARTS, coordinates.weights)

    def _publish_parameters(self, coordinates: Coordinates, method: _UncorrelatedRidge, run: Run) -> None:
        state, dtype = run.state, coordinates.rows.dtype
        loadings = fix_free_direction(coordinates.loadings(state.projection))
        self.components_ = np.ascontiguousarray(loadings.T.astype(dtype))
        self.scale_, self.intercept_ = state.targets.scale, state.targets.intercept
        self.explained_ = state.explained
        self.lower_bound_ = method.lower_bound
        self.rank_, self.variance_kept_ = coordinates.rank, coordinates.variance_kept
        self.exact_ = coordinates.exact

    def _publish(self, coordinates: Coordinates, method: Any, run: Run) -> Sweepable:
        Y = super()._publish(coordinates, method, run)
        centers = centers_of(Y, self.labels_, self.n_clusters, coordinates.weights)
        self.cluster_centers_ = centers.astype(coordinates.rows.dtype)
        return Y

    def _reorder(self, order: NDArray[np.intp]) -> None:
        self.components_ = np.ascontiguousarray(self.components_[order])
        self.intercept_ = self.intercept_[order]

    @property
    def _rule(self) -> _Targets:
        return _Targets(self.scale_, self.intercept_)

    def _objective(self, Y: Sweepable, soft: Array, weights: Array | None) -> float:
        mapped = "_offset" in self.__dict__
        length = self._squared_length if mapped else float(np.sum(to_host(self.components_).astype(np.float64) ** 2))
        return super()._objective(Y, soft, weights) + self.ridge_ * length

    def _collapse_remedy(self) -> str:
        if self.rescale is not True:
            return "Set rescale=True: without it the mean of the soft labels outweighs the rows."
        if self.max_iter is not None:
            return "Leave max_iter None, which passes over such solutions, or lower n_clusters."
        return "Lower n_clusters, or raise n_init."
