"""Accuracy of the consensus on real data, number of clusters given, defaults: against KMeans(n_init=10).

    JOINTCLUST_DATA=folder python benchmarks/consensus.py [--seeds 5] [--largest 3000] [--csv file]

The classes are used for the evaluation only.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

import jointclust as jc
from fixed_settings import PREPARE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=3000, help="skip data sets with more rows")
    parser.add_argument("--csv", type=Path, help="a file to write the table to")
    arguments = parser.parse_args()
    skip = {"two_gaussians", "three_clusters", "multi_clusters", "mixture", "satellite_train", "german"}
    lines = ["data set,KMeans(n_init=10),consensus,difference,agreement of members,seconds"]
    gaps = []
    for name in (name for name in jc.datasets.names() if name not in skip):
        data = jc.datasets.load(name)
        if data.data.shape[0] > arguments.largest:
            continue
        X, c, seeds = PREPARE.get(name, lambda X: X)(data.data), data.n_classes, range(arguments.seeds)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = [KMeans(c, n_init=10, random_state=seed).fit(X).labels_ for seed in seeds]
            began = time.perf_counter()
            models = [jc.JointConsensus(c, random_state=seed).fit(X) for seed in seeds]
            spent = (time.perf_counter() - began) / len(models)
        before = np.mean([jc.metrics.clustering_accuracy(data.target, labels) for labels in plain])
        after = np.mean([jc.metrics.clustering_accuracy(data.target, model.labels_) for model in models])
        agreement = np.mean([model.agreement_ for model in models])
        gaps.append(after - before)
        lines.append(f"{name},{before:.3f},{after:.3f},{after - before:+.3f},{agreement:.2f},{spent:.1f}")
        print(lines[-1], flush=True)
    below = np.sum(np.array(gaps) < -0.02)
    print(f"mean difference {np.mean(gaps):+.4f}, worst {min(gaps):+.4f}, {below} below -0.02")
    if arguments.csv is not None:
        arguments.csv.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
