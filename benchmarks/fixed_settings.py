"""Accuracy of fixed settings on real data, with no tuning per data set: the evidence behind the defaults.

    JOINTCLUST_DATA=folder python benchmarks/fixed_settings.py [--seeds 5] [--largest 3000] [--csv folder]

The classes are used for the evaluation only. `colon` is taken in logs, `segmentation` is standardised and the word
counts become TF-IDF first, for every method.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import jointclust as jc

PREPARE: dict[str, Callable[[Any], Any]] = {
    "colon": np.log,
    "segmentation": StandardScaler().fit_transform,
    "newsgroups20": TfidfTransformer().fit_transform,
}

# Settings shown for each data set: the defaults, and what they are compared with.
SHOWN = {
    "KMeans(n_init=10)",
    "DEC trade_off=1.5",
    "DEC trade_off=3",
    "LDAKMeans variance=0.9 ridge=0.001",
    "LDAKMeans n_init=5",
    "EC variance=0.9 n_components=0.95r",
    "OLSDA variance=0.9 n_components=0.95r",
    "RobustKMeans",
    "ODC ridge=0.1",
    "ODC nearest_neighbors=8",
    "DisCluster",
    "RURR-SL ridge=0.3",
    "FuzzyKMeans",
}


def settings(c: int) -> dict[str, Callable[[Any, jc.Coordinates, int], Any]]:
    """Fitted model from data, their coordinates and a seed, by name."""

    def ldakm(variance: float | None, share: float) -> Callable[[Any, jc.Coordinates, int], Any]:
        def fit(X: Any, coordinates: jc.Coordinates, seed: int) -> Any:
            ridge = share * coordinates.keep(variance).eigenvalues.mean()
            return jc.LDAKMeans(c, variance=variance, ridge=ridge, random_state=seed).fit(coordinates)

        return fit

    def ec(variance: float, share: float, robust: bool = True) -> Callable[[Any, jc.Coordinates, int], Any]:
        def fit(X: Any, coordinates: jc.Coordinates, seed: int) -> Any:
            k = max(1, round(share * coordinates.keep(variance).rank))
            model = jc.RobustEmbeddedClustering(c, variance=variance, n_components=k, robust=robust, random_state=seed)
            return model.fit(coordinates)

        return fit

    values: dict[str, Callable[[Any, jc.Coordinates, int], Any]] = {
        "KMeans(n_init=10)": lambda X, _, seed: KMeans(c, n_init=10, random_state=seed).fit(X)
    }
    for trade_off in (0, 1, 1.5, 2, 3, 4, 6):
        values[f"DEC trade_off={trade_off:g}"] = lambda _, coordinates, seed, t=trade_off: (
            jc.DiscriminativeEmbeddedClustering(c, trade_off=t, random_state=seed).fit(coordinates)
        )
    for variance, share in ((0.8, 1e-3), (0.9, 1e-4), (0.9, 1e-3), (0.9, 1e-2), (0.95, 1e-3), (None, 1e-3)):
        values[f"LDAKMeans variance={variance} ridge={share:g}"] = ldakm(variance, share)
    values["LDAKMeans n_init=5"] = lambda _, coordinates, seed: jc.LDAKMeans(c, n_init=5, random_state=seed).fit(
        coordinates
    )
    for variance, share in ((0.8, 0.95), (0.9, 0.8), (0.9, 0.9), (0.9, 0.95), (0.95, 0.95)):
        values[f"EC variance={variance} n_components={share:g}r"] = ec(variance, share)
    values["OLSDA variance=0.9 n_components=0.95r"] = ec(0.9, 0.95, robust=False)
    for share in (0.03, 0.1, 0.3):
        values[f"ODC ridge={share:g}"] = lambda _, coordinates, seed, t=share: jc.OptimalDiscriminantClustering(
            c, ridge=t * coordinates.total_variance / max(c - 1, 1), random_state=seed
        ).fit(coordinates)
    for neighbors in (5, 8, 10):
        values[f"ODC nearest_neighbors={neighbors}"] = lambda X, _, seed, k=neighbors: jc.OptimalDiscriminantClustering(
            c, kernel="nearest_neighbors", n_neighbors=k, random_state=seed
        ).fit(X)
    values["ODC rbf"] = lambda X, _, seed: jc.OptimalDiscriminantClustering(c, kernel="rbf", random_state=seed).fit(X)
    values["DisKMeans"] = lambda _, coordinates, seed: jc.DisKMeans(c, random_state=seed).fit(coordinates)
    values["DisCluster"] = lambda _, coordinates, seed: jc.DisCluster(c, random_state=seed).fit(coordinates)
    for share in (0.1, 0.3, 1.0):
        values[f"RURR-SL ridge={share:g}"] = lambda _, coordinates, seed, t=share: jc.UncorrelatedRidgeClustering(
            c, ridge=t * coordinates.total_variance / max(c - 1, 1), random_state=seed
        ).fit(coordinates)
    values["RURR-SL n_init=5"] = lambda _, coordinates, seed: jc.UncorrelatedRidgeClustering(
        c, n_init=5, random_state=seed
    ).fit(coordinates)
    values["RURR-SL max_iter=100"] = lambda _, coordinates, seed: jc.UncorrelatedRidgeClustering(
        c, max_iter=100, random_state=seed
    ).fit(coordinates)
    values["FuzzyKMeans"] = lambda X, coordinates, seed: jc.FuzzyKMeans(c, random_state=seed).fit(
        X.toarray() if sp.issparse(X) else coordinates
    )
    values["RobustSparseFuzzyKMeans"] = lambda X, coordinates, seed: jc.RobustSparseFuzzyKMeans(
        c, random_state=seed
    ).fit(X.toarray() if sp.issparse(X) else coordinates)
    values["RobustKMeans"] = lambda X, coordinates, seed: jc.RobustKMeans(c, random_state=seed).fit(
        X.toarray() if sp.issparse(X) else coordinates
    )
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--csv", type=Path, help="a folder to write the tables to")
    parser.add_argument("--largest", type=int, default=3000, help="skip data sets with more rows")
    arguments = parser.parse_args()
    skip = {"two_gaussians", "three_clusters", "multi_clusters", "mixture", "satellite_train", "german"}
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for name in (name for name in jc.datasets.names() if name not in skip):
        data = jc.datasets.load(name)
        if data.data.shape[0] > arguments.largest:
            continue
        X, c = PREPARE.get(name, lambda X: X)(data.data), data.n_classes
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coordinates = jc.decompose(X)
            for label, setting in settings(c).items():
                labels = [setting(X, coordinates, seed).labels_ for seed in range(arguments.seeds)]
                accuracy = np.mean([jc.metrics.clustering_accuracy(data.target, one) for one in labels])
                nmi = np.mean([jc.metrics.normalized_mutual_info(data.target, one) for one in labels])
                table.setdefault(label, {})[name] = (float(accuracy), float(nmi))
        print(name, data.data.shape, {label: round(row[name][0], 3) for label, row in table.items()}, flush=True)
    report(table, arguments.csv)


def report(table: dict[str, dict[str, tuple[float, float]]], folder: Path | None) -> None:
    """Print a line per setting; with a folder, write that and the accuracies by data set as CSV."""
    plain = table["KMeans(n_init=10)"]
    names = list(plain)
    summary = ["setting,accuracy,NMI,worst against k-means,on"]
    for label, row in table.items():
        gaps = {name: row[name][0] - plain[name][0] for name in names}
        worst = min(gaps, key=lambda name: gaps[name])
        accuracy, nmi = np.mean([row[name] for name in names], axis=0)
        summary.append(f"{label},{accuracy:.3f},{nmi:.3f},{gaps[worst]:+.3f},{worst if gaps[worst] < 0 else ''}")
    by_set = [",".join(["data set", *(label for label in table if label in SHOWN)])]
    by_set += [",".join([name, *(f"{table[s][name][0]:.3f}" for s in table if s in SHOWN)]) for name in names]
    print("\n" + "\n".join(summary))
    if folder is not None:
        (folder / "settings.csv").write_text("\n".join(summary) + "\n")
        (folder / "data_sets.csv").write_text("\n".join(by_set) + "\n")


if __name__ == "__main__":
    main()
