"""
Several methods side by side
============================

``compare`` fits methods on your own data and says what can be said without labels: how far each agrees with the others,
and how stable it is. With no methods given it runs the whole family and the usual alternatives.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.cluster import KMeans

import jointclust as jc

X, y = jc.datasets.mixture(300, 40, 6, separation=8, n_nuisance=5, random_state=0)
methods = {
    "k-means": KMeans(6, n_init=10),
    "DEC": jc.DiscriminativeEmbeddedClustering(6, trade_off=2),
    "LDAKMeans": jc.LDAKMeans(6, n_init=5),
    "EC": jc.RobustEmbeddedClustering(6),
    "ODC": jc.OptimalDiscriminantClustering(6),
}
table = pd.DataFrame(jc.compare(X, 6, methods, y_true=y, random_state=0)).set_index("method")
print(table.drop(columns="warnings").round(3))

# %%
# The classes are used only here, to see whether agreement was worth listening to.
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
table[["agreement", "stability", "accuracy (with y_true)"]].plot.barh(ax=ax, color=["#0072B2", "#E69F00", "#8A8A8A"])
ax.set(ylabel="", xlim=(0, 1.02))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
