"""
Outliers that change k-means, and not EC
========================================

There are five clusters in 40 dimensions, and one row in twenty was moved far away in a random direction. k-means uses
centroids for such rows. Robust embedded clustering gives them small weights, and says which they are.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import jointclust as jc

X, y = jc.datasets.mixture(600, 40, 5, separation=8, n_nuisance=0, random_state=1)
rng = np.random.RandomState(0)
thrown = rng.permutation(600)[:30]
directions = rng.standard_normal((30, 40))
X[thrown] += 50 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
clean = np.setdiff1d(np.arange(600), thrown)

model = jc.RobustEmbeddedClustering(5, random_state=0).fit(X)
kmeans = KMeans(5, n_init=10, random_state=0).fit(X)
for name, labels in (("k-means", kmeans.labels_), ("EC", model.labels_)):
    print(f"{name:8} accuracy on the clean rows {jc.metrics.clustering_accuracy(y[clean], labels[clean]):.3f}")

# %%
# The outlier score is the distance from the centroid in the embedding.
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
bins = np.linspace(0, model.outlier_scores_.max(), 60)
ax.hist(model.outlier_scores_[clean], bins, color="#0072B2", label="clean rows")
ax.hist(model.outlier_scores_[thrown], bins, color="#D55E00", label="thrown rows (not known to EC)")
ax.set(xlabel="outlier score", ylabel="rows", yscale="log")
ax.legend()
plt.show()
