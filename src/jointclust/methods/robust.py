"""Robust embedded clustering (Zhang, Nie and Li, 2017), unsupervised OLSDA, and the base of robust k-means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import Limits
from jointclust.estimators.joint import JointClusterer, JointRun, started
from jointclust.exceptions import CollapseWarning, tell
from jointclust.methods.kernel_features import KernelClusterer
from jointclust.numerics.linalg import bottom_eigenvectors, random_orthonormal
from jointclust.numerics.partitions import (
    Partition,
    assign,
    at_rest,
    centers_of,
    cluster_sizes,
    fill_empty,
    keep,
    means,
    squared_distances,
)
from jointclust.numerics.spread import weighted_median
from jointclust.rows import Swept, blocks, sweep
from jointclust.rows.arrays import namespace, to_host
from jointclust.subspace.alternating import Method, State
from jointclust.subspace.coordinates import Block, Clusters, Coordinates
from jointclust.subspace.directions import margin_directions, principal_axes, tie_break
from jointclust.subspace.starts import robust_start_labels, start_kind
from jointclust.types import Array, Float, Labels, Sweepable

# The least residual, as a share of the data's RMS radius.
_FLOOR = 1e-6
# Share of the reduced dimensions that EC keeps by default: the evidence is in docs/evidence.
_SHARE = 0.95
# "auto" cap, in medians of the distance from the own center at the start.
_CAP = 3.0


@dataclass(frozen=True, eq=False)
class RobustState(State):
    """A state with the weight of each row, d times its own, and the weighted sums that the next step is made of."""

    row_weights: Array
    sums: Float
    sizes: Float
    scatter: Any = None  # of all rows, where the projection depends on it


@dataclass(frozen=True)
class Loss:
    """``h(r)``: r above the floor and a parabola that touches it there below, which floored weights minimise.

    If not robust it is ``r^2``, and all rows count alike; the floor then only bounds the published distances from
    below. Beyond the cap the loss is constant, and a row has no weight.
    """

    floor: float
    robust: bool
    cap: float = np.inf

    def losses(self, lengths: Array) -> Array:
        xp, floor = namespace(lengths), self.floor
        if not self.robust:
            return lengths**2
        smooth = xp.where(lengths > floor, lengths, lengths**2 / (2 * floor) + floor / 2)
        return smooth if np.isinf(self.cap) else xp.clip(smooth, None, self.cap)

    def row_weights(self, lengths: Array) -> Array:
        """The weights d with which squares stand for the losses."""
        xp = namespace(lengths)
        if not self.robust:
            return xp.ones_like(lengths)
        weights = 0.5 / xp.clip(lengths, self.floor, None)
        return weights if np.isinf(self.cap) else xp.where(lengths < self.cap, weights, xp.zeros_like(weights))


def residual_floor(coordinates: Coordinates) -> float:
    """The length below which a residual counts as this long, so that no weight is infinite."""
    radius = float(np.sqrt(coordinates.total_variance / coordinates.mass))
    return _FLOOR * (radius or 1.0)


def middle_distance(clusters: Clusters, projection: Float) -> float:
    """The median distance of rows from their centers in an embedding."""
    Y, centers = clusters.coordinates.embed(projection), clusters.centers(projection)
    visit = lambda y, own: Swept(rows=[blocks.residuals(y, own, centers)])  # noqa: E731
    swept = sweep(visit, Y, clusters.labels, width=Y.shape[1])
    return weighted_median(swept.rows[0], clusters.coordinates.weights)


def weigh(y: Array, labels: Array, centers: Float, own: Array | None, loss: Loss) -> tuple[Array, Array]:
    """Loss and total weights of a block."""
    xp, lengths = namespace(y), blocks.residuals(y, labels, centers)
    losses, weights = loss.losses(lengths), loss.row_weights(lengths)
    return (xp.sum(losses), weights) if own is None else (xp.sum(own * losses), own * weights)


@dataclass
class RobustSteps(Method):
    """Steps of labels, centers and row weights; a subclass says which embedding they look at."""

    coordinates: Coordinates
    n_components: int
    loss: Loss
    tol: float

    # Rounds of labels and weights at the end, until they rest in the final embedding.
    most_rounds: ClassVar[int] = 300

    @property
    def published(self) -> dict[str, float]:
        return {"residual_floor_": self.loss.floor}

    def rests(self, start: Clusters, previous: State | None, state: State) -> bool:
        """Never: the weights of the rows still change when the labels do not."""
        return False

    def merit(self, state: State, *, final: bool = False) -> float:
        return -state.objective

    def objective(self, clusters: Clusters, projection: Float, Y: Sweepable, centers: Array) -> float:
        return self._weighed(Y, clusters.labels, to_host(centers))[0]

    def settle(self, Y: Sweepable, state: State) -> Partition:
        labels, n_clusters = state.clusters.labels, state.clusters.n_clusters
        weights = state.row_weights if isinstance(state, RobustState) else self.coordinates.weights
        before = np.inf
        for _ in range(self.most_rounds):
            centers = centers_of(Y, labels, n_clusters, weights)
            new, centers = self._assign(Y, centers, weights)
            objective, weights = self._weighed(Y, new, centers)
            rest = at_rest(labels, new, n_clusters, self.coordinates.weights)
            rest = rest and before - objective <= self.tol * objective
            labels, before = new, objective
            if rest:
                break
        return Partition(labels, centers, objective)

    def _repaired(self, Y: Sweepable, labels: Labels, centers: Float) -> tuple[Labels, float, Array]:
        """Labels, objective and weights of a step in which clusters went empty: each takes a far row as its center."""
        weights = self._weighed(Y, labels, centers)[1]
        labels, centers = self._assign(Y, centers, weights)
        objective, weights = self._weighed(Y, labels, centers)
        return labels, objective, weights

    def _assign(self, Y: Sweepable, centers: Float, weights: Array | None) -> tuple[Labels, Float]:
        """Nearest centers; an empty cluster takes a far row and has its center there."""
        nearest, known = self.label(Y, centers), self.coordinates.known
        labels = fill_empty(self.coordinates.together(Y), nearest, len(centers), weights, known)
        if labels is not nearest:
            filled = (cluster_sizes(nearest, len(centers)) == 0) & (cluster_sizes(labels, len(centers)) > 0)
            centers = np.where(filled[:, None], centers_of(Y, labels, len(centers)), centers)
        return labels, centers

    def label(self, Y: Sweepable, centers: Array) -> Labels:
        """Nearest centers; of a group, the one with the least loss of all its rows."""
        groups, known, loss, host = self.coordinates.groups, self.coordinates.known, self.loss, to_host(centers)
        if groups is None:
            return assign(Y, centers, known)

        def losses(y: Array) -> Swept:
            return Swept(rows=[loss.losses(namespace(y).sqrt(squared_distances(y, host)))])

        shared = groups.averaged(sweep(losses, Y, width=len(host)).rows[0])
        xp = namespace(shared)
        return keep(xp.astype(xp.argmin(shared, axis=1), xp.int32), known)

    def _weighed(self, Y: Sweepable, labels: Labels, centers: Float) -> tuple[float, Array]:
        """The objective, and the total weights that go with its residuals."""
        loss = self.loss

        def visit(y: Array, block: Labels, own: Array | None) -> Swept:
            total, weights = weigh(y, block, centers, own, loss)
            return Swept(rows=[weights], sums=[total])

        swept = sweep(visit, Y, labels, self.coordinates.weights, width=Y.shape[1], budget=2**19)
        return float(swept.sums[0]), swept.rows[0]

    def _lost_one(self, labels: Labels, sizes: Float) -> bool:
        """Whether a cluster has no rows left; one whose rows have no weight is none."""
        return bool((sizes == 0).any()) and bool(
            (cluster_sizes(labels, sizes.size, self.coordinates.weights) == 0).any()
        )


@dataclass
class _Subspace(RobustSteps):
    """EC: the projection with the least scatter within clusters, rows weighted by d.

    In OLSDA, which is not robust, all rows count alike, so it keeps only labels.
    """

    def project(self, clusters: Clusters) -> Float:
        return margin_directions(clusters, self.n_components, np.inf)

    def step(self, start: Clusters, previous: State | None) -> State:
        if not isinstance(previous, RobustState):
            clusters = start if previous is None else previous.clusters
            projection = self.project(clusters)
            return self._visit(clusters, projection, clusters.centers(projection))
        scaled = means(previous.sums, np.sqrt(previous.sizes))
        within = previous.scatter - scaled.T @ scaled
        least = tie_break(float(np.trace(within)), float(np.trace(previous.scatter)))
        projection = bottom_eigenvectors(within - least * previous.scatter, self.n_components)
        centers = means(previous.sums, previous.sizes) @ projection
        return self._visit(previous.clusters, projection, centers)

    def _visit(self, clusters: Clusters, projection: Float, centers: Float) -> State:
        """Nearest labels, their loss, new weights, and the sums for the next step: all in one pass."""
        coordinates, loss, n_clusters = self.coordinates, self.loss, clusters.n_clusters

        def visit(block: Block) -> Swept:
            labels = block.nearest(centers)
            total, weights = weigh(block.y, labels, centers, block.weights, loss)
            if not loss.robust:
                return Swept(rows=[labels], sums=[total, *block.cluster_sums(labels, n_clusters, block.weights)])
            sums = block.cluster_sums(labels, n_clusters, weights)
            return Swept(rows=[labels, weights], sums=[total, *sums, block.scatter(weights)])

        here = coordinates
        if here.groups is not None:  # a block does not hold all rows of a group: the labels are found before
            here = replace(here, known=self.label(here.embed(projection), centers))
        swept = here.sweep(visit, projection, budget=2**20)
        (labels, *weights), (total, sums, sizes, *scatters) = swept.rows, swept.sums
        if self._lost_one(labels, sizes):
            labels, total, own = self._repaired(coordinates.embed(projection), labels, centers)
            if not loss.robust:
                return State(clusters.relabelled(labels), projection, float(total))
            sums, sizes = coordinates.sums(labels, n_clusters, own), cluster_sizes(labels, n_clusters, own)
            scatter = coordinates.scatter(own)
        elif not loss.robust:
            clusters = Clusters(coordinates, labels, n_clusters, coordinates.inside(sums))
            return State(clusters, projection, float(total))
        else:
            own, sums, scatter = weights[0], coordinates.inside(sums), coordinates.inside_both(scatters[0])
        return RobustState(clusters.relabelled(labels), projection, float(total), own, sums, sizes, scatter)


def published_loss(model: RobustClusterer) -> Loss:
    """The loss of a fitted estimator."""
    return Loss(model.residual_floor_, model.robust, model.__dict__.get("cap_", np.inf))


class RobustClusterer(JointClusterer):
    """What robust embedded clustering and robust k-means share."""

    _per_row = (*JointClusterer._per_row, "sample_weights_", "outlier_scores_")

    robust = True

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """k-means in which far rows count less, or plain k-means: whichever centers are nearer to the rows."""
        plain = super()._start(index, coordinates, n_components, rng)
        if not self.robust:
            return plain
        kind, n_restarts = start_kind(str(self.init), index), self._start_restarts()
        return robust_start_labels(kind, plain, coordinates, self.n_clusters, n_components, rng, n_restarts)

    def _publish(self, coordinates: Coordinates, method: Method, run: JointRun) -> NDArray:
        if not self._in_full_space:
            # Distances do not change when axes turn within the subspace: turn them to what a user would look at.
            projection = principal_axes(coordinates, run.state.projection)
            run = replace(run, state=replace(run.state, projection=projection))
        Y = super()._publish(coordinates, method, run)
        loss, centers = published_loss(self), self.cluster_centers_

        def scores(y: Array, block: Labels) -> Swept:
            residuals = namespace(y).clip(blocks.residuals(y, block, centers), loss.floor, None)
            return Swept(rows=[residuals, loss.row_weights(residuals)])

        swept = sweep(scores, Y, self.labels_, width=Y.shape[1], budget=2**19)
        self.outlier_scores_, self.sample_weights_ = swept.rows
        return Y

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        centers, loss = to_host(self.cluster_centers_), published_loss(self)

        def total(y: Array, block: Labels, w: Array | None) -> Swept:
            values = loss.losses(blocks.residuals(y, block, centers))
            return Swept(sums=[namespace(y).sum(values if w is None else values * w)])

        return -float(sweep(total, Y, labels, weights, width=Y.shape[1]).sums[0])


@dataclass(eq=False, repr=False, kw_only=True)
class RobustEmbeddedClustering(KernelClusterer, RobustClusterer):
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
    cluster each: remove those first. With ``loss="capped"`` distances count up to ``cap_`` at the most, and rows beyond
    it do not pull at all.

    Parameters
    ----------
    n_clusters
    n_components : int, default=None
        Dimension of the subspace; None is 95% of the dimensions that ``variance`` leaves. The method *drops* directions
        in which clusters are wide, so few components mean that hardly any of the data is looked at.
    robust : bool, default=True
        Whether distances stay unsquared.
    loss : {"l21", "capped"}, default="l21"
        The distance, or the smaller of it and the cap.
    cap : float or "auto", default="auto"
        Of the capped loss. "auto" is three times the median distance of a row from its center at the start.
    kernel : {"linear", "rbf", "poly", "cosine", "nearest_neighbors", "precomputed"} or callable, default="linear"
        With another than "linear" the method works on features whose inner products are the kernel (kernel PCA), new
        rows included; ``dual_coef_`` then takes the place of ``components_``. Kernels are those of
        :class:`OptimalDiscriminantClustering`. A kernel has about as many directions as there are rows: keep
        few (``variance=0.9``, or less).
    gamma, degree, coef0, n_neighbors, n_landmarks, landmarks
    variance : float, default=0.9
        Share of the variance kept first, by PCA; None keeps the numerical rank, in which the method collapses when
        there are more features than rows.
    max_rank
    init : {"k-means++", "pca", "random"} or array of labels, default="k-means++"
        k-means in the reduced coordinates, in the leading ``n_components`` of them; "random" is the paper's random
        labels and subspace, which does worse; or labels 0..n_clusters-1 to start from. Robust k-means starts let rows
        count less that lie beyond twice the median distance from the mean, where that leaves the centers nearer.
    n_init : int, default=1
        Runs, the best of which is kept. With ``init="pca"`` they start in turn from PCA, from a random subspace and
        from a random partition.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    components_ : array of shape (n_components, n_features)
        Orthonormal rows that span the subspace.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Weighted centroids in the embedding.
    mean_
    sample_weights_ : array of shape (n_samples,)
        The weights d; small means outlier. Ones if not robust.
    outlier_scores_ : array of shape (n_samples,)
        Distance of each row from its centroid in the embedding; large means outlier.
    residual_floor_ : float
        Distances below this count as this long in the weights (1e-6 of the data's RMS radius).
    cap_ : float
        The cap; only of the capped loss.
    objective_ : float
        The sum of distances, each capped if the loss is; below the floor ``r^2 / (2 floor) + floor / 2`` takes the
        place of r, which is what floored weights minimise. The sum of squared distances if not robust.
    objective_history_, n_iter_, converged_, variance_share_, within_share_, rank_, variance_kept_, exact_, n_passes_

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

    _limits: ClassVar[Limits] = {
        "robust": ["boolean"],
        "loss": [StrOptions({"l21", "capped"})],
        "cap": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    }
    robust: bool = True
    loss: str = "l21"
    cap: float | str = "auto"
    variance: float | None = 0.9

    def _wanted_components(self, rank: int) -> int:
        return round(_SHARE * rank)

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> RobustSteps:
        loss = Loss(residual_floor(coordinates), self.robust, self.__dict__.get("cap_", np.inf))
        return _Subspace(coordinates, n_components, loss, self.tol)

    def _prepare(
        self, coordinates: Coordinates, n_components: int, given: NDArray | None, rng: np.random.RandomState
    ) -> None:
        """The cap from one start, so that runs have the same objective."""
        self.__dict__.pop("cap_", None)
        if self.loss == "l21":
            if self.cap != "auto":
                tell(f"cap={self.cap} is not used by loss='l21'.", UserWarning)
            return
        if not self.robust:
            raise ValueError("loss='capped' caps distances that are not squared: set robust=True, or loss='l21'.")
        cap = self.cap
        if cap == "auto":
            start = started(self, 0, coordinates, n_components, rng) if given is None else given
            clusters = coordinates.clusters(start, self.n_clusters)
            middle = middle_distance(clusters, margin_directions(clusters, n_components, np.inf))
            cap = max(_CAP * middle, residual_floor(coordinates))
        self.cap_ = float(cap)

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        if self.init != "random" or coordinates.known is not None:
            return super()._start(index, coordinates, n_components, rng)
        # The paper's start: labels from random centroids in a random subspace.
        Y = coordinates.embed(random_orthonormal(coordinates.rank, n_components, rng))
        labels = coordinates.rows.beside(rng.randint(self.n_clusters, size=coordinates.n_samples).astype(np.int32))
        nearest = assign(Y, centers_of(Y, labels, self.n_clusters, coordinates.weights))
        return fill_empty(Y, nearest, self.n_clusters, coordinates.weights)

    def _warn(self, coordinates: Coordinates, method: Method, run: JointRun) -> None:
        super()._warn(coordinates, method, run)
        if self.loss == "l21" or coordinates.is_constant:
            return
        limit = self.cap_

        def far(scores: Array, w: Array | None) -> Swept:
            beyond = namespace(scores).astype(scores >= limit, namespace(scores).float64)
            return Swept(sums=[namespace(scores).sum(beyond if w is None else beyond * w)])

        share = float(sweep(far, self.outlier_scores_, coordinates.weights).sums[0]) / coordinates.mass
        if share > 0.5:
            tell(f"{share:.0%} of the rows lie beyond cap={limit:.3g} and do not count. Raise it.", CollapseWarning)

    def _plain_kmeans_reason(self, coordinates: Coordinates, n_components: int) -> str | None:
        if n_components < coordinates.rank:
            return None
        kind = "robust k-means" if self.robust else "k-means"
        lower = "Lower n_components or raise variance" if n_components > 1 else "Raise variance"
        return (
            f"nothing is left to drop (n_components={n_components} is the rank of the reduced data), which makes it "
            f"{kind} there. {lower}."
        )
