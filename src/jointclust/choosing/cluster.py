"""The library's default in one line."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jointclust.choosing.consensus import JointConsensus
from jointclust.choosing.number import number_of_clusters


def cluster(
    X: ArrayLike, n_clusters: int | None = None, random_state: int | np.random.RandomState | None = None
) -> JointConsensus:
    """Cluster X with the library's default: ``JointConsensus(n_clusters).fit(X)``, the number chosen where not given.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    n_clusters : int, default=None
        Number of clusters; None asks :func:`number_of_clusters`. Where that finds no cluster structure, a warning says
        so and all rows are in one cluster.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable.

    Returns
    -------
    model : JointConsensus
        The fitted estimator: ``labels_``, ``confidence_``, ``predict``.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=50, n_clusters=4, random_state=0)
    >>> jc.cluster(X, random_state=0).n_clusters
    4
    """
    if n_clusters is None:
        found = number_of_clusters(X, random_state=random_state)
        found.warn()
        n_clusters = found.n_clusters
    return JointConsensus(n_clusters, random_state=random_state).fit(X)
