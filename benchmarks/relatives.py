"""Speed of other forms of the methods beside their nearest relatives: CPU seconds, BLAS on one thread.

    python benchmarks/relatives.py > docs/evidence/relatives.csv

Digits (1797 x 64), and a table of 1797 rows and ten columns of four levels. Medians over 5 seeds.
"""

import csv
import statistics
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

import jointclust as jc

warnings.simplefilter("ignore")


def seconds(make, X, n_repeats=5):
    """CPU seconds of a fit, the median over seeds."""
    values = []
    for seed in range(n_repeats):
        began = time.process_time()
        make(seed).fit(X)
        values.append(time.process_time() - began)
    return statistics.median(values)


def pairs():
    """Names and estimators: the form, and its relative; with the rows of each."""
    X = jc.datasets.load("digits").data
    rng = np.random.RandomState(0)
    kind, profile = np.arange(len(X)) % 5, rng.randint(4, size=(5, 10))
    table = np.where(rng.uniform(size=(len(X), 10)) < 0.5, rng.randint(4, size=(len(X), 10)), profile[kind])
    coded = jc.MixedEncoder(dict.fromkeys(map(str, range(10)), "category")).fit_transform(table)
    dec, ec, rurr = jc.DiscriminativeEmbeddedClustering, jc.RobustEmbeddedClustering, jc.UncorrelatedRidgeClustering
    few = {"variance": 0.8, "kernel": "rbf"}
    odc = jc.OptimalDiscriminantClustering
    of_table = {kind: jc.CorrespondenceClustering(5, method=kind) for kind in ("clusca", "mca", "i-fcb", "mixed")}
    halves, kernel, clusca = [X[:, :32], X[:, 32:]], ("ODC, rbf", odc(10, kernel="rbf"), X), of_table["clusca"]
    return [
        ("MultiViewKMeans, two views", jc.MultiViewKMeans(10), halves, "RobustKMeans", jc.RobustKMeans(10), X),
        ("EC, capped", ec(10, loss="capped"), X, "EC", ec(10), X),
        ("RURR-SL, orthogonal", rurr(10, constraint="orthogonal"), X, "RURR-SL", rurr(10), X),
        ("DisCluster, total", jc.DisCluster(10, scale="total"), X, "DisCluster", jc.DisCluster(10), X),
        ("DEC, as printed", dec(10, reading="as printed"), X, "DEC", dec(10), X),
        *((f"{name}, rbf", one(10, **few), X, *kernel) for name, one in (("DEC", dec), ("EC", ec), ("RURR-SL", rurr))),
        ("clusCA, 20 runs", clusca, table, "KMeans(n_init=20), coded", KMeans(5, n_init=20), coded),
        *((f"{kind}, 20 runs", of_table[kind], table, "clusCA", clusca, table) for kind in ("mca", "i-fcb", "mixed")),
    ]


def main():
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["form", "seconds", "relative", "its seconds", "ratio"])
    with threadpool_limits(1):
        for name, form, rows, other, relative, its_rows in pairs():
            own, its = (
                seconds(lambda seed, one=one: one.set_params(random_state=seed), X)
                for one, X in ((form, rows), (relative, its_rows))
            )
            writer.writerow([name, f"{own:.3f}", other, f"{its:.3f}", f"{own / its:.2f}"])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
