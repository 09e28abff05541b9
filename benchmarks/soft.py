"""Speed of the soft-label methods, as ratios in one run, BLAS on one thread.

    JOINTCLUST_DATA=folder python benchmarks/soft.py [--quick]

COIL20 is generated (same size, same number of classes) when JOINTCLUST_DATA does not hold it. --quick leaves out the
100,000-row part.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

import jointclust as jc
from discriminative import coil20, line, seconds
from jointclust import UncorrelatedRidgeClustering as URC
from jointclust.numerics.linalg import project_simplex

warnings.simplefilter("ignore")


def textbook(X: np.ndarray, c: int, ridge: float, seed: int, iterations: int) -> None:
    """Algorithm 1 as printed: form H, invert S_t in every iteration, project row by row with Newton's method."""
    n, D = X.shape
    labels = KMeans(c, n_init=1, random_state=seed).fit(X).labels_
    P = np.eye(c)[labels]
    H = np.eye(n) - 1.0 / n
    for _ in range(iterations):
        S = X.T @ H @ X + ridge * np.eye(D)
        values, vectors = np.linalg.eigh(S)
        root = (vectors * values**-0.5) @ vectors.T
        U, _, Vt = np.linalg.svd(root @ (X.T @ (H @ P)), full_matrices=False)
        Z = root @ U @ Vt
        alpha = np.trace(Z.T @ X.T @ H @ P) / np.trace(P.T @ H @ P)
        V = X @ Z + (alpha * P - X @ Z).mean(axis=0)
        for i, v in enumerate(V):
            p, sigma = v + (alpha - v.sum()) / c, 0.0
            for _ in range(50):
                f = np.maximum(sigma - p, 0).mean() - sigma
                if abs(f) < 1e-12:
                    break
                sigma -= f / (np.mean(sigma > p) - 1)
            P[i] = np.maximum(p - sigma, 0) / alpha


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    print(f"{'':66} {'value':>9} {'':3} {'ratio':>9}")
    with threadpool_limits(1):
        X = coil20()
        model = URC(20, random_state=0).fit(X)
        ours = seconds(lambda s: URC(20, random_state=s).fit(X), repeats=5)
        line("RURR-SL, one fit, stopped by the labels", ours, "s", 1.0)
        full = seconds(lambda s: URC(20, max_iter=100, tol=0, random_state=s).fit(X), repeats=3)
        line("RURR-SL, 100 iterations", full, "s", full / ours)
        book = 20 * seconds(lambda s: textbook(X, 20, model.ridge_, s, 5), repeats=1)
        line("textbook loop, 100 iterations (extrapolated from 5)", book, "s", book / full, "goal 20 times slower")

        V = np.random.RandomState(0).standard_normal((100_000, 20))
        spent = seconds(lambda s: project_simplex(V, 1.0))
        line("\nsimplex projection of 100,000 x 20", 1000 * spent, "ms", None, "goal 40 ms")

        if not arguments.quick:
            print("\n100,000 x 256 float32, 20 clusters")
            X = jc.datasets.mixture(100_000, 256, 20, random_state=0)[0].astype(np.float32)
            reference = seconds(lambda s: KMeans(20, n_init=10, random_state=s).fit(X), repeats=1)
            line("KMeans(n_init=10), full space", reference, "s", 1.0)
            for name, model in (
                ("RURR-SL, 100 iterations", URC(20, max_iter=100, tol=0)),
                ("RURR-SL, stopped by the labels", URC(20)),
                ("FuzzyKMeans", jc.FuzzyKMeans(20)),
                ("RobustSparseFuzzyKMeans", jc.RobustSparseFuzzyKMeans(20)),
            ):
                spent = seconds(lambda s, model=model: model.set_params(random_state=s).fit(X), repeats=1)
                line(name, spent, "s", spent / reference, "goal 2" if "100" in name else "")


if __name__ == "__main__":
    main()
