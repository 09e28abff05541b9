"""The library's default in one line."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from jointclust.choosing.consensus import JointConsensus
from jointclust.choosing.number import number_of_clusters
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose


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
    if n_clusters is not None:
        return JointConsensus(n_clusters, random_state=random_state).fit(X)
    model = JointConsensus(random_state=random_state)
    sights = model._look(X, None, check_random_state(random_state))
    rng = check_random_state(random_state)
    coordinates = sights.keep(0, sights.sample(rng), rng)  # which the fit will ask for
    model.set_params(n_clusters=_number(coordinates, check_random_state(random_state)))
    return model._agree(sights, check_random_state(random_state))


def counted(X: ArrayLike, random_state: int | np.random.RandomState | None) -> tuple[Coordinates, int]:
    """Coordinates of X, to be fitted, and how many clusters they show; where they show none, a warning says so."""
    rng = check_random_state(random_state)
    coordinates = decompose(X, random_state=rng)
    return coordinates, _number(coordinates, rng)


def _number(coordinates: Coordinates, rng: np.random.RandomState) -> int:
    found = number_of_clusters(coordinates, random_state=rng)
    found.warn()
    return found.n_clusters
