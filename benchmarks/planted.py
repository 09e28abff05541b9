"""Data of which it is known what there is to find: eight kinds with planted clusters, and six without any.

    python benchmarks/planted.py > docs/evidence/planted.csv

Writes how hard each kind is: the adjusted Rand index of k-means with the planted clusters, on the rows as a practised
user prepares them. A draw is a function of its number, and nothing of the library has a part in it.
"""

import csv
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler, normalize

DRAWS = 10


def embeddings(rng):
    """Unit rows of 384 numbers: clusters in some directions, and more variance than theirs in others."""
    n, d, c = int(rng.integers(1000, 3001)), 384, int(rng.integers(6, 16))
    y = rng.choice(c, n, p=rng.dirichlet(np.full(c, 8.0)))
    centers = rng.normal(size=(c, d)) / np.sqrt(d)
    noise = rng.normal(size=(n, d)) * (1 + np.arange(d)) ** -0.5
    noise *= rng.uniform(1.0, 2.5) / np.sqrt(np.mean(np.sum(noise**2, axis=1)))
    return normalize(centers[y] + noise @ np.linalg.qr(rng.normal(size=(d, d)))[0]), y


def customers(rng):
    """A table: five segments in seven numbers and two categories, with gaps and an id."""
    n = int(rng.integers(600, 2001))
    y = rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.17, 0.08])
    wide = rng.uniform(0.8, 1.6)
    of = lambda *values: np.array(values)[y]  # noqa: E731
    table = pd.DataFrame(
        {
            "customer": [f"C{7 * i + 1000:06d}" for i in range(n)],
            "age": np.clip(rng.normal(of(25, 37, 46, 62, 51), 6 * wide), 18, 95).round(),
            "income": of(21e3, 45e3, 80e3, 30e3, 150e3) * np.exp(rng.normal(0, 0.2 * wide, n)),
            "orders": rng.poisson(of(13, 6, 9, 3, 20)),
            "basket": of(30, 70, 110, 40, 350) * np.exp(rng.normal(0, 0.25 * wide, n)),
            "days_since": rng.gamma(4, of(12, 55, 30, 190, 10) / 4),
            "discount": np.clip(rng.normal(of(0.4, 0.2, 0.1, 0.3, 0.02), 0.08 * wide), 0, 1),
            "tickets": rng.poisson(of(1.0, 3.0, 0.6, 0.5, 5.0)),
            "channel": np.where(rng.random(n) < of(0.8, 0.45, 0.3, 0.1, 0.2), "app", "web"),
            "newsletter": np.where(rng.random(n) < of(0.7, 0.5, 0.4, 0.2, 0.8), "yes", "no"),
        }
    )
    for name, share in {"income": 0.1, "age": 0.05, "channel": 0.04}.items():
        table[name] = table[name].where(rng.random(n) >= share)
    return table, y


def curves(rng):
    """Daily curves, 96 values each: two to five kinds of bumps, of any height, a little early or late."""
    n, c = int(rng.integers(300, 1501)), int(rng.integers(2, 6))
    y, hours = rng.integers(c, size=n), np.linspace(0, 24, 96)
    places, widths, heights = (rng.uniform(*ends, size=(c, 2)) for ends in ((3, 21), (1, 3), (0.5, 1.5)))
    late = rng.normal(0, rng.uniform(0.2, 0.6), size=(n, 1, 1))
    away = (hours - places[y][:, :, None] - late) / widths[y][:, :, None]
    shape = np.sum(heights[y][:, :, None] * np.exp(-0.5 * away**2), axis=1) * np.exp(rng.normal(0, 0.3, (n, 1)))
    return shape + 0.15 * rng.normal(size=(n, 4)).cumsum(axis=1).repeat(24, axis=1) + rng.normal(0, 0.1, (n, 96)), y


def counts(rng):
    """Counts of 800 genes in cells, mostly zeros: each kind of cell has forty of its own; depths differ."""
    n, d, c = int(rng.integers(600, 2001)), 800, int(rng.integers(4, 11))
    y = rng.choice(c, n, p=rng.dirichlet(np.full(c, 5.0)))
    rates = np.tile(rng.gamma(0.5, size=d), (c, 1))
    for own in rates:
        own[rng.choice(d, 40, replace=False)] *= rng.uniform(4, 8)
    means = rates[y] / rates[y].sum(axis=1, keepdims=True) * np.exp(rng.normal(np.log(500), 0.4, (n, 1)))
    return sp.csr_array(rng.poisson(means * rng.gamma(2.0, 0.5, size=(n, d))).astype(float)), y


def documents(rng):
    """Texts of about sixty words, a few of them of the topic; words are as unequal in use as in a language."""
    n, c, common, own = int(rng.integers(400, 1201)), int(rng.integers(3, 9)), 1500, 120
    y = rng.integers(c, size=n)
    use, of_topic = 1.0 / (5 + np.arange(common)), 1.0 / (3 + np.arange(own))
    use, of_topic = use / use.sum(), of_topic / of_topic.sum()
    texts, share = [], rng.uniform(0.06, 0.25)
    for topic in y:
        length = max(15, rng.poisson(60))
        n_own = rng.binomial(length, share)
        words = [f"w{word}x" for word in rng.choice(common, length - n_own, p=use)]
        words += [f"t{topic}y{word}z" for word in rng.choice(own, n_own, p=of_topic)]
        texts.append(" ".join(rng.permutation(words)))
    return texts, y


