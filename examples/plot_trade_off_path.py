"""
Clusters along the trade-off
============================

Thirty clusters in 300 dimensions, under ten nuisance directions of large variance. One decomposition serves all
trade-offs. The classes are used only to draw the last curve, which a user would not have.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

X, y = jc.datasets.mixture(3000, 300, 30, separation=9, n_nuisance=10, nuisance_scale=4, random_state=0)
path = jc.trade_off_path(X, 30, trade_offs=[0, 0.5, 1, 1.5, 2, 3, 4, 6, 9], random_state=0)
accuracy = [jc.metrics.clustering_accuracy(y, model.labels_) for model in path.estimators]

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
position = np.arange(len(path))
ax.plot(position, path.table["variance_share"], "o-", label="variance in the subspace")
ax.plot(position, path.table["within_share"], "s-", label="of which inside clusters")
ax.plot(position[1:], path.table["agreement"][1:], "^-", label="agreement with the labels before")
ax.plot(position, accuracy, "k--", label="accuracy (not known to a user)")
ax.set_xticks(position, [f"{t:g}" for t in path.table["trade_off"]])
ax.set(xlabel="trade-off", ylim=(0, 1.02))
ax.legend()
plt.show()
