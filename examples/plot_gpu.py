"""
Rows on a graphics card
=======================

Estimators take torch and CuPy arrays on their device: neither the rows nor the labels leave it. These pages are built
without a graphics card; there the same code runs on the processor.
"""

# %%
import matplotlib.pyplot as plt
import torch

import jointclust as jc

device = "cuda" if torch.cuda.is_available() else "cpu"
X, y = jc.datasets.mixture(4000, 60, 5, separation=12, random_state=0)
rows = torch.asarray(X, dtype=torch.float32, device=device)
model = jc.DiscriminativeEmbeddedClustering(5, trade_off=2, random_state=0).fit(rows)
print(type(model.labels_), model.labels_.device)
print(f"accuracy {jc.metrics.clustering_accuracy(y, model.labels_.cpu().numpy()):.3f}")

# %%
# Plots need the embedding in the computer's own memory.
Y = model.transform(rows).cpu().numpy()
jc.plots.EmbeddingDisplay(Y[:, :2], model.labels_.cpu().numpy(), names=("component 0", "component 1")).plot()
plt.show()
