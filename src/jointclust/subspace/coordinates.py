"""The eigenbasis of the total scatter: computed once per data set, used by all restarts, methods and trade-offs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust.numerics.groups import Groups
from jointclust.numerics.partitions import assign, cluster_sizes, means, n_changed, nearest_in
from jointclust.rows import Rows, Swept, as_rows, blocks, fingerprint, is_remote, n_present, total_weight
from jointclust.rows.arrays import beside, is_device_array, namespace, product, to_host
from jointclust.types import Array, Float, Labels, Sweepable

# Entries of a one-hot matrix of labels up to which sums over clusters are a dense product.
_DENSE = 2**16


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the rows in a pass over :class:`Coordinates`: as they are swept, and in an embedding.

    Attributes
    ----------
    y : array of shape (n, n_components)
        The rows in the embedding of the projection that the pass was given.
    weights : array of shape (n,) or None
        Their sample weights.
    known : array of shape (n,) or None
        Their known labels, -1 where there is none.
    """

    x: Array
    mean: Float | None
    y: Array
    weights: Array | None
    known: Array | None

    def nearest(self, centers: Float) -> Array:
        """The nearest center for each row in the embedding, or its known label."""
        return nearest_in(self.y, centers, self.known)

    def cluster_sums(self, labels: Array, n_clusters: int, weights: Array | None) -> list[Array]:
        """Weighted sums over the clusters, for :meth:`Coordinates.inside` to convert, and the clusters' weights."""
        return blocks.sums_and_sizes(self.x, labels, n_clusters, weights, self.mean)

    def scatter(self, weights: Array | None) -> Array:
        """Weighted scatter of the rows, for :meth:`Coordinates.inside_both` to convert."""
        return blocks.scatter(self.x, weights, self.mean)

    def products(self, matrix: Array) -> Array:
        """Products with the columns of a matrix that has a row for each row, for the inside to convert, transposed."""
        return blocks.project_transposed(self.x, matrix, self.mean)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Rows of a data set seen in the eigenbasis V of its total scatter ``S_t = V diag(s^2) V'``.

    Directions in the null space of S_t are not part of it: every row maps to 0 there.

    Attributes
    ----------
    mean : array of shape (n_features,)
        The (weighted) mean row.
    eigenvalues : array of shape (rank,)
        ``s^2``, largest first.
    weights : array of shape (n_samples,) or None
        Sample weights.
    known : array of shape (n_samples,) or None
        Labels that the rows keep, -1 for those without: clusters that are found in these coordinates respect them.
    groups : Groups or None
        Rows that have one label together, likewise.
    total_variance : float
        Trace of S_t, directions left out included.
    exact : bool
        False when a randomised decomposition of limited rank took the place of the exact one.
    """

    rows: Rows
    mean: Float
    weights: Float | None
    eigenvalues: Float
    total_variance: float
    exact: bool
    # Either the rows' coordinates XV, or the basis V that turns rows into them; `dual` gives V as X' dual.
    scores: NDArray | None = None
    basis: Float | None = None
    dual: Float | None = None
    feature_names: NDArray[np.object_] | None = None
    # The column of a table that carries nearly all of the variance, and the share of it.
    dominant: tuple[int, float] | None = None
    known: Array | None = None
    groups: Groups | None = None

    @property
    def rank(self) -> int:
        return self.eigenvalues.size

    @property
    def is_constant(self) -> bool:
        """Whether all rows are equal, up to rounding."""
        return bool(self.eigenvalues[0] == 0)

    @property
    def n_samples(self) -> int:
        return self.rows.n_samples

    @cached_property
    def mass(self) -> float:
        """Total weight of the rows; their number where they have none."""
        return float(self.n_samples) if self.weights is None else total_weight(self.weights)

    @cached_property
    def n_present(self) -> int:
        """Number of rows that have weight."""
        return self.n_samples if self.weights is None else n_present(self.weights)

    @property
    def present(self) -> NDArray[np.intp]:
        """Numbers of the rows that have weight; not of remote ones."""
        return np.arange(self.n_samples) if self.weights is None else np.flatnonzero(to_host(self.weights))

    @property
    def variance_kept(self) -> float:
        """Share of the total variance that these coordinates carry."""
        return float(self.eigenvalues.sum() / self.total_variance) if self.total_variance > 0 else 1.0

    def keep(self, variance: float | None) -> Coordinates:
        """The leading coordinates that carry this share of the total variance."""
        if variance is None:
            return self
        cumulative = np.cumsum(self.eigenvalues)
        return self.first(int(np.searchsorted(cumulative, variance * self.total_variance * (1 - 1e-12))) + 1)

    def first(self, rank: int) -> Coordinates:
        """The ``rank`` leading coordinates: rows are shorter, and every sweep is cheaper."""
        if rank >= self.rank:
            return self
        scores = self.scores
        if scores is not None or (2 * rank <= self.rows.n_features and not self.rows.is_remote):
            scores = self.leading(rank)
        return replace(
            self,
            eigenvalues=self.eigenvalues[:rank],
            scores=scores,
            basis=None if self.basis is None else self.basis[:, :rank],
            dual=None if self.dual is None else self.dual[:, :rank],
        )

    @property
    def _swept(self) -> tuple[Rows, Float | None]:
        """What is swept, with its mean: the rows' coordinates where they are kept, else the rows."""
        return (as_rows(self.scores), None) if self.scores is not None else (self.rows, self.mean)

    def _matrix(self, projection: Float) -> Float:
        """A projection given in coordinates, for what is swept."""
        if self.scores is not None:
            return projection
        assert self.basis is not None
        return product(self.basis, projection, self.rows.device)

    def inside(self, sums: Float) -> Float:
        """Sums over what is swept, columns last, as sums over coordinates."""
        return sums if self.scores is not None else product(sums, self.basis, self.rows.device)

    def inside_both(self, scatter: Float) -> Float:
        """A scatter of what is swept as one of coordinates."""
        return self.inside(self.inside(scatter).T)

    def sweep(
        self,
        visit: Callable[..., Swept],
        projection: Float | None = None,
        *others: Sweepable | None,
        width: int = 0,
        budget: int = 2**19,
    ) -> Swept:
        """One pass over the rows, wherever they are: ``visit(block, *blocks of others)``.

        Parameters
        ----------
        visit : callable
            Takes a ``Block``; sends back what ``jointclust.rows.sweep`` adds up and puts together. It must not
            hold the rows.
        projection : array of shape (rank, n_components), optional
            In these coordinates; the block's ``y`` are its rows in that embedding, or as swept where there is none.
        *others : arrays with one row per row, or None
            Labels, soft labels.
        width : int, default=0
            Values that the visit makes of a row, beside the row.
        budget : int, default=2**19
            Values that a block may hold; more where a large sum is costly.

        Returns
        -------
        swept : Swept
            Sums over the rows themselves are taken :meth:`inside` by the caller.
        """
        rows, mean = self._swept
        mean = beside(mean, rows.X, double=True)
        matrix = None if projection is None else beside(self._matrix(projection), rows.X)

        def on_block(x: Array, weights: Array | None, known: Array | None, *more: Array) -> Swept:
            shift = mean
            if matrix is not None and is_device_array(x):  # reads memory slower than it computes: centre once
                x, shift = blocks.project(x, None, mean), None
            y = x if matrix is None else blocks.project(x, matrix, shift)
            return visit(Block(x, shift, y, weights, known), *more)

        return rows.sweep(on_block, self.weights, self.known, *others, width=rows.n_features + width, budget=budget)

    def embed(self, projection: Float) -> NDArray:
        """Embedding ``XVQ`` of the rows for a projection Q given in these coordinates."""
        rows, mean = self._swept
        return rows.project(self._matrix(projection), mean)

    def together(self, Y: Any) -> Any:
        """The embedding in which labels are found: rows of a group lie at their mean."""
        return Y if self.groups is None else self.groups.averaged(Y)

    def seen_together(self, projection: Float) -> NDArray:
        """The embedding by a projection, in which labels are found."""
        return self.together(self.embed(projection))

    def leading(self, k: int) -> NDArray:
        """The first k coordinates, that is, the principal components' scores."""
        if isinstance(self.scores, np.ndarray):
            return np.ascontiguousarray(self.scores[:, :k])
        if self.scores is not None:
            return self.scores[:, :k]
        assert self.basis is not None
        return self.rows.project(self.basis[:, :k], self.mean)

    def loadings(self, projection: Float) -> Float:
        """``VQ``: the projection in the original features, one column per component."""
        if self.basis is not None:
            return self.basis @ projection
        assert self.dual is not None
        return self.rows.project_transposed(self.rows.here(self.dual @ projection), self.mean)

    def clusters(self, labels: Labels, n_clusters: int) -> Clusters:
        """The small sums that every projection step is made of."""
        return Clusters(self, labels, n_clusters)

    def nearest_clusters(self, projection: Float, centers: Float) -> Clusters:
        """Clusters of the rows that are nearest to each center in an embedding, with their sums, in one pass."""
        if self.groups is not None:
            return Clusters(self, assign(self.seen_together(projection), centers, self.known), len(centers))

        there = beside(centers, self._swept[0].X)

        def visit(block: Block) -> Swept:
            labels = block.nearest(there)
            return Swept(rows=[labels], sums=block.cluster_sums(labels, len(centers), block.weights)[:1])

        swept = self.sweep(visit, projection)
        return Clusters(self, swept.rows[0], len(centers), self.inside(swept.sums[0]))

    def scatter(self, weights: Array | None) -> Float:
        """``sum_i w_i t_i t_i'`` over the rows' coordinates t, for other weights than their own."""
        rows, mean = self._swept
        return self.inside_both(rows.scatter(mean, weights))

    def sums(self, labels: Labels, n_clusters: int, weights: Array | None, index: Any = None) -> Float:
        """Weighted sums over the clusters of the coordinates of the rows, or of the rows in ``index``."""
        if index is None and isinstance(self.scores, np.ndarray) and labels.size * n_clusters <= _DENSE:
            hot = np.asarray(blocks.one_hot(labels, n_clusters, weights))
            return hot.T @ self.scores.astype(np.float64, copy=False)
        rows, mean = self._swept
        return self.inside(
            (rows if index is None else rows.take(index)).cluster_sums(labels, n_clusters, weights, mean)
        )


