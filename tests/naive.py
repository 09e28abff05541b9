"""Textbook code, slow and obvious, to compare with."""

import numpy as np
import scipy.linalg


def scatter(T, labels, n_clusters, weights=None):
    """Total and within-cluster scatter of centred rows."""
    weights = np.ones(len(T)) if weights is None else weights
    within = np.zeros((T.shape[1], T.shape[1]))
    for k in range(n_clusters):
        rows, w = T[labels == k], weights[labels == k]
        if w.sum() > 0:
            rows = rows - np.average(rows, axis=0, weights=w)
        within += (rows * w[:, None]).T @ rows
    return (T * weights[:, None]).T @ T, within


def dec(T, labels, n_clusters, n_components, trade_off, max_iter=100, weights=None):
    """DEC with rule "fixed": form S_w, full eigendecomposition, nearest centroid. Returns labels and objective."""
    for _ in range(max_iter):
        total, within = scatter(T, labels, n_clusters, weights)
        matrix = -within if np.isinf(trade_off) else total - trade_off * within
        Q = scipy.linalg.eigh(matrix)[1][:, ::-1][:, :n_components]
        Y = T @ Q
        w = np.ones(len(T)) if weights is None else weights
        centers = np.array([np.average(Y[labels == k], axis=0, weights=w[labels == k]) for k in range(n_clusters)])
        new = np.argmin(((Y[:, None] - centers) ** 2).sum(axis=2), axis=1)
        if np.array_equal(new, labels):
            break
        labels = new
    total, within = scatter(T, labels, n_clusters, weights)
    if np.isinf(trade_off):
        return labels, -np.trace(Q.T @ within @ Q)
    return labels, np.trace(Q.T @ (total - trade_off * within) @ Q)


def robust(T, labels, n_clusters, k, floor, unsquared, max_iter=5000):
    """EC (or unsupervised OLSDA): projection, weighted centroids, labels, weights. Returns labels and objective."""
    d, before = np.ones(len(T)), np.inf
    for _ in range(max_iter):
        _, within = scatter(T, labels, n_clusters, d)
        W = scipy.linalg.eigh(within)[1][:, :k]
        Y = T @ W
        centers = np.array([np.average(Y[labels == j], axis=0, weights=d[labels == j]) for j in range(n_clusters)])
        distances = np.linalg.norm(Y[:, None] - centers, axis=2)
        labels, r = distances.argmin(axis=1), distances.min(axis=1)
        h = np.where(r > floor, r, r**2 / (2 * floor) + floor / 2) if unsquared else r**2
        d = 1 / (2 * np.maximum(r, floor)) if unsquared else d
        if before - h.sum() <= 1e-13 * h.sum():
            break
        before = h.sum()
    return labels, h.sum()
