"""The default with the view that suits the data, against the same members on the rows as they are.

Data sets are those that ``JOINTCLUST_DATA`` names or scikit-learn has; those that are not there are left out. Prints
CSV: ``python benchmarks/views.py [seeds] [jobs] > docs/evidence/views.csv``. ``python benchmarks/views.py cost`` times
describing and coding, as ratios in one run.
"""

import csv
import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import jointclust as jc

SETS = {
    "table": ["iris", "wine", "breast_cancer", "glass", "vehicle", "vowel", "heart", "yeast", "segmentation"],
    "features": ["satellite", "digits", "orl", "coil20", "isolet5", "usps", "pbmc3k"],
    "counts": ["newsgroups20", "worm_neuron"],
}


def accuracy(name, views, seed):
    warnings.simplefilter("ignore")
    found = jc.datasets.load(name)
    X = found.data
    if isinstance(X, np.ndarray):
        X = X.astype(float)
    n_clusters = len(np.unique(found.target))
    model = jc.JointConsensus(n_clusters, views=views, random_state=seed).fit(X)
    kind = model.description_.kind if model.description_ is not None else ""
    return jc.metrics.clustering_accuracy(found.target, model.labels_), kind, model.views_[0]["name"]


def accuracies(seeds, jobs):
    known = set(jc.datasets.names())
    names = [name for group in SETS.values() for name in group if name in known]
    plan = [(name, views, seed) for name in names for views in ("auto", None) for seed in range(seeds)]
    found = dict(zip(plan, Parallel(jobs)(delayed(accuracy)(*one) for one in plan), strict=True))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["data set", "kind", "view", "default", "rows as they are", "difference"])
    for name in names:
        own, raw = (np.mean([found[name, views, seed][0] for seed in range(seeds)]) for views in ("auto", None))
        _, kind, view = found[name, "auto", 0]
        writer.writerow([name, kind, view, f"{own:.3f}", f"{raw:.3f}", f"{own - raw:+.3f}"])


def seconds(function):
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def cost():
    rng = np.random.RandomState(0)
    big = rng.standard_normal((1_000_000, 100)).astype(np.float32)
    print(f"describe, 1,000,000 x 100: {seconds(lambda: jc.describe(big)):.2f} s")
    numbers = rng.standard_normal((100_000, 20)) + 5 * rng.randint(3, size=(100_000, 1))
    frame = pd.DataFrame(numbers, columns=[f"n{index}" for index in range(20)])
    for index in range(5):
        frame[f"c{index}"] = rng.choice(["red", "green", "blue", "grey"], size=len(frame))
    coded = jc.MixedEncoder().fit(frame).transform(frame)
    coding = seconds(lambda: jc.MixedEncoder().fit(frame).transform(frame))
    fit = seconds(lambda: jc.LDAKMeans(10, n_init=5, random_state=0).fit(coded))
    print(f"coding 100,000 x 25 over an LDAKMeans(n_init=5) fit: {coding / fit:.3f} ({coding:.2f} s, {fit:.2f} s)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["cost"]:
        cost()
    else:
        accuracies(*(int(value) for value in sys.argv[1:3] or ("3",)), *(() if len(sys.argv) > 2 else (2,)))