class Clusters:
    """Labels with the sums and sizes (total weights) of their clusters, in coordinates; summed when first asked for."""

    def __init__(self, coordinates: Coordinates, labels: Labels, n_clusters: int, sums: Float | None = None):
        self.coordinates, self.labels, self.n_clusters = coordinates, labels, n_clusters
        self._sums = sums

    @property
    def sums(self) -> Float:
        if self._sums is None:
            self._sums = self.coordinates.sums(self.labels, self.n_clusters, self.coordinates.weights)
        return self._sums

    @cached_property
    def sizes(self) -> Float:
        return cluster_sizes(self.labels, self.n_clusters, self.coordinates.weights)

    @property
    def between_factor(self) -> Float:
        """The c x rank matrix M with ``S_b = M'M``: cluster sums over the root of the size."""
        return means(self.sums, np.sqrt(self.sizes))

    def centers(self, projection: Float) -> Float:
        """Cluster means in the embedding of a projection."""
        return means(self.sums, self.sizes) @ projection

    def total_scatter(self, projection: Float) -> float:
        """``tr(Q' S_t Q)``."""
        return float(self.coordinates.eigenvalues @ np.sum(projection**2, axis=1))

    def between_scatter(self, projection: Float) -> float:
        """``tr(Q' S_b Q)``."""
        return float(np.sum((self.between_factor @ projection) ** 2))

    def within_scatter(self, projection: Float) -> float:
        """``tr(Q' S_w Q)``, never below zero."""
        return max(self.total_scatter(projection) - self.between_scatter(projection), 0.0)

    def relabelled(self, labels: Labels) -> Clusters:
        """The same for new labels; only the rows that moved are looked at when they are few."""
        coordinates, n_clusters = self.coordinates, self.n_clusters
        n_moved = n_changed(labels, self.labels)
        if n_moved == 0:
            return self
        remote, small = is_remote(labels) or coordinates.rows.is_remote, coordinates.n_samples * n_clusters <= _DENSE
        if self._sums is None or remote or small or 4 * n_moved > coordinates.n_samples:
            return Clusters(coordinates, labels, n_clusters)
        moved = namespace(labels).nonzero(labels != self.labels)[0]
        weights = None if coordinates.weights is None else coordinates.weights[moved]
        change = coordinates.sums(labels[moved], n_clusters, weights, moved)
        change -= coordinates.sums(self.labels[moved], n_clusters, weights, moved)
        return Clusters(coordinates, labels, n_clusters, self.sums + change)


def fingerprint_of(X: Any) -> str:
    """What tells rows, or those of coordinates, from others."""
    return X.rows.fingerprint if isinstance(X, Coordinates) else fingerprint(X)


def passes_of(X: ArrayLike | Coordinates) -> int:
    """Passes over the rows that the coordinates took before the fit."""
    return X.rows.n_passes if isinstance(X, Coordinates) else 0
