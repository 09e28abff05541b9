"""
Gene expression: few samples, many features
===========================================

There are 120 samples of 3000 "genes". 40 genes separate three types, and the others are noise. Sparse optimal
discriminant clustering finds the types and names the genes; the biplot shows which of them contribute most to the
directions.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import jointclust as jc

rng = np.random.RandomState(0)
types = np.repeat([0, 1, 2], 40)
profiles = np.zeros((3, 3000))
profiles[:, :40] = rng.choice([-1.8, 0.0, 1.8], size=(3, 40))
expression = pd.DataFrame(
    profiles[types] + rng.standard_normal((120, 3000)), columns=[f"gene {index}" for index in range(3000)]
)

model = jc.SparseOptimalDiscriminantClustering(3, random_state=0).fit(expression)
print(f"accuracy {jc.metrics.clustering_accuracy(types, model.labels_):.3f}")
used = np.flatnonzero(model.support_)
print(f"{used.size} genes used, {np.sum(used < 40)} of them among the 40 that matter")

# %%
jc.plots.BiplotDisplay.from_estimator(model, expression, n_features=8)
plt.show()
