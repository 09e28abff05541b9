"""Robust k-means of several views (Cai, Nie and Huang, 2013)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from jointclust._sklearn import Interval, get_feature_names
from jointclust.estimators.base import Limits
from jointclust.estimators.joint import JointRun
from jointclust.exceptions import tell
from jointclust.methods.robust import Loss, RobustSteps, published_loss, residual_floor
from jointclust.methods.robust_kmeans import RobustKMeans
from jointclust.numerics.partitions import (
    Partition,
    centers_of,
    cluster_sizes,
    fill_empty,
    keep,
    means,
    squared_distances,
)
from jointclust.rows import Rows, Swept, as_rows, blocks, sweep
from jointclust.rows.arrays import is_sparse, namespace, to_host
from jointclust.subspace.alternating import Method, State
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.decomposition import check_weights, coordinates_of
from jointclust.types import Array, Float, Labels, Sweepable
from jointclust.views.blocks import about_block, as_fitted, blocks_in, check_lengths, check_row_names
from jointclust.views.kinds import listed


@dataclass(frozen=True, eq=False)
class Views:
    """Where the columns of each view end in a row of all of them, and the factors ``a_v^g`` of the views' losses."""

    ends: tuple[int, ...]
    factors: Float

    @property
    def columns(self) -> list[slice]:
        return columns_of(self.ends)

    def residuals(self, y: Array, labels: Array, centers: Float) -> list[Array]:
        """Distances of rows from their centers, by view."""
        return [blocks.residuals(y[:, own], labels, centers[:, own]) for own in self.columns]

    def losses(self, y: Array, centers: Float, loss: Loss) -> Any:
        """What each row would lose with each center, over all views."""
        lengths = [namespace(y).sqrt(squared_distances(y[:, own], centers[:, own])) for own in self.columns]
        return sum(factor * loss.losses(one) for factor, one in zip(self.factors.tolist(), lengths, strict=True))

    def labels(self, Y: Sweepable, centers: Float, loss: Loss) -> Labels:
        """The center with which each row loses least; the first one on a tie."""

        def visit(y: Array) -> Swept:
            xp = namespace(y)
            return Swept(rows=[xp.astype(xp.argmin(self.losses(y, centers, loss), axis=1), xp.int32)])

        return sweep(visit, Y, width=len(centers) + Y.shape[1]).rows[0]


@dataclass(frozen=True, eq=False)
class _ViewState(State):
    """A state with the weights of the views, and the sums and sizes of clusters in each that the next is made of."""

    sums: Sequence[Float]
    sizes: Sequence[Float]
    view_weights: Float


