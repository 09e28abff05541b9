"""
Two clouds that PCA cannot see
==============================

The toy of the DEC paper has two normal clouds side by side. They are much longer along a direction that does not
separate them. PCA, then k-means, looks along this axis and finds nothing. DEC turns its direction (dashed) to the one
that separates the clouds: the pictures show it at the start, after one iteration, and at the end.
"""

# %%
import warnings

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import jointclust as jc

X, y = jc.datasets.two_gaussians(1000, random_state=0)
direction = PCA(1).fit(X).components_[0]
labels = KMeans(2, n_init=10, random_state=0).fit_predict(X @ direction[:, None])
stages = [("start (PCA)", direction, labels)]
warnings.simplefilter("ignore")  # a run of one iteration says that it did not converge
for title, iterations in (("after 1 iteration", 1), ("end", 100)):
    model = jc.DiscriminativeEmbeddedClustering(2, n_components=1, trade_off=5, init=labels, max_iter=iterations)
    stages.append((title, model.fit(X).components_[0], model.labels_))

fig, axes = plt.subplots(1, 3, figsize=(11, 4.4), sharey=True, layout="constrained")
for ax, (title, direction, labels) in zip(axes, stages, strict=True):
    for label, color in ((0, "#0072B2"), (1, "#D55E00")):
        ax.scatter(*X[y == label].T, s=5, color=color, alpha=0.5, linewidths=0)
    ax.axline((0, 0), direction, color="black", linestyle="--")
    accuracy = jc.metrics.clustering_accuracy(y, labels)
    ax.set(title=f"{title}: accuracy {accuracy:.3f}", xlim=(-16, 16), ylim=(-16, 16), aspect="equal")
plt.show()
