"""Views: what is done to rows before they are clustered. Statistics are weighted sums over the rows, in sweeps."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust._sklearn import fit_context
from jointclust.rows import (
    Swept,
    as_rows,
    as_table,
    blocks,
    check_elsewhere,
    is_elsewhere,
    is_lazy,
    lazily,
    refuse_annotated,
    sample,
    sweep,
    tidied,
    total_weight,
)
from jointclust.rows.arrays import is_device_array, like, namespace
from jointclust.subspace.decomposition import check_weights
from jointclust.types import Float, Matrix
from jointclust.views.columns import check_columns
from jointclust.views.transformer import Transformer

__all__ = ["AsIs", "Categories", "Numbers", "RankNormal", "Standardised", "UnitRows"]

# Rows from which quantiles are estimated, and points of a column's distribution that are kept.
_QUANTILE_ROWS, _POINTS = 100_000, 500


class AsIs(Transformer):
    """Rows as they are, checked; the base of the other views, most of which have its parameter.

    All take rows in memory, on a device, in a file or of a Dask array.

    Parameters
    ----------
    numeric : array-like of bool, default=None
        The columns that hold numbers; others, such as coded categories, stay as they are. None: all.

    Examples
    --------
    >>> from jointclust.views.scaling import AsIs
    >>> AsIs().fit_transform([[1.0, 2.0], [3.0, 5.0]])
    array([[1., 2.],
           [3., 5.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"numeric": ["array-like", None]}
    _takes: ClassVar[tuple[str, ...]] = ("sparse",)
    _keeps = ("float64", "float32")
    _budget: ClassVar[int] = 2**18  # values of a block, which stays in the cache

    def __init__(self, numeric: ArrayLike | None = None):
        self.numeric = numeric

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        rows = self._rows(X, reset=True)
        self._learn(rows, check_weights(sample_weight, rows))
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_lazy(X):
            check_columns(self, X, reset=False)
            X = as_table(X)
            kind = np.float32 if X.dtype == np.float32 else np.float64
            return lazily(self._change, X, (self.get_feature_names_out().size,), kind)
        rows = self._rows(X, reset=False)
        visit = lambda x: Swept(rows=[self._change(x)])  # noqa: E731
        return sweep(visit, rows, width=2 * self.n_features_in_, budget=self._budget).rows[0]

    def _rows(self, X: Any, *, reset: bool) -> Any:
        refuse_annotated(X)
        if not is_elsewhere(X):
            return validate_data(self, tidied(X), accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
        checked = check_elsewhere(X, accept_sparse=True, min_samples=1)
        check_columns(self, X, reset=reset)
        return checked

    def _learn(self, X: Any, weights: Float | None) -> None:
        """Set the statistics, from clean rows."""

    def _change(self, x: Any) -> Any:
        """The view of a block."""
        return x

    def _mask(self) -> NDArray[np.bool_]:
        """Which columns are changed."""
        if self.numeric is None:
            return np.ones(self.n_features_in_, dtype=bool)
        mask = np.asarray(self.numeric)
        if mask.shape != (self.n_features_in_,) or mask.dtype != bool:
            raise ValueError(
                f"numeric must hold True or False for each of {self.n_features_in_} columns; got shape {mask.shape} "
                f"of {mask.dtype}."
            )
        return mask

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")


class Standardised(AsIs):
    r"""Columns of mean 0 and spread 1: units no longer count.

    .. math:: z_{ij} = (x_{ij} - m_j) / s_j

    Sparse rows are scaled and not centred, which every method here does implicitly. Constant columns become 0.

    Attributes
    ----------
    mean_, scale_ : arrays of shape (n_features,)
        m and s; 0 and 1 for columns that stay, and a scale of 1 for constant columns.

    Examples
    --------
    >>> from jointclust.views.scaling import Standardised
    >>> Standardised().fit_transform([[1.0, 200.0], [3.0, 600.0]])
    array([[-1., -1.],
           [ 1.,  1.]])
    """

    def _learn(self, X: Any, weights: Float | None) -> None:
        total = X.shape[0] if weights is None else total_weight(weights)
        (mean, variance), mask = moments(X, weights), self._mask()
        # What centring leaves of a constant column is rounding.
        rounding = total * np.finfo(np.float64).eps
        varies = variance > rounding * variance + (rounding * mean) ** 2
        self.mean_ = np.where(mask, mean, 0.0)
        self.scale_ = np.where(mask & varies, np.sqrt(variance), 1.0)

    def _change(self, x: Any) -> Any:
        if sp.issparse(x):
            return x @ sp.diags_array(1.0 / self.scale_).astype(x.dtype)
        with np.errstate(over="ignore"):  # a row that is infinitely far away is still a row
            return (x - like(self.mean_, x)) / like(self.scale_, x)


class Numbers(Standardised):
    """The numbers of a mixed table, standardised; coded categories become 0.

    Examples
    --------
    >>> import numpy as np
    >>> from jointclust.views.scaling import Numbers
    >>> Numbers(np.array([True, False])).fit_transform([[1.0, 0.7], [3.0, 0.2]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def _change(self, x: Any) -> Any:
        return _masked(super()._change(x), self._mask())


class Categories(AsIs):
    """The coded categories of a mixed table; numbers become 0. Without ``numeric`` all columns are codes.

    Examples
    --------
    >>> import numpy as np
    >>> from jointclust.views.scaling import Categories
    >>> Categories(np.array([True, False])).fit_transform([[1.0, 0.7], [3.0, -0.7]])
    array([[ 0. ,  0.7],
           [ 0. , -0.7]])
    """

    def _change(self, x: Any) -> Any:
        return x if self.numeric is None else _masked(x, ~self._mask())


def _masked(x: Any, mask: NDArray[np.bool_]) -> Any:
    """Rows with zeros in the other columns."""
    kept = mask.astype(np.float64)
    return x @ sp.diags_array(kept).astype(x.dtype) if sp.issparse(x) else x * like(kept, x)


def moments(X: Any, weights: Float | None) -> tuple[Float, Float]:
    """The mean and the variance of each column."""
    mean = as_rows(X).mean(weights)
    summed = sweep(lambda x, w: Swept(sums=[_squares(x, w, mean)]), X, weights, width=X.shape[1])
    return mean, summed.sums[0] / (X.shape[0] if weights is None else total_weight(weights))


def _squares(x: Any, weights: Float | None, mean: Float) -> Any:
    """``sum_i w_i (x_ij - m_j)^2`` of each column."""
    if not sp.issparse(x):
        return blocks.column_sums(blocks.centred(x, mean) ** 2, weights)
    weights = np.ones(x.shape[0]) if weights is None else weights
    x = sp.csr_array(x, dtype=np.float64, copy=True)
    centred, filled = (x.data - mean[x.indices]) ** 2, np.ones(x.nnz)
    parts = [sp.csr_array((data, x.indices, x.indptr), shape=x.shape).T @ weights for data in (centred, filled)]
    return parts[0] + (weights.sum() - parts[1]) * mean**2


class RankNormal(AsIs):
    r"""Columns with the quantiles of a normal distribution: neither units nor tails count, only the order.

    .. math:: z_{ij} = \Phi^{-1}\left(\frac{W(x < x_{ij}) + W(x \le x_{ij})}{2 W}\right)

    where W is the total weight of rows. Between the values seen it is interpolated, and beyond them it stays at the
    last. From more than 100,000 rows a sample is taken, and of more than 500 values those at even steps are kept.

    Attributes
    ----------
    values_, scores_ : arrays of shape (n_points, n_features)
        What each column's values become, in order.

    Examples
    --------
    >>> from jointclust.views.scaling import RankNormal
    >>> RankNormal().fit_transform([[1.0], [2.0], [1000.0]]).round(2)
    array([[-0.97],
           [ 0.  ],
           [ 0.97]])
    """

    _takes = ()
    _budget = 2**22  # looking up a column costs much the same for a few rows and for a thousand

    def _learn(self, X: Any, weights: Float | None) -> None:
        self._refuse_sparse(X)
        drawn, weights = sample(X, _QUANTILE_ROWS, np.random.RandomState(0), weights)
        drawn = np.asarray(drawn, dtype=np.float64)
        ordered, n_columns = np.sort(drawn, axis=0), drawn.shape[1]
        distinct = (ordered[1:] > ordered[:-1]).all(axis=0) if weights is None else np.zeros(n_columns, bool)
        points = {
            column: _sorted_points(ordered[:, column]) if weights is None else _points(drawn[:, column], weights)
            for column in np.flatnonzero(~distinct).tolist()
        }
        ranks, own = _sorted_points(np.arange(len(drawn), dtype=np.float64))  # of columns without equal values
        length = max(len(values) for values, _ in [*points.values(), *([(ranks, own)] if distinct.any() else [])])
        self.values_, self.scores_ = np.empty((2, length, n_columns))
        if distinct.any():
            for parts, part in (
                (self.values_, ordered[ranks.astype(np.intp)][:, distinct]),
                (self.scores_, own[:, None]),
            ):
                parts[: len(ranks), distinct], parts[len(ranks) :, distinct] = part, part[-1]
        for column, pair in points.items():
            for parts, part in zip((self.values_, self.scores_), pair, strict=True):
                parts[: len(part), column], parts[len(part) :, column] = part, part[-1]

    def _change(self, x: Any) -> Any:
        self._refuse_sparse(x)
        if is_device_array(x):
            changed = blocks.interpolated(x, self.values_, self.scores_)
            xp = namespace(x)
            return xp.where(like(self._mask(), x, xp.bool), changed, x)
        x = np.array(x)
        for column in np.flatnonzero(self._mask()):
            x[:, column] = np.interp(x[:, column], self.values_[:, column], self.scores_[:, column])
        return x

    def _refuse_sparse(self, X: Matrix) -> None:
        if sp.issparse(X) or sp.issparse(getattr(X, "_meta", None)):
            raise TypeError("Ranks of sparse rows are not sparse: use the rows as they are, or make them dense.")


def _points(column: Float, weights: Float) -> tuple[Float, Float]:
    """Values of a column in order, and the normal scores of their middle ranks."""
    values, inverse = np.unique(column, return_inverse=True)
    mass = np.bincount(inverse, weights=weights).astype(np.float64)
    return _scored(values[mass > 0], mass[mass > 0])


def _sorted_points(ordered: Float) -> tuple[Float, Float]:
    """The same of a sorted column whose rows have equal weights."""
    starts = np.flatnonzero(np.append(True, ordered[1:] > ordered[:-1]))
    return _scored(ordered[starts], np.diff(np.append(starts, ordered.size)).astype(np.float64))


def _scored(values: Float, mass: Float) -> tuple[Float, Float]:
    """Distinct values in order, at most so many, with the normal scores of their middle ranks."""
    levels = (np.cumsum(mass) - mass / 2) / mass.sum()
    if values.size > _POINTS:
        even = np.unique(np.searchsorted(levels, np.linspace(levels[0], levels[-1], _POINTS)))
        values, levels = values[even], levels[even]
    return values, ndtri(levels)


class UnitRows(AsIs):
    r"""Rows less their mean, scaled to length one: only their direction counts.

    .. math:: z_i = (x_i - m) / \|x_i - m\|

    Sparse rows are not centred: they would not stay sparse.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        m.

    Examples
    --------
    >>> from jointclust.views.scaling import UnitRows
    >>> UnitRows().fit_transform([[1.0, 2.0], [4.0, 6.0]])
    array([[-0.6, -0.8],
           [ 0.6,  0.8]])
    """

    def _learn(self, X: Any, weights: Float | None) -> None:
        self.mean_ = as_rows(X).mean(weights)

    def _change(self, x: Any) -> Any:
        mask = self._mask()
        if sp.issparse(x):
            if not mask.all():
                raise TypeError("Sparse rows are scaled as a whole: leave numeric=None.")
            return blocks.unit(x)
        centred = x - like(self.mean_, x)
        if mask.all():
            return blocks.unit(centred)
        xp = namespace(x)
        numeric = like(mask, x, xp.bool)
        return xp.where(numeric, blocks.unit(xp.where(numeric, centred, xp.zeros_like(x))), x)
