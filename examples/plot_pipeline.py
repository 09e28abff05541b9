"""
A scikit-learn pipeline with set_output
=======================================

Chemical measurements of wines have different units. Scaling goes into the pipeline, so that it is applied to new rows
as well; ``set_output`` makes the embedding a data frame.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc

wine = jc.datasets.load("wine")
frame = pd.DataFrame(wine.data, columns=wine.feature_names)
clusterer = jc.DiscriminativeEmbeddedClustering(3, trade_off=2, random_state=0)
pipeline = make_pipeline(StandardScaler(), clusterer).set_output(transform="pandas").fit(frame)
print(pipeline.transform(frame).head(3).round(2))
for name, labels in (("raw", jc.LDAKMeans(3, random_state=0).fit_predict(frame)), ("scaled", pipeline[-1].labels_)):
    print(f"{name}: accuracy {jc.metrics.clustering_accuracy(wine.target, labels):.3f}")

# %%
jc.plots.BiplotDisplay.from_estimator(pipeline, frame, n_features=6)
plt.show()
