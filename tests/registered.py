"""The estimators that every test of all methods looks at, read off the registry."""

from jointclust import registry
from jointclust.consensus.estimator import JointConsensus


def estimators_of(entry, n_clusters):
    """An unfitted estimator for each setting of a method."""
    return [entry.cls(n_clusters=n_clusters, **setting.params) for setting in entry.settings]


def _tested(estimator):
    """OLSDA collapses unless the rows are reduced first, which is what its warning says: tested reduced."""
    reduced = getattr(estimator, "trade_off", None) == "olsda"
    return estimator.set_params(variance=0.95) if reduced else estimator


# scikit-learn's check of sparse rows expects two or four columns of every predict_proba.
CLUSTERERS = [
    _tested(estimator)
    for entry in registry.METHODS
    if entry.cls is not JointConsensus
    for estimator in estimators_of(entry, 4)
]
# One of each class, and of each kernel or criterion it has: for what does not depend on other settings.
ONE_EACH = list(
    {
        (type(one), getattr(one, "kernel", None), getattr(one, "method", None)): one for one in reversed(CLUSTERERS)
    }.values()
)[::-1]
