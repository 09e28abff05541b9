"""The library's default in one line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from jointclust import progress as stages
from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.fitting import Settings
from jointclust.consensus.judged import counted_in
from jointclust.consensus.matching import before_of
from jointclust.consensus.stages import stage_weights
from jointclust.consensus.views import ViewedData
from jointclust.judge.number import ClusterNumber, Numbers, Report, compared_with, silent
from jointclust.number.estimate import count
from jointclust.progress.bar import shown
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose
from jointclust.types import Float, Matrix, Predictor
from jointclust.views.blocks import BlockView
from jointclust.views.preparation import Preparation


def cluster(
    X: ArrayLike,
    n_clusters: int | Numbers | None = None,
    random_state: int | np.random.RandomState | None = None,
    *,
    columns: str | list[Any] | dict[str, Any] = "related",
    like: Predictor | None = None,
    progress: bool | None = None,
) -> JointConsensus:
    """Cluster X with the library's default: ``JointConsensus(n_clusters).fit(X)``, the number chosen where not given.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of str, AnnData, or dict of these
        The data; a dict holds blocks with the same rows, by name, such as measurements and texts.
    n_clusters : int, (int, int) or list of int, default=None
        Number of clusters; None, a range (ends included), or a list of numbers lets :func:`number_of_clusters`
        choose. A warning says so where the number is uncertain, or where there is no cluster
        structure: then all rows are in one cluster, unless a range forbids that.
    random_state : int, RandomState or None, default=None
        Seed of the fit, not of the number; an int makes the result repeatable.
    columns : "related", "all" or list of str, default="related"
        The columns of a table to use: those that depend on each other, all, or these; see :class:`JointConsensus`.
    like : fitted model with ``predict``, default=None
        An earlier model of such rows: clusters that are the same keep its numbers; see :meth:`JointConsensus.fit`.
    progress : bool, default=None
        Whether to show a bar with the estimated remaining time; None shows it in terminals and notebooks if more than
        about three seconds are expected, and nothing elsewhere.

    Returns
    -------
    model : JointConsensus
        The fitted estimator: ``labels_``, ``confidence_``, ``predict``; and ``number_``, the :class:`ClusterNumber`,
        where the number was chosen.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=50, n_clusters=3, random_state=0)
    >>> jc.cluster(X, random_state=0).n_clusters
    3
    """
    with shown(progress):
        if isinstance(n_clusters, int | np.integer):
            number = n_clusters if isinstance(n_clusters, bool) else int(n_clusters)  # True is refused there
            return JointConsensus(number, columns=columns, random_state=random_state).fit(X, like=like)
        return fit_rows(JointConsensus(columns=columns, random_state=random_state), X, n_clusters, like=like).model


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
    def coded(self) -> Matrix | dict[str, Matrix] | None:
        """The rows as numbers, before a view scales them, those of blocks by name.

        None if no view codes them, or not all are in memory.
        """
        if self._viewed.remote is not None:
            return None
        preparations, sources = self.model.preparations, self._viewed.sources
        blocks = [one.block for one in preparations if isinstance(one, BlockView)]
        if blocks:
            return {name: sources[blocks.index(name)].rows for name in blocks}
        return sources[0].rows if isinstance(preparations[0], Preparation) else None

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
    like: Predictor | None = None,
) -> FittedRows:
    """Fit the model with a number of clusters or with the one that the data show; nothing is prepared twice.

    Where the number is not given, there are at least as many clusters as known classes.
    """
    random_state, number, seen = model.random_state, None, None
    is_given = isinstance(n_clusters, int)
    if is_given or n_classes:
        model.set_params(n_clusters=n_clusters if is_given else n_classes)
    before = before_of(like, X, None, known_labels)
    viewed, classes = model._view(X, None, check_random_state(random_state), known_labels)
    if not isinstance(n_clusters, int):
        # The sample that the fit will draw, so that its coordinates are there already.
        sample = viewed.sample(check_random_state(random_state))
        stages.advance("views", 1)
        # The search takes little, and says nothing of how long members take.
        stages.plan({"number": 0.0, **stage_weights(Settings.of(model), viewed, sample.size)})

        number, seen = counted_in(viewed.in_memory(), sample, n_clusters, partial(stages.advance, "number"))
        stages.advance("number", 1)
        number = number if before is None else compared_with(number, before.n_clusters)
        number.warn()
        model.set_params(n_clusters=max(number.n_clusters, n_classes))
    model._fit_viewed(viewed, check_random_state(random_state), classes, before, seen)
    if number is not None and known_labels is None:
        model.number_ = number
    return FittedRows(model, number, viewed)


def counted(
    X: ArrayLike, among: Numbers | None, random_state: int | np.random.RandomState | None, report: Report = silent
) -> tuple[Coordinates, ClusterNumber]:
    """Coordinates of X, to be fitted, and how many clusters they show, with a warning if that is uncertain."""
    coordinates = decompose(X, random_state=check_random_state(random_state))
    number = count(ViewedData.of_coordinates(coordinates), coordinates.present, among, report)
    number.warn()
    return coordinates, number
