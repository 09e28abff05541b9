"""Views of counts and of text: words weighed, reads in logarithms, topics, genes of one spread."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import Interval, check_sample_weight
from jointclust.numerics.linalg import fix_signs
from jointclust.rows import Swept, as_rows, blocks, is_lazy, lazily, sweep, total_weight
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.subspace.decomposition import coordinates_of
from jointclust.types import Float
from jointclust.views.kinds import strings_of
from jointclust.views.registry import VIEWS
from jointclust.views.scaling import AsIs, Standardised, moments

# Spreads above its mean beyond which the value of a gene counts no more, as in scanpy's recipe.
_MOST_SPREADS = 10.0


class Counts(AsIs):
    """Base of the views of counts: all columns are changed, and none may be negative."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _takes = ("sparse", "positive_only")

    def __init__(self) -> None:
        super().__init__()


class TermWeights(Counts):
    r"""Counts as words are weighed: sublinear tf-idf, rows of length one.

    .. math:: z_{ij} \propto (1 + \ln x_{ij}) \left(1 + \ln \frac{1 + W}{1 + W_j}\right) \text{ for } x_{ij} > 0,
              \quad \|z_i\| = 1

    where W is the total weight of rows and W_j that of the rows in which column j is not zero.

    Attributes
    ----------
    idf_ : array of shape (n_features,)
        The second factor.

    Examples
    --------
    >>> from jointclust.views.counts import TermWeights
    >>> TermWeights().fit_transform([[3.0, 0.0], [0.0, 1.0]])
    array([[1., 0.],
           [0., 1.]])
    """

    def _learn(self, X: Any, weights: Float | None) -> None:
        swept = sweep(lambda x, w: Swept(sums=[blocks.column_sums(_is_filled(x), w)]), X, weights, width=X.shape[1])
        total = X.shape[0] if weights is None else total_weight(weights)
        self.idf_ = 1.0 + np.log((1.0 + total) / (1.0 + swept.sums[0]))

    def _change(self, x: Any) -> Any:
        _refuse_negative(x)
        if sp.issparse(x):
            x = sp.csr_array(x, copy=True)
            x.eliminate_zeros()
            x.data = (1.0 + np.log(x.data)) * self.idf_[x.indices].astype(x.dtype)
            return blocks.unit(x)
        xp = namespace(x)
        logs = 1.0 + xp.log(xp.where(x > 0, x, xp.ones_like(x)))
        return blocks.unit(xp.where(x > 0, logs, xp.zeros_like(x)) * like(self.idf_, x))


def _is_filled(x: Any) -> Any:
    """1 where there is something, 0 elsewhere."""
    _refuse_negative(x)
    return (x > 0).astype(np.float64) if sp.issparse(x) else blocks.float64(x > 0)


def _refuse_negative(x: Any) -> None:
    values = x.data if sp.issparse(x) else x
    if values.shape[0] and bool(namespace(values).any(values < 0)):
        raise ValueError("Negative values in data passed to a view of counts: use another view.")


