"""How many clusters: real data, generated clusters, data without clusters, and repeats.

    JOINTCLUST_DATA=folder python benchmarks/number.py real|generated|none|repeats [jobs] > table.csv

The tables of docs/evidence, as CSV; shares go to the error stream. The classes are used for the evaluation only, and
need not be clusters. Data sets that are not here are left out.
"""

import csv
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.neighbors import KNeighborsClassifier

import jointclust as jc
from default import SETS

TUNE = {name for (_, half), names in SETS.items() for name in names if half == "tune"}
REAL = sorted({name for names in SETS.values() for name in names} | {"coil100", "german", "satellite_train"})
REPEATED = ["iris", "wine", "breast_cancer", "digits", "segmentation", "satellite", "coil20", "pbmc3k"]
DRAWS = 60


def within(number, truth, factor):
    return max(number / truth, truth / number) <= factor


def separated(rng, n, d, c, shares=None, stretch=0.0):
    """Normal clusters, drawn apart until nearest neighbours tell 95% of a third of the rows; some long in two ways."""
    y = rng.choice(c, n, p=None if shares is None else shares / shares.sum())
    centers, noise = rng.standard_normal((c, d)), rng.standard_normal((n, d))
    axes = rng.standard_normal((c, d, 2)) * stretch / np.sqrt(d)
    noise += np.einsum("nde,ne->nd", axes[y], rng.standard_normal((n, 2)))
    test = rng.permutation(n) < n // 3
    for separation in np.geomspace(1, 60, 30):
        X = centers[y] * separation / np.sqrt(d) + noise
        if KNeighborsClassifier(1).fit(X[~test], y[~test]).score(X[test], y[test]) >= 0.95:
            break
    return X


def generated(draw):
    """2 to 50 clusters in 20 to 1000 features: what they are, how many, and the rows."""
    rng = np.random.RandomState(1000 + draw)
    kind = ("mixture", "blobs", "unbalanced 1:20", "elongated")[draw % 4]
    c, d = (round(np.exp(rng.uniform(*np.log(ends)))) for ends in ((2, 50), (20, 1000)))
    n = int(np.clip(50 * c, 400, 3000))
    if kind == "mixture":
        return kind, c, jc.datasets.mixture(n, max(d, c + 10), c, random_state=draw)[0]
    if kind == "unbalanced 1:20":
        c = min(c, 30)
        return kind, c, separated(rng, min(max(n, 100 * c), 4000), d, c, shares=np.geomspace(1, 20, c))
    return kind, c, separated(rng, n, d, c, stretch=5.0 if kind == "elongated" else 0.0)


def none(draw):
    """Rows without clusters: what they are, 1, and the rows."""
    rng = np.random.RandomState(2000 + draw)
    kinds = ("Gaussian", "uniform", "heavy tails", "AR(1) columns", "coin flips", "rounded Gaussian", "Poisson counts")
    kind = kinds[draw % len(kinds)]
    n, d = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((100, 2000), (5, 300)))
    X = rng.standard_normal((n, d))
    if kind == "AR(1) columns":
        for column in range(1, d):
            X[:, column] = 0.9 * X[:, column - 1] + np.sqrt(0.19) * X[:, column]
    drawn = {
        "uniform": lambda: rng.uniform(size=(n, d)),
        "heavy tails": lambda: rng.standard_t(3, (n, d)),
        "coin flips": lambda: (rng.uniform(size=(n, d)) < 0.5).astype(float),
        "rounded Gaussian": lambda: np.round(X),
        "Poisson counts": lambda: rng.poisson(3, (n, d)).astype(float),
    }
    return kind, 1, drawn.get(kind, lambda: X)()


def told(X, seed=None):
    warnings.simplefilter("ignore")
    return jc.number_of_clusters(X, random_state=seed)


def real_row(name):
    data = jc.datasets.load(name)
    found, c = told(data.data), data.n_classes
    right = [within(found.n_clusters, c, 1.1), within(found.n_clusters, c, 1.5)]
    right.append(any(within(number, c, 1.15) for number in found.suggestions[:3]))
    half = "tune" if name in TUNE else "judge"
    said = " ".join(map(str, found.suggestions[:3]))
    return [name, half, len(data.target), c, said, f"{found.confidence:.2f}", *map(int, right)]


def drawn_row(draw, make):
    kind, c, X = make(draw)
    found = told(X).n_clusters
    return [kind, c, *X.shape, found, int(within(found, c, 1.1) or (1 < c < 10 and abs(found - c) <= 1))]


def answer(name, repeat):
    """The number and its confidence: as given for another seed, or with the rows in another order."""
    X = jc.datasets.load(name).data
    order = np.random.RandomState(repeat).permutation(X.shape[0])
    found = told(X, repeat + 1) if repeat < 10 else told(X[order])
    return [name, "seed" if repeat < 10 else "order", found.n_clusters, found.confidence]


def repeat_rows(answers):
    """Of each data set, the answers for ten seeds and for ten orders, how many are alike, and how sure the others."""
    for name, kind in dict.fromkeys((name, kind) for name, kind, *_ in answers):
        found = [(number, sure) for one, what, number, sure in answers if (one, what) == (name, kind)]
        numbers = [number for number, _ in found]
        usual = max(numbers, key=numbers.count)
        said = " ".join(map(str, numbers)), " ".join(f"{sure:.1f}" for _, sure in found)
        yield [name, kind, *said, numbers.count(usual), max(sure for _, sure in found)]


def main():
    part, jobs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    here = set(jc.datasets.names())
    header, rows = {
        "real": (
            ["data set", "half", "rows", "classes", "first three", "confidence", "10%", "factor 1.5", "three, 15%"],
            [delayed(real_row)(name) for name in REAL if name in here],
        ),
        "generated": (
            ["data", "clusters", "rows", "features", "found", "right"],
            [delayed(drawn_row)(draw, generated) for draw in range(DRAWS)],
        ),
        "none": (
            ["data", "clusters", "rows", "features", "found", "right"],
            [delayed(drawn_row)(draw, none) for draw in range(DRAWS)],
        ),
        "repeats": (
            ["data set", "repeats", "answers", "confidence", "alike", "most confidence"],
            [delayed(answer)(name, repeat) for name in REPEATED if name in here for repeat in range(20)],
        ),
    }[part]
    table = Parallel(n_jobs=jobs)(rows)
    table = list(repeat_rows(table)) if part == "repeats" else table
    csv.writer(sys.stdout, lineterminator="\n").writerows([header, *table])
    if part == "real":
        for half in ("tune", "judge"):
            print(half, np.mean([row[6:] for row in table if row[1] == half], axis=0).round(2), file=sys.stderr)
        print("all", np.mean([row[6:] for row in table], axis=0).round(2), file=sys.stderr)
    elif part != "repeats":
        for kind in sorted({row[0] for row in table}):
            print(kind, np.mean([row[-1] for row in table if row[0] == kind]).round(2), file=sys.stderr)
        print("all", np.mean([row[-1] for row in table]).round(3), file=sys.stderr)


if __name__ == "__main__":
    main()
