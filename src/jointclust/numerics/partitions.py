"""Partitions of rows: nearest centers, sums over clusters, repair of empty ones, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from jointclust.rows import Projected, Swept, blocks, sweep
from jointclust.rows.arrays import beside, like, namespace, to_host
from jointclust.types import Array, Float, Labels, Sweepable

_A = TypeVar("_A", bound=Array)
# Clusters up to which no work is saved: restarts race, and iterations go on until no label changes.
FEW = 50
# Share of the labels that may still change where a run of more clusters ends.
_RESTLESS = 1e-3


@dataclass(frozen=True)
class Partition:
    """Labels with their centers in an embedding, and what these minimise: for k-means, the sum of squares within."""

    labels: Labels
    centers: Float
    inertia: float


def assign(Y: Sweepable, centers: Array, known: Array | None = None) -> Labels:
    """Index of the nearest center for each row; the first one on a tie. Known labels (not negative) stay."""
    host = to_host(centers)
    # Of equal centers the first one is nearest, whatever rounding says.
    again = np.zeros(len(host), dtype=bool)
    if np.unique(host[:, 0]).size < len(host):  # a quick test: otherwise no two are equal
        again[:] = True
        again[np.unique(host, axis=0, return_index=True)[1]] = False
    nearest = nearest_of(beside(host[None], Y), np.where(again, np.inf, 0.0) if again.any() else None)
    visit = lambda y, own: Swept(rows=[blocks.kept(nearest(y)[:, 0], own)])  # noqa: E731
    return sweep(visit, Y, known, width=centers.shape[0]).rows[0]


def keep(labels: _A, known: Array | None) -> _A:
    """Labels, or soft labels, wherever they are, with the known ones in their place."""
    if known is None:
        return labels
    kept = blocks.kept if labels.ndim == 1 else blocks.kept_soft
    return sweep(lambda own, block: Swept(rows=[kept(own, block)]), labels, known).rows[0]


def known_centers(Y: Sweepable, known: Array, n_clusters: int, weights: Array | None = None) -> Float:
    """Weighted means of the rows whose label is known; the known classes come first, and have one each."""

    def sums(y: Array, block: Array, w: Array | None) -> Swept:
        own, held = namespace(block).clip(block, 0, None), blocks.float64(block >= 0)
        return Swept(sums=blocks.sums_and_sizes(y, own, n_clusters, held if w is None else w * held, None))

    total, sizes = sweep(sums, Y, known, weights, width=Y.shape[1], budget=2**19).sums
    return means(total, sizes)[sizes > 0]


def nearest_of(centers: Array, penalty: Float | None = None) -> Callable[[Array], Array]:
    """A function of blocks: the nearest of the c centers of each of R sets, labels of shape (n, R)."""
    flat = namespace(centers).reshape(centers, (-1, centers.shape[2]))

    def nearest(y: Array) -> Array:
        own = like(flat, y)
        offset = 0.5 * namespace(own).sum(own * own, axis=1)
        if penalty is not None:
            offset = offset + like(penalty, y)
        return blocks.nearest(y, own, offset, centers.shape[0])

    return nearest


def nearest_in(y: Array, centers: Float, known: Array | None = None) -> Array:
    """Index of the nearest center for each row of a block, or its known label."""
    return blocks.kept(nearest_of(centers[None, ...])(y)[:, 0], known)


def squared_distances(y: Array, centers: Float) -> Any:
    """Of all rows of a block from all centers, in float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        xp, y = namespace(y), blocks.float64(y)
        own = like(centers, y)
        squares = y @ (-2.0 * own.T)
        squares += xp.sum(own * own, axis=1)
        squares += blocks.squared_lengths(y)[:, None]
    if not xp.all(xp.isfinite(squares)):
        raise ValueError(
            "X holds rows so far from the centers that squared distances overflow: are they in other units?"
        )
    return xp.clip(squares, 0.0, None)


def cluster_sizes(labels: Array, n_clusters: int, weights: Array | None = None) -> Float:
    """Total weight of each cluster."""
    if isinstance(labels, np.ndarray):
        return blocks.cluster_sizes(labels, n_clusters, weights)
    return sweep(lambda block, w: Swept(sums=[blocks.cluster_sizes(block, n_clusters, w)]), labels, weights).sums[0]


def means(sums: Float, sizes: Float) -> Float:
    """Sums over sizes; an empty cluster has its mean at the origin."""
    xp = namespace(sizes)
    return sums / xp.where(sizes > 0, sizes, xp.ones_like(sizes))[..., None]


