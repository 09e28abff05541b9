"""
Prototypes of handwritten digits
================================

LDA k-means on the 8 x 8 digits, in a pipeline-ready estimator: the embedding, and the cluster centers turned back into
images with ``inverse_transform``.
"""

# %%
import matplotlib.pyplot as plt

import jointclust as jc

digits = jc.datasets.load("digits")
model = jc.LDAKMeans(10, random_state=0).fit(digits.data)
print(f"accuracy {jc.metrics.clustering_accuracy(digits.target, model.labels_):.3f}, no labels used in the fit")

fig, axes = plt.subplots(2, 5, figsize=(8, 3.6), layout="constrained")
for ax, center, label in zip(axes.flat, model.inverse_transform(model.cluster_centers_), range(10), strict=True):
    ax.imshow(center.reshape(digits.image_shape), cmap="gray_r")
    ax.set(title=f"cluster {label}", xticks=[], yticks=[])
plt.show()

# %%
Y = model.transform(digits.data)
fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
points = ax.scatter(Y[:, 0], Y[:, 1], c=model.labels_, cmap="tab10", s=6)
ax.set(xlabel="first discriminant direction", ylabel="second")
fig.colorbar(points, label="cluster")
plt.show()
