"""Choosing without labels: the consensus and the search against single candidates, and the number of clusters.

    JOINTCLUST_DATA=folder python benchmarks/search.py accuracy|number|cost [--seeds 5] [--largest 3000] [--csv folder]

accuracy: mean accuracy on real data, number of clusters given, of every candidate at its defaults, of the one that the
default criterion chooses among them, and of the consensus. number: the number of clusters found in generated mixtures,
in structureless data and in real data. cost: on COIL20, in single fits of DEC. The classes are used for the evaluation
only.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import jointclust as jc
from fixed_settings import PREPARE
from jointclust.choosing.candidates import TRADE_OFF_COARSE, Candidate, fit_all
from jointclust.choosing.members import training_labels
from jointclust.choosing.search import agreements, best_candidate

DEC = jc.DiscriminativeEmbeddedClustering
# Clusters, features and rows of the generated mixtures; rows and features of data without clusters.
MIXTURES = ((2, 20, 400), (3, 50, 600), (4, 100, 600), (5, 200, 800), (6, 300, 800), (8, 500, 1000), (10, 1000, 1500))
MIXTURES += ((15, 200, 1500), (20, 400, 2000), (30, 1000, 3000))
STRUCTURELESS = ((300, 2), (1000, 5), (200, 10), (500, 50), (100, 200), (300, 1000))
SKIP = {"two_gaussians", "three_clusters", "multi_clusters", "mixture", "satellite_train", "german"}


def candidate_list(c: int, X: Any) -> dict[str, Any]:
    """The single candidates, by name."""
    pca = PCA if isinstance(X, np.ndarray) else TruncatedSVD
    q = max(1, min(c - 1, min(X.shape) - 1))
    found: dict[str, Any] = {
        "KMeans(n_init=10)": KMeans(c, n_init=10),
        "PCA + k-means": make_pipeline(pca(q), KMeans(c, n_init=10)),
    }
    found |= {f"DEC {t:g}": DEC(c, trade_off=t) for t in (0.5, 1.5, 2, 3, 4, 6)}
    found |= {
        f"LDAKMeans {v} n_init={n}": jc.LDAKMeans(c, variance=v, n_init=n) for v in (0.8, 0.9, 0.95) for n in (1, 5)
    }
    return found | {
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
    # The search's references are members of the consensus: these, instead of fitting them a second time.
    agreements(tried, [training_labels(member, X) for member in consensus.members_[::2]], coordinates)
    labels = {name: candidate.labels for name, candidate in by_name.items()}
    labels |= {"chosen by agreement": best_candidate(tried).labels, "consensus": consensus.labels_}
    return {name: jc.metrics.clustering_accuracy(y, found) for name, found in labels.items()}


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


def blobs(n: int, d: int, c: int, seed: int, *, unequal: bool) -> Any:
    """Clusters 7 apart at the least in c/2 dimensions, under correlated nuisance directions of ten times the noise.

    With ``unequal``, clusters of different sizes and noise with heavy tails.
    """
    rng = np.random.RandomState(seed)
    q, box = max(2, c // 2), 7.0
    centers = rng.uniform(-box, box, (1, q))
    while len(centers) < c:
        one = rng.uniform(-box, box, q)
        if np.min(np.linalg.norm(centers - one, axis=1)) >= 7:
            centers = np.vstack([centers, one])
        box *= 1.01
    shares = np.maximum(rng.dirichlet(np.full(c, 2.0)), 0.4 / c) if unequal else np.ones(c)
    y = rng.choice(c, n, p=shares / shares.sum())
    noise = rng.standard_t(5, (n, q)) * np.sqrt(0.6) if unequal else rng.standard_normal((n, q))
    nuisance = 10 * rng.standard_normal((n, 8)) @ rng.standard_normal((8, 8)) / np.sqrt(8)
    directions = np.linalg.qr(rng.standard_normal((d, q + 8)))[0].T
    return np.hstack([centers[y] + noise, nuisance]) @ directions + 0.5 * rng.standard_normal((n, d))


def mixture(kind: str, c: int, d: int, n: int, seed: int) -> Any:
    """Rows of a generated mixture."""
    if kind == "mixture":
        return jc.datasets.mixture(n, d, c, n_nuisance=5 if d < 50 else 10, random_state=seed)[0]
    return blobs(n, d, c, seed, unequal=kind != "blobs")


def structureless(kind: str, n: int, d: int, seed: int) -> Any:
    """Rows without clusters."""
    rng = np.random.RandomState(seed)
    if kind == "uniform":
        return rng.uniform(size=(n, d))
    rows = rng.standard_normal((n, d))
    return rows if kind == "Gaussian" else rows @ (rng.standard_normal((d, d)) * np.geomspace(1, 0.05, d))


def number(arguments: argparse.Namespace) -> None:
    def find(X: Any, seed: int) -> int:
        return jc.number_of_clusters(X, random_state=seed).n_clusters

    lines = ["data,clusters,features,rows,found,within 10%"]
    hits = []
    for kind, (c, d, n) in product(("mixture", "blobs", "unequal heavy-tailed blobs"), MIXTURES):
        found = [find(mixture(kind, c, d, n, 1000 * seed + c), seed) for seed in range(arguments.seeds)]
        hits.append([abs(one - c) <= 0.1 * c for one in found])
        lines.append(f"{kind},{c},{d},{n},{' '.join(map(str, found))},{np.mean(hits[-1]):.0%}")
        print(lines[-1], flush=True)
    for first in range(0, len(hits), len(MIXTURES)):
        print("within 10%, by seed:", np.sum(hits[first : first + len(MIXTURES)], axis=0), "of", len(MIXTURES))
    write(lines, arguments.csv, "number.csv")
    lines = ["data,features,rows,share with the verdict no structure"]
    for kind, (n, d) in product(("uniform", "Gaussian", "correlated Gaussian"), STRUCTURELESS):
        share = np.mean([find(structureless(kind, n, d, seed), seed) == 1 for seed in range(4 * arguments.seeds)])
        lines.append(f"{kind},{d},{n},{share:.0%}")
    write(lines, arguments.csv, "structureless.csv")
    lines = ["data set,rows,classes,found"]
    for name, X, y in data_sets(10_000):
        lines.append(f"{name},{X.shape[0]},{np.unique(y).size},{find(X, 0)}")
    write(lines, arguments.csv, "number_real.csv")


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
    grid = {"trade_off": list(TRADE_OFF_COARSE)}
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
    parser.add_argument("part", choices=["accuracy", "number", "cost"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=3000, help="skip data sets with more rows")
    parser.add_argument("--csv", type=Path, help="a folder to write the tables to")
    arguments = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        {"accuracy": accuracy, "number": number, "cost": cost}[arguments.part](arguments)


if __name__ == "__main__":
    main()
