"""A test for a region of lower density between two sets of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import bdtr

from jointclust.numerics.partitions import centers_of
from jointclust.types import Float, Labels

# Share of the mean variance that makes the scatter within groups invertible.
_RIDGE = 0.1


def unimodal_p_value(line: Float, low: float, high: float) -> float:
    """Probability of so few values in the middle third between two points under a unimodal density.

    Under such a density a value in the middle third, or in the scarcer of the thirds about the two points, is in the
    middle with probability 1/2 or more.
    """
    half = (high - low) / 6
    left, middle, right = (int(np.sum(np.abs(line - point) <= half)) for point in (low, (low + high) / 2, high))
    return float(bdtr(middle, middle + min(left, right), 0.5))


def valley_p_value(rows: Float, is_second: NDArray[np.bool_]) -> float:
    """Probability of so few rows between two sets of rows if there were no valley of density between them.

    Every other row shows the direction that discriminates between the sets, and the rest are projected on it; then
    the other way round. Twice the smaller probability is an upper bound of that of both.
    """
    turns = [np.arange(len(rows)) % 2 == turn for turn in (0, 1)]
    return min(1.0, 2 * min(shown_valley_p_value(rows[one], is_second[one], rows[~one]) for one in turns))


def shown_valley_p_value(shown: Float, is_second: NDArray[np.bool_], tested: Float) -> float:
    """Probability of so few tested rows between two sets, in the direction that discriminates between shown rows."""
    if min(is_second.sum(), (~is_second).sum()) == 0:
        return 1.0
    low, high = shown[~is_second].mean(axis=0), shown[is_second].mean(axis=0)
    gap = high - low
    scatter = _scatter(shown - np.where(is_second[:, None], high, low), float(gap @ gap))
    direction = np.linalg.solve(scatter, gap)
    return unimodal_p_value(tested @ direction, float(low @ direction), float(high @ direction))


def nearest_pair(rows: Float, clusters: Labels, is_second: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The rows of two clusters, one of either side, whose means are nearest in the metric of the scatter within all.

    A cluster has rows of one side only.
    """
    names, own = np.unique(clusters, return_inverse=True)
    side = np.zeros(names.size, bool)
    side[own] = is_second
    if names.size == 2 or side.all() or not side.any():
        return np.ones(len(rows), bool)
    centers = centers_of(rows, own, names.size)
    spread = float(np.max(centers.var(axis=0), initial=0.0))
    places = np.linalg.solve(np.linalg.cholesky(_scatter(rows - centers[own], spread)), centers.T).T
    distances = cdist(places[~side], places[side])
    one, two = np.unravel_index(np.argmin(distances), distances.shape)
    return np.isin(own, [np.flatnonzero(~side)[one], np.flatnonzero(side)[two]])


def _scatter(rest: Float, size: float) -> Float:
    """The scatter of rows about the means of their groups, which some ridge makes invertible.

    Rows that are alike within all groups do not scatter at all: ``size`` is the squared distance of the groups.
    """
    scatter = rest.T @ rest / len(rest)
    least = np.finfo(float).eps * size + np.finfo(float).tiny
    scatter[np.diag_indices(len(scatter))] += _RIDGE * np.trace(scatter) / len(scatter) + least
    return scatter