def centers_of(Y: Sweepable, labels: Array, n_clusters: int, weights: Array | None = None) -> Float:
    """Weighted cluster means of the rows of an embedding."""

    def sums(y: Array, block: Array, w: Array | None) -> Swept:
        return Swept(sums=blocks.sums_and_sizes(y, block, n_clusters, w, None))

    return means(*sweep(sums, Y, labels, weights, width=Y.shape[1], budget=2**19).sums)


def fill_empty(
    Y: Sweepable, labels: Labels, n_clusters: int, weights: Array | None = None, known: Array | None = None
) -> Labels:
    """Give each empty cluster the point farthest from its own center, with all rows that lie there.

    Every move lowers the within-cluster sum of squares. A point that is alone in its cluster, has no weight or lies on
    its center is never moved, so clusters stay empty when there are fewer distinct rows than clusters. Nor is a row
    whose label is known.
    """
    sizes = cluster_sizes(labels, n_clusters, weights)
    while not (sizes > 0).all():
        before = int(np.sum(sizes == 0))
        labels, sizes = _fill_some(Y, labels, sizes, weights, known)
        if int(np.sum(sizes == 0)) == before:
            break
    return labels


def _fill_some(
    Y: Sweepable, labels: Labels, sizes: Float, weights: Array | None, known: Array | None
) -> tuple[Labels, Float]:
    """One round of filling, from the rows that are farthest from their centers now.

    Rows may be in many places, so a row is known by its values and its label, never by its number: a pass brings the
    farthest points, a second one weighs the rows that lie at each, a third one relabels these.
    """
    n_clusters, wanted = sizes.size, 8 + 2 * int(np.sum(sizes == 0))
    centers = centers_of(Y, labels, n_clusters, weights)
    movable = _movable(weights, known)

    def far(y: Array, block: Array, w: Array | None) -> Swept:
        return Swept(pieces=blocks.farthest(y, block, centers, w, wanted))

    points, own, distance = sweep(far, Y, labels, movable, width=Y.shape[1], budget=2**19).pieces
    order = np.argsort(-distance, kind="stable")[:wanted]
    order = order[distance[order] > 0]
    # Each point once, still farthest first: rows at one point go to one cluster, or two clusters would share it.
    order = order[np.sort(np.unique(points[order], axis=0, return_index=True)[1])]
    if order.size == 0:
        return labels, sizes
    points, own = points[order], own[order]
    here = lambda y, block, w: Swept(sums=[blocks.mass_at(y, block, points, own, w)])  # noqa: E731
    # An embedding that is computed again has the same bits only in the same blocks.
    again = {"width": Y.shape[1], "budget": 2**19}
    size = again if isinstance(Y, Projected) else {"width": Y.shape[1] * len(points)}
    mass = sweep(here, Y, labels, movable, **size).sums[0]
    sizes, target = sizes.copy(), np.full(len(points), -1)
    empty = iter(np.flatnonzero(sizes == 0))
    for index in range(len(points)):
        # To move a point that is its whole cluster would only empty that cluster.
        if sizes[own[index]] > mass[index] > 0 and (free := next(empty, None)) is not None:
            sizes[own[index]] -= mass[index]
            sizes[free] += mass[index]
            target[index] = free
    moved = target >= 0
    points, own, target = points[moved], own[moved], target[moved]
    move = lambda y, block: Swept(rows=[blocks.moved_to(y, block, points, own, target)])  # noqa: E731
    return keep(sweep(move, Y, labels, **size).rows[0], known), sizes


def _movable(weights: Array | None, known: Array | None) -> Array | None:
    """Weights of the rows that may be moved; none for those whose label is known."""
    if known is None:
        return weights

    def free(block: Array, w: Array | None) -> Swept:
        unknown = blocks.float64(block < 0)
        return Swept(rows=[unknown if w is None else w * unknown])

    return sweep(free, known, weights).rows[0]


def at_rest(before: Array, after: Array, n_clusters: int, weights: Array | None = None) -> bool:
    """Whether no row that has weight changed its label; of many clusters, hardly any: the last ones take forever."""
    restless = 0.0 if n_clusters <= FEW else _RESTLESS * before.shape[0]
    return n_changed(before, after, weights) <= restless


def n_changed(a: Array, b: Array, weights: Array | None = None) -> int:
    """How many rows that have weight two labellings disagree on."""
    return int(sweep(lambda x, y, w: Swept(sums=[blocks.n_changed(x, y, w)]), a, b, weights).sums[0])