@dataclass
class _ViewSteps(RobustSteps):
    """Centers weighted by d, labels, then the weights of the views, and d of each view."""

    embedding: Sweepable
    ends: tuple[int, ...]
    exponent: float
    view_weights: Float
    varies: NDArray[np.bool_]

    def views(self, weights: Float | None = None) -> Views:
        return Views(self.ends, (self.view_weights if weights is None else weights) ** self.exponent)

    def project(self, clusters: Clusters) -> Float:
        return np.eye(self.coordinates.rank)

    def step(self, start: Clusters, previous: State | None) -> _ViewState:
        Y, n_clusters = self.embedding, start.n_clusters
        if isinstance(previous, _ViewState):
            clusters, weights = previous.clusters, previous.view_weights
            centers = _centers(previous.sums, previous.sizes)
        else:
            clusters, weights = start, self.view_weights
            centers = centers_of(Y, start.labels, n_clusters, self.coordinates.weights)
        labels, centers = self._filled(Y, self._labels(Y, centers, weights), centers)
        totals, sums, sizes = self._sums(Y, labels, centers, n_clusters)
        weights = best_view_weights(np.where(self.varies, totals, np.inf), self.exponent)
        objective = float(weights**self.exponent @ totals)
        clusters, projection = clusters.relabelled(labels), self.project(clusters)
        return _ViewState(clusters, projection, objective, sums, sizes, weights)

    def _sums(
        self, Y: Sweepable, labels: Labels, centers: Float, n_clusters: int
    ) -> tuple[Float, Sequence[Float], Sequence[Float]]:
        """Losses of the views, and in each of them the sums and sizes of clusters, rows weighted by d."""
        views, loss = self.views(), self.loss

        def visit(y: Array, block: Array, w: Array | None) -> Swept:
            xp, lengths = namespace(y), views.residuals(y, block, centers)
            own = [loss.row_weights(one) if w is None else w * loss.row_weights(one) for one in lengths]
            losses = [loss.losses(one) if w is None else w * loss.losses(one) for one in lengths]
            pairs = zip(views.columns, own, strict=True)
            parts = [blocks.sums_and_sizes(y[:, columns], block, n_clusters, d, None) for columns, d in pairs]
            return Swept(sums=[xp.stack([xp.sum(one) for one in losses]), *(part for pair in parts for part in pair)])

        swept = sweep(visit, Y, labels, self.coordinates.weights, width=Y.shape[1], budget=2**20)
        totals, *parts = swept.sums
        return totals, parts[::2], parts[1::2]

    def _labels(self, Y: Sweepable, centers: Float, weights: Float) -> Labels:
        views, groups, loss, known = self.views(weights), self.coordinates.groups, self.loss, self.coordinates.known
        if groups is None:
            return keep(views.labels(Y, centers, loss), known)
        visit = lambda y: Swept(rows=[views.losses(y, centers, loss)])  # noqa: E731
        shared = groups.averaged(sweep(visit, Y, width=len(centers) + Y.shape[1]).rows[0])
        xp = namespace(shared)
        return keep(xp.astype(xp.argmin(shared, axis=1), xp.int32), known)

    def _filled(self, Y: Sweepable, nearest: Labels, centers: Float) -> tuple[Labels, Float]:
        """An empty cluster takes a far row and has its center there."""
        weights, known, n_clusters = self.coordinates.weights, self.coordinates.known, len(centers)
        labels = fill_empty(self.coordinates.together(Y), nearest, n_clusters, weights, known)
        if labels is nearest:
            return labels, centers
        filled = (cluster_sizes(nearest, n_clusters) == 0) & (cluster_sizes(labels, n_clusters) > 0)
        return labels, np.where(filled[:, None], centers_of(Y, labels, n_clusters), centers)

    def settle(self, Y: Sweepable, state: State) -> Partition:
        """Centers that suit the weights of the last step, and the labels that suit them."""
        assert isinstance(state, _ViewState)
        centers = _centers(state.sums, state.sizes)
        labels, centers = self._filled(Y, self.label(Y, centers), centers)
        return Partition(labels, centers, state.objective)

    def label(self, Y: Sweepable, centers: Array) -> Labels:
        return self._labels(Y, to_host(centers), self.view_weights)

    def objective(self, clusters: Clusters, projection: Float, Y: Sweepable, centers: Array) -> float:
        totals = self._sums(Y, clusters.labels, to_host(centers), clusters.n_clusters)[0]
        return float(self.view_weights**self.exponent @ totals)


def _centers(sums: Sequence[Float], sizes: Sequence[Float]) -> Float:
    """Weighted means of the clusters in each view, side by side."""
    return np.hstack([means(*parts) for parts in zip(sums, sizes, strict=True)])


def best_view_weights(losses: Float, exponent: float) -> Float:
    """The weights ``a_v`` that sum to 1 with the least ``sum_v a_v^g H_v``: ``H_v^(1/(1-g))``, scaled."""
    powers = (losses / losses.min()) ** (1.0 / (1.0 - exponent))
    return powers / powers.sum()


