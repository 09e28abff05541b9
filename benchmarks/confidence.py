"""How far confidence can be trusted: the share of rows that are right, against what the model says.

    JOINTCLUST_DATA=folder python benchmarks/confidence.py [seeds] [jobs] docs/evidence

A row is right where its class is the one that most rows of its cluster have. Sets whose classes the default finds for
half of the rows or less are left out: their clusters are something else. Writes confidence.csv (expected calibration
error with ten bins, by set) and reliability.svg.
"""

import csv
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed

import jointclust as jc
from default import SETS

BINS = 10


def judged(name, seed):
    """Confidence of each row, whether it is right, and the accuracy."""
    warnings.simplefilter("ignore")
    found = jc.datasets.load(name)
    classes = np.unique(found.target, return_inverse=True)[1]
    model = jc.JointConsensus(found.n_classes, random_state=seed).fit(found.data)
    table = np.zeros((found.n_classes, found.n_classes))
    np.add.at(table, (model.labels_, classes), 1)
    right = table.argmax(axis=1)[model.labels_] == classes
    return model.confidence_, right, jc.metrics.clustering_accuracy(classes, model.labels_)


def bins_of(sure, right):
    """Share of the rows, mean confidence and share that is right, in each bin that has rows."""
    which = np.minimum((sure * BINS).astype(int), BINS - 1)
    held = [which == number for number in range(BINS) if np.any(which == number)]
    return np.array([(rows.mean(), sure[rows].mean(), right[rows].mean()) for rows in held])


def calibration_error(sure, right):
    found = bins_of(sure, right)
    return float(found[:, 0] @ np.abs(found[:, 1] - found[:, 2]))


def main(seeds, jobs, folder):
    known = set(jc.datasets.names())
    sets = {name: half for (_, half), names in SETS.items() for name in names if name in known}
    found = Parallel(jobs)(delayed(judged)(name, seed) for name in sets for seed in range(seeds))
    of_set = {name: found[index * seeds : (index + 1) * seeds] for index, name in enumerate(sets)}
    kept = {name: runs for name, runs in of_set.items() if np.mean([run[2] for run in runs]) > 0.5}
    errors = {name: np.mean([calibration_error(*run[:2]) for run in runs]) for name, runs in kept.items()}
    with (folder / "confidence.csv").open("w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["data set", "half", "rows that are right", "mean confidence", "calibration error"])
        for name, runs in kept.items():
            right, sure = np.mean([run[1].mean() for run in runs]), np.mean([run[0].mean() for run in runs])
            writer.writerow([name, sets[name], f"{right:.3f}", f"{sure:.3f}", f"{errors[name]:.3f}"])
    print(f"mean calibration error {np.mean(list(errors.values())):.3f} over {len(errors)} sets", file=sys.stderr)
    plt.rcParams["svg.hashsalt"] = "jointclust"
    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    for runs in kept.values():
        _, sure, right = bins_of(*(np.concatenate([run[part] for run in runs]) for part in (0, 1))).T
        axes.plot(sure, right, color="0.7", linewidth=0.8)
    every = bins_of(*(np.concatenate([run[part] for runs in kept.values() for run in runs]) for part in (0, 1)))
    axes.plot(every[:, 1], every[:, 2], marker="o", color="C0", label="all rows")
    axes.plot([0, 1], [0, 1], color="k", linestyle=":", label="as it should be")
    axes.set(xlabel="confidence", ylabel="share of rows that are right", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    figure.savefig(folder / "reliability.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(*(int(value) for value in sys.argv[1:3]), Path(sys.argv[3]))
