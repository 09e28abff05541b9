"""The estimators that every test of all methods looks at, read off the registry."""

from jointclust.choosing import registry
from jointclust.choosing.consensus import JointConsensus

# scikit-learn's check of sparse rows expects two or four columns of every predict_proba.
CLUSTERERS = [
    estimator
    for entry in registry.METHODS
    if entry.cls is not JointConsensus
    for estimator in entry.estimators(n_clusters=4)
]