@dataclass(eq=False, repr=False, kw_only=True)
class MultiViewKMeans(RobustKMeans):
    r"""k-means of several views of the same rows, with unsquared distances and learned weights of the views (RMKMC).

    .. math:: \min_{F,\, C_v,\, a} \; \sum_v a_v^g \sum_i \lVert x_{vi} - f_i C_v \rVert_2, \quad
              a \ge 0, \; \sum_v a_v = 1

    ======== ======================================================================
    symbol   meaning
    ======== ======================================================================
    x_vi     row i in view v, centred and scaled
    f_i      one-hot label of row i, the same in all views
    C_v      centroids in view v: columns of ``cluster_centers_``
    a_v      weight of view v, ``view_weights_``
    g        ``exponent``
    ======== ======================================================================

    ``fit`` takes a dict of blocks by name, or a list of two-dimensional arrays, with the same rows; ``predict`` and
    ``transform`` take the same blocks of new rows. Anything else is one view, and the method is :class:`RobustKMeans`.

    Each step takes centroids weighted by ``d_vi = 1 / (2 |x_vi - f_i C_v|)``, the label with the least loss over all
    views, and the view weights ``a_v ~ H_v^(1/(1-g))`` of the views' losses H_v; the objective never increases. The
    paper's labels minimise a bound on the loss that is made of the weights d; ours minimise the loss itself. Wherever
    ours rest, the paper's rest too.

    Parameters
    ----------
    n_clusters
    exponent : float, default=2
        The value g, above 1 and up to 100. Near 1 all weight is on the view that shows the clusters best; a large one
        weighs views alike.
    scale_views : bool, default=True
        Scale each view to the same total scatter first; otherwise wide views, and those in small units, decide.
    n_components : int, default=None
        Of one view only: principal components to work in; None is the full space.
    max_rank
    init : {"k-means++", "pca", "random"} or array of labels, default="k-means++"
        k-means in all coordinates of all views, or as in :class:`RobustKMeans`; or labels to start from.
    n_init : int, default=1
        Runs, the best of which is kept.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    view_weights_ : array of shape (n_views,)
        The weights a, which sum to 1; 0 for a view that does not vary, whose loss would otherwise be least.
    view_names_ : list of str
        The names of the blocks; their numbers, from 0 on, where they have none.
    view_scales_ : array of shape (n_views,)
        What the views were multiplied by; their mean total scatter stays.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Weighted centroids, views side by side, in the embedding.
    mean_ : array of shape (n_features,)
        Mean row of the scaled views.
    sample_weights_, outlier_scores_
        The score is what a row adds to the objective; the weight is one over twice that, small for an outlier.
    components_, residual_floor_, objective_, objective_history_, n_iter_, converged_
        As in :class:`RobustEmbeddedClustering`.

    References
    ----------
    X. Cai, F. Nie and H. Huang, "Multi-view k-means clustering on big data", IJCAI 2013.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(300, 20, 3, random_state=0)
    >>> model = jc.MultiViewKMeans(3, random_state=0).fit({"left": X[:, :12], "right": X[:, 12:]})
    >>> model.view_weights_.shape, model.predict([X[:5, :12], X[:5, 12:]]).shape
    ((2,), (5,))
    """

    _limits: ClassVar[Limits] = {"exponent": [Interval(Real, 1, 100, closed="right")], "scale_views": ["boolean"]}

    exponent: float = 2.0
    scale_views: bool = True

    # -- the views ----------------------------------------------------------------------------------------------

    def _validated(self, X: Any, *, reset: bool = True, ensure_min_samples: int = 1, **options: Any) -> Any:
        given = blocks_of(X)
        if given is None:
            if reset:
                self.view_names_, self._ends = ["0"], ()
            return super()._validated(X, reset=reset, ensure_min_samples=ensure_min_samples, **options)
        if not reset:
            given = in_order_of_fit(given, self.view_names_)
        arrays = [checked_block(name, block, ensure_min_samples) for name, block in given.items()]
        check_lengths({name: len(one) for name, one in zip(given, arrays, strict=True)})
        check_row_names(given)
        columns = {name: get_feature_names(block) for name, block in given.items()}
        columns = {name: names.tolist() for name, names in columns.items() if names is not None}
        if reset:
            self.view_names_, self._ends = list(given), tuple(np.cumsum([one.shape[1] for one in arrays]).tolist())
            self._columns = columns
        elif (widths := np.diff([0, *self._ends]).tolist()) != [one.shape[1] for one in arrays]:
            new_widths = ", ".join(f"{name!r} {one.shape[1]}" for name, one in zip(given, arrays, strict=True))
            raise ValueError(f"The blocks have columns {new_widths}; those of fit had {widths}.")
        else:
            check_same_columns(vars(self).get("_columns", {}), columns)
        return super()._validated(np.hstack(arrays), reset=reset, ensure_min_samples=ensure_min_samples, **options)

    def _coordinates_of(
        self, X: Any, sample_weight: ArrayLike | None, rng: np.random.RandomState, **options: Any
    ) -> Coordinates:
        if isinstance(X, Coordinates) or blocks_of(X) is None:
            self.view_names_, self.view_scales_, self._ends = ["0"], np.ones(1), ()
            return super()._coordinates_of(X, sample_weight, rng, **options)
        rows = self._validated(X, ensure_min_samples=2)
        weights = check_weights(sample_weight, rows)
        if len(self._ends) > 1 and self.n_components is not None:
            raise ValueError(
                f"n_components={self.n_components} is for one view, and X has {len(self.view_names_)} blocks: reduce "
                "the blocks first, for example with scikit-learn's PCA, and leave it None."
            )
        self.view_scales_ = np.ones(len(self._ends))
        if self.scale_views:
            self.view_scales_ = view_scales(rows, self._ends, weights)
        return coordinates_of(as_rows(scaled(rows, self)), weights, max_rank=self.max_rank, rng=rng)

    def _check(self, X: Any, method: str) -> Rows:
        rows = super()._check(X, method)
        return as_rows(scaled(rows.X, self)) if several(self) else rows

    def inverse_transform(self, Y: ArrayLike) -> NDArray:
        """Rows in the original units of the views, side by side."""
        rows = super().inverse_transform(Y)
        return rows / scaled(np.ones((1, rows.shape[1]), rows.dtype), self) if several(self) else rows

    # -- fit and use --------------------------------------------------------------------------------------------

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Any:
        if not several(self):
            return super()._method(coordinates, n_components, rng)
        embedding, n_views = self._embedding(coordinates, n_components), len(self._ends)
        loss, alike = Loss(residual_floor(coordinates), robust=True), np.full(n_views, 1.0 / n_views)
        varies = varying(to_host(coordinates.rows.X), self._ends, loss.floor)
        if constant := [name for name, one in zip(self.view_names_, varies, strict=True) if not one]:
            tell(f"Blocks that do not vary beside the others have no weight: {', '.join(constant)}.", UserWarning)
        given = (coordinates, n_components, loss, self.tol, embedding, self._ends, float(self.exponent), alike, varies)
        return _ViewSteps(*given)

    def _publish(self, coordinates: Coordinates, method: Method, run: JointRun) -> NDArray:
        self.view_weights_ = np.ones(1)
        if isinstance(method, _ViewSteps) and isinstance(run.state, _ViewState):
            self.view_weights_ = run.state.view_weights
            method = replace(method, view_weights=self.view_weights_)
        Y = super()._publish(coordinates, method, run)
        if several(self):
            self.outlier_scores_, self.sample_weights_ = row_losses(self, Y)
        return Y

    def _predict(self, rows: Rows) -> Labels:
        if not several(self):
            return super()._predict(rows)
        return published_views(self).labels(self._embed(rows), to_host(self.cluster_centers_), published_loss(self))

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        if not several(self):
            return super()._score(Y, labels, weights)
        views, loss, centers = published_views(self), published_loss(self), to_host(self.cluster_centers_)
        least = views.losses(Y, centers, loss).min(axis=1)
        return -float(np.sum(least if weights is None else weights * least))


