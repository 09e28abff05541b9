"""A test for a region of lower density between two sets of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from jointclust.types import Float

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
    return min(1.0, 2 * min(_valley(rows[one], is_second[one], rows[~one]) for one in turns))


def _valley(shown: Float, is_second: NDArray[np.bool_], tested: Float) -> float:
    if min(is_second.sum(), (~is_second).sum()) == 0:
        return 1.0
    low, high = shown[~is_second].mean(axis=0), shown[is_second].mean(axis=0)
    rest = shown - np.where(is_second[:, None], high, low)
    scatter = rest.T @ rest / len(rest)
    gap = high - low
    # Rows that are alike within both groups do not scatter at all.
    least = np.finfo(float).eps * float(gap @ gap) + np.finfo(float).tiny
    scatter[np.diag_indices(len(scatter))] += _RIDGE * np.trace(scatter) / len(scatter) + least
    direction = np.linalg.solve(scatter, gap)
    return unimodal_p_value(tested @ direction, float(low @ direction), float(high @ direction))
