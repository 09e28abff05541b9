"""Rows that are not in memory: a consensus learns from a sample of them, and then votes on all in one pass."""

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
# Bytes up to which the groups of rows are kept; with Dask they have room.
_KEPT = 2**29


@dataclass(frozen=True, eq=False)
class Whole:
    """All of the rows, where they are, their weights, known labels (-1 for none) and groups that belong together."""

    rows: Any
    weights: Array | None
    known: Array | None = None
    together: Groups | None = None

    @classmethod
    def of(cls, X: Any, sample_weight: ArrayLike | None) -> Self:
        """Rows in a file, on a device or with Dask, checked."""
        rows = check_elsewhere(as_frame(X), accept_sparse=True, min_samples=2)
        return cls(rows, check_weights(sample_weight, rows))

    @property
    def n_samples(self) -> int:
        return self.rows.shape[0]

    def sample(self, size: int, rng: np.random.RandomState) -> tuple[Any, NDArray | None, NDArray | None]:
        """About so many of the rows, in memory, with weights and known labels."""
        return sample_known(self.rows, size, rng, self.weights, self.known)

    def beside(self, values: Any) -> Any:
        """Values of the sample where they are computed with: on the device that the rows lie on, or in memory."""
        return None if values is None else as_rows(self.rows).here(values)

    def has_room_for(self, n_columns: int, dtype: np.dtype) -> bool:
        """Whether so many numbers of each row can be kept."""
        return is_lazy(self.rows) or self.n_samples * n_columns * dtype.itemsize <= _KEPT

    def sweep(self, visit: Visit, width: int) -> Swept:
        """One pass: ``visit(block, weights, known labels, groups, their shares)``, of so many values a row.

        What there is per row is where the rows are.
        """
        beside = (None, None) if self.together is None else (self.together.index, self.together.shares)
        found = sweep(visit, self.rows, self.weights, self.known, *beside, width=width, budget=_BLOCK * width)
        return found._replace(rows=[as_rows(self.rows).here(part) for part in found.rows])
