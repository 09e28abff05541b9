"""Samples of rows in which small clusters are not lost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jointclust.types import Labels


def some_of_each(labels: Labels, most: int, fewest: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """All rows where they are at most so many, else some of each cluster by its size, and of small ones the fewest.

    In the order of the rows; a little over ``most``, if many clusters are small.
    """
    if labels.size <= most:
        return np.arange(labels.size)
    sizes = np.bincount(labels)
    wanted = np.minimum(sizes, np.maximum(fewest, sizes * most // labels.size))
    shuffled = rng.permutation(labels.size)
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    rank = np.arange(labels.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[rank < np.repeat(wanted, sizes)])
