"""
Images as prototypes
====================

The most typical images of a cluster show what it is about: here they are the handwritten digits nearest to the center
of each cluster, in the embedding.
"""

# %%
import matplotlib.pyplot as plt

import jointclust as jc

digits = jc.datasets.load("digits")
model = jc.OptimalDiscriminantClustering(10, kernel="nearest_neighbors", random_state=0).fit(digits.data)
print(f"accuracy {jc.metrics.clustering_accuracy(digits.target, model.labels_):.3f}, no labels used in the fit")
jc.plots.PrototypesDisplay.from_estimator(model, digits.data, image_shape=digits.image_shape, n_prototypes=8)
plt.show()
