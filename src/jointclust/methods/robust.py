"""Robust embedded clustering (Zhang, Nie and Li, 2017), unsupervised OLSDA and robust k-means (Cai, Nie and Huang)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust.estimators.joint import JointClusterer
from jointclust.numerics.linalg import bottom_eigenvectors, random_orthonormal
from jointclust.numerics.partitions import (
    Partition,
    assign,
    centers_of,
    counts,
    fill_empty,
    means,
    nearest_in,
    same_labels,
)
from jointclust.rows import Swept, blocks, sweep, total_weight
from jointclust.rows.arrays import namespace, to_host
from jointclust.subspace.alternating import Method, Run, State
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.directions import margin_directions, principal_axes, resolve_n_components, tie_break
from jointclust.subspace.starts import robust_start_labels, start_kind
from jointclust.types import Float, Labels

# Residuals below this share of the data's RMS radius count as this long, so that no weight is infinite.
_FLOOR = 1e-6
# Share of the reduced dimensions that EC keeps by default: the evidence is in docs/evidence.
_SHARE = 0.95


@dataclass(frozen=True, eq=False)
class _RobustState(State):
    """A state with the weight of each row, d times its own, and the weighted sums that the next step is made of."""

    row_weights: Any
    moments: Sequence[Float]


@dataclass
class _Robust(Method):
    """Alternates centroids, labels, row weights and (EC) the projection with the least weighted within-scatter.

    Robust k-means has no projection to find: its rows are given in the embedding that they stay in.
    """

    coordinates: Coordinates
    n_components: int
    robust: bool
    floor: float
    tol: float
    fixed_embedding: Any = None

    ends_with_labels: ClassVar[bool] = False

    def project(self, clusters: Clusters) -> Float:
        if self.fixed_embedding is not None:
            return np.eye(self.coordinates.rank, self.n_components)
        return margin_directions(clusters, self.n_components, np.inf)

    def step(self, clusters: Clusters, previous: State | None) -> State:
        n_clusters = clusters.n_clusters
        if self.fixed_embedding is not None:
            projection = self.project(clusters)
            if isinstance(previous, _RobustState):
                centers = means(*previous.moments[:2])
            else:
                centers = centers_of(self.fixed_embedding, clusters.labels, n_clusters, self.coordinates.weights)
        elif isinstance(previous, _RobustState) and self.robust:
            sums, sizes, total = previous.moments
            projection = self._projection(sums, sizes, total)
            centers = means(sums, sizes) @ projection
        else:
            projection = self.project(clusters)
            centers = clusters.centers(projection)
        return self._visit(clusters, projection, centers)

    def _visit(self, clusters: Clusters, projection: Float, centers: Float) -> _RobustState:
        """Nearest labels, their loss, new weights, and the sums for the next step: all in one pass."""
        coordinates, n_clusters = self.coordinates, clusters.n_clusters
        if self.fixed_embedding is None:
            rows, basis, mean = coordinates.frame
            source, matrix = rows.X, projection if basis is None else basis @ projection
            rows.n_passes += 1
        else:
            source, matrix, mean = self.fixed_embedding, None, None
        floor, robust = self.floor, self.robust
        with_scatter = robust and self.fixed_embedding is None

        def visit(x: Any, own: Any) -> Swept:
            y = blocks.project(x, matrix, mean)
            labels = nearest_in(y, centers)
            loss, weights = weigh(y, labels, centers, own, floor, robust)
            sums = blocks.sums_and_sizes(x, labels, n_clusters, weights, mean)
            if with_scatter:
                sums.append(blocks.scatter(x, weights, mean))
            return Swept(rows=[labels, weights], sums=[loss, *sums])

        found = sweep(visit, source, coordinates.weights, width=source.shape[1], budget=2**20)
        labels, weights = found.rows
        objective, sums, sizes = float(found.sums[0]), found.sums[1], found.sums[2]
        if (sizes == 0).any() and not (counts(labels, n_clusters, coordinates.weights) > 0).all():
            return self._repaired(clusters, projection, labels, centers)
        if self.fixed_embedding is None:
            sums = coordinates.inside(sums)
        total = [coordinates.inside(coordinates.inside(found.sums[3]).T)] if with_scatter else []
        return _RobustState(clusters.relabelled(labels), projection, objective, weights, [sums, sizes, *total])

    def _repaired(self, clusters: Clusters, projection: Float, labels: Any, centers: Float) -> _RobustState:
        """A step in which clusters went empty: each takes a far row and has its center there."""
        Y = self.coordinates.embed(projection) if self.fixed_embedding is None else self.fixed_embedding
        weights = self._loss(Y, labels, centers)[1]
        labels, centers = self._assign(Y, centers, weights)
        objective, weights = self._loss(Y, labels, centers)
        n_clusters = clusters.n_clusters
        sizes = counts(labels, n_clusters, weights)
        if self.fixed_embedding is not None:
            moments = [centers_of(Y, labels, n_clusters, weights) * sizes[:, None], sizes]
        else:
            moments = [self.coordinates.sums(labels, n_clusters, weights), sizes]
            if self.robust:
                moments.append(self.coordinates.scatter(weights))
        return _RobustState(clusters.relabelled(labels), projection, objective, weights, moments)

    def _projection(self, sums: Float, sizes: Float, total: Float) -> Float:
        scaled = means(sums, np.sqrt(sizes))
        within = total - scaled.T @ scaled
        least = tie_break(float(np.trace(within)), float(np.trace(total)))
        return bottom_eigenvectors(within - least * total, self.n_components)

    def settle(self, Y: Any, state: State) -> Partition:
        labels, weights, n_clusters = state.clusters.labels, self._weights(state), state.clusters.n_clusters
        before = np.inf
        for _ in range(300 if self.fixed_embedding is None else 1):
            centers = centers_of(Y, labels, n_clusters, weights)
            new, centers = self._assign(Y, centers, weights)
            objective, weights = self._loss(Y, new, centers)
            rest = same_labels(new, labels, self.coordinates.weights) and before - objective <= self.tol * objective
            labels, before = new, objective
            if rest:
                break
        return Partition(labels, centers, objective)

    def merit(self, state: State) -> float:
        return -state.objective

    def objective(self, clusters: Clusters, projection: Float, Y: Any, centers: Any) -> float:
        return self._loss(Y, clusters.labels, to_host(centers))[0]

    def _weights(self, state: State | None) -> Any:
        """Total weights of the rows in this state; their own at first."""
        return state.row_weights if isinstance(state, _RobustState) else self.coordinates.weights

    def _assign(self, Y: Any, centers: Float, weights: Any) -> tuple[Labels, Float]:
        """Nearest centers; an empty cluster takes a far row and has its center there."""
        nearest = assign(Y, centers)
        labels = fill_empty(Y, nearest, len(centers), weights)
        if labels is not nearest:
            filled = (counts(nearest, len(centers)) == 0) & (counts(labels, len(centers)) > 0)
            centers = np.where(filled[:, None], centers_of(Y, labels, len(centers)), centers)
        return labels, centers

    def _loss(self, Y: Any, labels: Any, centers: Float) -> tuple[float, Any]:
        """The objective, and the total weights that go with its residuals."""
        floor, robust = self.floor, self.robust

        def loss(y: Any, block: Any, own: Any) -> Swept:
            total, weights = weigh(y, block, centers, own, floor, robust)
            return Swept(rows=[weights], sums=[total])

        found = sweep(loss, Y, labels, self.coordinates.weights, width=Y.shape[1], budget=2**19)
        return float(found.sums[0]), found.rows[0]


def weigh(y: Any, labels: Any, centers: Float, own: Any, floor: float, robust: bool) -> tuple[Any, Any]:
    """Loss and total weights of a block."""
    xp, lengths = namespace(y), blocks.residuals(y, labels, centers)
    loss = losses(lengths, floor, robust)
    weights = 0.5 / xp.clip(lengths, floor, None) if robust else xp.ones_like(lengths)
    return (xp.sum(loss), weights) if own is None else (xp.sum(own * loss), own * weights)


def losses(lengths: Any, floor: float, robust: bool) -> Any:
    """Squares; or, robust, ``h(r)``: r above the floor and a parabola that touches it there below.

    h is what re-weighting with floored weights minimises.
    """
    if not robust:
        return lengths**2
    return namespace(lengths).where(lengths > floor, lengths, lengths**2 / (2 * floor) + floor / 2)


class _RobustClusterer(JointClusterer):
    """What robust embedded clustering and robust k-means share."""

    @property
    def _is_robust(self) -> bool:
        return True

    def _robust_method(
        self, coordinates: Coordinates, n_components: int, fixed_embedding: NDArray | None = None
    ) -> _Robust:
        weights = coordinates.weights
        mass = coordinates.n_samples if weights is None else total_weight(weights)
        radius = float(np.sqrt(coordinates.total_variance / mass))
        self.residual_floor_ = _FLOOR * (radius or 1.0)
        return _Robust(coordinates, n_components, self._is_robust, self.residual_floor_, self.tol, fixed_embedding)

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """k-means in which far rows count less, or plain k-means: whichever centers are nearer to the rows."""
        plain = super()._start(index, coordinates, n_components, rng)
        if not self._is_robust:
            return plain
        kind, n_restarts = start_kind(self.init, index), self._start_restarts()
        return robust_start_labels(kind, plain, coordinates, self.n_clusters, n_components, rng, n_restarts)

    def _publish(self, coordinates: Coordinates, method: Method, run: Run) -> NDArray:
        if not self._in_full_space:
            # Distances do not change when axes turn within the subspace: turn them to what a user would look at.
            projection = principal_axes(coordinates, run.state.projection)
            run = replace(run, state=replace(run.state, projection=projection))
        Y = super()._publish(coordinates, method, run)
        floor, robust, centers = self.residual_floor_, self._is_robust, self.cluster_centers_

        def scores(y: Any, block: Any) -> Swept:
            found = namespace(y).clip(blocks.residuals(y, block, centers), floor, None)
            return Swept(rows=[found, 0.5 / found if robust else namespace(y).ones_like(found)])

        found = sweep(scores, Y, self.labels_, width=Y.shape[1], budget=2**19)
        self.outlier_scores_, self.sample_weights_ = found.rows
        return Y

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        centers, floor, robust = to_host(self.cluster_centers_), self.residual_floor_, self._is_robust

        def loss(y: Any, block: Any, w: Any) -> Swept:
            values = losses(blocks.residuals(y, block, centers), floor, robust)
            return Swept(sums=[namespace(y).sum(values if w is None else values * w)])

        return -float(sweep(loss, Y, labels, weights, width=Y.shape[1]).sums[0])


class RobustEmbeddedClustering(_RobustClusterer):
    r"""Clusters that outliers do not pull, in the subspace that shows them (EC).

    .. math:: \min_{W'W = I,\, G,\, F} \; \sum_i \lVert x_i W - f_i G \rVert_2

    ======== ====================================================================
    symbol   meaning
    ======== ====================================================================
    x_i      row i, centred
    W        orthonormal projection, ``components_.T``
    f_i, G   one-hot label of row i, centroids: ``labels_``, ``cluster_centers_``
    d_i      weight of row i, ``1 / (2 |x_i W - f_i G|)``: ``sample_weights_``
    ======== ====================================================================

    Distances are not squared, so a far row pulls no harder than a near one. Each step takes weighted centroids, nearest
    labels, new weights d, and W as the directions of least weighted within-cluster scatter; the objective never
    increases. With ``robust=False`` distances are squared and the weights stay 1: unsupervised orthogonal least squares
    discriminant analysis (OLSDA).

    Robust to many moderate outliers, not to a few enormous ones, at which ``variance`` points and which can seize a
    cluster each: remove those first.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int, default=None
        Dimension of the subspace; None is 95% of the dimensions that ``variance`` leaves. The method *drops* directions
        in which clusters are wide, so few components mean that hardly any of the data is looked at.
    robust : bool, default=True
        Whether distances stay unsquared.
    variance : float, default=0.9
        Share of the variance kept first, by PCA; None keeps the numerical rank, in which the method collapses when
        there are more features than rows.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
        ``min(n_samples, n_features) > 4000``.
    init : {"k-means++", "pca", "random"} or array of labels, default="k-means++"
        k-means in the reduced coordinates, in the leading ``n_components`` of them; "random" is the paper's random
        labels and subspace, which does worse; or labels 0..n_clusters-1 to start from. Robust k-means starts let rows
        count less that lie beyond twice the median distance from the mean, where that leaves the centers nearer.
    n_init : int, default=1
        Runs, the best of which is kept. With ``init="pca"`` they start in turn from PCA, from a random subspace and
        from a random partition.
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
        Cluster of each row, 0 being the largest; equal to ``predict`` of the training data.
    components_ : array of shape (n_components, n_features)
        Orthonormal rows that span the subspace.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Weighted centroids in the embedding.
    mean_ : array of shape (n_features,)
        Mean row, subtracted first.
    sample_weights_ : array of shape (n_samples,)
        The weights d; small means outlier. Ones if not robust.
    outlier_scores_ : array of shape (n_samples,)
        Distance of each row from its centroid in the embedding; large means outlier.
    residual_floor_ : float
        Distances below this count as this long in the weights (1e-6 of the data's RMS radius).
    objective_ : float
        The sum of distances; below the floor ``r^2 / (2 floor) + floor / 2`` takes the place of r, which is what
        floored weights minimise. The sum of squared distances if not robust.
    objective_history_ : array, one value per iteration
        Objective after each iteration of the winning run.
    n_iter_ : int
        Iterations of the winning run.
    converged_ : bool
        Whether it converged before ``max_iter``.
    variance_share_, within_share_, rank_, variance_kept_, exact_, n_passes_
        As in :class:`DiscriminativeEmbeddedClustering`.

    References
    ----------
    R. Zhang, F. Nie and X. Li, "Embedded clustering via robust orthogonal least square discriminant analysis",
    ICASSP 2017.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(500, 30, 4, separation=8, n_nuisance=2, outliers=0.05, random_state=0)
    >>> ec = jc.RobustEmbeddedClustering(4, random_state=0).fit(X)
    >>> ec.sample_weights_.shape
    (500,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **JointClusterer._parameter_constraints,
        "robust": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        robust: bool = True,
        variance: float | None = 0.9,
        max_rank: int = 500,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.robust = robust
        self.variance = variance
        self.max_rank = max_rank
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _is_robust(self) -> bool:
        return self.robust

    def _n_components(self, coordinates: Coordinates) -> int:
        return resolve_n_components(self.n_components, round(_SHARE * coordinates.rank), coordinates)

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _Robust:
        return self._robust_method(coordinates, n_components)

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        if self.init != "random":
            return super()._start(index, coordinates, n_components, rng)
        # The paper's start: labels from random centroids in a random subspace.
        Y = coordinates.embed(random_orthonormal(coordinates.rank, n_components, rng))
        labels = coordinates.rows.beside(rng.randint(self.n_clusters, size=coordinates.n_samples).astype(np.int32))
        nearest = assign(Y, centers_of(Y, labels, self.n_clusters, coordinates.weights))
        return fill_empty(Y, nearest, self.n_clusters, coordinates.weights)

    def _plain_kmeans_reason(self, coordinates: Coordinates, n_components: int) -> str | None:
        if n_components < coordinates.rank:
            return None
        kind = "robust k-means" if self.robust else "k-means"
        lower = "Lower n_components or raise variance" if n_components > 1 else "Raise variance"
        return (
            f"nothing is left to drop (n_components={n_components} is the rank of the reduced data), which makes it "
            f"{kind} there. {lower}."
        )


class RobustKMeans(_RobustClusterer):
    r"""k-means with unsquared distances, which outliers pull less (RMKMC on one view).

    .. math:: \min_{G,\, F} \; \sum_i \lVert x_i - f_i G \rVert_2

    ======== ======================================================
    symbol   meaning
    ======== ======================================================
    x_i      row i, centred (and projected by PCA, if asked)
    f_i, G   one-hot label of row i, centroids
    d_i      weight of row i, ``1 / (2 |x_i - f_i G|)``
    ======== ======================================================

    Each step takes centroids weighted by d, nearest labels and new weights; the objective never increases.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int, default=None
        Principal components to work in; None is the full space, where ``transform`` returns ``X - mean_`` and X has
        to be dense.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
        ``min(n_samples, n_features) > 4000``.
    init : {"k-means++", "pca", "random"} or array of labels, default="k-means++"
        k-means in all coordinates, in the leading ``n_components``, in a random subspace; or labels to start from. Rows
        beyond twice the median distance from the mean count less, where that leaves the centers nearer.
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
        Cluster of each row, 0 being the largest; equal to ``predict`` of the training data.
    components_ : array of shape (n_components, n_features)
        Principal axes; only with ``n_components``.
    cluster_centers_ : array of shape (n_clusters, n_components or n_features)
        Weighted centroids in the embedding.
    mean_ : array of shape (n_features,)
        Mean row, subtracted first.
    sample_weights_, outlier_scores_, residual_floor_, objective_, objective_history_, n_iter_, converged_
        As in :class:`RobustEmbeddedClustering`.

    References
    ----------
    X. Cai, F. Nie and H. Huang, "Multi-view k-means clustering on big data", IJCAI 2013.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(500, 30, 4, separation=8, n_nuisance=2, outliers=0.05, random_state=0)
    >>> jc.RobustKMeans(4, random_state=0).fit(X).cluster_centers_.shape
    (4, 30)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        key: value for key, value in JointClusterer._parameter_constraints.items() if key != "variance"
    }
    variance = None  # not a parameter: there is nothing to reduce, or n_components does it

    def __init__(
        self,
        n_clusters: int = 8,
        *,
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
        self.n_components = n_components
        self.max_rank = max_rank
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _in_full_space(self) -> bool:
        return self.n_components is None

    def _n_components(self, coordinates: Coordinates) -> int:
        return resolve_n_components(self.n_components, coordinates.rank, coordinates)

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _Robust:
        if self._in_full_space:
            embedding = coordinates.rows.project(None, coordinates.mean)
        else:
            embedding = coordinates.leading(n_components)
        return self._robust_method(coordinates, n_components, embedding)

    def _collapse_remedy(self) -> str:
        return "Lower n_clusters, or set n_components to a few principal components."
