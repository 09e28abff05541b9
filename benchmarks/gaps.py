"""Gaps filled by LowRankImputer: the error of the filled cells and what they cost in accuracy, against mean filling.

    JOINTCLUST_DATA=folder python benchmarks/gaps.py [--draws 5] [--share 0.2]

Standardised columns, LDAKMeans(n_init=5), cells missing at random: in all columns ("cells"), in a third of them
("third"), and one whole column missing for the second half of the rows, which are predicted only ("column"). Prints
CSV, means over the draws; errors are root mean squares. The classes are used for the evaluation only. Sets that are not
there are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

import jointclust as jc

SETS = ("wine", "digits", "segmentation", "breast_cancer")


def masks(shape, share, rng):
    cells = rng.rand(*shape) < share
    third = cells & (rng.permutation(shape[1]) < shape[1] / 3)
    column = np.zeros(shape, dtype=bool)
    column[shape[0] // 2 :, rng.randint(shape[1])] = True
    return {"cells": cells, "third": third, "column": column}


def root_mean_square(values):
    return float(np.sqrt(np.mean(values**2)))


def accuracy(rows, y, fit, seed):
    """Of all rows, the model learnt from those of `fit`."""
    model = jc.LDAKMeans(len(np.unique(y)), n_init=5, random_state=seed).fit(rows[fit])
    return jc.metrics.clustering_accuracy(y, model.predict(rows))


def measure(name, X, y, gaps, kind, draw):
    holes = np.where(gaps, np.nan, X)
    fit = np.arange(len(X)) < len(X) // 2 if kind == "column" else np.ones(len(X), dtype=bool)
    columns = {"set": name, "gaps": kind, "draw": draw, "full": accuracy(X, y, fit, draw)}
    for label, imputer in (("mean", SimpleImputer()), ("low rank", jc.LowRankImputer())):
        start = time.perf_counter()
        filled = imputer.fit(holes[fit]).transform(holes)
        columns[f"{label} s"] = time.perf_counter() - start
        columns[f"{label} error"] = root_mean_square((filled - X)[gaps])
        columns[label] = accuracy(filled, y, fit, draw)
    return columns | {"ratio": columns["low rank error"] / columns["mean error"], "rank": imputer.n_components_}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    for name in SETS:
        if jc.datasets.present(name) is None:
            continue
        data = jc.datasets.load(name)
        X = StandardScaler().fit_transform(data.data)
        # Rows in the order of their classes would teach nothing about the other half.
        order = np.random.RandomState(0).permutation(len(X))
        X, y = X[order][:, X.std(axis=0) > 0], data.target[order]
        for draw in range(options.draws):
            for kind, gaps in masks(X.shape, options.share, np.random.RandomState(draw)).items():
                results.append(measure(name, X, y, gaps, kind, draw))
    columns = [key for key in results[0] if key not in ("set", "gaps", "draw")]
    print("gaps,set,", ",".join(columns), ",squared ratio", sep="")
    for kind in ("cells", "third", "column"):
        lost = {"mean": 0.0, "low rank": 0.0}
        for name in SETS:
            rows = [row for row in results if (row["set"], row["gaps"]) == (name, kind)]
            if not rows:
                continue
            means = {key: float(np.mean([row[key] for row in rows])) for key in columns}
            lost = {key: lost[key] + means["full"] - means[key] for key in lost}
            squared = np.mean([row["ratio"] ** 2 for row in rows])
            print(kind, name, *(f"{means[key]:.4g}" for key in columns), f"{squared:.4g}", sep=",")
        print(f"# {kind}: accuracy lost, summed: mean {lost['mean']:.4f}, low rank {lost['low rank']:.4f}")


if __name__ == "__main__":
    main()
