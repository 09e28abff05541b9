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


def robust(T, labels, n_clusters, k, floor, unsquared, max_iter=5000, cap=np.inf):
    """EC (or unsupervised OLSDA): projection, weighted centroids, labels, weights. Returns labels and objective."""
    d, before = np.ones(len(T)), np.inf
    for _ in range(max_iter):
        _, within = scatter(T, labels, n_clusters, d)
        W = scipy.linalg.eigh(within)[1][:, :k]
        Y = T @ W
        masses = [d[labels == j].sum() for j in range(n_clusters)]
        centers = [(d[labels == j, None] * Y[labels == j]).sum(axis=0) / (masses[j] or 1) for j in range(n_clusters)]
        distances = np.linalg.norm(Y[:, None] - centers, axis=2)
        labels, r = distances.argmin(axis=1), distances.min(axis=1)
        h = np.where(r > floor, r, r**2 / (2 * floor) + floor / 2) if unsquared else r**2
        h = np.minimum(h, cap)
        d = (r < cap) / (2 * np.maximum(r, floor)) if unsquared else d
        if before - h.sum() <= 1e-13 * h.sum():
            break
        before = h.sum()
    return labels, h.sum()


def orthogonal_ridge(T, P, n_iter, ridge, n_steps=50):
    """RURR-SL with ``Z'Z = I`` on coordinates of the rows. Returns soft labels, Z and the objectives."""
    S, c = T.T @ T, P.shape[1]
    Z, history = None, []
    for _ in range(n_iter):
        B = T.T @ (P - P.mean(axis=0))
        if Z is None:  # the direction that B leaves free is the first axis, made orthogonal to the rest
            U, _, Vt = np.linalg.svd(B, full_matrices=False)
            U, Vt = U[:, : c - 1], Vt[: c - 1]
            free = np.eye(len(S))[0] - U @ U[0]
            Z = U @ Vt + np.outer(free / np.linalg.norm(free), np.ones(c)) / np.sqrt(c)
        alpha = np.trace(Z.T @ B) / np.sum((P - P.mean(axis=0)) ** 2)
        for _ in range(n_steps):
            U, _, Vt = np.linalg.svd(np.linalg.eigvalsh(S)[-1] * Z - S @ Z + alpha * B, full_matrices=False)
            before, Z = Z, U @ Vt
            if np.abs(Z - before).max() < 1e-8:
                break
        alpha = np.trace(Z.T @ B) / np.sum((P - P.mean(axis=0)) ** 2)
        V = T @ Z + alpha * P.mean(axis=0)
        P = np.array([project_on_simplex(v, alpha) for v in V]) / alpha
        history.append(np.sum((V - alpha * P) ** 2) + ridge * np.sum(Z**2))
    return P, Z, history


def project_on_simplex(v, size):
    """By brute force: try every set of non-zero entries, keep the feasible point nearest to v."""
    best, nearest = None, np.inf
    for mask in range(1, 2 ** len(v)):
        active = np.array([(mask >> j) & 1 for j in range(len(v))], dtype=bool)
        point = np.zeros(len(v))
        point[active] = v[active] + (size - v[active].sum()) / active.sum()
        if point.min() >= -1e-15 * size and np.sum((point - v) ** 2) < nearest:
            best, nearest = point, np.sum((point - v) ** 2)
    return best


