"""Prepared k-means: what a practised user does before k-means, by kind of data, and so what a method has to beat."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.validation import check_is_fitted

from jointclust.types import Matrix
from jointclust.views.counts import LogCounts, TermWeights
from jointclust.views.kinds import describe
from jointclust.views.preparation import Preparation
from jointclust.views.rule import are_reads

# Leading directions of words, and of reads and other sparse rows.
_OF_WORDS, _OF_OTHERS = 100, 50


class UsualRows(TransformerMixin, BaseEstimator):
    """Rows as a practised user prepares them for k-means, by the kind that :func:`jointclust.describe` finds.

    =================== ==========================================================================================
    kind                rows
    =================== ==========================================================================================
    table, mixed        standardised; categories coded, gaps filled
    documents, counts   of words: sublinear tf-idf, the 100 leading directions, length one
    counts              of reads: scaled to their median total, ``log(1 + x)``, the 50 leading directions
    features, unit rows as they are; sparse ones in their 50 leading directions
    =================== ==========================================================================================

    Documents are words. Counts are of reads where some column is filled in more than half of the rows, as every cell
    reads the genes that all cells need; a word that common is a stop word, which counts of words leave out.

    Attributes
    ----------
    steps_ : Pipeline
        What was done, fitted.

    Examples
    --------
    >>> import jointclust as jc
    >>> from jointclust.selection.baseline import UsualRows
    >>> UsualRows().fit_transform(jc.datasets.load("wine").data).std(axis=0).round(6).tolist() == [1.0] * 13
    True
    """

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn what the data are, and how their rows are prepared.

        Parameters
        ----------
        X : array, sparse matrix, data frame, AnnData or list of str
            The data.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: None = None) -> Matrix:
        """The same, and the rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame, AnnData or list of str
            The data.
        y : None
            Ignored.

        Returns
        -------
        rows : array of shape (n_samples, n_features_out)
            The prepared rows.
        """
        kind = describe(X).kind
        numbers = Preparation("standardised" if kind in ("table", "mixed") else "as is")
        rows = numbers.fit_transform(X)
        after = _after(kind, rows)
        for step in after:
            rows = step.fit_transform(rows)
        self.steps_ = make_pipeline(numbers, *after)
        return rows

    def transform(self, X: Any) -> Matrix:
        """The rows of data like those of fit.

        Parameters
        ----------
        X : array, sparse matrix, data frame, AnnData or list of str
            The data.

        Returns
        -------
        rows : array of shape (n_samples, n_features_out)
            The prepared rows.
        """
        check_is_fitted(self)
        return self.steps_.transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = Preparation().__sklearn_tags__().input_tags
        return tags


def _after(kind: str, rows: NDArray | sp.csr_array) -> list[Any]:
    """What is done to rows of numbers, beside standardising tables."""
    if kind == "documents" or (kind == "counts" and not are_reads(rows)):
        return [TermWeights(), _leading(_OF_WORDS, rows), Normalizer()]
    if kind == "counts":
        return [LogCounts(n_columns=None), _leading(_OF_OTHERS, rows)]
    return [_leading(_OF_OTHERS, rows)] if sp.issparse(rows) else []


def _leading(n_components: int, rows: NDArray | sp.csr_array) -> TruncatedSVD:
    return TruncatedSVD(min(n_components, rows.shape[1]), random_state=0)


def prepared_kmeans(n_clusters: int = 8, random_state: int | np.random.RandomState | None = None) -> Pipeline:
    """``KMeans(n_init=10)`` on :class:`UsualRows`: the opponent that k-means on raw rows is not.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    random_state : int, RandomState or None, default=None
        Seed of k-means.

    Returns
    -------
    model : Pipeline
        Not fitted.

    Examples
    --------
    >>> import jointclust as jc
    >>> from jointclust.selection.baseline import prepared_kmeans
    >>> wine = jc.datasets.load("wine")
    >>> labels = prepared_kmeans(3, random_state=0).fit_predict(wine.data)
    >>> bool(jc.metrics.clustering_accuracy(wine.target, labels) > 0.95)
    True
    """
    kmeans = KMeans(n_clusters, n_init=10, random_state=random_state)
    return Pipeline([("prepare", UsualRows()), ("k-means", kmeans)])
