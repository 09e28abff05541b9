"""Landmarks of kernel ODC: centers of a k-means against rows drawn at random, as many of them, on all data sets.

    JOINTCLUST_DATA=folder python benchmarks/landmarks.py [seeds] [jobs] > docs/evidence/landmarks.csv

Accuracies and CPU seconds of a fit, means over the seeds, as CSV; means over the sets go to the error stream. Tables
have columns of variance one, other rows are as they come. A set is there where it has twice as many rows as landmarks.
The classes are used for the evaluation only.
"""

import csv
import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from default import SETS

KERNELS, SIZES, KINDS = ("rbf", "nearest_neighbors"), (50, 100, 200), ("random", "k-means")


def measured(name, kind, kernel, size, seed):
    """Accuracy and CPU seconds of one fit."""
    warnings.simplefilter("ignore")
    loaded = jc.datasets.load(name)
    X = StandardScaler().fit_transform(loaded.data) if kind == "table" else loaded.data
    scores = []
    for landmarks in KINDS:
        model = jc.OptimalDiscriminantClustering(
            loaded.n_classes, kernel=kernel, n_landmarks=size, landmarks=landmarks, random_state=seed
        )
        began = time.process_time()
        labels = model.fit(X).labels_
        scores += [jc.metrics.clustering_accuracy(loaded.target, labels), time.process_time() - began]
    return scores


def chosen(names, size):
    """The sets that are here and large enough."""
    for name in names:
        if jc.datasets.present(name):
            loaded = jc.datasets.load(name)
            if loaded.data.shape[0] >= 2 * size and size >= loaded.n_classes:
                yield name


def main(n_seeds=5, n_jobs=1):
    cells = [
        (name, kind, half, kernel, size)
        for (kind, half), names in SETS.items()
        if kind != "counts"
        for size in SIZES
        for name in chosen(names, size)
        for kernel in KERNELS
    ]
    jobs = (
        delayed(measured)(name, kind, kernel, size, seed)
        for name, kind, _, kernel, size in cells
        for seed in range(n_seeds)
    )
    result = np.reshape(Parallel(n_jobs=n_jobs)(jobs), (len(cells), n_seeds, 4)).mean(axis=1)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["data set", "half", "kernel", "n_landmarks", "random", "random s", "k-means", "k-means s"])
    for (name, _, half, kernel, size), values in zip(cells, result, strict=True):
        writer.writerow([name, half, kernel, size, *(f"{value:.4f}" for value in values)])
    for kernel in KERNELS:
        for half in ("tune", "judge"):
            of = [index for index, cell in enumerate(cells) if cell[2:4] == (half, kernel)]
            random, _, centers, _ = result[of].mean(axis=0)
            won = int(np.sum(result[of, 2] > result[of, 0]))
            print(f"{kernel}, {half}: random {random:.4f}, k-means {centers:.4f}, {won} of {len(of)}", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