class LogCounts(Counts):
    r"""Counts as those of cells are treated: rows scaled to the median total, then logarithms.

    .. math:: z_{ij} = \ln(1 + x_{ij} \, t / t_i), \quad t_i = \sum_j x_{ij}, \quad t = \mathrm{median}(t_i)

    Parameters
    ----------
    n_columns : int, default=2000
        Columns to keep where there are more: those whose variance is farthest above what their mean lets expect (a
        parabola through the logarithms of both). None keeps all.

    Attributes
    ----------
    total_ : float
        t.
    kept_ : array of int
        The columns that are kept.

    Examples
    --------
    >>> from jointclust.views.counts import LogCounts
    >>> LogCounts().fit_transform([[1.0, 3.0], [2.0, 6.0], [4.0, 4.0]]).round(2)
    array([[1.1 , 1.95],
           [1.1 , 1.95],
           [1.61, 1.61]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_columns": [Interval(Integral, 1, None, closed="left"), None]
    }

    def __init__(self, n_columns: int | None = 2000):
        super().__init__()
        self.n_columns = n_columns

    def _learn(self, X: Any, weights: Float | None) -> None:
        swept = sweep(lambda x: Swept(pieces=[_totals(x)]), X, width=X.shape[1])
        self.total_ = _median(swept.pieces[0], None if weights is None else to_host(weights))
        self.kept_ = np.arange(X.shape[1])
        if self.n_columns is not None and self.n_columns < X.shape[1]:
            excess = _excess(*moments(X, weights))
            self.kept_ = np.sort(np.argsort(-excess, kind="stable")[: self.n_columns])

    def _change(self, x: Any) -> Any:
        totals = _totals(x)
        xp = namespace(totals)
        factors = self.total_ / xp.where(totals > 0, totals, xp.ones_like(totals))
        if sp.issparse(x):
            scaled = sp.csr_array(sp.diags_array(factors) @ sp.csr_array(x), dtype=x.dtype)
            return scaled.log1p()[:, self.kept_]
        logs = xp.log1p(x * like(factors, x)[:, None])
        return xp.take(logs, like(self.kept_, x, xp.int64), axis=1)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        return super().get_feature_names_out(input_features)[self.kept_]


def _totals(x: Any) -> Any:
    _refuse_negative(x)
    if sp.issparse(x):
        return np.asarray(x.sum(axis=1, dtype=np.float64)).ravel()
    return namespace(x).sum(blocks.float64(x), axis=1)


def _median(values: Float, weights: Float | None) -> float:
    """The middle of the values that are above zero; the mean of the two about it where it falls between them."""
    present = values > 0 if weights is None else (values > 0) & (weights > 0)
    if not present.any():
        return 1.0
    values, weights = values[present], np.ones(present.sum()) if weights is None else weights[present]
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    first, last = np.searchsorted(reached, reached[-1] / 2, "left"), np.searchsorted(reached, reached[-1] / 2, "right")
    return float(values[order][[first, min(last, len(order) - 1)]].mean())


def _excess(mean: Float, variance: Float) -> Float:
    """Logarithm of the variance above the parabola through those of all columns."""
    varies = (mean > 0) & (variance > 0)
    excess = np.full(len(mean), -np.inf)
    if varies.sum() > 3:
        x, y = np.log(mean[varies]), np.log(variance[varies])
        excess[varies] = y - np.polyval(np.polyfit(x, y, 2), x)
    return excess


class Topics(TermWeights):
    r"""Weighed counts in their leading directions, rows of length one: latent semantic analysis, centred.

    .. math:: y_i = z_i' V - m'V, \quad \hat y_i = y_i / \|y_i\|

    where z are the rows of :class:`TermWeights`, m is their mean and V are their leading principal directions. To
    centre is to leave out the direction that all rows share.

    Parameters
    ----------
    n_components : int, default=50
        Number of directions, or what the counts allow.

    Attributes
    ----------
    idf_ : array of shape (n_features,)
        Weights of the columns.
    mean_ : array of shape (n_features,)
        m.
    components_ : array of shape (n_components, n_features)
        V'.

    Examples
    --------
    >>> from jointclust.views.counts import Topics
    >>> Topics(1).fit_transform([[3.0, 0.0], [0.0, 1.0], [0.0, 2.0]]).shape
    (3, 1)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")]
    }

    def __init__(self, n_components: int = 50):
        super().__init__()
        self.n_components = n_components

    def _learn(self, X: Any, weights: Float | None) -> None:
        super()._learn(X, weights)
        weighed = lazily(super()._change, X, (X.shape[1],), X.dtype) if is_lazy(X) else super()._change(X)
        n, rng = self.n_components, np.random.RandomState(0)
        coordinates = coordinates_of(as_rows(weighed), weights, variance=None, max_rank=5 * n, leading=n, rng=rng)
        self.mean_ = coordinates.mean
        self.components_ = fix_signs(coordinates.loadings(np.eye(coordinates.rank))).T

    def _change(self, x: Any) -> Any:
        return blocks.unit(blocks.project(super()._change(x), self.components_.T, self.mean_))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        check_is_fitted(self)
        return np.array([f"topic{number}" for number in range(len(self.components_))], dtype=object)


