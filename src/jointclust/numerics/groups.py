"""Groups of rows that belong together: one label for all rows of a group, found from their sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.rows import Rows, blocks
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.types import Array


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each row, and the row's share of the group's weight.

    Squared distances of a group's rows from any point add up to those of its mean, and a constant: so k-means of rows
    that are all in the place of their group's mean is k-means in which groups stay together.
    """

    index: Array
    shares: Array
    n_groups: int

    @classmethod
    def beside(cls, index: NDArray[np.int32], rows: Rows, weights: Array | None) -> Groups:
        """The groups of numbers on the host, moved to where the rows are."""
        own = np.ones(index.size) if weights is None else to_host(weights)
        totals = np.bincount(index, weights=own)
        own = np.where(totals[index] > 0, own, 1.0)  # a group of absent rows has a mean, too
        shares = own / np.bincount(index, weights=own)[index]
        return cls(rows.here(index), rows.here(shares), totals.size)

    def means(self, values: Array) -> Any:
        """The mean of each group."""
        return blocks.cluster_sums(values, self.index, self.n_groups, self.shares, None)

    def averaged(self, values: Array) -> Any:
        """For each row the mean of its group, the same to the last digit for all of them."""
        means = self.means(values)
        return namespace(values).take(like(means, values), self.index, axis=0)
