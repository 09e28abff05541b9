"""
Documents
=========

Pass a list of strings: words are counted, weighed, and turned into topics.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import jointclust as jc

SUBJECTS = {
    "space": "orbit rocket launch moon satellite crew telescope planet mission lunar",
    "health": "doctor patient dose vaccine clinic symptom nurse therapy blood trial",
    "ice hockey": "goal puck season playoff goalie team coach league ice score",
    "computing": "memory compiler keyboard driver kernel disk screen patch network file",
}
EVERYDAY = "the a time people year day thing world life hand part child place week company point fact group"
rng = np.random.RandomState(0)
subjects = [words.split() for words in SUBJECTS.values()]
truth = rng.randint(len(subjects), size=800)
texts = [" ".join([*rng.choice(subjects[k], 7), *rng.choice(EVERYDAY.split(), 20)]) for k in truth]

model = jc.cluster(texts, 4, random_state=0)
print(f"accuracy {jc.metrics.clustering_accuracy(truth, model.labels_):.3f}")

# %%
# The name of a cluster is made of the words that it has more often than the others.
for cluster in jc.explain(model, texts):
    print(cluster.cluster, cluster.size, cluster.name)

# %%
jc.plots.EmbeddingDisplay.from_estimator(model, texts)
plt.show()

# %%
# New documents get labels with a confidence.
new = ["the crew saw a rocket leave for the moon", "the nurse gave the patient a dose", "a thing of the world"]
print(model.predict(new), model.confidence(new).round(2))

# %%
# BERTopic takes the consensus in place of HDBSCAN and UMAP: :doc:`/pipelines` has the code.
