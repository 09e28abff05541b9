"""k-means in an embedding held in memory: many restarts at once, weights, repair of empty clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from jointclust.rows._protocol import block_length
from jointclust.types import Float, Labels

# Restarts look at this many rows at the most (more when there are many clusters): see `sample_rows`.
_SAMPLE, _SAMPLE_PER_CLUSTER = 20_000, 256


@dataclass(frozen=True)
class Partition:
    """Labels with their centers in an embedding, and what these minimise: for k-means, the sum of squares within."""

    labels: Labels
    centers: Float
    inertia: float


def assign(Y: NDArray, centers: NDArray) -> Labels:
    """Index of the nearest center for each row; the first one on a tie."""
    return assign_many(Y, centers[None])[:, 0]


def assign_many(Y: NDArray, centers: NDArray) -> Labels:
    """Nearest of the c centers of each of R sets: centers of shape (R, c, d), labels of shape (n, R)."""
    n_sets, n_clusters, n_columns = centers.shape
    flat = centers.reshape(-1, n_columns).astype(Y.dtype)
    offset = 0.5 * np.einsum("ij,ij->i", flat, flat)
    labels = np.empty((Y.shape[0], n_sets), dtype=np.int32)
    step = block_length(flat.shape[0], 2**18)
    for start in range(0, Y.shape[0], step):
        block = Y[start : start + step]
        closeness = block @ flat.T
        closeness -= offset
        labels[start : start + step] = closeness.reshape(len(block), n_sets, n_clusters).argmax(axis=2)
    return labels


def indicator(labels: Labels, n_clusters: int, weights: Float | None = None) -> sp.csc_array:
    """The one-hot label matrix, clusters x rows, holding the weights; labels of shape (n, R) stack R of them."""
    n_sets = 1 if labels.ndim == 1 else labels.shape[1]
    values = np.ones(labels.size) if weights is None else np.repeat(weights, n_sets)
    index = np.arange(0, labels.size + 1, n_sets, dtype=np.int32)
    return sp.csc_array((values, _stacked(labels, n_clusters), index), shape=(n_clusters * n_sets, len(labels)))


def _stacked(labels: Labels, n_clusters: int) -> Labels:
    """Labels of R sets, numbered through, row by row."""
    if labels.ndim == 1:
        return labels
    return (labels + n_clusters * np.arange(labels.shape[1], dtype=np.int32)).ravel()


def counts(labels: Labels, n_clusters: int, weights: Float | None = None) -> Float:
    """Total weight of each cluster."""
    return np.bincount(labels, weights=weights, minlength=n_clusters).astype(np.float64)


def means(sums: Float, sizes: Float) -> Float:
    """Sums over sizes; an empty cluster has its mean at the origin."""
    return sums / np.where(sizes > 0, sizes, 1.0)[..., None]


def sums_of(matrix: sp.csc_array, Y: NDArray) -> Float:
    """``matrix @ Y`` summed in float64, without a float64 copy of all of Y."""
    if Y.dtype == np.float64:
        return np.asarray(matrix @ Y)
    total = np.zeros((matrix.shape[0], Y.shape[1]))
    step = block_length(Y.shape[1], 2**19)
    for start in range(0, len(Y), step):
        total += matrix[:, start : start + step] @ Y[start : start + step].astype(np.float64)
    return total


def centers_of(Y: NDArray, labels: Labels, n_clusters: int, weights: Float | None = None) -> Float:
    """Weighted cluster means of the rows of an embedding."""
    sums = sums_of(indicator(labels, n_clusters, weights), Y)
    return means(sums, counts(labels, n_clusters, weights))


def residuals(Y: NDArray, labels: Labels, centers: NDArray) -> Float:
    """Distance of each row from its center."""
    lengths = np.empty(len(Y))
    step = block_length(Y.shape[1], 2**19)
    for start in range(0, len(Y), step):
        block = slice(start, start + step)
        difference = Y[block] - centers[labels[block]].astype(Y.dtype)
        lengths[block] = np.einsum("ij,ij->i", difference, difference, dtype=np.float64)
    return np.sqrt(lengths)


def fill_empty(Y: NDArray, labels: Labels, n_clusters: int, weights: Float | None = None) -> Labels:
    """Give each empty cluster the point farthest from its own center, with all rows that lie there.

    Every move lowers the within-cluster sum of squares. A point that is alone in its cluster, has no weight or lies on
    its center is never moved, so clusters stay empty when there are fewer distinct rows than clusters.
    """
    sizes = counts(labels, n_clusters, weights)
    if (sizes > 0).all():
        return labels
    labels = labels.copy()
    distance = np.sum((Y - centers_of(Y, labels, n_clusters, weights)[labels]) ** 2, axis=1)
    distance[distance <= 1e-12 * np.sum(Y**2, axis=1)] = 0.0
    if weights is not None:
        distance[weights == 0] = 0.0
    farthest = np.argsort(-distance, kind="stable")
    candidates = iter(farthest[: np.count_nonzero(distance)])
    for empty in np.flatnonzero(sizes == 0):
        for row in candidates:
            if distance[row] == 0:  # the copy of a row that had its turn
                continue
            copies = np.flatnonzero((Y[row] == Y).all(axis=1) & (labels == labels[row]))
            distance[copies] = 0.0
            mass = len(copies) if weights is None else weights[copies].sum()
            if sizes[labels[row]] > mass:
                sizes[labels[row]] -= mass
                sizes[empty] += mass
                labels[copies] = empty
                break
    return labels


def same_labels(a: Labels, b: Labels, weights: Float | None = None) -> bool:
    """Whether two labellings agree on all rows that have weight."""
    return bool(((a == b) | (False if weights is None else weights == 0)).all())


def lloyd_many(
    Y: NDArray, centers: Float, weights: Float | None = None, *, max_iter: int = 300, tol: float = 0.0
) -> tuple[NDArray[np.int32], Float, Float]:
    """Lloyd's iteration from R sets of centers together; returns labels (n, R), centers (R, c, d), inertias (R,).

    A set rests when its labels stop or its inertia falls by no more than ``tol``, relative. The centers returned are
    the means of the labels returned.
    """
    n_sets, n_clusters, _ = centers.shape
    total = _weighted_norm(Y, weights)
    centers = centers.copy()
    labels = np.full((len(Y), n_sets), -1, dtype=np.int32)
    inertia = np.full(n_sets, np.inf)
    moving = np.arange(n_sets)
    for _ in range(max_iter):
        new = assign_many(Y, centers[moving])
        sums, sizes = _sums_and_sizes(Y, new, n_clusters, weights)
        for j in np.flatnonzero((sizes == 0).any(axis=1)):
            new[:, j] = fill_empty(Y, new[:, j], n_clusters, weights)
            sums[j : j + 1], sizes[j : j + 1] = _sums_and_sizes(Y, new[:, j : j + 1], n_clusters, weights)
        updated = means(sums, sizes)
        within = np.maximum(total - np.einsum("rk,rkd,rkd->r", sizes, updated, updated), 0.0)
        resting = np.array([same_labels(new[:, j], labels[:, r], weights) for j, r in enumerate(moving)])
        if tol > 0:
            resting |= inertia[moving] - within <= tol * within
        labels[:, moving], centers[moving], inertia[moving] = new, updated, within
        moving = moving[~resting]
        if moving.size == 0:
            break
    return labels, centers, inertia


def lloyd(
    Y: NDArray, centers: Float, weights: Float | None = None, *, max_iter: int = 300, tol: float = 0.0
) -> Partition:
    """Lloyd's iteration from one set of centers."""
    labels, centers, inertia = lloyd_many(Y, centers[None], weights, max_iter=max_iter, tol=tol)
    return Partition(np.ascontiguousarray(labels[:, 0]), centers[0], float(inertia[0]))


