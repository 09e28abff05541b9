"""What sets each cluster apart, and its typical and untypical rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.numerics.partitions import centers_of
from jointclust.rows.arrays import is_sparse
from jointclust.rows.blocks import stretches
from jointclust.types import Float, Labels, Sparse

_BLOCK = 8192
_PROTOTYPES = 4
# Effect of a feature that does not vary inside the clusters at all.
_LARGEST = 99.0


@dataclass(frozen=True, eq=False)
class Profile:
    """One row per cluster: its size, means of the features inside and outside, and the rows at its center and far off.

    Effects are Cohen's d: the difference of the means over the pooled standard deviation, at most 99.
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
    others = counts.sum(axis=0) - counts
    rest, rest_variances = _moments(others, sums.sum(axis=0) - sums, squares.sum(axis=0) - squares)
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
    # What is left of nothing by rounding is nothing.
    least = 1e-12 * (np.abs(shift) + pooled)
    means, rest = (np.where(np.abs(one + shift) <= least, 0.0, one + shift) for one in (means, rest))
    return Profile(np.bincount(labels, minlength=n_clusters), means, rest, effects, nearest, farthest)


def _sums(X: NDArray | Sparse, labels: Labels, n_clusters: int, shift: Float) -> tuple[Float, Float, Float]:
    """Numbers of values, sums and sums of squares of each feature by cluster; empty cells count nowhere."""
    counts = np.zeros((n_clusters, X.shape[1]))
    sums, squares = counts.copy(), counts.copy()
    for rows in stretches(X.shape[0], _BLOCK):
        own = labels[rows]
        member = sp.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(n_clusters, own.size))
        block: Any = X[rows].astype(np.float64)
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
