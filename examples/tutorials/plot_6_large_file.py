"""
A file larger than memory
=========================

``fit`` also takes a memory-mapped file. The consensus learns from a sample of the rows and then labels all of them in
one pass; single methods read the file a few times. Here the file is small, so that this page is quick.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

X, truth = jc.datasets.mixture(n_samples=20_000, n_features=40, n_clusters=6, random_state=0)
path = Path(tempfile.mkdtemp()) / "rows.npy"
np.save(path, X.astype(np.float32))
rows = np.load(path, mmap_mode="r")

model = jc.LDAKMeans(6, random_state=0).fit(rows)
print(f"accuracy {jc.metrics.clustering_accuracy(truth, model.labels_):.3f} on {len(rows):,} rows")

# %%
# If time is short, ``effort="quick"`` makes the consensus fit fewer members, to 3,000 rows.
quick = jc.JointConsensus(6, effort="quick", random_state=0).fit(rows)
print(f"consensus: {jc.metrics.clustering_accuracy(truth, quick.labels_):.3f}")

# %%
jc.plots.EmbeddingDisplay.from_estimator(model, rows)
plt.show()

# %%
# HDF5 and Zarr files, Dask arrays and tensors on a GPU work in the same way: :doc:`/scaling`.
