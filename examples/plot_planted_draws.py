"""
Thirty data sets with planted clusters
======================================

How many clusters there are, and how sure a result is, is judged by a model that has learned from data whose answer is known.
Such data are drawn, thousands of them, as people bring theirs: tables of measurements, mixed tables with categories, codes and
dates, surveys, money, counts, reads of genes, word counts and short texts, images, curves, vectors of language models, wide data
with more columns than rows, and data without any clusters. They have what real data have: clusters of different size and spread
that overlap, classes of several parts, gaps, ties, noise rows, repeated rows, batches, and columns that say nothing.

Here are thirty, in the first two principal directions of the rows that the library prepares. Colours are the planted clusters, grey
crosses the rows that belong to none. In some draws the clusters are plain, in others they lie in further directions, and about a
fifth are hopeless: a judge has to learn what cannot be known, too.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import issparse

from jointclust.judge.prior import draw
from jointclust.views.preparation import Preparation

warnings.simplefilter("ignore")  # what preparation says of gaps and marks


def two_directions(X):
    """The first two principal directions of the prepared rows."""
    rows = Preparation().fit_transform(X)
    rows = rows.toarray() if issparse(rows) else np.asarray(rows, dtype=float)
    rows = np.c_[rows - rows.mean(axis=0), np.zeros(len(rows))]  # one column is drawn as a line
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    return left[:, :2] * values[:2]


fig, axes = plt.subplots(6, 5, figsize=(12, 15), layout="constrained")
for seed, ax in enumerate(axes.flat):
    planted = draw(seed)
    points, belongs = two_directions(planted.X), planted.y >= 0
    ax.scatter(*points[~belongs].T, s=10, color="grey", marker="x", linewidths=0.7)
    ax.scatter(*points[belongs].T, s=5, c=planted.y[belongs], cmap="turbo" if planted.y.max() > 9 else "tab10", vmin=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{seed}: {planted.kind}, {len(points)} rows, {planted.note['clusters']} clusters", fontsize=8)
plt.show()

# %%
# Each draw says what it holds.

planted = draw(0)
planted.kind, planted.note
