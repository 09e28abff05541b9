"""
Soft labels as pictures
=======================

Uncorrelated ridge regression gives each row a soft label for each cluster. Without rescaling the soft labels are
dense, with rescaling they are sparse. With more iterations the objective falls, but the soft labels become flatter
and the clusters worse.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

warnings.simplefilter("ignore")  # the runs are cut short on purpose

digits = jc.datasets.load("digits")
rows = np.concatenate([np.flatnonzero(digits.target == k)[:12] for k in range(10)])
start = jc.DisKMeans(10, random_state=0).fit(digits.data).labels_


def fitted(**options):
    return jc.UncorrelatedRidgeClustering(10, init=start, tol=0, **options).fit(digits.data)


shown = {
    "URR-SL, 1 iteration": fitted(rescale=False, max_iter=1),
    "RURR-SL, 1 iteration": fitted(max_iter=1),
    "RURR-SL, 10 iterations": fitted(max_iter=10),
    "RURR-SL, 200 iterations": fitted(max_iter=200),
}
figure, axes = plt.subplots(1, 4, figsize=(9, 4.5), sharey=True, layout="constrained")
for axis, (title, model) in zip(axes, shown.items(), strict=True):
    picture = axis.imshow(model.soft_labels_[rows], aspect="auto", cmap="magma", vmin=0, vmax=1)
    accuracy = jc.metrics.clustering_accuracy(digits.target, model.labels_)
    axis.set_title(f"{title}\nobjective {model.objective_:.3f}, accuracy {accuracy:.2f}", fontsize=8)
    axis.set_xlabel("cluster")
axes[0].set_ylabel("row, sorted by digit")
figure.colorbar(picture, ax=axes, label="soft label")
plt.show()
