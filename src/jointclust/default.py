"""The library's default in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.tree import n_separated
from jointclust.consensus.views import ViewedData
from jointclust.number.estimate import ClusterNumber, Numbers, Report, count, silent
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose
from jointclust.types import Float, Matrix
from jointclust.views.preparation import Preparation


def cluster(
    X: ArrayLike,
    n_clusters: int | Numbers | None = None,
    random_state: int | np.random.RandomState | None = None,
    *,
    columns: str | list[Any] = "related",
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
    columns : "related", "all" or list of str, default="related"
        The columns of a table to use: those that depend on each other, all, or these; see :class:`JointConsensus`.

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
        return JointConsensus(number, columns=columns, random_state=random_state).fit(X)
    return fit_rows(JointConsensus(columns=columns, random_state=random_state), X, n_clusters).model


@dataclass(frozen=True, eq=False)
class FittedRows:
    """A fitted consensus with the rows of its fit, which need not be coded again.

    Attributes
    ----------
    model : JointConsensus
        The fitted model.
    number : ClusterNumber or None
        How the number of clusters was chosen; None where it was given.
    """

    model: JointConsensus
    number: ClusterNumber | None
    _viewed: ViewedData

    @property
    def coded(self) -> Matrix | None:
        """The rows as numbers, before a view scales them; None if no view codes them, or not all are in memory."""
        coded = self._viewed.remote is None and isinstance(self.model.preparations[0], Preparation)
        return self._viewed.sources[0].rows if coded else None

    @property
    def embedding(self) -> Float | None:
        """What ``transform`` gives for the rows; None if not all of them are in memory."""
        return self.model._agreement.embed(self._viewed.sources) if self._viewed.remote is None else None


def fit_rows(
    model: JointConsensus,
    X: ArrayLike,
    n_clusters: int | Numbers | None,
    known_labels: ArrayLike | None = None,
    n_classes: int = 0,
    report: Report = silent,
) -> FittedRows:
    """Fit the model with a number of clusters or with the one that the data show; nothing is prepared twice.

    Where the number is not given, there are at least as many clusters as known classes.
    """
    random_state, number = model.random_state, None
    is_given = isinstance(n_clusters, int)
    if is_given or n_classes:
        model.set_params(n_clusters=n_clusters if is_given else n_classes)
    viewed, classes = model._view(X, None, check_random_state(random_state), known_labels)
    if not isinstance(n_clusters, int):
        # The sample that the fit will draw, so that its coordinates are there already.
        sample = viewed.sample(check_random_state(random_state))
        number = count(viewed, sample, n_clusters, report)
        number.warn()
        model.set_params(n_clusters=max(number.n_clusters, n_classes))
    model._fit_viewed(viewed, check_random_state(random_state), classes)
    if number is not None and known_labels is None:
        number = number.with_suggestion(n_separated(model._split_p_values()))
        model.number_ = number
    return FittedRows(model, number, viewed)


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
