r"""Weights of the levels of categories, by how far these go with the other columns of a mixed table.

.. math:: Z_j \leftarrow Z_j\, A\, \mathrm{diag}(\rho)^{1/2} A', \qquad \tfrac1n Z_j' U = A\, \mathrm{diag}(\rho)\, B'

where Z_j codes the levels of category j and U are the leading directions of all other columns, of unit variance. A
category always clusters perfectly by itself, so its levels count only as far as other columns go with them. So does a
number of two values.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import fit_context
from jointclust.numerics.linalg import leading_eigenpairs
from jointclust.types import Float
from jointclust.views.scaling import RankNormal
from jointclust.views.transformer import Transformer

# Leading directions of the other columns, and rows from which they are computed.
_DIRECTIONS, _MOST_ROWS = 10, 5_000


def level_weights(
    coded: Float,
    column_of: NDArray[np.intp],
    numeric: NDArray[np.bool_],
    weighted: NDArray[np.bool_],
    sample_weight: ArrayLike | None = None,
) -> Float:
    """The matrix by which some coded columns are multiplied, one block for each column that they come from.

    ``column_of`` is the number of the column from which each coded column comes; ``numeric`` tells which hold numbers,
    the others coded levels, and ``weighted`` which have weights.
    """
    some = slice(None, None, -(-len(coded) // _MOST_ROWS))
    rows, mass = coded[some], np.ones(len(coded)) if sample_weight is None else np.asarray(sample_weight, float)
    mass = mass[some] * max(1.0, len(rows) / mass[some].sum())  # shares count as rows
    codes = RankNormal(numeric).fit(rows, sample_weight=mass).transform(rows)
    codes = codes - np.average(codes, axis=0, weights=mass)
    inertia = np.bincount(column_of, weights=mass @ codes**2 / mass.sum())[column_of]
    alike = codes / np.sqrt(np.where(inertia > 0, inertia, 1.0))
    moments = alike.T @ (mass[:, None] * alike) / mass.sum()
    weights = np.zeros((coded.shape[1], coded.shape[1]))
    for column in np.unique(column_of[weighted]):
        own = column_of == column
        scale = np.where(numeric[own], 1.0, np.sqrt(inertia[own]))[:, None]
        weights[np.ix_(own, own)] = _weights_of(moments, own, scale, float(mass.sum()))
    return weights[np.ix_(weighted, weighted)]


def _weights_of(moments: Float, own: NDArray[np.bool_], scale: Float, n_rows: float) -> Float:
    """The block of one category; zeros if there is no other column."""
    others = moments[np.ix_(~own, ~own)]
    number = min(_DIRECTIONS, len(others))
    values, vectors = leading_eigenpairs(others, number) if number else (np.empty(0), np.empty((0, 0)))
    kept = values > 1e-9 * max(values.max(initial=0.0), 1e-300)
    if not kept.any():
        return np.zeros((own.sum(), own.sum()))
    together = scale * moments[np.ix_(own, ~own)] @ (vectors[:, kept] / np.sqrt(values[kept]))
    directions, correlation, _ = np.linalg.svd(together, full_matrices=False)
    # The squared correlation that chance gives with so many directions is left out.
    shrunk = np.sqrt(np.maximum(correlation**2 - kept.sum() / n_rows, 0.0))
    return (directions * np.sqrt(shrunk)) @ directions.T


class WeightedLevels(Transformer):
    """A view of a mixed table in which the levels of categories have weights.

    Parameters
    ----------
    view : transformer
        What scales the numbers, and leaves coded levels as they are.
    levels : array of bool
        The columns that have weights.
    weights : array of shape (n_levels, n_levels)
        What those columns are multiplied by, when they are scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from jointclust.views.level_weights import WeightedLevels
    >>> from jointclust.views.scaling import AsIs
    >>> view = WeightedLevels(AsIs(), np.array([False, True, True]), 0.5 * np.eye(2))
    >>> view.fit_transform(np.array([[3.0, 1.0, -1.0], [5.0, -1.0, 1.0]]))
    array([[ 3. ,  0.5, -0.5],
           [ 5. , -0.5,  0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "view": [object],
        "levels": ["array-like"],
        "weights": ["array-like"],
    }

    def __init__(self, view: Any, levels: ArrayLike, weights: ArrayLike):
        self.view = view
        self.levels = levels
        self.weights = weights

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        self.view.fit(X, sample_weight=sample_weight)
        self.n_features_in_ = self.view.n_features_in_
        return self

    def transform(self, X: Any) -> Float:
        check_is_fitted(self)
        rows, levels = np.array(self.view.transform(X)), np.asarray(self.levels)
        rows[:, levels] = rows[:, levels] @ np.asarray(self.weights)
        return rows