# -- views of an estimator --------------------------------------------------------------------------------------


def several(model: MultiViewKMeans) -> bool:
    """Whether there is more than one view."""
    return len(getattr(model, "_ends", ())) > 1  # an estimator that is not fitted has none


def published_views(model: MultiViewKMeans) -> Views:
    """The views of a fitted estimator."""
    return Views(model._ends, to_host(model.view_weights_) ** model.exponent)


def row_losses(model: MultiViewKMeans, Y: Sweepable) -> Sequence[Array]:
    """What each row adds to the objective, and one over twice that."""
    views, floor, centers = published_views(model), model.residual_floor_, to_host(model.cluster_centers_)

    def visit(y: Array, labels: Array) -> Swept:
        residuals = zip(views.factors.tolist(), views.residuals(y, labels, centers), strict=True)
        losses = namespace(y).clip(sum(factor * one for factor, one in residuals), floor, None)
        return Swept(rows=[losses, 0.5 / losses])

    return sweep(visit, Y, model.labels_, width=Y.shape[1]).rows


def columns_of(ends: tuple[int, ...]) -> list[slice]:
    """The columns of each view in a row of all of them."""
    return [slice(start, end) for start, end in zip((0, *ends), ends, strict=False)]


def varying(rows: NDArray, ends: tuple[int, ...], least: float) -> NDArray[np.bool_]:
    """Whether any column of each view varies by more than so much; all, if none does."""
    varies = np.array([bool((np.ptp(rows[:, own], axis=0) > least).any()) for own in columns_of(ends)])
    return varies | ~varies.any()


