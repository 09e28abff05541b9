"""DEC as the paper prints it, to measure against."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans


class TextbookDEC(ClusterMixin, BaseEstimator):
    """PCA and k-means, then form S_w, full eigendecomposition, nearest centroid, until the labels rest."""

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int = 2,
        trade_off: float = 1.5,
        max_iter: int = 100,
        random_state: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.trade_off = trade_off
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: NDArray, y: object = None) -> Self:
        """Run the loop."""
        X = X - X.mean(axis=0)
        total = X.T @ X
        Q = scipy.linalg.eigh(total)[1][:, ::-1][:, : self.n_components]
        labels = KMeans(self.n_clusters, n_init=1, random_state=self.random_state).fit(X @ Q).labels_
        for _ in range(self.max_iter):
            # An emptied cluster starts again from the first row.
            means = np.array(
                [X[labels == k].mean(axis=0) if np.any(labels == k) else X[0] for k in range(self.n_clusters)]
            )
            residual = X - means[labels]
            Q = scipy.linalg.eigh(total - self.trade_off * (residual.T @ residual))[1][:, ::-1][:, : self.n_components]
            before, labels = labels, np.argmin((((X @ Q)[:, None] - means @ Q) ** 2).sum(axis=2), axis=1)
            if np.array_equal(before, labels):
                break
        self.labels_ = labels
        return self
