"""Accuracy of fixed settings on real data, with no tuning per data set: the evidence behind the defaults.

    JOINTCLUST_DATA=folder python benchmarks/fixed_settings.py [--seeds 3] [--largest 3000]

The classes are used for the evaluation only. `colon` is taken in logs, `segmentation` is standardised and the word
counts become TF-IDF first, for every method.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
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


def settings(c: int) -> dict[str, Any]:
    dec = {
        f"DEC lambda={trade_off:g}": jc.DiscriminativeEmbeddedClustering(c, trade_off=trade_off)
        for trade_off in (0, 1, 1.5, 2, 3, 4, 6)
    }
    lda = {
        f"LDAKM variance={variance} ridge={share:g}": (variance, share)
        for variance in (0.8, 0.9, 0.95, None)
        for share in (1e-4, 1e-3, 1e-2)
    }
    return {"KMeans(n_init=10)": KMeans(c, n_init=10), **dec, **lda}


def fit(setting: Any, c: int, seed: int, X: Any, coordinates: jc.Coordinates) -> np.ndarray:
    if isinstance(setting, tuple):
        variance, share = setting
        kept = coordinates.keep(variance)
        model = jc.LDAKMeans(c, variance=variance, ridge=share * kept.eigenvalues.mean(), random_state=seed)
        return model.fit(coordinates).labels_
    model = setting.set_params(random_state=seed)
    return model.fit(X if isinstance(setting, KMeans) else coordinates).labels_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=3000, help="skip data sets with more rows")
    arguments = parser.parse_args()
    skip = {"two_gaussians", "mixture", "satellite_train"}
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
                labels = [fit(setting, c, seed, X, coordinates) for seed in range(arguments.seeds)]
                accuracy = np.mean([jc.metrics.clustering_accuracy(data.target, found) for found in labels])
                nmi = np.mean([jc.metrics.normalized_mutual_info(data.target, found) for found in labels])
                table.setdefault(label, {})[name] = (float(accuracy), float(nmi))
        print(name, data.data.shape, {label: round(row[name][0], 3) for label, row in table.items()}, flush=True)
    print(f"\n{'setting':34} accuracy    NMI   worst against k-means")
    plain = table["KMeans(n_init=10)"]
    for label, row in table.items():
        gaps = {name: row[name][0] - plain[name][0] for name in row}
        worst = min(gaps, key=lambda name: gaps[name])
        means = np.mean(list(row.values()), axis=0)
        print(f"{label:34} {means[0]:8.3f} {means[1]:6.3f}   {gaps[worst]:+.3f} ({worst})")


if __name__ == "__main__":
    main()
