"""
Cells
=====

:func:`jc.sc.tl.consensus <jointclust.sc.tl.consensus>` writes clusters into AnnData and follows the conventions of
scverse. It takes raw counts, logarithms, a layer or a representation, and keeps sparse matrices sparse.
"""

# %%
import anndata
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import jointclust as jc

rng = np.random.RandomState(0)
kind = rng.choice(4, size=400, p=[0.4, 0.3, 0.2, 0.1])
rates = rng.gamma(0.3, 1.0, size=(4, 500))[kind] * rng.uniform(0.5, 2.0, size=(400, 1))
cells = anndata.AnnData(sp.csr_matrix(rng.poisson(rates).astype(np.float32)))

jc.sc.tl.consensus(cells)
print(cells.uns["jointclust"]["number"]["verdict"])
print(cells.obs["jointclust"].value_counts())

# %%
# It has written the cluster and the confidence of each cell, the directions in which the clusters differ, and the
# parameters. ``cells.write_h5ad`` saves all of it.
Y = cells.obsm["X_jointclust"]
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
points = ax.scatter(Y[:, 0], Y[:, 1], c=cells.obs["jointclust"].cat.codes, s=8, cmap="tab10")
ax.set(xlabel="X_jointclust 1", ylabel="X_jointclust 2")
fig.colorbar(points, label="cluster", ticks=range(4))
plt.show()

# %%
# With scanpy, ``jc.sc.pl.map(cells)`` draws this map, and ``jc.sc.pl.dotplot(cells)`` draws the genes that set clusters
# apart. Be careful with the number of clusters: kinds of cells have subtypes. Other candidates are in
# ``uns["jointclust"]["number"]["suggestions"]``, and ``jc.sc.tl.consensus(cells, 12)`` finds twelve clusters.