class ScaledGenes(AsIs):
    r"""Genes of spread 1, cut at ten spreads above their mean.

    .. math:: z_{ij} = \min(x_{ij}, m_j + 10 s_j) / s_j

    Not centred, which every method here does implicitly: sparse rows stay sparse.

    Parameters
    ----------
    counts : bool, default=False
        Whether x are the logarithms that :class:`LogCounts` makes of the rows, or the rows.

    Attributes
    ----------
    logs_ : transformer
        What makes x of the rows.
    scaler_ : Standardised
        m and s.

    Examples
    --------
    >>> from jointclust.views.counts import ScaledGenes
    >>> ScaledGenes().fit_transform([[0.0, 1.0], [2.0, 1.0]])
    array([[0., 1.],
           [2., 1.]])
    """

    view_: ClassVar[str] = "scaled genes"
    reason_: ClassVar[str] = VIEWS[view_].reason
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"counts": ["boolean"]}

    def __init__(self, counts: bool = False):
        super().__init__()
        self.counts = counts

    def _learn(self, X: Any, weights: Float | None) -> None:
        self.logs_ = (LogCounts() if self.counts else AsIs()).fit(X, sample_weight=weights)
        self.scaler_ = Standardised().fit(self.logs_.transform(X), sample_weight=weights)

    def _change(self, x: Any) -> Any:
        rows, scale = self.logs_._change(x), self.scaler_.scale_
        most = self.scaler_.mean_ + _MOST_SPREADS * scale
        if not sp.issparse(rows):
            return namespace(rows).minimum(rows, like(most, rows)) / like(scale, rows)
        rows = sp.csr_array(rows, copy=True)
        rows.data = (np.minimum(rows.data, most[rows.indices]) / scale[rows.indices]).astype(rows.dtype)
        return rows

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        return self.logs_.get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.counts
        return tags


class Words(TransformerMixin, BaseEstimator):
    """Counts of the words of documents: those that occur in at least two rows and in at most half of them.

    X is a list of str; the counts are sparse.

    Attributes
    ----------
    vocabulary_ : array of str
        The words, in alphabetical order.

    Examples
    --------
    >>> from jointclust.views.counts import Words
    >>> words = Words().fit(["red apple", "green apple", "red car", "green car"])
    >>> words.get_feature_names_out().tolist()
    ['apple', 'car', 'green', 'red']
    """

    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the words of documents; a weight of 2 is the row twice."""
        documents = strings_of(X)
        weights = check_sample_weight(sample_weight, np.empty((len(documents), 1)), dtype=np.float64)
        counter = CountVectorizer()
        try:
            counts = counter.fit_transform(documents)
        except ValueError as error:
            raise ValueError(f"The {len(documents)} documents hold no word of two letters or more.") from error
        rows = (counts > 0).T @ weights
        kept = (rows >= 2) & (rows <= weights.sum() / 2)
        if not kept.any():
            raise ValueError(
                f"None of the {rows.size} words of {len(documents)} documents occurs in at least two rows and at most "
                "half of them: there is nothing to compare the rows by."
            )
        self.vocabulary_ = np.array(counter.get_feature_names_out()[kept], dtype=str)
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """How often each document has each word."""
        check_is_fitted(self)
        counter = CountVectorizer(vocabulary=self.vocabulary_.tolist(), dtype=np.float64)
        return sp.csr_array(counter.transform(strings_of(X)))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """The words, in the order of the columns."""
        check_is_fitted(self)
        return self.vocabulary_.astype(object)