def uncorrelated_ridge(X, P, ridge, n_iter, rescale=True, weights=None):
    """Algorithm 1 as printed: invert S_t, form H. Returns soft labels, Z, alpha, b and the objectives."""
    n = len(X)
    w = np.ones(n) if weights is None else weights
    X = X - np.average(X, axis=0, weights=w)
    H = np.diag(w) - np.outer(w, w) / w.sum()
    values, vectors = np.linalg.eigh(X.T @ np.diag(w) @ X + ridge * np.eye(X.shape[1]))
    root = vectors @ np.diag(values**-0.5) @ vectors.T
    history = []
    for _ in range(n_iter):
        U, s, Vt = np.linalg.svd(root @ X.T @ H @ P, full_matrices=False)
        Z = root @ U @ Vt
        alpha = s.sum() / np.trace(P.T @ H @ P) if rescale else 1.0
        b = alpha * np.average(P, axis=0, weights=w)
        V = X @ Z + b
        ordered = -np.sort(-V, axis=1)
        means = (np.cumsum(ordered, axis=1) - alpha) / np.arange(1, V.shape[1] + 1)
        k = np.sum(ordered > means, axis=1)
        P = np.maximum(V - means[np.arange(n), k - 1][:, None], 0) / alpha
        history.append(np.sum(w[:, None] * (V - alpha * P) ** 2) + ridge * np.sum(Z**2))
    return P, Z, alpha, b, history


def multi_view(views, labels, n_clusters, exponent, floor, n_iter):
    """Multi-view RMKMC, the label being the one of least loss. Returns labels, weights of the views, objectives."""
    n, a, history = len(labels), np.full(len(views), 1 / len(views)), []
    d = [np.ones(n) for _ in views]
    for _ in range(n_iter):
        centers = [
            np.array([np.average(X[labels == k], axis=0, weights=w[labels == k]) for k in range(n_clusters)])
            for X, w in zip(views, d, strict=True)
        ]
        for i in range(n):
            losses = np.zeros(n_clusters)
            for X, C, weight in zip(views, centers, a, strict=True):
                r = np.array([np.linalg.norm(X[i] - center) for center in C])
                losses += weight**exponent * np.where(r > floor, r, r**2 / (2 * floor) + floor / 2)
            labels[i] = losses.argmin()
        r = [np.linalg.norm(X - C[labels], axis=1) for X, C in zip(views, centers, strict=True)]
        H = np.array([np.where(one > floor, one, one**2 / (2 * floor) + floor / 2).sum() for one in r])
        a = (exponent * H) ** (1 / (1 - exponent))
        a /= a.sum()
        d = [1 / (2 * np.maximum(one, floor)) for one in r]
        history.append(a**exponent @ H)
    return labels, a, history


def means(Y, labels, n_clusters):
    """Of the rows of each cluster."""
    return np.array([Y[labels == k].mean(axis=0) for k in range(n_clusters)])


def dummies(codes):
    """The indicator matrix of each column of whole numbers."""
    return [np.eye(column.max() + 1)[column][:, np.unique(column)] for column in codes.T]


def cluster_correspondence(codes, labels, n_clusters, n_components, max_iter=200):
    """clusCA as in clustrd: correspondence analysis of clusters by levels, nearest centroids. Labels, criterion."""
    Z = np.hstack(dummies(codes))
    n, q = codes.shape
    coded = np.sqrt(n / q) * (Z - Z.mean(axis=0)) / np.sqrt(Z.sum(axis=0))
    for _ in range(max_iter):
        F = np.eye(n_clusters)[labels]
        table = (F / np.sqrt(F.sum(axis=0))).T @ coded
        B = np.linalg.svd(table, full_matrices=False)[2][:n_components].T
        Y = coded @ B
        centers = means(Y, labels, n_clusters)
        new = ((Y[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        if np.array_equal(new, labels) or np.unique(new).size < n_clusters:
            break
        labels = new
    return labels, np.sum((table @ B) ** 2)


def mca_objective(codes, labels, n_clusters, n_components, alpha, weights=None):
    """Leading eigenvalues of ``alpha sum_j P_j + (1 - alpha) P_F``, projectors on centred dummies."""
    w = np.ones(len(codes)) if weights is None else weights
    root, total = np.sqrt(w)[:, None], np.zeros((len(codes), len(codes)))
    blocks = [*((alpha, Z) for Z in dummies(codes)), (1 - alpha, np.eye(n_clusters)[labels])]
    for factor, Z in blocks:
        centred = root * (Z - np.average(Z, axis=0, weights=w))
        total += factor * centred @ np.linalg.pinv(centred)
    values, vectors = np.linalg.eigh(total)
    return values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