def view_scales(rows: NDArray, ends: tuple[int, ...], weights: Float | None) -> Float:
    """Factors that give every view the mean total scatter; a view without any keeps its own."""
    mean, columns = as_rows(rows).mean(weights), columns_of(ends)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # a later check raises
        totals = np.array([as_rows(rows[:, own]).squared_norm(mean[own], weights) for own in columns])
        rounding = np.array([len(rows) * np.sum((1e-12 * mean[own]) ** 2) for own in columns])
    if not np.isfinite(totals).all():
        return np.ones(totals.size)
    varies = totals > rounding
    return np.sqrt(np.where(varies, totals.mean() / np.where(varies, totals, 1.0), 1.0))


def scaled(rows: NDArray, model: MultiViewKMeans) -> NDArray:
    """Rows of all views, each in its scale."""
    if (model.view_scales_ == 1).all():
        return rows
    return rows * np.repeat(model.view_scales_, np.diff([0, *model._ends])).astype(rows.dtype)


# -- blocks that users give -------------------------------------------------------------------------------------


def in_order_of_fit(given: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """Blocks in the order of fit: by name, or by place where they have no names."""
    if list(given) == [str(place) for place in range(len(names))]:
        return dict(zip(names, given.values(), strict=True))
    return as_fitted(given, names)


def blocks_of(X: Any) -> dict[str, Any] | None:
    """Blocks by name, or by number of a list of matrices; None where X is one matrix of rows."""
    if isinstance(X, list | tuple) and X and all(len(_shape(block)) == 2 for block in X):
        return {str(place): block for place, block in enumerate(X)}
    return blocks_in(X)


def check_same_columns(before: Mapping[str, list[str]], now: Mapping[str, list[str]]) -> None:
    """Columns that have names are those of fit, in that order."""
    for name in before.keys() & now.keys():
        if before[name] != now[name]:
            raise ValueError(
                f"Block {name!r}: the columns should be those of fit, in that order: {listed(before[name])}; got "
                f"{listed(now[name])}."
            )


def _shape(block: Any) -> tuple[int, ...]:
    """The shape of what has one; lists of rows have none."""
    return tuple(getattr(block, "shape", ()))


def checked_block(name: str, block: Any, min_samples: int) -> NDArray:
    """A block as a dense matrix of finite numbers, or an error that names it."""
    if is_sparse(block):
        raise TypeError(f"Block {name!r} is sparse: reduce it first (scikit-learn's TruncatedSVD), or make it dense.")
    with about_block(name):
        return check_array(block, dtype=[np.float64, np.float32], ensure_min_samples=min_samples)
