"""
Faces and other images
======================

Each row is an image, and the columns are its pixels; all images have one size. Here they are handwritten digits.
Faces work in the same way.
"""

# %%
import matplotlib.pyplot as plt

import jointclust as jc

digits = jc.datasets.load("digits")
model = jc.cluster(digits.data, 10, random_state=0)
print(f"accuracy {jc.metrics.clustering_accuracy(digits.target, model.labels_):.2f}; no label was used")

# %%
# The mean image of each cluster, and below it the image of lowest confidence.
fig, axes = plt.subplots(2, 10, figsize=(10, 2.4), layout="constrained")
for cluster in range(10):
    inside = model.labels_ == cluster
    least = digits.data[inside][model.confidence_[inside].argmin()]
    for ax, image in zip(axes[:, cluster], (digits.data[inside].mean(axis=0), least), strict=True):
        ax.imshow(image.reshape(digits.image_shape), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("mean")
axes[1, 0].set_ylabel("least sure")
plt.show()

# %%
# If there are many classes with few images each, as with faces, :class:`~jointclust.OptimalDiscriminantClustering` is
# as fast as PCA and k-means, and more accurate. :func:`jc.write_report <jointclust.write_report>` with
# ``image_shape=(height, width)`` draws rows as images.
