"""Choosing without labels: the consensus and the search against single candidates.

    JOINTCLUST_DATA=folder python benchmarks/search.py accuracy|cost [--seeds 5] [--largest 3000] [--csv folder]

accuracy: mean accuracy on real data, number of clusters given, of every candidate at its defaults, of the one that the
default criterion chooses among them, and of the consensus. cost: on COIL20, in single fits of DEC. The classes are used
for the evaluation only.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import jointclust as jc
from fixed_settings import PREPARE
from jointclust.selection.candidates import Candidate, fit_all
from jointclust.selection.references import reference_labels, reference_members
from jointclust.selection.search import agreements, best_candidate
from jointclust.selection.trade_off_path import DEFAULT_TRADE_OFFS

DEC = jc.DiscriminativeEmbeddedClustering
SKIP = {"two_gaussians", "three_clusters", "multi_clusters", "mixture", "satellite_train", "german"}


def candidate_list(c: int, X: Any) -> dict[str, Any]:
    """The single candidates, by name."""
    pca = PCA if isinstance(X, np.ndarray) else TruncatedSVD
    q = max(1, min(c - 1, min(X.shape) - 1))
    values: dict[str, Any] = {
        "KMeans(n_init=10)": KMeans(c, n_init=10),
        "PCA + k-means": make_pipeline(pca(q), KMeans(c, n_init=10)),
    }
    values |= {f"DEC {t:g}": DEC(c, trade_off=t) for t in (0.5, 1.5, 2, 3, 4, 6)}
    values |= {
        f"LDAKMeans {v} n_init={n}": jc.LDAKMeans(c, variance=v, n_init=n) for v in (0.8, 0.9, 0.95) for n in (1, 5)
    }
    return values | {
        "EC": jc.RobustEmbeddedClustering(c),
        "ODC": jc.OptimalDiscriminantClustering(c),
        "ODC graph": jc.OptimalDiscriminantClustering(c, kernel="nearest_neighbors"),
        "RURR-SL": jc.UncorrelatedRidgeClustering(c),
    }


def data_sets(largest: int) -> list[tuple[str, Any, Any]]:
    """Name, rows and classes of the real data sets, small ones first."""
    loaded = [(name, jc.datasets.load(name)) for name in jc.datasets.names() if name not in SKIP]
    kept = [(name, PREPARE.get(name, lambda X: X)(d.data), d.target) for name, d in loaded if len(d.target) <= largest]
    return sorted(kept, key=lambda entry: entry[1].shape[0] * entry[1].shape[1])


def accuracies(X: Any, y: Any, coordinates: jc.Coordinates, seed: int) -> dict[str, float]:
    """Accuracy of each candidate, of the one chosen by agreement and of the consensus."""
    c = np.unique(y).size
    by_name = {name: Candidate(estimator, {}) for name, estimator in candidate_list(c, X).items()}
    tried = list(by_name.values())
    fit_all(tried, X, coordinates, np.random.RandomState(seed), None)
    consensus = jc.JointConsensus(c, random_state=seed).fit(coordinates)
    references = reference_members(c, X, coordinates)
    agreements(tried, reference_labels(references, X, coordinates, np.random.RandomState(seed), None), coordinates)
    labels = {name: candidate.labels for name, candidate in by_name.items()}
    labels |= {"chosen by agreement": best_candidate(tried).labels, "consensus": consensus.labels_}
    return {name: jc.metrics.clustering_accuracy(y, one) for name, one in labels.items()}


def accuracy(arguments: argparse.Namespace) -> None:
    table: dict[str, dict[str, float]] = {}
    for name, X, y in data_sets(arguments.largest):
        coordinates = jc.decompose(X)
        runs = [accuracies(X, y, coordinates, seed) for seed in range(arguments.seeds)]
        table[name] = {method: float(np.mean([run[method] for run in runs])) for method in runs[0]}
        print(name, {method: round(value, 3) for method, value in table[name].items()}, flush=True)
    lines = ["method,mean accuracy,mean gain on k-means,worst set,sets more than 2 points below"]
    for method in next(iter(table.values())):
        gains = {name: row[method] - row["KMeans(n_init=10)"] for name, row in table.items()}
        worst = min(gains, key=lambda name: gains[name])
        below = sum(gain < -0.02 for gain in gains.values())
        mean = np.mean([row[method] for row in table.values()])
        lines.append(f"{method},{mean:.3f},{np.mean(list(gains.values())):+.3f},{worst} {gains[worst]:+.3f},{below}")
    write(lines, arguments.csv, "search.csv")


def cost(arguments: argparse.Namespace) -> None:
    X = jc.datasets.load("coil20").data

    def seconds(fit: Callable[[int], Any]) -> float:
        spent = []
        for seed in range(arguments.seeds):
            began = time.perf_counter()
            fit(seed)
            spent.append(time.perf_counter() - began)
        return min(spent)

    single = seconds(lambda seed: DEC(20, random_state=seed).fit(X))
    grid = {"trade_off": list(DEFAULT_TRADE_OFFS)}
    fits = {
        "consensus": lambda seed: jc.JointConsensus(20, random_state=seed).fit(X),
        "search over 11 trade-offs": lambda seed: jc.LabelFreeSearch(DEC(20), grid, random_state=seed).fit(X),
        "number of clusters": lambda seed: jc.number_of_clusters(X, random_state=seed),
    }
    lines = ["what,cost in fits of DEC"] + [f"{name},{seconds(fit) / single:.1f}" for name, fit in fits.items()]
    write(lines, arguments.csv, "cost.csv")


def write(lines: list[str], folder: Path | None, name: str) -> None:
    """Print a table, and write it to a folder."""
    print("\n" + "\n".join(lines), flush=True)
    if folder is not None:
        (folder / name).write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["accuracy", "cost"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=3000, help="skip data sets with more rows")
    parser.add_argument("--csv", type=Path, help="a folder to write the tables to")
    arguments = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        {"accuracy": accuracy, "cost": cost}[arguments.part](arguments)


if __name__ == "__main__":
    main()
