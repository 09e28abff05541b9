"""How many clusters data of any kind have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from jointclust.consensus.judged import counted_in
from jointclust.consensus.remote import RemoteRows
from jointclust.consensus.views import MOST_ROWS, ViewedData
from jointclust.judge.number import ClusterNumber, Numbers, Report, silent
from jointclust.rows import is_elsewhere, loaded
from jointclust.subspace.coordinates import Coordinates

__all__ = ["ClusterNumber", "number_of_clusters"]

# Rank of a randomised decomposition.
_RANK = 500


def number_of_clusters(
    X: ArrayLike | Coordinates,
    *,
    n_clusters: Numbers | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterNumber:
    r"""The number of clusters whose partition is expected to agree best with the true clusters.

    .. math:: \max_k \; \hat a\big(m_1(P_k), \dots, m_p(P_k)\big), \quad \hat a \approx A(P_k, T)

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    P_k      a partition of (at most 800 of) the rows into k clusters: k-means, LDA k-means or joined communities of the
             neighbour graph, whichever agrees best with the others
    m_j      measures that need no labels: whether two halves of the rows, different methods and views find the same
             clusters, whether fewer rows lie between them, how they fit the communities of the neighbour graph, sizes,
             variance beyond that of rows without clusters (``jointclust.judge.evidence``)
    A, T     the adjusted Rand index with the true clusters
    a        boosted trees that have learned to predict it, on thousands of data sets that were drawn with known
             clusters
    ======== =============================================================================

    1 is the answer where the probability that there are any clusters is small. The answer is a function of the data: it
    depends neither on chance nor on the order of the rows.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
        The data, as :class:`JointConsensus` takes them, in the views that it chooses; of a dict of blocks, those that
        show clusters side by side, each of one size; or the coordinates of rows from
        :func:`jointclust.decompose`, in one view. At least 32 rows.
    n_clusters : (int, int) or list of int, default=None
        The range to search, ends included, or the numbers to choose among; None is from 1 to an eighth of the rows (12
        at least, 187 at most). Of those, no number above that of the distinct rows is an answer.
    random_state : int, RandomState or None, default=None
        Seed of the sample of more than 10,000 rows; None always draws the same one.

    Returns
    -------
    result : ClusterNumber
        ``n_clusters``, ``suggestions`` best first, ``scores``, ``confidence``, ``has_structure``, ``at_edge``, the
        ``verdict`` and ``why`` as sentences, a ``table`` with the evidence, and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=50, n_clusters=3, random_state=0)
    >>> jc.number_of_clusters(X, n_clusters=(2, 12)).n_clusters
    3
    >>> noise = np.random.RandomState(0).standard_normal((200, 20))
    >>> jc.number_of_clusters(noise).has_structure
    False
    """
    return count_in_data(X, n_clusters, check_random_state(0 if random_state is None else random_state))


def count_in_data(
    X: ArrayLike | Coordinates,
    among: Numbers | None,
    rng: np.random.RandomState,
    report: Report = silent,
    columns: Any = "related",
) -> ClusterNumber:
    """The number of clusters of data of any kind, or of coordinates; ``columns`` are those of a table to use."""
    if isinstance(X, Coordinates):
        if X.rows.is_remote or X.rows.device is not None:
            raise TypeError("number_of_clusters takes coordinates of rows in memory: pass the rows themselves.")
        return count(ViewedData.of_coordinates(X), X.present, among, report)
    X = loaded(X)
    remote = RemoteRows.of(X, None) if is_elsewhere(X) else None
    data = X if remote is None else remote.sample(MOST_ROWS, rng)[0]
    viewed = ViewedData.of(data, "auto", None, _RANK, remote, columns)
    return count(viewed, viewed.sample(rng), among, report)


def count(
    viewed: ViewedData, sample: NDArray[np.intp], among: Numbers | None, report: Report = silent
) -> ClusterNumber:
    """The number of clusters of a sample of the rows."""
    return counted_in(viewed, sample, among, report)[0]
