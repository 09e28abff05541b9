"""Robust k-means (Cai, Nie and Huang, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jointclust.methods.robust import Loss, RobustClusterer, RobustState, RobustSteps, residual_floor, weigh
from jointclust.numerics.partitions import centers_of, cluster_sizes, means, nearest_in
from jointclust.rows import Swept, blocks, sweep
from jointclust.subspace.alternating import State
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.types import Array, Float, Sweepable


@dataclass
class _FixedEmbedding(RobustSteps):
    """Centers weighted by d, labels and weights of rows in an embedding that stays."""

    embedding: Sweepable

    most_rounds: ClassVar[int] = 1  # the embedding is final all along

    def project(self, clusters: Clusters) -> Float:
        return np.eye(self.coordinates.rank, self.n_components)

    def step(self, start: Clusters, previous: State | None) -> RobustState:
        Y, n_clusters, loss = self.embedding, start.n_clusters, self.loss
        if isinstance(previous, RobustState):
            clusters, centers = previous.clusters, means(previous.sums, previous.sizes)
        else:
            clusters, centers = start, centers_of(Y, start.labels, n_clusters, self.coordinates.weights)

        def visit(y: Array, own: Array | None, known: Array | None) -> Swept:
            labels = nearest_in(y, centers, known)
            total, weights = weigh(y, labels, centers, own, loss)
            sums = blocks.sums_and_sizes(y, labels, n_clusters, weights, None)
            return Swept(rows=[labels, weights], sums=[total, *sums])

        known = self.coordinates.known if self.coordinates.groups is None else self.label(Y, centers)
        swept = sweep(visit, Y, self.coordinates.weights, known, width=Y.shape[1], budget=2**20)
        (labels, weights), (total, sums, sizes) = swept.rows, swept.sums
        if self._lost_one(labels, sizes):
            labels, total, weights = self._repaired(Y, labels, centers)
            sizes = cluster_sizes(labels, n_clusters, weights)
            sums = centers_of(Y, labels, n_clusters, weights) * sizes[:, None]
        return RobustState(clusters.relabelled(labels), self.project(clusters), float(total), weights, sums, sizes)


@dataclass(eq=False, repr=False, kw_only=True)
class RobustKMeans(RobustClusterer):
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
    n_clusters
    n_components : int, default=None
        Principal components to work in; None is the full space, where ``transform`` returns ``X - mean_`` and X has
        to be dense.
    max_rank
    init : {"k-means++", "pca", "random"} or array of labels, default="k-means++"
        k-means in all coordinates, in the leading ``n_components``, in a random subspace; or labels to start from. Rows
        beyond twice the median distance from the mean count less, where that leaves the centers nearer.
    n_init : int, default=1
        Runs, the best of which is kept.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_, components_
    cluster_centers_ : array of shape (n_clusters, n_components or n_features)
        Weighted centroids in the embedding.
    mean_
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

    variance = None  # not a parameter: there is nothing to reduce, or n_components does it
    _unreduced = True

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _FixedEmbedding:
        embedding, loss = self._embedding(coordinates, n_components), Loss(residual_floor(coordinates), robust=True)
        return _FixedEmbedding(coordinates, n_components, loss, self.tol, embedding)

    def _collapse_remedy(self) -> str:
        return "Lower n_clusters, or set n_components to a few principal components."