def renumbered(labels: Array, like_these: Array, n_clusters: int, known: Array | None = None) -> Labels:
    """The same partition, numbered so that as many labels as possible agree with others; known ones stay."""

    def pairs(a: Array, b: Array, own: Array | None) -> Swept:
        table = blocks.confusion(a, b, n_clusters)
        return Swept(sums=[table] if own is None else [table, blocks.cluster_sizes(own + 1, n_clusters + 1, None)])

    table, *sizes = sweep(pairs, labels, like_these, known, width=2 * n_clusters).sums
    for held in sizes:  # no agreement of others outweighs a known label
        table = table + np.diag(np.where(held[1:] > 0, 1.0 + table.sum(), 0.0))
    _, number = linear_sum_assignment(-table)
    return looked_up(number.astype(np.int32), labels)


def is_same_partition(a: Array, b: Array, n_clusters: int) -> bool:
    """Whether two labellings differ by the numbers of the clusters alone."""
    table = sweep(lambda x, y: Swept(sums=[blocks.confusion(x, y, n_clusters)]), a, b, width=2 * n_clusters).sums[0]
    return bool((np.count_nonzero(table, axis=0) <= 1).all() and (np.count_nonzero(table, axis=1) <= 1).all())


def looked_up(numbers: NDArray, labels: Array) -> Labels:
    """``numbers[labels]`` where the labels are."""
    return sweep(lambda a: Swept(rows=[namespace(a).take(like(numbers, a), a, axis=0)]), labels).rows[0]


def placed(values: NDArray, numbers: NDArray[np.intp], n_places: int, free: float) -> NDArray:
    """Values of clusters (last axis) at other numbers; numbers that stay free get the value ``free``."""
    result = np.full((*values.shape[:-1], n_places), free)
    result[..., numbers] = values
    return result


def weighted_norm(Y: Sweepable, weights: Array | None) -> float:
    """``sum_i w_i |y_i|^2``."""

    def norm(y: Array, w: Array | None) -> Swept:
        lengths = blocks.squared_lengths(y)
        return Swept(sums=[namespace(y).sum(lengths if w is None else lengths * w)])

    return float(sweep(norm, Y, weights, width=Y.shape[1], budget=2**20).sums[0])


def within_norm(Y: Sweepable, labels: Array, centers: Array, weights: Array | None) -> float:
    """``sum_i w_i |y_i - c_i|^2`` about the centers of the rows' clusters."""
    host = to_host(centers)

    def norm(y: Array, block: Array, w: Array | None) -> Swept:
        squares = blocks.residuals(y, block, host) ** 2
        return Swept(sums=[namespace(y).sum(squares if w is None else squares * w)])

    return float(sweep(norm, Y, labels, weights, width=Y.shape[1], budget=2**20).sums[0])


def scatters(Y: Sweepable, labels: Array, centers: Array, weights: Array | None) -> tuple[Float, Float]:
    """``sum_i w_i y_i y_i'``, and the same about the centers of the rows' clusters."""
    host = to_host(centers)

    def both(y: Array, block: Array, w: Array | None) -> Swept:
        residual = y - namespace(y).take(like(host, y), block, axis=0)
        return Swept(sums=[blocks.scatter(y, w, None), blocks.scatter(residual, w, None)])

    total, within = sweep(both, Y, labels, weights, width=2 * Y.shape[1], budget=2**20).sums
    return total, within


def cluster_order(sizes: Float, centers: NDArray, n_known: int = 0) -> NDArray[np.intp]:
    """Known clusters, then the largest first, empty ones last; equals by distance from the mean and coordinates."""
    norms = np.sum(centers**2, axis=1)
    keys = np.column_stack([norms, centers]) / (norms.max() or 1.0)
    order = np.lexsort((*np.round(keys, 5).T[::-1], -sizes))
    return np.concatenate([np.arange(n_known), order[order >= n_known]])


def merged(centers: NDArray) -> NDArray:
    """Centers, each moved to an earlier one if it equals that up to rounding: on a tie the first wins."""
    near = cdist(centers, centers, "chebyshev") <= 1e3 * np.finfo(centers.dtype).eps * np.abs(centers).max()
    return centers[np.argmax(near, axis=1)]


def adjusted_rand(a: Labels, b: Labels) -> float:
    """Adjusted Rand index of two partitions of the same rows (Hubert and Arabie, 1985).

    scikit-learn's function changes the warning filters of the process, which is not safe with several threads.
    """
    _, of_a, sizes_a = np.unique(to_host(a), return_inverse=True, return_counts=True)
    _, of_b, sizes_b = np.unique(to_host(b), return_inverse=True, return_counts=True)
    _, shared = np.unique(of_a * sizes_b.size + of_b, return_counts=True)
    together, in_a, in_b, pairs = (float(n @ (n - 1.0)) for n in (shared, sizes_a, sizes_b, np.array([of_a.size])))
    expected = in_a * in_b / max(pairs, 1.0)
    most = 0.5 * (in_a + in_b)
    return 1.0 if most == expected else (together - expected) / (most - expected)
