"""Rows outside memory: a consensus is learned from a sample of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust.consensus.projection import n_values
from jointclust.numerics.groups import Groups
from jointclust.rows import Swept, Visit, as_frame, as_rows, checked_rows, is_lazy, sample_known, sweep
from jointclust.rows.arrays import is_device_array
from jointclust.rows.memory import has_memory
from jointclust.subspace.decomposition import check_weights
from jointclust.types import Array

# Rows that are voted on at a time.
_BLOCK = 8_192
# Bytes up to which the codes of the rows are kept; there is no limit with Dask.
KEPT = 2**29


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """Rows outside memory: weights, known labels (-1 is unknown), row groups, whether there are NaN, a fingerprint."""

    rows: Any
    weights: Array | None
    known: Array | None = None
    groups: Groups | None = None
    has_gaps: bool = False
    fingerprint: str | None = None

    @classmethod
    def of(cls, X: Any, sample_weight: ArrayLike | None) -> Self:
        """Check rows in a file, on a device or with Dask."""
        rows, has_gaps, told = checked_rows(as_frame(X), min_samples=2)
        return cls(rows, check_weights(sample_weight, rows), has_gaps=has_gaps, fingerprint=told)

    @property
    def n_samples(self) -> int:
        return self.rows.shape[0]

    def sample(self, size: int, rng: np.random.RandomState) -> tuple[Any, NDArray | None, NDArray | None]:
        """A sample of about this size in memory, with weights and known labels."""
        return sample_known(self.rows, size, rng, self.weights, self.known)

    def beside(self, values: Any) -> Any:
        """Values of the sample on the device that holds the rows, or in memory."""
        return None if values is None else as_rows(self.rows).here(values)

    @property
    def width(self) -> int:
        """The number of values that a vote on one row computes."""
        return n_values(self.rows)

    def preparing(self, sources: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
        """The function from a block of these rows to the block in each view, as ``sources`` is for data."""
        return sources

    def has_room_for(self, n_columns: int, dtype: np.dtype) -> bool:
        """Whether this many numbers per row can be kept."""
        size = self.n_samples * n_columns * dtype.itemsize
        return is_lazy(self.rows) or (size <= KEPT and (is_device_array(self.rows) or has_memory(2 * size)))

    def sweep(self, visit: Visit) -> Swept:
        """One pass of ``visit(block, weights, known labels, groups, group shares)``.

        Results with one value per row stay where the rows are.
        """
        beside = (None, None) if self.groups is None else (self.groups.index, self.groups.shares)
        width = self.width
        result = sweep(visit, self.rows, self.weights, self.known, *beside, width=width, budget=_BLOCK * width)
        return result._replace(rows=[as_rows(self.rows).here(part) for part in result.rows])
