"""Rows of a NumPy array, in memory or memory-mapped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.rows._protocol import block_length
from jointclust.types import Float


class DenseRows:
    """Sweeps an array block by block; a block is centred in float64 where small sums are formed from it."""

    is_sparse = False

    def __init__(self, X: NDArray):
        self.X = X
        self.n_samples, self.n_features = X.shape
        self.dtype = X.dtype

    def _blocks(self, budget: int = 2**19) -> Iterator[slice]:
        step = block_length(self.n_features, budget)
        return (slice(start, min(start + step, self.n_samples)) for start in range(0, self.n_samples, step))

    def mean(self, weights: Float | None) -> Float:
        if weights is None:
            return self.X.mean(axis=0, dtype=np.float64)
        total = np.zeros(self.n_features)
        for block in self._blocks():
            total += weights[block] @ self.X[block].astype(np.float64)
        return total / weights.sum()

    def spread(self) -> float:
        return float(np.max(self.X.max(axis=0) - self.X.min(axis=0)))

    def squared_norm(self, mean: Float, weights: Float | None) -> float:
        total = 0.0
        for block in self._blocks():
            rows = self.X[block] - mean
            norms = np.einsum("ij,ij->i", rows, rows)
            total += float(norms.sum() if weights is None else norms @ weights[block])
        return total

    def scatter(self, mean: Float, weights: Float | None) -> Float:
        total = np.zeros((self.n_features, self.n_features))
        for block in self._blocks(2**21):  # few blocks, for the D x D sum is dear
            rows = self.X[block] - mean
            if weights is not None:
                rows *= np.sqrt(weights[block, None])
            total += rows.T @ rows
        return total

    def gram(self, mean: Float) -> Float:
        rows = self.X - mean
        return rows @ rows.T

    def project(self, matrix: Float, mean: Float) -> NDArray:
        matrix, mean = matrix.astype(self.dtype), mean.astype(self.dtype)
        out = np.empty((self.n_samples, matrix.shape[1]), dtype=self.dtype)
        for block in self._blocks():
            np.matmul(self.X[block] - mean, matrix, out=out[block])
        return out

    def project_transposed(self, matrix: NDArray, mean: Float) -> Float:
        total = np.zeros((self.n_features, matrix.shape[1]))
        for block in self._blocks():
            total += (self.X[block] - mean).T @ matrix[block]
        return total

    def cluster_sums(self, indicator: sp.csc_array, mean: Float, index: NDArray[np.intp] | None) -> Float:
        if index is not None:
            return np.asarray(indicator @ (self.X[index] - mean))
        total = np.zeros((indicator.shape[0], self.n_features))
        for block in self._blocks():
            total += indicator[:, block] @ (self.X[block] - mean)
        return total
