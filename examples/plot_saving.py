"""
Saving a model, and a report
============================

A saved model labels new rows later; loading it cannot run code. The report is one HTML file that shows the clustering
to people without Python.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import jointclust as jc

X, y = jc.datasets.mixture(1000, 50, 5, separation=12, random_state=0)
model = jc.LDAKMeans(5, n_init=5, random_state=0).fit(X[:800])

folder = Path(tempfile.mkdtemp())
jc.save(model, folder / "model.skops")
again = jc.load(folder / "model.skops")
print(f"accuracy on rows it never saw: {jc.metrics.clustering_accuracy(y[800:], again.predict(X[800:])):.3f}")

# %%
# The loaded model has all that the saved one had.
jc.plots.EmbeddingDisplay.from_estimator(again, X[:800])
plt.show()

# %%
jc.write_report(model, X[:800], folder / "report.html", classes=y[:800], title="Five clusters")
print(f"the report takes {(folder / 'report.html').stat().st_size / 1e3:.0f} kB, and needs nothing else")
