"""
Name ten rows, cluster again
============================

``rows_to_label`` says which rows to look at. After ten of them are named, the clusters have names; after ten more,
digits that were confused are separated.
"""

# %%
# The first look: clusters without names, and the ten rows to ask about.
import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

digits = jc.datasets.load("digits")
X, truth = digits.data[::3], digits.target[::3]
model = jc.JointConsensus(10, random_state=0).fit(X)
rows = model.rows_to_label(10)

fig, axes = plt.subplots(1, 10, figsize=(9, 1.3), layout="constrained")
for ax, row in zip(axes, rows, strict=True):
    ax.imshow(X[row].reshape(digits.image_shape), cmap="gray_r")
    ax.set(title=f"row {row}", xticks=[], yticks=[])
plt.show()


# %%
# The loop: name the rows, cluster again, ask for the next ones; and the same with rows drawn at random.
def right(model, known):
    """Share of the other rows that have the right name; clusters without a name have none."""
    names = np.append(model.classes_, [-1] * (10 - model.classes_.size))
    return np.mean(names[model.labels_][known < 0] == truth[known < 0])


def loop(ask):
    known, latest = np.full(len(X), -1), model
    for _ in range(3):
        rows = ask(latest, known)
        known[rows] = truth[rows]
        latest = jc.JointConsensus(10, random_state=0).fit(X, known_labels=known)
        yield right(latest, known)


rng = np.random.RandomState(0)
suggested = list(loop(lambda model, known: model.rows_to_label(10)))
drawn = list(loop(lambda model, known: rng.choice(np.flatnonzero(known < 0), 10, replace=False)))
for number, pair in enumerate(zip(suggested, drawn, strict=True), start=1):
    print(f"{10 * number} rows named: {pair[0]:.2f} when asked for, {pair[1]:.2f} when drawn at random")

# %%
fig, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.plot([10, 20, 30], suggested, "o-", color="#0072B2", label="rows_to_label")
ax.plot([10, 20, 30], drawn, "o-", color="#E69F00", label="drawn at random")
ax.set(xlabel="rows named", ylabel="share of the other rows with the right name", ylim=(0.5, 1))
ax.legend()
plt.show()
