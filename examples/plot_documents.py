"""
Documents: sparse rows, never made dense
========================================

Short texts about four subjects, each a handful of its subject's words among everyday ones. TF-IDF makes a sparse matrix
of them; the clusters are read off the words that set them apart.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

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

# %%
# A pipeline from text to clusters. LDA k-means takes the sparse matrix as it is.
vectorizer = TfidfVectorizer(sublinear_tf=True)
model = make_pipeline(vectorizer, jc.LDAKMeans(4, n_init=5, random_state=0)).fit(texts)
labels = model[-1].labels_
print(f"accuracy {jc.metrics.clustering_accuracy(truth, labels):.3f}")

# %%
# What each cluster is about: the words whose mean weight inside is furthest above the mean outside.
rows, words = vectorizer.transform(texts), vectorizer.get_feature_names_out()
for k in range(4):
    excess = rows[labels == k].mean(axis=0) - rows[labels != k].mean(axis=0)
    print(k, ", ".join(words[np.argsort(-np.asarray(excess).ravel())[:6]]))

# %%
# The clusters in the first two of their three directions.
jc.plots.EmbeddingDisplay.from_estimator(model, texts)
plt.show()

# %%
# ``model.predict`` takes new texts.
print(model.predict(["the crew saw a rocket leave for the moon", "the nurse gave the patient a dose"]))