def blobs(rng):
    """Normal clusters far apart, of sizes from one to twenty times the smallest, of unequal width."""
    c, d = int(rng.integers(3, 9)), int(rng.integers(5, 41))
    sizes = rng.permutation(np.round(np.geomspace(25, 500, c)).astype(int))
    y = np.repeat(np.arange(c), sizes)
    centers = rng.normal(size=(c, d)) * rng.uniform(3.5, 6) / np.sqrt(2)
    return centers[y] + rng.normal(size=(y.size, d)) * rng.uniform(0.7, 1.3, size=c)[y][:, None], y


def overlapping(rng):
    """Normal clusters that overlap, each long in a direction of its own, among empty directions."""
    n, c, d = int(rng.integers(500, 2001)), int(rng.integers(3, 7)), int(rng.integers(6, 31))
    y = rng.choice(c, n, p=rng.dirichlet(np.full(c, 10.0)))
    centers, axes = rng.normal(size=(c, 5)), rng.normal(size=(c, 5))
    places = rng.uniform(1.2, 2.2) * centers[y] + 0.5 * axes[y] * rng.normal(size=(n, 1)) + rng.normal(size=(n, 5))
    return np.hstack([places, rng.normal(size=(n, d - 5))]) @ np.linalg.qr(rng.normal(size=(d, d)))[0], y


def curved(rng):
    """Arcs in planes of their own place and turn, in ten to thirty directions of noise."""
    n, c, d = int(rng.integers(400, 1501)), int(rng.integers(2, 6)), int(rng.integers(10, 31))
    y, angle = rng.integers(c, size=n), rng.uniform(0, np.pi, n)
    planes = np.linalg.qr(rng.normal(size=(c, d, 2)))[0]
    arc = 4 * np.column_stack([np.cos(angle), np.sin(angle)])
    places = np.einsum("nde,ne->nd", planes[y], arc) + (rng.normal(size=(c, d)) * rng.uniform(0.2, 0.8))[y]
    return places + rng.normal(0, rng.uniform(0.3, 0.6), size=(n, d)), y


KINDS = {one.__name__: one for one in (embeddings, customers, curves, counts, documents, blobs, overlapping, curved)}


def planted(kind, draw):
    """The rows and the planted clusters of a draw."""
    return KINDS[kind](np.random.default_rng([list(KINDS).index(kind), draw]))


def _ar(rng, n, d):
    X = rng.normal(size=(n, d))
    for column in range(1, d):
        X[:, column] = 0.9 * X[:, column - 1] + np.sqrt(0.19) * X[:, column]
    return X


EMPTY = {
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)) * rng.uniform(0.3, 3, size=d),
    "heavy tails": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "AR rows": _ar,
    "binary": lambda rng, n, d: (rng.random((n, d)) < rng.uniform(0.2, 0.8, size=d)).astype(float),
    "sparse counts": lambda rng, n, d: sp.csr_array(
        rng.poisson(np.tile(rng.gamma(0.3, 0.5, size=5 * d), (n, 1))).astype(float)
    ),
}


def empty(kind, draw):
    """Rows without clusters: 200 to 2,000, of 2 to 100 columns."""
    rng = np.random.default_rng([100 + list(EMPTY).index(kind), draw])
    n, d = (round(np.exp(rng.uniform(*np.log(ends)))) for ends in ((200, 2000), (2, 100)))
    d = max(d, 10) if kind in ("binary", "sparse counts") else d
    return EMPTY[kind](rng, n, d)


def prepared(data):
    """Rows of numbers as a practised user makes them: scaled columns, 0/1 columns, tf-idf and leading directions."""
    if isinstance(data, list):
        return TruncatedSVD(50, random_state=0).fit_transform(TfidfVectorizer(sublinear_tf=True).fit_transform(data))
    if sp.issparse(data):
        scaled = sp.csr_array(np.log1p(data.toarray() / data.sum(axis=1).reshape(-1, 1) * 1e4))
        return TruncatedSVD(50, random_state=0).fit_transform(scaled)
    if isinstance(data, pd.DataFrame):
        numbers = data.select_dtypes("number")
        levels = pd.get_dummies(data[["channel", "newsletter"]]).to_numpy(float)
        return np.hstack([StandardScaler().fit_transform(numbers.fillna(numbers.mean())), levels])
    return data


def main():
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["data", "draws", "rows", "clusters", "ARI of k-means", "least", "most"])
    for kind in KINDS:
        drawn = [planted(kind, draw) for draw in range(DRAWS)]
        values = [
            adjusted_rand_score(y, KMeans(y.max() + 1, n_init=10, random_state=0).fit_predict(prepared(data)))
            for data, y in drawn
        ]
        sizes, numbers = [len(y) for _, y in drawn], [int(y.max()) + 1 for _, y in drawn]
        shown = f"{min(sizes)}-{max(sizes)}", f"{min(numbers)}-{max(numbers)}"
        writer.writerow([kind, DRAWS, *shown, f"{np.mean(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}"])


if __name__ == "__main__":
    main()
