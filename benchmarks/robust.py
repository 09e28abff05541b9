"""Speed of robust embedded clustering, as ratios in one run, BLAS on one thread.

    JOINTCLUST_DATA=folder python benchmarks/robust.py

USPS and COIL20 are replaced by generated mixtures of their sizes when JOINTCLUST_DATA does not hold them.
"""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import scipy.linalg
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

import jointclust as jc
from discriminative import line, seconds

warnings.simplefilter("ignore")


def data(name: str, *size: int) -> np.ndarray:
    if name in jc.datasets.names():
        print(f"\n{name}")
        return jc.datasets.load(name).data
    print(f"\n{name} is not in JOINTCLUST_DATA: a generated mixture of its size stands in")
    return jc.datasets.mixture(*size, random_state=0)[0]


def textbook(X: np.ndarray, c: int, k: int, seed: int, max_iter: int = 100) -> None:
    """Algorithm 1 as printed, from k-means: all features, D x D scatters, full eigendecomposition."""
    X = X - X.mean(axis=0)
    labels, d = KMeans(c, n_init=1, random_state=seed).fit(X).labels_, np.ones(len(X))
    W = np.linalg.qr(np.random.RandomState(seed).standard_normal((X.shape[1], k)))[0]
    before = np.inf
    for _ in range(max_iter):
        Y = X @ W
        G = np.array([np.average(Y[labels == j], axis=0, weights=d[labels == j]) for j in range(c)])
        distances = np.linalg.norm(Y[:, None] - G, axis=2)
        new, r = distances.argmin(axis=1), distances.min(axis=1)
        labels = new if np.unique(new).size == c else labels
        d = 1 / (2 * np.maximum(r, 1e-6))
        means = np.array([np.average(X[labels == j], axis=0, weights=d[labels == j]) for j in range(c)])
        residual = X - means[labels]
        W = scipy.linalg.eigh((residual * d[:, None]).T @ residual)[1][:, :k]
        if before - r.sum() <= 1e-6 * r.sum():
            return
        before = r.sum()


def main() -> None:
    print(f"{'':66} {'value':>9} {'':3} {'ratio':>9}")
    with threadpool_limits(1):
        X = data("usps", 9298, 256, 10)
        reference = seconds(lambda s: KMeans(10, n_init=10, random_state=s).fit(X), repeats=5)
        line("KMeans(n_init=10)", reference, "s", 1.0)
        ours = seconds(lambda s: jc.RobustEmbeddedClustering(10, random_state=s).fit(X), repeats=5)
        line("EC, one fit, decomposition included", ours, "s", ours / reference, "goal 3")
        tracemalloc.start()
        jc.RobustEmbeddedClustering(10, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        line("  peak extra memory over the input's", peak / X.nbytes, "")

        X = data("coil20", 1440, 1024, 20)
        ours = seconds(lambda s: jc.RobustEmbeddedClustering(20, random_state=s).fit(X), repeats=5)
        line("EC, one fit, decomposition included", ours, "s", 1.0)
        book = seconds(lambda s: textbook(X, 20, 38, s), repeats=2)
        line("textbook loop on all features", book, "s", book / ours, "goal 5 times slower")


if __name__ == "__main__":
    main()
