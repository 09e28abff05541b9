"""The default beside published results on published shapes, most of them in the plane: number of clusters given.

    python benchmarks/suite.py FOLDER [docs/evidence]

FOLDER holds ``BATTERY/SET.data.gz``, one or more reference partitions ``SET.labels0.gz`` ... of each set, and the
scores of other people's results, ``published.csv.gz``: data sets and results of Gagolewski's clustering benchmark,
which are not part of jointclust. Rows that a reference calls noise (label 0) are clustered, and left out of the
score. The number of clusters is that of the reference; a score on a set is the best over the references, ours the
mean over the seeds.

Settings were chosen on the batteries fcps and graves, and are judged on the others. ``suite.csv`` gets a line as soon
as a set is done: a run that is started again goes on after the last one. ``suite_ranks.csv`` and ``suite_worst.png``
are made when all sets are done.
"""

import csv
import gzip
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

import jointclust as jc

METHODS = {
    "default": lambda k, seed: jc.JointConsensus(k, random_state=seed),
    "rows as they are": lambda k, seed: jc.JointConsensus(k, views=None, random_state=seed),
}
SEEDS = 3
TUNE = ("fcps", "graves")
# Sets up to this size are those on which all published methods ran; a method counts if it has scores on so many.
SMALL, ENOUGH = 1100, 37
# Published columns that the table names.
NAMED = ("GIc", "Genie_G0.3", "ITM", "sklearn_gm", "fastcluster_ward", "sklearn_kmeans")
FIELDS = ["set", "battery", "half", "rows", "columns", *(f"{m}, {s}" for m in METHODS for s in ("NCA", "ARI"))]
N_WORST = 8


def nca(reference, labels):
    """Mean recall of matched clusters, corrected for chance: ``(mean_i n_i,m(i) / n_i - 1/k) / (1 - 1/k)``."""
    counts = contingency_matrix(reference, labels).astype(float)
    recall = counts / counts.sum(axis=1, keepdims=True)
    k = len(counts)
    return (recall[linear_sum_assignment(-recall)].sum() / k - 1 / k) / (1 - 1 / k)


class Shape:
    """A data set of the suite."""

    def __init__(self, folder, battery, name):
        self.battery, self.name = battery, name
        self.half = "tune" if battery in TUNE else "judge"
        self.X = np.loadtxt(folder / battery / f"{name}.data.gz", ndmin=2)
        files = sorted((folder / battery).glob(f"{name}.labels*.gz"))
        self.references = [np.loadtxt(file, dtype=int) for file in files]

    def labels(self, method, seed):
        """Labels for each number of clusters that a reference has."""
        fits = {}
        for k in {int(reference.max()) for reference in self.references}:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fits[k] = METHODS[method](k, seed).fit(self.X).labels_
        return fits

    def scores(self, method, seed):
        """The best NCA and the best ARI over the references."""
        fits, result = self.labels(method, seed), []
        for reference in self.references:
            labels, clear = fits[int(reference.max())], reference > 0
            pair = reference[clear], labels[clear]
            result.append((nca(*pair), adjusted_rand_score(*pair)))
        return np.max(result, axis=0)

    def line(self):
        means = [np.mean([self.scores(method, seed) for seed in range(SEEDS)], axis=0) for method in METHODS]
        return [self.name, self.battery, self.half, *self.X.shape, *(f"{value:.4f}" for value in np.ravel(means))]


def sets_in(folder):
    files = sorted(folder.glob("*/*.data.gz"))
    if not files:
        raise SystemExit(f"{folder} holds no BATTERY/SET.data.gz.")
    return [(file.parent.name, file.name.removesuffix(".data.gz")) for file in files]


def lines_of(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(folder, path):
    """Append a line for each set that has none."""
    done = {(line["battery"], line["set"]) for line in lines_of(path)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(FIELDS)
        for battery, name in sets_in(folder):
            if (battery, name) in done:
                continue
            line = Shape(folder, battery, name).line()
            writer.writerow(line)
            file.flush()
            print(*line, file=sys.stderr)


def published(folder):
    """Scores of published columns on each set, the best over the references: column -> set -> (NCA, ARI)."""
    best = {}
    with gzip.open(folder / "published.csv.gz", "rt") as file:
        for line in csv.DictReader(file):
            of_set, pair = best.setdefault(line["method"], {}), (float(line["nca"]), float(line["ari"]))
            key = line["battery"], line["set"]
            of_set[key] = np.maximum(of_set.get(key, pair), pair)
    return best


def ranks(folder, lines):
    """Mean scores and ranks of ours and of published columns."""
    own = {
        method: {
            (line["battery"], line["set"]): np.array([float(line[f"{method}, {score}"]) for score in ("NCA", "ARI")])
            for line in lines
        }
        for method in METHODS
    }
    small = {(line["battery"], line["set"]): line["half"] for line in lines if int(line["rows"]) <= SMALL}
    others = published(folder)
    counted = {name: scores for name, scores in others.items() if sum(key in scores for key in small) >= ENOUGH}

    def mean(scores, wanted, which=0):
        result = [scores[key][which] for key in wanted if key in scores]
        return np.mean(result) if result else np.nan

    rest = {(line["battery"], line["set"]) for line in lines} - set(small)
    halves = {half: [key for key in small if small[key] == half] for half in ("tune", "judge")}
    yield [
        "method", "rank", f"NCA, {len(small)} sets", "ARI", "tune", "judge", f"NCA, {len(rest)} larger sets",
    ]  # fmt: skip
    for name, scores in {**own, **{name: counted[name] for name in NAMED if name in counted}}.items():
        place = 1 + sum(mean(other, small) > mean(scores, small) for key, other in counted.items() if key != name)
        values = [mean(scores, small), mean(scores, small, 1), *(mean(scores, halves[half]) for half in halves)]
        text = [f"{value:.3f}" for value in (*values, mean(scores, rest))]
        yield [name, f"{place} of {len(counted) + (name in own)}", *text]


def draw_worst(folder, lines, path):
    """The sets with the least NCA: a reference above, what the default finds below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plane = [line for line in lines if int(line["columns"]) == 2]
    worst = sorted(plane, key=lambda line: float(line["default, NCA"]))[:N_WORST]
    figure, axes = plt.subplots(2, N_WORST, figsize=(2 * N_WORST, 4.2), layout="constrained", squeeze=False)
    for column, line in enumerate(worst):
        shape = Shape(folder, line["battery"], line["set"])
        reference = shape.references[0]
        result = shape.labels("default", 0)[int(reference.max())]
        for ax, labels in zip(axes[:, column], (np.where(reference > 0, reference - 1, -1), result), strict=True):
            colours = np.where(labels[:, None] >= 0, plt.get_cmap("tab20")(labels % 20), (0.8, 0.8, 0.8, 1.0))
            ax.scatter(*shape.X.T, s=3, c=colours, linewidths=0)
            ax.set(xticks=[], yticks=[], aspect="equal")
        axes[0, column].set_title(f"{line['set']} {float(line['default, NCA']):.2f}", fontsize=10)
    axes[0, 0].set_ylabel("reference")
    axes[1, 0].set_ylabel("default")
    figure.savefig(path, dpi=80)


def main(folder, output="docs/evidence"):
    folder, output = Path(folder), Path(output)
    path = output / "suite.csv"
    run(folder, path)
    lines = lines_of(path)
    table = list(ranks(folder, lines))
    with (output / "suite_ranks.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    for row in table:
        print(*row, sep=", ")
    draw_worst(folder, lines, output / "suite_worst.png")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
