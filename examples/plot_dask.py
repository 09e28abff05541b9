"""
Rows of a Dask array
====================

A Dask array may be larger than memory, or be on many machines. Only small sums are sent between them; labels and
embedding stay Dask arrays. The result does not depend on the chunks.
"""

# %%
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

X, y = jc.datasets.mixture(4000, 60, 5, separation=12, random_state=0)
rows = da.from_array(X, chunks=(1000, 60))
model = jc.LDAKMeans(5, random_state=0).fit(rows)
print(model.labels_)
print(f"accuracy {jc.metrics.clustering_accuracy(y, model.labels_.compute()):.3f}")

same = jc.LDAKMeans(5, random_state=0).fit(X)
print("as in memory:", np.array_equal(same.labels_, model.labels_.compute()))

# %%
jc.plots.EmbeddingDisplay.from_estimator(model, rows)
plt.show()