def kmeans(
    Y: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
    weights: Float | None = None,
    *,
    n_restarts: int = 10,
    beat: float = np.inf,
) -> Partition:
    """Best of ``n_restarts`` k-means runs from k-means++ centers.

    The restarts race: all make two Lloyd steps, the best third goes on to rest. On many rows they race on a sample,
    and only the winner sees all rows. When all are a tenth above the inertia to ``beat`` after the two steps, from
    where they never come back, the best is returned as it is.
    """
    sample = sample_rows(Y, n_clusters, rng, weights)
    rows, row_weights = (Y, weights) if sample is None else (Y[sample], None)
    centers = plus_plus(rows, n_clusters, n_restarts, rng, row_weights)
    if n_restarts > 1:
        labels, centers, inertia = lloyd_many(rows, centers, row_weights, max_iter=2)
        better = np.argsort(inertia, kind="stable")[: max(1, n_restarts // 3)]
        if sample is None and inertia[better[0]] > 1.1 * beat:
            return Partition(labels[:, better[0]], centers[better[0]], float(inertia[better[0]]))
        _, centers, inertia = lloyd_many(rows, centers[better], row_weights, tol=1e-4)
        centers = centers[[np.argmin(inertia)]]
    return lloyd(Y, centers[0], weights, tol=0.0 if sample is None else 1e-4)


def renumbered(labels: Labels, like: Labels, n_clusters: int) -> Labels:
    """The same partition, numbered so that as many labels as possible agree with ``like``."""
    table = np.bincount(labels.astype(np.intp) * n_clusters + like, minlength=n_clusters**2)
    _, number = linear_sum_assignment(-table.reshape(n_clusters, n_clusters))
    return number.astype(np.int32)[labels]


def sample_rows(
    Y: NDArray, n_clusters: int, rng: np.random.RandomState, weights: Float | None = None
) -> NDArray[np.intp] | None:
    """Rows for k-means starts when looking at all of them is dear, drawn by weight; None when it is not."""
    size = max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters)
    if len(Y) <= 2 * size:
        return None
    order = _canonical_order(Y)
    mass = np.ones(len(Y)) if weights is None else weights[order]
    return order[_draw(mass[None], rng.uniform(size=(1, size)))[0]]


def plus_plus(
    Y: NDArray, n_clusters: int, n_sets: int, rng: np.random.RandomState, weights: Float | None = None
) -> Float:
    """Greedy k-means++ centers, ``n_sets`` of them side by side, shape (n_sets, n_clusters, d).

    Rows are drawn along a canonical order, so that permuting the rows, or repeating a row instead of giving it a
    weight, changes nothing.
    """
    order = _canonical_order(Y)
    Y = Y[order]
    weight = np.ones(len(Y)) if weights is None else weights[order]
    norms = np.einsum("ij,ij->i", Y, Y)
    n_trials = 2 + int(np.log(n_clusters))
    sets = np.arange(n_sets)

    def distances(rows: NDArray[np.intp]) -> NDArray:
        squared = (-2.0 * Y[rows.ravel()]) @ Y.T
        squared += norms
        squared += norms[rows.ravel(), None]
        return np.maximum(squared, 0.0, out=squared).reshape(*rows.shape, -1)

    chosen = np.empty((n_sets, n_clusters), dtype=np.intp)
    chosen[:, :1] = _draw(np.broadcast_to(weight, (n_sets, len(Y))), rng.uniform(size=(n_sets, 1)))
    nearest = distances(chosen[:, :1])[:, 0]
    for k in range(1, n_clusters):
        mass = nearest * weight
        mass[mass.sum(axis=1) <= 0] = weight  # every row is a center already
        trials = _draw(mass, rng.uniform(size=(n_sets, n_trials)))
        reached = np.minimum(distances(trials), nearest[:, None, :])
        best = np.argmin(reached @ weight, axis=1)
        chosen[:, k] = trials[sets, best]
        nearest = reached[sets, best]
    return Y[chosen].astype(np.float64)


def _weighted_norm(Y: NDArray, weights: Float | None) -> float:
    norms = np.einsum("ij,ij->i", Y, Y, dtype=np.float64)
    return float(norms.sum() if weights is None else norms @ weights)


def _sums_and_sizes(
    Y: NDArray, labels: NDArray[np.int32], n_clusters: int, weights: Float | None
) -> tuple[Float, Float]:
    n_sets = labels.shape[1]
    sums = sums_of(indicator(labels, n_clusters, weights), Y)
    repeated = None if weights is None else np.repeat(weights, n_sets)
    sizes = counts(_stacked(labels, n_clusters), n_clusters * n_sets, repeated)
    return sums.reshape(n_sets, n_clusters, -1), sizes.reshape(n_sets, n_clusters)


def _canonical_order(Y: NDArray) -> NDArray[np.intp]:
    """Rows by distance from the mean, which neither permutation nor rotation nor reflection changes."""
    return np.argsort(np.einsum("ij,ij->i", Y, Y), kind="stable")


def _draw(mass: Float, uniform: Float) -> NDArray[np.intp]:
    """Row indices at the given quantiles (R, t) of each distribution (R, n); massless rows are never drawn."""
    cumulative = np.cumsum(mass, axis=1, dtype=np.float64)
    index = [np.searchsorted(c, u * c[-1], side="right") for c, u in zip(cumulative, uniform, strict=True)]
    return np.minimum(np.stack(index), mass.shape[1] - 1)
