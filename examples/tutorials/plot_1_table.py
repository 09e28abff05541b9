"""
A table
=======

Each row is one thing, here a wine, and each column is one measurement, in a unit of its own. Nothing has to be scaled
or encoded.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd

import jointclust as jc

wine = jc.datasets.load("wine")
table = pd.DataFrame(wine.data, columns=wine.feature_names)
print(jc.describe(table))

# %%
# :func:`~jointclust.cluster` suggests the number of clusters, too; if you know it, give it.
model = jc.cluster(table, random_state=0)
print(model.number_.verdict, "- other candidates:", model.number_.suggestions[1:])
print(f"{jc.metrics.clustering_accuracy(wine.target, model.labels_):.2f} of the wines are with their cultivar")

# %%
# The map shows the rows in the directions in which the clusters differ.
jc.plots.EmbeddingDisplay.from_estimator(model, table)
plt.show()

# %%
# Look twice at rows of low confidence.
doubtful = table[model.confidence_ < 0.6]
print(f"{len(doubtful)} of {len(table)} rows are doubtful")
