"""Agreement of clusters with known classes, for evaluation only: no method sees these."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_consistent_length, column_or_1d

__all__ = ["clustering_accuracy", "clustering_error", "normalized_mutual_info"]


def _checked(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    true, pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(true, pred)
    if true.size == 0:
        raise ValueError("y_true and y_pred are empty: there is nothing to compare.")
    return true, pred


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Share of rows that are right under the best one-to-one match of clusters to classes.

    .. math:: \max_\pi \frac1n \sum_i [y_i = \pi(\hat y_i)]

    The match is found by the Hungarian algorithm; the numbers of clusters and classes may differ.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    y_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    accuracy : float
        Between 0 and 1.

    Examples
    --------
    >>> from jointclust.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [7, 7, 3, 7])
    0.75
    """
    table = contingency_matrix(*_checked(y_true, y_pred))
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / table.sum())


def clustering_error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """One minus :func:`jointclust.metrics.clustering_accuracy`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    y_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    error : float
        Between 0 and 1.

    Examples
    --------
    >>> from jointclust.metrics import clustering_error
    >>> clustering_error([0, 0, 1, 1], [7, 7, 3, 7])
    0.25
    """
    return 1.0 - clustering_accuracy(y_true, y_pred)


def normalized_mutual_info(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Mutual information over the geometric mean of the two entropies, as in the papers.

    .. math:: I(y, \hat y) / \sqrt{H(y) H(\hat y)}

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    y_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    nmi : float
        Between 0 and 1.

    Examples
    --------
    >>> from jointclust.metrics import normalized_mutual_info
    >>> normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return float(normalized_mutual_info_score(*_checked(y_true, y_pred), average_method="geometric"))
