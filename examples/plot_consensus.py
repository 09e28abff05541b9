"""
A consensus, and which parts of it to trust
===========================================

``JointConsensus`` returns what many fits agree on. Its confidence says which rows are doubtful, and halves of the rows
say which clusters are. Here the accuracy rises if only rows of high confidence are kept.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

digits = jc.datasets.load("digits")
X, y = digits.data[::2], digits.target[::2]
model = jc.JointConsensus(10, random_state=0).fit(X)
print(model.verdict_)

order = np.argsort(-model.confidence_)
shares = np.linspace(0.1, 1, 10)
accuracy = [
    jc.metrics.clustering_accuracy(y[order[: int(s * y.size)]], model.labels_[order[: int(s * y.size)]]) for s in shares
]

# %%
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(shares, accuracy, "o-", color="#0072B2")
axes[0].set(xlabel="share of rows kept, surest first", ylabel="accuracy", ylim=(0.7, 1.01))
jc.plots.StabilityDisplay.from_estimator(model, X, ax=axes[1])
plt.show()
