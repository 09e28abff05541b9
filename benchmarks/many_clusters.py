"""A thousand clusters: DEC, LDA k-means and ODC against scikit-learn's KMeans(n_init=1), as ratios in one run.

    OMP_NUM_THREADS=1 python benchmarks/many_clusters.py [--rows 100000] [--columns 64] [--clusters 10 100 1000]

Seconds are of the process, so that other work on the machine does not count. The last lines give the exponent of the
time in the number of clusters, from the least to the most.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

import jointclust as jc

warnings.simplefilter("ignore")
METHODS = {
    "KMeans(n_init=1)": lambda c: KMeans(c, n_init=1, random_state=0),
    "DEC": lambda c: jc.DiscriminativeEmbeddedClustering(c, random_state=0),
    "LDAKMeans": lambda c: jc.LDAKMeans(c, random_state=0),
    "ODC": lambda c: jc.OptimalDiscriminantClustering(c, random_state=0),
}


def mixture(n: int, d: int, c: int, separation: float) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Clusters in half of the dimensions, this far apart in units of the noise, twice which an eighth of them have."""
    rng = np.random.RandomState(0)
    labels, half = rng.randint(c, size=n), d // 2
    X = rng.standard_normal((n, d))
    X[:, half : half + d // 8] *= 2
    X[:, :half] += (separation / np.sqrt(2 * half) * rng.standard_normal((c, half)))[labels]
    return (X @ np.linalg.qr(rng.standard_normal((d, d)))[0]).astype(np.float32), labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--clusters", type=int, nargs="+", default=[10, 100, 1000])
    options = parser.parse_args()
    for separation in (9.0, 14.0):
        taken: dict[str, list[float]] = {name: [] for name in METHODS}
        for c in options.clusters:
            X, labels = mixture(options.rows, options.columns, c, separation)
            print(f"\n{options.rows} x {options.columns} float32, {c} clusters, {separation:g} apart")
            print(f"{'':18} {'seconds':>8} {'ratio':>6} {'accuracy':>9} {'NMI':>6}  iterations")
            for name, method in METHODS.items():
                began = time.process_time()
                model = method(c).fit(X)
                taken[name].append(time.process_time() - began)
                seconds, ratio = taken[name][-1], taken[name][-1] / taken["KMeans(n_init=1)"][-1]
                accuracy = jc.metrics.clustering_accuracy(labels, model.labels_)
                agreement = normalized_mutual_info_score(labels, model.labels_)
                print(
                    f"{name:18} {seconds:8.2f} {ratio:6.2f} {accuracy:9.3f} {agreement:6.3f}  {model.n_iter_}",
                    flush=True,
                )
        growth = np.log(options.clusters[-1] / options.clusters[0])
        for name, seconds in taken.items():
            if growth > 0:
                print(f"exponent of {name} in the clusters: {np.log(seconds[-1] / seconds[0]) / growth:.2f}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
