"""The library's default in one line."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.views import ViewedData
from jointclust.number.estimate import ClusterNumber, Numbers, Report, count, silent
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose


def cluster(
    X: ArrayLike,
    n_clusters: int | Numbers | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> JointConsensus:
    """Cluster X with the library's default: ``JointConsensus(n_clusters).fit(X)``, the number chosen where not given.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of str or AnnData
        The data.
    n_clusters : int, (int, int) or list of int, default=None
        Number of clusters; None asks :func:`number_of_clusters`, and so do a range, ends included, and a list of
        numbers to choose among. A warning says so where the number is uncertain, or where there is no cluster
        structure: then all rows are in one cluster, unless a range forbids that.
    random_state : int, RandomState or None, default=None
        Seed of the fit, not of the number; an int makes the result repeatable.

    Returns
    -------
    model : JointConsensus
        The fitted estimator: ``labels_``, ``confidence_``, ``predict``; and ``number_``, the :class:`ClusterNumber`,
        where the number was chosen.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=50, n_clusters=4, random_state=0)
    >>> jc.cluster(X, random_state=0).n_clusters
    4
    """
    if isinstance(n_clusters, int | np.integer):
        number = n_clusters if isinstance(n_clusters, bool) else int(n_clusters)  # True is refused there
        return JointConsensus(number, random_state=random_state).fit(X)
    return fit_with_number(JointConsensus(random_state=random_state), X, n_clusters)


def fit_with_number(
    model: JointConsensus,
    X: ArrayLike,
    among: Numbers | None,
    report: Report = silent,
) -> JointConsensus:
    """The model fitted with the number of clusters that the data show, in ``number_``; nothing is prepared twice."""
    random_state = model.random_state
    viewed, _ = model._view(X, None, check_random_state(random_state))
    # The same sample that the fit will draw, so that its coordinates are computed once.
    sample = viewed.sample(check_random_state(random_state))
    number = count(viewed, sample, among, report)
    number.warn()
    model.set_params(n_clusters=number.n_clusters)._fit_viewed(viewed, check_random_state(random_state))
    model.number_ = number
    return model


def counted(
    X: ArrayLike,
    among: Numbers | None,
    random_state: int | np.random.RandomState | None,
    report: Report = silent,
) -> tuple[Coordinates, ClusterNumber]:
    """Coordinates of X, to be fitted, and how many clusters they show; a warning says so where that is uncertain."""
    coordinates = decompose(X, random_state=check_random_state(random_state))
    found = count(ViewedData.of_coordinates(coordinates), coordinates.present, among, report)
    found.warn()
    return coordinates, found
