"""Prepares data for k-means as an experienced user would, by kind of data."""

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

# Leading directions of word counts, and of other sparse rows.
_WORD_DIRECTIONS, _OTHER_DIRECTIONS = 100, 50


class UsualRows(TransformerMixin, BaseEstimator):
    """Rows as an experienced user prepares them for k-means, by the kind that :func:`jointclust.describe` reports.

    =================== ==========================================================================================
    kind                rows, of all columns
    =================== ==========================================================================================
    table, mixed        standardised; categories coded, gaps filled
    documents, counts   of words: sublinear tf-idf, the 100 leading directions, length one
    counts              of reads: scaled to their median total, ``log(1 + x)``, the 50 leading directions
    features, unit rows as they are; sparse ones in their 50 leading directions
    =================== ==========================================================================================

    Counts are reads where some column is positive in more than half of the rows, because all cells express some genes;
    word counts have no such column, because they leave out stop words. The fitted steps are ``steps_``, a pipeline.
    """

    def fit(self, X: Any, y: None = None) -> Self:
        """Fit the steps for the kind of the data: array, sparse matrix, data frame, AnnData or list of str."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: None = None) -> Matrix:
        """Fit the steps, then return the prepared rows."""
        kind = describe(X).kind
        numbers = Preparation("standardised" if kind in ("table", "mixed") else "as is", columns="all")
        rows = numbers.fit_transform(X)
        steps = _steps(kind, rows)
        for step in steps:
            rows = step.fit_transform(rows)
        self.steps_ = make_pipeline(numbers, *steps)
        return rows

    def transform(self, X: Any) -> Matrix:
        """The prepared rows of new data."""
        check_is_fitted(self)
        return self.steps_.transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = Preparation().__sklearn_tags__().input_tags
        return tags


def _steps(kind: str, rows: NDArray | sp.csr_array) -> list[Any]:
    """Unfitted steps after the rows are numbers."""
    words = kind == "documents" or (kind == "counts" and not are_reads(rows))
    leading = TruncatedSVD(min(_WORD_DIRECTIONS if words else _OTHER_DIRECTIONS, rows.shape[1]), random_state=0)
    if words:
        return [TermWeights(), leading, Normalizer()]
    if kind == "counts":
        return [LogCounts(n_columns=None), leading]
    return [leading] if sp.issparse(rows) else []


def prepared_kmeans(n_clusters: int = 8, random_state: int | np.random.RandomState | None = None) -> Pipeline:
    """An unfitted pipeline of ``KMeans(n_init=10)`` on :class:`UsualRows`, a stronger baseline than k-means alone."""
    kmeans = KMeans(n_clusters, n_init=10, random_state=random_state)
    return Pipeline([("prepare", UsualRows()), ("k-means", kmeans)])
