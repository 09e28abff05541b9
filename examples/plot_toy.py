"""
Two clouds that PCA cannot see
==============================

The DEC paper's toy: two normal clouds side by side, far longer along the direction that does not matter. k-means and
PCA + k-means cut across the long axis. DEC turns its direction to the one that separates.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import jointclust as jc

X, y = jc.datasets.two_gaussians(1000, random_state=0)
found = {
    "k-means": KMeans(2, n_init=10, random_state=0).fit_predict(X),
    "DEC, lambda = 0 (PCA, then k-means)": jc.DiscriminativeEmbeddedClustering(
        2, n_components=1, trade_off=0, random_state=0
    ).fit_predict(X),
    "DEC, lambda = 5": jc.DiscriminativeEmbeddedClustering(
        2, n_components=1, trade_off=5, n_init=10, random_state=0
    ).fit_predict(X),
}

fig, axes = plt.subplots(1, 3, figsize=(11, 4.4), sharey=True, layout="constrained")
for ax, (title, labels) in zip(axes, found.items(), strict=True):
    ax.scatter(*X.T, c=np.array(["#0072B2", "#D55E00"])[labels], s=5)
    ax.set(title=f"{title}\naccuracy {jc.metrics.clustering_accuracy(y, labels):.3f}", aspect="equal")
plt.show()
