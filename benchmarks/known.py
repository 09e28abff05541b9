"""Some labels known: the consensus beside label spreading, self-training and seeded k-means; rows to ask about.

    JOINTCLUST_DATA=folder python benchmarks/known.py draws jobs docs/evidence [sets ...]

Accuracy on the rows whose label is not known, with 1, 2, 5 and 10 known rows of each class (all but one of a class that
has fewer); with 10% of the known labels wrong; and with twice as many rows as classes, whatever their classes, drawn at
random or chosen by ``rows_to_label``: there a row in a cluster that nobody named is wrong. The others see the rows as
a practised user prepares them (``UsualRows``). Writes known.csv, means over the draws; what has been measured is kept
in known_runs.csv beside it, and not measured again: a run that was stopped goes on.
"""

import csv
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("PYTHONWARNINGS", "ignore")

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

import jointclust as jc
from jointclust.selection.baseline import UsualRows

_TABLES, _IMAGES = ("wine", "breast_cancer", "segmentation", "satellite"), ("digits", "usps", "coil20", "orl", "umist")
SETS = (*_TABLES, *_IMAGES, "isolet5", "pbmc3k", "newsgroups20_minilm")
FEWEST_TO_ASK = 1_000  # rows: the eight largest of the sets have more
CONSENSUS, OTHERS = "consensus", ("label spreading", "self-training", "seeded k-means")
# By name: known rows of a class, share that is wrong, and whether they are drawn by class.
SETTINGS = {
    "1": (1, 0.0, True),
    "2": (2, 0.0, True),
    "5": (5, 0.0, True),
    "10": (10, 0.0, True),
    "2, 10% wrong": (2, 0.1, True),
    "5, 10% wrong": (5, 0.1, True),
    "2 at random": (2, 0.0, False),
    "2 asked for": (2, 0.0, False),
}


def drawn(classes, n_per_class, wrong, rng):
    """Known labels, -1 elsewhere; a share of them moved to another class."""
    known = np.full(classes.size, -1)
    for label in range(classes.max() + 1):
        rows = rng.permutation(np.flatnonzero(classes == label))
        known[rows[: min(n_per_class, rows.size - 1)]] = label
    if wrong:
        rows = rng.permutation(np.flatnonzero(known >= 0))
        rows = rows[: max(1, round(wrong * rows.size))]
        known[rows] = (known[rows] + rng.randint(1, classes.max() + 1, size=rows.size)) % (classes.max() + 1)
    return known


def known_rows(setting, data, classes, draw):
    """The known labels of a setting."""
    (n_per_class, wrong, by_class), rng = SETTINGS[setting], np.random.RandomState(draw)
    if by_class:
        return drawn(classes, n_per_class, wrong, rng)
    n_classes, known = classes.max() + 1, np.full(classes.size, -1)
    if setting == "2 asked for":
        rows = jc.JointConsensus(n_classes, random_state=draw).fit(data).rows_to_label(n_per_class * n_classes)
    else:
        rows = rng.permutation(classes.size)[: n_per_class * n_classes]
    known[rows] = classes[rows]
    return known


def spread(rows, known, n_classes):
    return LabelSpreading(kernel="knn", n_neighbors=7).fit(rows, known).transduction_


def self_trained(rows, known, n_classes):
    return SelfTrainingClassifier(LogisticRegression(max_iter=300)).fit(rows, known).predict(rows)


def seeded(rows, known, n_classes):
    rng = np.random.RandomState(0)
    held = [rows[known == label] for label in range(n_classes)]
    starts = [own.mean(axis=0) if len(own) else rows[rng.randint(len(rows))] for own in held]
    return KMeans(n_classes, init=np.array(starts), n_init=1).fit_predict(rows)


def judged(name, setting, draw):
    """Accuracy of each method on the other rows."""
    warnings.simplefilter("ignore")
    loaded = jc.datasets.load(name)
    classes = np.unique(loaded.target, return_inverse=True)[1]
    known, n_classes = known_rows(setting, loaded.data, classes, draw), loaded.n_classes
    model = jc.JointConsensus(n_classes, random_state=draw).fit(loaded.data, known_labels=known)
    names = np.append(model.classes_, [-1] * (n_classes - model.classes_.size))
    labels = {CONSENSUS: names[model.labels_]}
    if SETTINGS[setting][2]:
        rows = UsualRows().fit_transform(loaded.data)
        rows = rows.toarray() if sp.issparse(rows) else rows
        methods = zip(OTHERS, (spread, self_trained, seeded), strict=True)
        labels |= {method: function(rows, known, n_classes) for method, function in methods}
    other = known < 0
    return (name, setting, draw), {method: np.mean(own[other] == classes[other]) for method, own in labels.items()}


def jobs_of(sets, draws):
    """What is to be measured, the long ones first, so that no worker is left alone with them."""
    sizes = {name: jc.datasets.load(name).target.size for name in sets}
    for name in sorted(sets, key=lambda name: -sizes[name]):
        for setting, (_, _, by_class) in SETTINGS.items():
            if by_class or sizes[name] > FEWEST_TO_ASK:
                yield from ((name, setting, draw) for draw in range(draws))


def measured(wanted, jobs, path):
    """Accuracies by job: those in the file, and the others, which are added to it as they come."""
    values = {}
    if path.exists():
        with path.open() as stream:
            for name, setting, draw, method, accuracy in csv.reader(stream):
                values.setdefault((name, setting, int(draw)), {})[method] = float(accuracy)
    missing = [job for job in wanted if job not in values]
    with path.open("a", buffering=1) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for job, accuracies in Parallel(jobs, return_as="generator_unordered")(
            delayed(judged)(*job) for job in missing
        ):
            values[job] = accuracies
            writer.writerows([*job, method, accuracy] for method, accuracy in accuracies.items())
    return values


def main(draws, jobs, folder, sets):
    result = measured(list(jobs_of(sets, draws)), jobs, folder / "known_runs.csv")
    with (folder / "known.csv").open("w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["known per class", "method", *sets, "mean"])
        for setting, (_, _, by_class) in SETTINGS.items():
            for method in (CONSENSUS, *OTHERS) if by_class else (CONSENSUS,):
                own = [name for name in sets if (name, setting, 0) in result]
                means = {name: np.mean([result[name, setting, draw][method] for draw in range(draws)]) for name in own}
                cells = [f"{means[name]:.3f}" if name in means else "" for name in sets]
                writer.writerow([setting, method, *cells, f"{np.mean(list(means.values())):.3f}" if means else ""])
    print((folder / "known.csv").read_text())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), Path(sys.argv[3]), sys.argv[4:] or SETS)
