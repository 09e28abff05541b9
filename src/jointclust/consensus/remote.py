"""Rows outside memory, from a sample of which a consensus is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust.numerics.groups import Groups
from jointclust.rows import Swept, Visit, as_frame, as_rows, check_elsewhere, is_lazy, sample_known, sweep
from jointclust.subspace.decomposition import check_weights
from jointclust.types import Array

# Rows that are voted on at a time.
_BLOCK = 8_192
# Bytes up to which the codes of the rows are kept; there is no limit with Dask.
_KEPT = 2**29


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """All rows, where they are, with their weights, known labels (-1 is unknown) and row groups."""

    rows: Any
    weights: Array | None
    known: Array | None = None
    groups: Groups | None = None

    @classmethod
    def of(cls, X: Any, sample_weight: ArrayLike | None) -> Self:
        """Check rows in a file, on a device or with Dask."""
        rows = check_elsewhere(as_frame(X), accept_sparse=True, min_samples=2)
        return cls(rows, check_weights(sample_weight, rows))

    @property
    def n_samples(self) -> int:
        return self.rows.shape[0]

    def sample(self, size: int, rng: np.random.RandomState) -> tuple[Any, NDArray | None, NDArray | None]:
        """A sample of about this size in memory, with weights and known labels."""
        return sample_known(self.rows, size, rng, self.weights, self.known)

    def beside(self, values: Any) -> Any:
        """Values of the sample on the device that holds the rows, or in memory."""
        return None if values is None else as_rows(self.rows).here(values)

    def has_room_for(self, n_columns: int, dtype: np.dtype) -> bool:
        """Whether this many numbers per row can be kept."""
        return is_lazy(self.rows) or self.n_samples * n_columns * dtype.itemsize <= _KEPT

    def sweep(self, visit: Visit, width: int) -> Swept:
        """One pass of ``visit(block, weights, known labels, groups, group shares)``, of ``width`` values a row.

        Results with one value per row stay where the rows are.
        """
        beside = (None, None) if self.groups is None else (self.groups.index, self.groups.shares)
        result = sweep(visit, self.rows, self.weights, self.known, *beside, width=width, budget=_BLOCK * width)
        return result._replace(rows=[as_rows(self.rows).here(part) for part in result.rows])
