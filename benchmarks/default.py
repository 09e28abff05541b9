"""The default against k-means as a practised user runs it, on all data sets: number of clusters given.

    JOINTCLUST_DATA=folder python benchmarks/default.py [seeds] [jobs] > docs/evidence/default.csv

Accuracies, means over the seeds, as CSV; means over the sets go to the error stream. Settings are chosen on the half
"tune" and judged on the half "judge". The classes are used for the evaluation only. Data sets that are not here are
left out.
"""

import csv
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD

import jointclust as jc
from jointclust.selection.baseline import prepared_kmeans

SETS = {
    ("table", "tune"): ["iris", "breast_cancer", "vehicle", "heart", "segmentation"],
    ("table", "judge"): ["wine", "glass", "vowel", "yeast"],
    ("features", "tune"): ["srbct", "glioma", "orl", "umist", "isolet5", "coil20", "pbmc3k"],
    ("features", "judge"): [
        "satellite", "colon", "yale", "imm", "gt", "digits", "flower17", "newsgroups20_minilm", "usps",
    ],
    ("counts", "tune"): ["newsgroups20"],
    ("counts", "judge"): ["worm_neuron"],
}  # fmt: skip
# Below prepared k-means by more than this is a loss.
LOSS = 0.02


def plain_kmeans(X, n_clusters, seed):
    """On the rows as they are; sparse ones in their 100 leading directions."""
    if sp.issparse(X):
        X = TruncatedSVD(min(100, X.shape[1] - 1), random_state=0).fit_transform(X)
    return KMeans(n_clusters, n_init=10, random_state=seed).fit(X)


METHODS = {
    "KMeans(n_init=10)": plain_kmeans,
    "prepared k-means": lambda X, c, seed: prepared_kmeans(c, seed).fit(X)[-1],
    "LDAKMeans(n_init=5)": lambda X, c, seed: jc.LDAKMeans(c, variance=0.9, n_init=5, random_state=seed).fit(X),
    "consensus, rows as they are": lambda X, c, seed: jc.JointConsensus(c, views=None, random_state=seed).fit(X),
    "default": lambda X, c, seed: jc.JointConsensus(c, random_state=seed).fit(X),
}


def accuracy(name, method, seed):
    warnings.simplefilter("ignore")
    loaded = jc.datasets.load(name)
    return jc.metrics.clustering_accuracy(loaded.target, METHODS[method](loaded.data, loaded.n_classes, seed).labels_)


def means(names, methods, seeds, jobs):
    """Accuracy of each method on each set, the mean over the seeds."""
    plan = [(name, method, seed) for name in names for method in methods for seed in range(seeds)]
    result = Parallel(jobs)(delayed(accuracy)(*one) for one in plan)
    return np.reshape(result, (len(names), len(methods), seeds)).mean(axis=2)


def summary(of_sets):
    """Means over sets, and how often and how far the default is below prepared k-means."""
    gaps = {name: row[-1] - row[list(METHODS).index("prepared k-means")] for name, row in of_sets.items()}
    worst = min(gaps, key=gaps.get)
    of_methods = zip(METHODS, np.mean(list(of_sets.values()), axis=0), strict=True)
    text = ", ".join(f"{method} {mean:.3f}" for method, mean in of_methods)
    below = sum(gap < -LOSS for gap in gaps.values())
    return f"{text}; {below} of {len(gaps)} sets more than {LOSS} below prepared, the worst {worst} {gaps[worst]:+.3f}"


def main(seeds=3, jobs=2):
    known = set(jc.datasets.names())
    sets = {name: group for group, names in SETS.items() for name in names if name in known}
    result = dict(zip(sets, means(list(sets), list(METHODS), seeds, jobs), strict=True))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["data set", "kind", "half", *METHODS, "default - prepared"])
    for name, row in result.items():
        gap = row[-1] - row[list(METHODS).index("prepared k-means")]
        writer.writerow([name, *sets[name], *(f"{value:.3f}" for value in row), f"{gap:+.3f}"])
    for group in ("", "tune", "judge", "table", "features", "counts"):
        of_group = {name: row for name, row in result.items() if group in ("", *sets[name])}
        if of_group:
            print(f"{group or 'all'}: {summary(of_group)}", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
