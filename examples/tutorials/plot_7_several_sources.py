"""
Several sources of the same rows
================================

One table says what customers do, another one what they wrote: two blocks with the same rows. Each block votes if it
shows clusters. A wide block has no more weight than a narrow one, and a block of noise has no votes.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import jointclust as jc

rng = np.random.RandomState(0)
is_older, about_delivery = rng.rand(400) < 0.5, rng.rand(400) < 0.5
numbers = pd.DataFrame(
    {
        "age": rng.normal(np.where(is_older, 55, 28), 7).round(),
        "orders": rng.poisson(np.where(is_older, 3, 12)),
        "basket": np.exp(rng.normal(np.where(is_older, 4.4, 3.4), 0.35)),
        "days_since": rng.gamma(4, np.where(is_older, 10.0, 2.5)),
    }
)
DELIVERY = ["late", "parcel", "courier", "address", "delivery", "waited", "tracking", "box", "lost", "arrived"]
PRODUCT = ["size", "colour", "broken", "fits", "quality", "fabric", "button", "returned", "screen", "battery"]
EVERYDAY = ["the", "a", "and", "it", "was", "my", "order", "with", "shop", "very", "not", "but", "again", "would"]
texts = [
    " ".join([*rng.choice(DELIVERY if topic else PRODUCT, 6), *rng.choice(EVERYDAY, 10)]) for topic in about_delivery
]
truth = 2 * is_older + about_delivery

# %%
# A dict names the blocks. Each block alone shows two groups, and both together show four.
blocks = {"numbers": numbers, "text": texts}
model = jc.cluster(blocks, random_state=0)
print(model.n_clusters, "clusters, accuracy", round(jc.metrics.clustering_accuracy(truth, model.labels_), 3))
for name, block in blocks.items():
    print(name, "alone:", jc.number_of_clusters(block).n_clusters)

# %%
# ``views_`` says what each view weighs, and why. Blocks that vote have the same weight, however many columns they have.
for view in model.views_:
    print(f"{view['name']:24s} {view['weight']:.2f}  {view['reason']}")

# %%
# The rules use columns and words of both blocks.
print(jc.explain(model, blocks)[0])

# %%
jc.plots.EmbeddingDisplay.from_estimator(model, blocks)
plt.show()

# %%
# New rows are passed as the same dict. A block of noise changes nothing, because it has no votes.
new = {"numbers": numbers[:3], "text": texts[:3]}
print(model.predict(new), model.confidence(new).round(2))
beside = jc.JointConsensus(4, random_state=0).fit(blocks | {"noise": rng.standard_normal((400, 200))})
print({view["name"]: round(view["weight"], 2) for view in beside.views_})

# %%
# On the command line each block is a file, and ids join the rows::
#
#     jointclust fit --block numbers=numbers.csv --block text=texts.csv
#     jointclust predict run --block numbers=new_numbers.csv --block text=new_texts.csv
