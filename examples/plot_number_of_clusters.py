"""
Choosing the number of clusters
===============================

``number_of_clusters`` looks for the number whose clusters are expected to be most like the true ones, and says if there
are no clusters.
Stability is a second way to look at it. With too many clusters, some of them change from one resample to the next;
with too few, different clusters are joined, which is stable, too. Here five clusters were generated.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

X, y = jc.datasets.mixture(500, 40, 5, separation=9, n_nuisance=3, random_state=0)
result = jc.number_of_clusters(X)
print(result.verdict)
result.plot()
noise = np.random.RandomState(0).standard_normal((500, 40))
print("in noise:", jc.number_of_clusters(noise).verdict)

# %%
numbers = range(2, 9)
coordinates = jc.decompose(X)
least, mean = [], []
for c in numbers:
    model = jc.LDAKMeans(c, n_init=5, random_state=0).fit(coordinates)
    stability = jc.bootstrap_stability(model, X, n_resamples=5, random_state=0)
    least.append(stability.min())
    mean.append(stability.mean())

# %%
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(numbers, mean, "o-", color="#0072B2", label="mean over the clusters")
ax.plot(numbers, least, "s-", color="#D55E00", label="the least stable cluster")
ax.axhline(0.6, color="grey", linestyle="--", linewidth=1)
ax.set(xlabel="number of clusters", ylabel="stability", ylim=(0, 1.05), xticks=list(numbers))
ax.legend()
plt.show()
print("largest number with every cluster above 0.85:", max(np.array(numbers)[np.array(least) > 0.85]))
