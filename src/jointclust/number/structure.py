"""A test of rows for any clusters at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from jointclust.consensus.column_roles import SHOWN, share_shown
from jointclust.number.curve import agreement_of
from jointclust.number.neighbor_graph import graph_of, nearest_of
from jointclust.numerics.communities import communities, modularity
from jointclust.rows.arrays import to_host
from jointclust.types import Float, Labels, Matrix
from jointclust.views.relations import coded_numbers

# Most rows that are compared, and most columns that are permuted.
MOST_ROWS, _MOST_COLUMNS = 500, 1_000
# Principal directions of permuted rows: they have this share of the variance, and are so many at most.
_VARIANCE, _DIRECTIONS = 0.95, 50
_RESOLUTION = 0.5
# A column has levels if it has at most so many values; clusters are its levels above this agreement with them.
_LEVELS, _ALIKE = 10, 0.75
_FIRST = 100  # rows that rule out most columns of many values
# Least excess, in standard deviations, of structure; the same if there are separated clusters, too.
ENOUGH, SOME = 2.0, 1.0
# Draws if the first one is not clear; standard deviations of a clear one; a term added to the standard deviation of few
# draws; a rough standard deviation, times the root of the rows.
_DRAWS, _CLEAR, _ADDED, _NOISE = 5, 4.0, 0.005, 0.2


def excess(Z: Float, rows: Matrix, rng: np.random.RandomState) -> float:
    """By how many standard deviations the modularity of the neighbour graph exceeds what rows without clusters show.

    Rows without clusters are Gaussian rows of the same covariance, and rows in which the values of each column are in
    another order: these have the same columns, independent of each other. The smaller excess counts.
    """
    measured = _modularity(Z)
    spread = Z.std(axis=0)
    above = _excess(measured, lambda: rng.standard_normal(Z.shape) * spread, len(Z))
    if above < SOME or sp.issparse(rows):
        return above
    columns = np.asarray(to_host(rows), dtype=np.float64)
    if columns.shape[1] > _MOST_COLUMNS:
        columns = columns[:, np.sort(rng.choice(columns.shape[1], _MOST_COLUMNS, replace=False))]
    return min(above, _excess(measured, lambda: _leading(_permuted(columns, rng)), len(Z)))


def has_levels(rows: Matrix) -> bool:
    """Whether some column takes only a few values, between which there are gaps, whatever the clusters are."""
    if sp.issparse(rows):
        return False
    columns = (column for column in np.asarray(to_host(rows)).T if np.unique(column[:_FIRST]).size <= _LEVELS)
    return any(1 < np.unique(column).size <= _LEVELS for column in columns)


def is_levels_of_a_column(rows: Matrix, labels: Labels) -> bool:
    """Whether clusters are the values of a column that has as few, such as a coin, and no other column shows them."""
    if sp.issparse(rows):
        return False
    columns = np.asarray(to_host(rows), dtype=np.float64).T
    for number, column in enumerate(columns):
        levels, codes = np.unique(column, return_inverse=True)
        if 1 < levels.size <= _LEVELS and agreement_of(codes.ravel().astype(np.int32), labels) > _ALIKE:
            others = [coded_numbers(other) for place, other in enumerate(columns[:_MOST_COLUMNS]) if place != number]
            return share_shown(others, labels) < SHOWN
    return False


def _excess(value: float, draw: Callable[[], Float], n_rows: int) -> float:
    """The excess over draws, in standard deviations: over one where it is clear, over five where it is not."""
    noise, drawn = _NOISE / np.sqrt(n_rows), [_modularity(draw())]
    if abs(value - drawn[0]) > _CLEAR * noise:
        return float((value - drawn[0]) / noise)
    drawn += [_modularity(draw()) for _ in range(_DRAWS - 1)]
    return float((value - np.mean(drawn)) / (np.std(drawn) + _ADDED))


def _modularity(Z: Float) -> float:
    """The modularity of the communities of the rows' neighbour graph."""
    graph = graph_of(nearest_of(Z))
    return modularity(graph, communities(graph, _RESOLUTION), _RESOLUTION)


def _permuted(columns: Float, rng: np.random.RandomState) -> Float:
    """The values of each column in an order of its own."""
    return np.take_along_axis(columns, rng.random_sample(columns.shape).argsort(axis=0), axis=0)


def _leading(X: Float) -> Float:
    """Rows in their leading principal directions."""
    X = X - X.mean(axis=0)
    wide = X.shape[1] > len(X)
    gram = X @ X.T if wide else X.T @ X
    first = max(len(gram) - _DIRECTIONS, 0)
    values, vectors = eigh(gram, subset_by_index=(first, len(gram) - 1))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    kept = int(np.searchsorted(np.cumsum(values), _VARIANCE * np.trace(gram))) + 1
    return vectors[:, :kept] * np.sqrt(values[:kept]) if wide else X @ vectors[:, :kept]
