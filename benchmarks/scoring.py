"""Speed and memory of optimal discriminant clustering, as ratios in one run, BLAS on one thread.

    JOINTCLUST_DATA=folder python benchmarks/scoring.py [--quick]

COIL20 is generated (same size, same number of classes) when JOINTCLUST_DATA does not hold it. --quick leaves out the
200,000-row part.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, KernelPCA
from threadpoolctl import threadpool_limits

import jointclust as jc
from discriminative import coil20, line, seconds
from jointclust import OptimalDiscriminantClustering as ODC

warnings.simplefilter("ignore")

LANDMARKS = """
import resource, warnings, numpy as np, jointclust as jc
warnings.simplefilter("ignore")
X = np.random.RandomState(0).standard_normal((100_000, 64))
X[:, :5] += 6 * np.random.RandomState(1).standard_normal((10, 5))[np.arange(100_000) % 10]
jc.OptimalDiscriminantClustering(10, kernel="rbf", n_landmarks=1000, random_state=0).fit(X)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def against_pca(X: np.ndarray, c: int, repeats: int) -> None:
    def pca(seed: int) -> None:
        Y = PCA(c - 1, random_state=seed).fit_transform(X)
        KMeans(c, n_init=10, random_state=seed).fit(Y)

    reference = seconds(pca, repeats)
    line(f"PCA({c - 1}) + KMeans(n_init=10)", reference, "s", 1.0)
    ours = seconds(lambda s: ODC(c, random_state=s).fit(X), repeats)
    line("ODC, linear, one fit", ours, "s", ours / reference, "goal 1.1")


def grid(X: np.ndarray, c: int) -> None:
    ridges = 10.0 ** np.arange(-3, 3.5, 0.5) * X.var() * len(X)
    decomposition = seconds(lambda s: jc.decompose(X), 3)
    one = seconds(lambda s: ODC(c, random_state=s).fit(X), 3)

    def shared(seed: int) -> None:
        coordinates = jc.decompose(X)
        for ridge in ridges:
            ODC(c, ridge=ridge, random_state=seed).fit(coordinates)

    ours = seconds(shared, 3)
    line("13 ridges over one full decomposition", ours, "s", ours / one, "single fits")
    line("  the decomposition's part", decomposition, "s", decomposition / ours, "")


def kernels() -> None:
    print("\n5,000 x 50, 8 clusters")
    X = jc.datasets.mixture(5000, 50, 8, random_state=0)[0].astype(np.float64)
    gamma = 1 / (X.var() * X.shape[1])

    def theirs(seed: int) -> None:
        Y = KernelPCA(7, kernel="rbf", gamma=gamma, random_state=seed).fit_transform(X)
        KMeans(8, n_init=10, random_state=seed).fit(Y)

    reference = seconds(theirs, 3)
    line("KernelPCA(7) + KMeans(n_init=10)", reference, "s", 1.0)
    ours = seconds(lambda s: ODC(8, kernel="rbf", gamma=gamma, random_state=s).fit(X), 3)
    line("ODC, rbf", ours, "s", ours / reference, "goal 1.5")
    graph = seconds(lambda s: ODC(8, kernel="nearest_neighbors", random_state=s).fit(X), 3)
    line("ODC, nearest_neighbors", graph, "s", graph / reference)


def landmarks() -> None:
    print("\n100,000 x 64, 1,000 landmarks")
    done = subprocess.run([sys.executable, "-c", LANDMARKS], capture_output=True, text=True, check=True)
    line("ODC, rbf: peak of the process", float(done.stdout), "GiB", None, "goal 4 GB")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    line("  its processor time", spent.ru_utime, "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    print(f"{'':66} {'value':>9} {'':3} {'ratio':>9}")
    with threadpool_limits(1):
        X = coil20()
        against_pca(X, 20, 7)
        grid(X, 20)
        kernels()
        if not arguments.quick:
            print("\n200,000 x 512 float32, 50 clusters")
            against_pca(jc.datasets.mixture(200_000, 512, 50, random_state=0)[0].astype(np.float32), 50, 1)
    landmarks()


if __name__ == "__main__":
    main()
