"""What a kind of rows has to offer."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.types import Float


class Rows(Protocol):
    """A matrix X of n rows that can be swept. Centring is implicit: sweeps copy X a block at a time at the most.

    Small results (means, sums, scatters) come back in float64, one-value-per-row results in the rows' own dtype.
    """

    n_samples: int
    n_features: int
    dtype: np.dtype
    is_sparse: bool

    def mean(self, weights: Float | None) -> Float:
        """Weighted mean row."""

    def spread(self) -> float:
        """Largest range of a column, found without squaring."""

    def squared_norm(self, mean: Float, weights: Float | None) -> float:
        """``sum_i w_i |x_i - m|^2``, the trace of the scatter."""

    def scatter(self, mean: Float, weights: Float | None) -> Float:
        """``(X - 1m')' diag(w) (X - 1m')``, D x D."""

    def gram(self, mean: Float) -> Float:
        """``(X - 1m')(X - 1m')'``, n x n."""

    def project(self, matrix: Float, mean: Float) -> NDArray:
        """``(X - 1m') matrix``, n x k."""

    def project_transposed(self, matrix: NDArray, mean: Float) -> Float:
        """``(X - 1m')' matrix``, D x k."""

    def cluster_sums(self, indicator: sp.csc_array, mean: Float, index: NDArray[np.intp] | None) -> Float:
        """``indicator (X - 1m')``; with ``index``, of those rows of X only."""


def block_length(n_columns: int, budget: int) -> int:
    """Rows per block, so that a block holds about ``budget`` values. It depends on the data alone."""
    return max(64, budget // max(1, n_columns))
