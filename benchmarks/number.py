"""How many clusters: real data, generated clusters, data without clusters, plain cases, and repeats.

    JOINTCLUST_DATA=folder python benchmarks/number.py real|generated|none|plain|repeats [jobs] > table.csv

The tables of docs/evidence, as CSV; shares go to the error stream. The classes are used for the evaluation only, and
need not be clusters. Data sets that are not here are left out. Real data have the adjusted Rand index of the default
with and without the number of classes beside each other, and the CPU seconds of both.
"""

import csv
import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier

import jointclust as jc
from default import SETS

TUNE = {name for (_, half), names in SETS.items() for name in names if half == "tune"}
REAL = sorted(name for names in SETS.values() for name in names)
REPEATED = ["iris", "wine", "breast_cancer", "digits", "segmentation", "satellite", "coil20", "pbmc3k"]
DRAWS, PLAIN_DRAWS = 60, 5


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


def turned(X, rng):
    """Rows of the plane, turned by some angle."""
    angle = rng.uniform(0, np.pi)
    return X @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def blobs(rng, sizes, distance, d=5):
    """Normal clusters of unit spread, any two of them so far apart."""
    centers = np.linalg.qr(rng.standard_normal((d, d)))[0][: len(sizes)] * distance / np.sqrt(2)
    return np.repeat(centers, sizes, axis=0) + rng.standard_normal((sum(sizes), d))


def stripes(rng):
    long = np.column_stack([rng.uniform(0, 20, 450), np.repeat([0, 2, 4], 150) + 0.15 * rng.standard_normal(450)])
    return turned(long, rng)


def autoregressive(rng, n=300, d=20):
    X = rng.standard_normal((n, d))
    for column in range(1, d):
        X[:, column] = 0.9 * X[:, column - 1] + np.sqrt(0.19) * X[:, column]
    return X


PLAIN = {
    "uniform square": (1, lambda rng: rng.uniform(size=(500, 2))),
    "Gaussian rounded to integers": (1, lambda rng: np.round(2 * rng.standard_normal((400, 5)))),
    "Gaussian with an independent coin": (
        1,
        lambda rng: np.column_stack([rng.standard_normal((400, 6)), rng.randint(0, 2, 400)]),
    ),
    "heavy tails": (1, lambda rng: rng.standard_t(2, (400, 6))),
    "AR rows": (1, autoregressive),
    "three stripes": (3, stripes),
    "two circles": (2, lambda rng: make_circles(400, noise=0.04, factor=0.4, random_state=rng)[0]),
    "two moons": (2, lambda rng: make_moons(400, noise=0.05, random_state=rng)[0]),
    "sizes 280, 15, 5": (3, lambda rng: blobs(rng, [280, 15, 5], 12)),
    "three blobs and a row at 1e6": (
        3,
        lambda rng: np.vstack([blobs(rng, [100, 100, 100], 12), np.full((1, 5), 1e6)]),
    ),
}


def plain_row(kind, draw):
    """Right is the number; or, of clusters, a doubtful answer with the number among the first three suggestions."""
    c, make = PLAIN[kind]
    result = counted(make(np.random.RandomState(3000 + draw)))
    unsure = result.confidence < 0.5 or result.at_edge or not result.has_structure
    right = result.n_clusters == c or (c > 1 and unsure and c in result.suggestions[:3])
    return [kind, c, draw, result.n_clusters, " ".join(map(str, result.suggestions[:3])), int(unsure), int(right)]


def counted(X, seed=None):
    warnings.simplefilter("ignore")
    return jc.number_of_clusters(X, random_state=seed)


def clustered(X, n_clusters):
    """The default with some number of clusters or without, and its CPU seconds: the less of two runs."""
    warnings.simplefilter("ignore")
    seconds = []
    for _ in range(2):
        start = time.process_time()
        model = jc.cluster(X, n_clusters, 0)
        seconds.append(time.process_time() - start)
    return model, min(seconds)


def real_row(name):
    data = jc.datasets.load(name)
    c = data.n_classes
    (given, short), (free, long) = clustered(data.data, c), clustered(data.data, None)
    result = free.number_
    number = result.n_clusters
    right = [within(number, c, 1.1), within(number, c, 1.5), not within(number, c, 4)]
    right.append(any(within(one, c, 1.15) for one in result.suggestions[:3]))
    half = "tune" if name in TUNE else "judge"
    text = " ".join(map(str, result.suggestions[:3]))
    scores = [f"{adjusted_rand_score(data.target, model.labels_):.3f}" for model in (free, given)]
    seconds = [f"{long:.2f}", f"{short:.2f}"]
    return [name, half, len(data.target), c, text, f"{result.confidence:.2f}", *map(int, right), *scores, *seconds]


def drawn_row(draw, make):
    kind, c, X = make(draw)
    result = counted(X).n_clusters
    return [kind, c, *X.shape, result, int(within(result, c, 1.1) or (1 < c < 10 and abs(result - c) <= 1))]


def answer(name, repeat):
    """The number and its confidence: as given for another seed, or with the rows in another order."""
    X = jc.datasets.load(name).data
    order = np.random.RandomState(repeat).permutation(X.shape[0])
    result = counted(X, repeat + 1) if repeat < 2 else counted(X[order])
    return [name, "seeds" if repeat < 2 else "orders", result.n_clusters, result.confidence]


def repeat_rows(answers):
    """Of each data set, the answer and its confidence, and how many orders of the rows and seeds give it."""
    for name in dict.fromkeys(name for name, *_ in answers):
        own = [rest for one, *rest in answers if one == name]
        numbers = [number for _, number, _ in own]
        usual = max(numbers, key=numbers.count)
        alike = {kind: [number == usual for what, number, _ in own if what == kind] for kind in ("orders", "seeds")}
        sure = next(sure for _, number, sure in own if number == usual)
        yield [name, usual, f"{sure:.2f}", *(f"{sum(one)} of {len(one)}" for one in alike.values())]


def main():
    part, jobs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    here = set(jc.datasets.names())
    header, rows = {
        "real": (
            [
                *("data set", "half", "rows", "classes", "first three", "confidence", "10%", "factor 1.5", "factor 4"),
                *("three, 15%", "ARI", "ARI with the number", "seconds", "seconds with the number"),
            ],
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
        "plain": (
            ["data", "clusters", "draw", "found", "first three", "unsure", "right"],
            [delayed(plain_row)(kind, draw) for kind in PLAIN for draw in range(PLAIN_DRAWS)],
        ),
        "repeats": (
            ["data set", "answer", "confidence", "orders alike", "seeds alike"],
            [delayed(answer)(name, repeat) for name in REPEATED if name in here for repeat in range(12)],
        ),
    }[part]
    table = Parallel(n_jobs=jobs)(rows)
    table = list(repeat_rows(table)) if part == "repeats" else table
    csv.writer(sys.stdout, lineterminator="\n").writerows([header, *table])
    if part == "real":
        for half in ("tune", "judge", ""):
            some = [list(map(float, row[6:])) for row in table if half in row[1]]
            print(half or "all", header[6:], np.mean(some, axis=0).round(3), file=sys.stderr)
        ratios = np.array([float(row[-2]) / float(row[-1]) for row in table])
        print(f"time: {ratios.mean():.2f} times, {ratios.max():.2f} at the most", file=sys.stderr)
    elif part != "repeats":
        for kind in sorted({row[0] for row in table}):
            print(kind, np.mean([row[-1] for row in table if row[0] == kind]).round(2), file=sys.stderr)
        print("all", np.mean([row[-1] for row in table]).round(3), file=sys.stderr)


if __name__ == "__main__":
    main()
