"""Rows of a SciPy CSR matrix or array; never made dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.types import Float


class SparseRows:
    """Uses ``(X - 1m')B = XB - 1(m'B)`` and its like, so that centring costs nothing."""

    is_sparse = True

    def __init__(self, X: Any):
        self.X = sp.csr_array(X)
        self.n_samples, self.n_features = self.X.shape
        self.dtype = self.X.dtype

    def mean(self, weights: Float | None) -> Float:
        weights = np.ones(self.n_samples) if weights is None else weights
        return np.asarray(self.X.T @ weights) / weights.sum()

    def spread(self) -> float:
        return float((self.X.max(axis=0) - self.X.min(axis=0)).max())

    def squared_norm(self, mean: Float, weights: Float | None) -> float:
        norms = np.asarray(self.X.multiply(self.X).sum(axis=1, dtype=np.float64)).ravel()
        weights = np.ones(self.n_samples) if weights is None else weights
        return max(float(weights @ norms - weights.sum() * (mean @ mean)), 0.0)

    def scatter(self, mean: Float, weights: Float | None) -> Float:
        weights = np.ones(self.n_samples) if weights is None else weights
        X = self.X.astype(np.float64)
        product = (X.T @ (sp.diags_array(weights) @ X)).toarray()
        cross = np.outer(X.T @ weights, mean)
        return product - cross - cross.T + weights.sum() * np.outer(mean, mean)

    def gram(self, mean: Float) -> Float:
        X = self.X.astype(np.float64)
        across = X @ mean
        return (X @ X.T).toarray() - across[:, None] - across[None, :] + mean @ mean

    def project(self, matrix: Float, mean: Float) -> NDArray:
        matrix = matrix.astype(self.dtype)
        return np.asarray(self.X @ matrix) - mean.astype(self.dtype) @ matrix

    def project_transposed(self, matrix: NDArray, mean: Float) -> Float:
        product = np.asarray(self.X.T @ matrix, dtype=np.float64)
        return product - np.outer(mean, matrix.sum(axis=0, dtype=np.float64))

    def cluster_sums(self, indicator: sp.csc_array, mean: Float, index: NDArray[np.intp] | None) -> Float:
        rows = self.X if index is None else self.X[index]
        return (indicator @ rows).toarray() - np.outer(np.asarray(indicator.sum(axis=1)), mean)
