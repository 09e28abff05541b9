"""Several blocks of the same rows at once: what a block of noise costs, a wide one, and what two halves give together.

    python benchmarks/several_sources.py [draws] [first] > docs/evidence/several_sources.csv

For each kind and draw the adjusted Rand index of the default on each block alone and on both, with the number of
clusters given, what both gain on the better one, and the weight of the second block. Kinds:

- noise: beside a block that shows five clusters one that shows nothing: independent numbers, numbers that follow a few
  common factors, heavy tails, or independent numbers and categories, in turn;
- wide: the same block beside one of 50 times its columns, which shows nothing (even draws), or the clusters so weakly
  that alone it finds little of them (odd draws);
- complementary: six clusters, of which each block shows three and has the others in one;
- crossed: two clusters in one block times three in the other, independent of each other;
- text: customers in four groups of ages and orders, beside what they wrote, of which the words show two topics in each.

Draws from 100 on were for choosing the rule; those of the evidence begin with 0.
"""

import csv
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import jointclust as jc

ROWS = 600


def blobs(rng, labels, width, distance):
    """Rows about the centers of their clusters, which have this distance from the middle, in units of the spread."""
    centers = rng.normal(size=(labels.max() + 1, width))
    centers *= distance / np.linalg.norm(centers, axis=1, keepdims=True)
    return centers[labels] + rng.normal(size=(labels.size, width))


def empty(rng, n, width, number):
    """Columns that show no clusters, of one of four kinds."""
    if number % 4 == 0:
        return rng.normal(size=(n, width))
    if number % 4 == 1:
        return rng.normal(size=(n, 4)) @ rng.normal(size=(4, width)) + 0.5 * rng.normal(size=(n, width))
    if number % 4 == 2:
        return rng.standard_t(3, size=(n, width))
    numbers = {f"number {i}": rng.gamma(2.0, size=n) for i in range(width // 2)}
    levels = {f"level {i}": rng.choice(list("abcde"), n, p=rng.dirichlet(np.full(5, 2.0))) for i in range(width // 2)}
    return pd.DataFrame(numbers | levels)


def noise(rng, draw):
    """A good block and one that shows nothing."""
    labels = rng.integers(0, 5, ROWS)
    return {"good": blobs(rng, labels, 20, 3.2), "noise": empty(rng, ROWS, int(rng.integers(4, 80)), draw)}, labels


def wide(rng, draw):
    """A good block and one of 50 times its columns."""
    labels = rng.integers(0, 5, ROWS)
    other = empty(rng, ROWS, 1000, draw // 2 % 3) if draw % 2 == 0 else blobs(rng, labels, 1000, 2.8)
    return {"good": blobs(rng, labels, 20, 3.2), "wide": other}, labels


def complementary(rng, draw):
    """Six clusters, three of which each block tells apart."""
    labels = rng.integers(0, 6, ROWS)
    halves = np.minimum(labels, 3), np.maximum(labels, 2) - 2
    return {"first": blobs(rng, halves[0], 20, 4.5), "second": blobs(rng, halves[1], 60, 4.5)}, labels


def crossed(rng, draw):
    """Two clusters times three."""
    two, three = rng.integers(0, 2, ROWS), rng.integers(0, 3, ROWS)
    return {"two": blobs(rng, two, 15, 4.0), "three": blobs(rng, three, 30, 4.5)}, 3 * two + three


WORDS = {
    "both": ["the", "a", "and", "it", "was", "my", "order", "with", "shop", "very", "not", "but", "again", "would"],
    "delivery": ["late", "parcel", "courier", "address", "delivery", "waited", "tracking", "box", "lost", "arrived"],
    "product": ["size", "colour", "broken", "fits", "quality", "fabric", "button", "returned", "screen", "battery"],
}


def text(rng, draw):
    """Numbers of customers, and what they wrote: each shows two groups in the two of the other."""
    topic, age = rng.integers(0, 2, ROWS), rng.integers(0, 2, ROWS)
    pools = [WORDS["delivery"], WORDS["product"]]
    texts = [" ".join([*rng.choice(pools[t], 6), *rng.choice(WORDS["both"], 10)]) for t in topic]
    numbers = pd.DataFrame(
        {
            "age": rng.normal(np.array([28, 55])[age], 7).round(),
            "orders": rng.poisson(np.array([12, 3])[age]),
            "basket": np.exp(rng.normal(np.array([3.4, 4.4])[age], 0.35)),
            "days_since": rng.gamma(4, np.array([10, 40])[age] / 4),
        }
    )
    return {"numbers": numbers, "text": texts}, 2 * topic + age


KINDS = {"noise": noise, "wide": wide, "complementary": complementary, "crossed": crossed, "text": text}


def drawn(kind, draw):
    """The blocks of a draw, and the clusters."""
    return KINDS[kind](np.random.default_rng([sum(map(ord, kind)), draw]), draw)


def clustered(X, labels):
    """A fit, and its adjusted Rand index."""
    model = jc.JointConsensus(int(labels.max()) + 1, trust=False, random_state=0).fit(X)
    return model, adjusted_rand_score(labels, model.labels_)


def main(n_draws=10, first=0):
    warnings.simplefilter("ignore")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["kind", "draw", "first block", "first", "second block", "second", "both", "gain", "weight"])
    for kind in KINDS:
        for draw in range(first, first + n_draws):
            blocks, labels = drawn(kind, draw)
            alone = [clustered(block, labels)[1] for block in blocks.values()]
            model, both = clustered(blocks, labels)
            names = list(blocks)
            weight = sum(view["weight"] for view in model.views_ if view["block"] == names[1])
            row = [kind, draw, names[0], alone[0], names[1], alone[1], both, both - max(alone), weight]
            table.writerow([f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row])
            sys.stdout.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
