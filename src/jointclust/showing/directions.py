"""Directions along which the rows are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from jointclust.numerics.partitions import centers_of
from jointclust.rows.arrays import is_sparse
from jointclust.types import Float, Labels, Sparse

NEXT = "next principal direction"
# Rows in memory.
Rows = NDArray[Any] | Sparse
# Most directions; of many rows fewer, so that the page stays small.
_MOST, _FEWEST, _NUMBERS = 8, 3, 600_000
# Rows that say which features a direction is like, and from which on.
_ROWS, _LIKE = 10_000, 0.3


@dataclass(frozen=True, eq=False)
class Direction:
    """One direction: positions of the rows, its share of the variance, and the features most correlated with it."""

    name: str
    values: Float
    share: float | None
    like: list[tuple[int, float]]


def directions(Y: NDArray[Any], labels: Labels, rows: Rows | None, features: Rows) -> list[Direction]:
    """The embedding along its directions of largest variance; one dimension has the data's next beside it.

    Parameters
    ----------
    Y : array of shape (n_samples, n_components)
        The embedding.
    labels : array of shape (n_samples,)
        Clusters.
    rows : array or sparse matrix of shape (n_samples, n_columns), optional
        What the embedding was made from.
    features : array or sparse matrix of shape (n_samples, n_features)
        What to tell the directions by.
    """
    Y = np.asarray(Y, dtype=np.float64)
    Y = Y - Y.mean(axis=0)
    values, turn = np.linalg.eigh(Y.T @ Y)
    Y = Y @ turn[:, ::-1]
    shares = values[::-1] / (values.sum() or 1.0)
    kept = min(Y.shape[1], max(_FEWEST, min(_MOST, _NUMBERS // len(Y))))
    columns: list[tuple[str, Float, float | None]] = [
        (f"direction {index + 1}", Y[:, index], float(shares[index])) for index in range(kept)
    ]
    if Y.shape[1] == 1 and rows is not None:
        columns = [(columns[0][0], columns[0][1], None), (NEXT, beside(rows, Y, labels), None)]
    elif Y.shape[1] == 1:
        columns.append(("nothing: there is one direction", np.zeros(len(Y)), None))
    like = _alike(features, np.column_stack([column for _, column, _ in columns]))
    return [Direction(*column, found) for column, found in zip(columns, like, strict=True)]


def plane_of_centers(rows: Rows, labels: Labels) -> Float:
    """The rows in the plane through the clusters' centers (the orthogonal centroid method), their mean at 0."""
    sizes = np.bincount(labels).astype(np.float64)
    member = sp.csr_array((np.ones(labels.size), (labels, np.arange(labels.size))))
    sums = member @ rows
    centers = (sums.toarray() if is_sparse(sums) else sums) / np.maximum(sizes, 1.0)[:, None]
    mean = sizes @ centers / labels.size
    turn = np.linalg.svd(np.sqrt(sizes)[:, None] * (centers - mean), full_matrices=False)[2]
    turn = turn[: max(sizes.size - 1, 1)].T
    return np.asarray(rows @ turn) - mean @ turn


def beside(rows: Rows, Y: Float, labels: Labels) -> Float:
    """The next principal direction of the rows, as wide as the clusters are in their only one: these look round."""
    Y = Y - Y.mean(axis=0)
    inside = Y - centers_of(Y, labels, int(labels.max()) + 1, None)[labels]
    return next_direction(rows, Y) * (float(inside.std()) or 1.0)


def next_direction(rows: Rows, Y: Float) -> Float:
    """Leading principal component of what the embedding leaves of the rows, with unit variance."""
    mean = np.asarray(rows.T @ np.ones(len(Y))).ravel() / len(Y)
    explained = np.linalg.pinv(Y.T @ Y) @ (np.asarray((rows.T @ Y).T) - np.outer(Y.sum(axis=0), mean))

    def ahead(v: NDArray) -> NDArray:
        return rows @ v.ravel() - mean @ v.ravel() - Y @ (explained @ v.ravel())

    def back(u: NDArray) -> NDArray:
        return rows.T @ u.ravel() - mean * u.sum() - explained.T @ (Y.T @ u.ravel())

    rng, least = np.random.RandomState(0), 1e-9 * float(abs(cast(Any, rows)).max())
    if min(rows.shape) < 2 or ahead(rng.standard_normal(rows.shape[1])).std() <= least:
        return np.zeros(len(Y))  # what rounding leaves is no direction
    residual = LinearOperator(rows.shape, matvec=ahead, rmatvec=back, dtype=np.float64)
    direction = svds(residual, k=1, v0=rng.standard_normal(min(rows.shape)))[2][0]
    found = ahead(direction * (np.sign(direction[np.abs(direction).argmax()]) or 1.0))
    return found / (found.std() or 1.0)


def _alike(features: Rows, columns: Float) -> list[list[tuple[int, float]]]:
    """For each direction the three features most correlated with it, and how."""
    sample = np.linspace(0, len(columns) - 1, min(len(columns), _ROWS)).astype(int)
    some: Any = features[sample].astype(np.float64)
    if is_sparse(some):
        each = np.full(len(sample), 1 / len(sample))
        mean, square = np.asarray(some.T @ each), np.asarray(some.multiply(some).T @ each)
    else:
        some = np.where(np.isfinite(some), some, np.nanmean(np.where(np.isfinite(some), some, np.nan), axis=0))
        some = np.nan_to_num(some - some.mean(axis=0))
        mean, square = np.zeros(some.shape[1]), (some**2).mean(axis=0)
    Z = columns[sample] - columns[sample].mean(axis=0)
    covariance = np.asarray(some.T @ Z) / len(sample)
    scale = np.sqrt(np.maximum(square - mean**2, 0.0))[:, None] * Z.std(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(scale > 1e-12, covariance / scale, 0.0)
    found = []
    for column in correlation.T:
        order = np.argsort(-np.abs(column), kind="stable")[:3]
        found.append([(int(i), float(column[i])) for i in order if abs(column[i]) >= _LIKE])
    return found
