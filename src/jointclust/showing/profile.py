"""What sets each cluster apart, and its typical and untypical rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.numerics.partitions import centers_of
from jointclust.rows.arrays import is_sparse
from jointclust.types import Float, Labels, Sparse

_BLOCK = 8192
_PROTOTYPES = 4
# Effect of a feature that does not vary inside the clusters at all.
_LARGEST = 99.0


@dataclass(frozen=True, eq=False)
class Profile:
    """One row per cluster.

    Attributes
    ----------
    sizes : array of shape (n_clusters,)
        Rows in each.
    means, rest : arrays of shape (n_clusters, n_features)
        Means of the features inside and outside.
    effects : array of shape (n_clusters, n_features)
        Cohen's d: their difference over the pooled standard deviation, at most 99.
    nearest, farthest : lists of arrays
        Rows nearest to the cluster's center in the embedding, nearest first, and farthest from it, farthest first.
    """

    sizes: NDArray[np.intp]
    means: Float
    rest: Float
    effects: Float
    nearest: list[NDArray[np.intp]]
    farthest: list[NDArray[np.intp]]


def profile(X: NDArray | Sparse, Y: NDArray[Any], labels: Labels) -> Profile:
    """Sums by cluster in one pass over the rows, then small arithmetic."""
    n_clusters = int(labels.max()) + 1
    shift = np.zeros(X.shape[1])  # a value near each mean, without which squares of large values lose their spread
    if not sp.issparse(X):
        block = np.asarray(X[:_BLOCK], dtype=np.float64)
        shift = np.nansum(block, axis=0) / np.maximum(np.count_nonzero(~np.isnan(block), axis=0), 1)
    counts, sums, squares = _sums(X, labels, n_clusters, shift)
    means, variances = _moments(counts, sums, squares)
    rest, rest_variances = _moments(counts.sum(axis=0) - counts, sums.sum(axis=0) - sums, squares.sum(axis=0) - squares)
    others = counts.sum(axis=0) - counts
    degrees = np.maximum(counts + others - 2, 1)
    pooled = np.sqrt((np.maximum(counts - 1, 0) * variances + np.maximum(others - 1, 0) * rest_variances) / degrees)
    # Differences of the order of rounding are none; those without any spread are as large as can be shown.
    difference = means - rest
    difference[np.abs(difference) <= 1e-9 * (np.abs(means) + np.abs(rest)) + 1e-12 * np.abs(shift)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = np.clip(np.where(difference == 0, 0.0, difference / pooled), -_LARGEST, _LARGEST)
    effects[(counts == 0) | (others == 0)] = 0.0
    groups = by_distance(Y, labels)
    nearest = [group[:_PROTOTYPES] for group in groups]
    farthest = [group[_PROTOTYPES:][::-1][:_PROTOTYPES] for group in groups]
    sizes = np.bincount(labels, minlength=n_clusters)
    scale = np.abs(shift) + pooled
    return Profile(sizes, _whole(means + shift, scale), _whole(rest + shift, scale), effects, nearest, farthest)


def _whole(means: Float, scale: Float) -> Float:
    """Means in which what is left of nothing by rounding is nothing."""
    return np.where(np.abs(means) <= 1e-12 * scale, 0.0, means)


def _sums(X: NDArray | Sparse, labels: Labels, n_clusters: int, shift: Float) -> tuple[Float, Float, Float]:
    """Numbers of values, sums and sums of squares of each feature by cluster; empty cells count nowhere."""
    counts = np.zeros((n_clusters, X.shape[1]))
    sums, squares = counts.copy(), counts.copy()
    for start in range(0, X.shape[0], _BLOCK):
        own = labels[start : start + _BLOCK]
        member = sp.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(n_clusters, own.size))
        block = X[start : start + _BLOCK].astype(np.float64)
        if is_sparse(block):
            counts += np.asarray(member.sum(axis=1)).reshape(-1, 1)
            sums += (member @ block).toarray()
            squares += (member @ block.multiply(block)).toarray()
        else:
            known = ~np.isnan(block)
            block = np.where(known, block - shift, 0.0)
            counts += member @ known.astype(np.float64)
            sums += member @ block
            squares += member @ block**2
    return counts, sums, squares


def _moments(counts: Float, sums: Float, squares: Float) -> tuple[Float, Float]:
    size = np.maximum(counts, 1)
    means = sums / size
    return means, np.maximum(squares - size * means**2, 0.0) / np.maximum(counts - 1, 1)


def by_distance(Y: NDArray[Any], labels: Labels) -> list[NDArray[np.intp]]:
    """The rows of each cluster, those nearest to its center first."""
    sizes = np.bincount(labels)
    distances = np.linalg.norm(Y - centers_of(Y, labels, sizes.size, None)[labels], axis=1)
    return np.split(np.lexsort((distances, labels)), np.cumsum(sizes)[:-1])
