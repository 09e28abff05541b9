"""Whether the values of one column have several modes."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr

from jointclust.types import Float

# Fewest different values of a column that can have modes: a few are levels.
_FEWEST_VALUES = 20
# Chance of a valley this deep between two centers if there is none; a third of the way is about a center.
_CHANCE, _NARROW = 1e-4, 6.0


def has_modes(values: Float) -> bool:
    """Whether the values lie about two centers, with far fewer in the middle than a unimodal density allows.

    The centers are those of 2-means. A valley in the middle is tested by the binomial distribution: of the values near
    the middle and near the scarcer center, half are near the middle or more if the density has one mode.

    Examples
    --------
    >>> import numpy as np
    >>> from jointclust.views.modes import has_modes
    >>> rows = np.random.default_rng(0).standard_normal(300)
    >>> has_modes(rows), has_modes(np.append(rows, rows + 9))
    (False, True)
    """
    values = np.sort(values[~np.isnan(values)])
    if np.unique(values).size < _FEWEST_VALUES:
        return False
    low, high = _two_means(values)
    middle, width = (low + high) / 2, (high - low) / _NARROW
    near = [int(np.sum(np.abs(values - center) < width)) for center in (low, middle, high)]
    scarcer = min(near[0], near[2])
    return near[1] < scarcer and float(bdtr(near[1], near[1] + scarcer, 0.5)) < _CHANCE


def _two_means(values: Float) -> tuple[float, float]:
    """The means of the two parts of sorted values with the least squared distances to them."""
    sizes = np.arange(1, values.size)
    sums = np.cumsum(values - values.mean())[:-1]
    between = sums**2 * (1 / sizes + 1 / (values.size - sizes))  # the sums of both parts are opposite
    first = int(between.argmax()) + 1
    return float(values[:first].mean()), float(values[first:].mean())
