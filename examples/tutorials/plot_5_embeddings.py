"""
Embedding vectors
=================

Embedding vectors come from a language or image model. They have hundreds of columns, and every row has the same length.
Here some rows lie between two topics.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

rng = np.random.RandomState(0)
truth = rng.randint(6, size=900)
topics = rng.standard_normal((6, 128))
rows = topics[truth] + 1.2 * rng.standard_normal((900, 128))
rows[-60:] += topics[(truth[-60:] + rng.randint(1, 6, size=60)) % 6]  # about two topics at once
rows /= np.linalg.norm(rows, axis=1, keepdims=True)
print(jc.describe(rows))

# %%
# With ``reject_below``, rows of low confidence get no label but -1.
model = jc.JointConsensus(6, reject_below=0.8, random_state=0).fit(rows)
print(f"rejected: {np.mean(model.labels_[-60:] == -1):.2f} of the rows between topics,")
print(f"          {np.mean(model.labels_[:-60] == -1):.2f} of the other rows")
kept = model.labels_[:-60] >= 0
accuracy = jc.metrics.clustering_accuracy(truth[:-60][kept], model.labels_[:-60][kept])
print(f"accuracy of the other rows that were kept: {accuracy:.2f}")

# %%
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.hist(
    [model.confidence_[:-60], model.confidence_[-60:]], bins=20, stacked=True, label=["of one topic", "between two"]
)
ax.axvline(0.8, color="k", lw=1)
ax.set(xlabel="confidence", ylabel="rows")
ax.legend()
plt.show()
