"""Gaps filled by what the other columns of the row say: probabilistic PCA with one noise per column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import validate_data

from jointclust._sklearn import Interval, check_sample_weight, fit_context
from jointclust.exceptions import tell
from jointclust.rows import refuse_annotated, threads, tidied
from jointclust.types import Float
from jointclust.views.columns import IN_DOUBLE, check_sizes
from jointclust.views.transformer import Transformer

# Least noise, as a share of a column's variance: a column that others determine would have none, and decide alone.
_LEAST_NOISE = 1e-3
_MOMENT_STEPS, _MOMENT_TOL = 200, 1e-4
# Steps that are enough to compare ranks.
_TRIAL_STEPS = 8
# Iterations after the moments look at this many rows at the most, evenly spaced.
_MOST_ROWS = 5_000
_AS_GOOD = 1.01
_RANKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
# Numbers that the small matrices of a block of rows hold at a time.
_BLOCK = 2**20


class LowRankImputer(Transformer):
    r"""Gaps filled with their mean given the rest of the row, in a model of few directions and one noise per column.

    .. math:: x = m + Vt + e, \quad t \sim N(0, I), \; e \sim N(0, \mathrm{diag}(\psi))

    .. math:: \hat t = (V_O' \Psi_O^{-1} V_O + I)^{-1} V_O' \Psi_O^{-1} (x_O - m_O), \quad \hat x = m + V \hat t

    where O are the observed columns of the row. This is probabilistic PCA, but for the noise psi, which each column has
    for itself: units do not matter, and an unrelated column disturbs no other. The fit starts from the moments of
    all pairs of observed cells, and iterates "expect t, estimate V, psi and m" over the rows. X holds numbers, with NaN
    for gaps. Observed cells stay as they are, filled ones within the range that the column was seen in, and a row with
    nothing observed is the mean.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions. None takes, of 1, 2, 3, 4, 6, 8, 12, ... 48, the least that predicts a cell from the
        others of its row best, within 1%: the error of leaving each cell out, in closed form from the moments,
        times ``n / (n - 1 - n_components)`` for the loadings that were fitted to the same n rows. It takes too many
        rather than too few, which costs time but hardly any precision: each column has its noise.
    min_observed : float, default=0.05
        A column of which a smaller share of the rows is observed is dropped; ``notes_`` name it.
    max_iter : int, default=10
        Most iterations, of which the moments are the first; more follow outliers rather than improve.
    tol : float, default=1e-3
        Iterations end when the filled cells change by less, in units of the columns' spread (root mean square).

    Attributes
    ----------
    mean_ : array of shape (n_features_out,)
        m.
    loadings_ : array of shape (n_features_out, rank)
        V, in the units of the columns.
    noise_variance_ : array of shape (n_features_out,)
        psi.
    n_components_ : int
        Number of directions.
    lowest_, highest_ : arrays of shape (n_features_out,)
        The range of each column's observed cells.
    kept_ : array of int
        The columns that are not dropped.
    n_iter_ : int
        Iterations; 1 where there are no gaps.
    notes_ : list of str
        What a user should know of the fit.

    See Also
    --------
    MixedEncoder : Codes categories first, so that their gaps are filled, too.

    Notes
    -----
    Time is O(n D k^2) per iteration for k directions, less where few patterns of gaps occur, and iterations look at
    5,000 evenly spaced rows at most; memory is O(n D), and O(D^2) where there are more rows than columns.

    Examples
    --------
    >>> import numpy as np, jointclust as jc
    >>> X = np.outer(np.arange(100.0), [1.0, 2.0, -1.0])
    >>> X[20, 1] = np.nan
    >>> print(np.round(jc.LowRankImputer().fit_transform(X)[20]))
    [ 20.  40. -20.]
    """

    _takes = ("allow_nan",)
    _keeps = ("float64", "float32")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "min_observed": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self, n_components: int | None = None, *, min_observed: float = 0.05, max_iter: int = 10, tol: float = 1e-3
    ):
        self.n_components = n_components
        self.min_observed = min_observed
        self.max_iter = max_iter
        self.tol = tol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        data = self._validated(X, reset=True)
        weights = check_sample_weight(sample_weight, data, dtype=np.float64, ensure_non_negative=True)
        with threads.suited_to(data.shape[1]):
            return self._fit(data, weights)

    def _fit(self, data: NDArray, weights: Float) -> Self:
        present = weights > 0
        if not present.all():
            data, weights = data[present], weights[present]
        if len(data) == 0:
            raise ValueError("All sample weights are 0: there is no row to fit.")
        # Weights that are shares rather than numbers of rows: as if they were 1 in the mean.
        weights = weights * max(1.0, len(data) / weights.sum())
        self.notes_: list[str] = []
        self.kept_ = self._columns_with_enough(data, weights)
        data = data[:, self.kept_].astype(np.float64)
        self.lowest_, self.highest_ = np.nanmin(data, axis=0), np.nanmax(data, axis=0)
        check_sizes(self.lowest_, self.highest_, self.get_feature_names_out(), IN_DOUBLE)
        scaled, observed, mean, scale = _scaled(data, weights)
        del data
        model = self._model(_Moments.of(scaled, observed, weights))
        few = slice(None, None, -(-len(scaled) // _MOST_ROWS))
        scaled, observed, weights = scaled[few], observed[few], weights[few]
        # EM over the observed cells until the gaps rest; the moments, all there is without gaps, were the first step.
        gaps, guess, self.n_iter_ = ~observed, np.zeros_like(scaled), 1
        rests = not gaps.any()
        while not rests and self.n_iter_ < self.max_iter:
            model, now = _step(model, scaled, observed, weights)
            rests = bool(np.sqrt(np.mean((now - guess)[gaps] ** 2)) < self.tol)
            guess, self.n_iter_ = now, self.n_iter_ + 1
        self.n_components_ = model.loadings.shape[1]
        self.mean_ = mean + scale * model.mean
        self.loadings_ = scale[:, None] * model.loadings
        self.noise_variance_ = scale**2 * model.noise
        for note in self.notes_:
            tell(note, UserWarning)
        return self

    def _validated(self, X: ArrayLike, *, reset: bool) -> NDArray:
        refuse_annotated(X)
        kinds = [np.float64, np.float32]
        return validate_data(self, tidied(X), dtype=kinds, ensure_all_finite="allow-nan", reset=reset)

    def _columns_with_enough(self, data: NDArray, weights: Float) -> NDArray[np.intp]:
        share = weights @ ~np.isnan(data) / weights.sum()
        kept = np.flatnonzero((share >= self.min_observed) & (share > 0))
        if kept.size == 0:
            raise ValueError(
                f"No column of X is observed in {self.min_observed:.0%} of the rows: there is nothing to learn from."
            )
        names = OneToOneFeatureMixin.get_feature_names_out(self)
        self.notes_ += [
            f"Column {names[j]!r} is dropped: {share[j]:.1%} of the rows have a value in it, and "
            f"min_observed={self.min_observed} asks for {self.min_observed:.0%}."
            for j in np.setdiff1d(np.arange(share.size), kept)
        ]
        return kept

    def _model(self, moments: _Moments) -> _Model:
        """The model of the rank asked for, or of the one that predicts left-out cells best."""
        most = max(1, min(moments.variances.size - 1, int(moments.n_rows) - 2))
        if self.n_components is not None:
            if self.n_components > most:
                self.notes_.append(
                    f"n_components={self.n_components} exceeds what {int(moments.n_rows)} rows and "
                    f"{moments.variances.size} columns allow: {most} is used."
                )
            return moments.model(min(self.n_components, most))
        errors: list[float] = []
        for rank in (rank for rank in _RANKS if rank <= most):
            errors.append(moments.left_out_error(moments.model(rank, _TRIAL_STEPS)))
            if len(errors) > 2 and min(errors[-2:]) > min(errors):
                break
        # Directions that add next to nothing cost time.
        return moments.model(_RANKS[next(k for k, error in enumerate(errors) if error <= _AS_GOOD * min(errors))])

    def transform(self, X: ArrayLike) -> NDArray:
        return self.fill(X, self.get_feature_names_out())

    def fill(self, X: ArrayLike, names: NDArray[np.object_]) -> Float:
        """As :meth:`transform`, with the names of the kept columns for warnings."""
        filled = self._validated(X, reset=False)[:, self.kept_]
        observed = ~np.isnan(filled)
        gappy = np.flatnonzero(~observed.all(axis=1))
        if gappy.size == 0:
            return filled
        missing = np.flatnonzero(~observed.any(axis=0))
        if missing.size and len(observed) > 1:
            listed = ", ".join(repr(str(names[j])) for j in missing[:10]) + (", ..." if missing.size > 10 else "")
            problem = f"No row has a value in {missing.size} of {observed.shape[1]} columns ({listed})"
            tell(f"{problem}: the other columns alone fill them.", UserWarning)
        model = _Model(self.mean_, self.loadings_, self.noise_variance_)
        for rows, expected, _ in model.expected(np.nan_to_num(filled[gappy] - self.mean_), observed[gappy]):
            rows = gappy[rows]
            guess = np.clip(self.mean_ + expected @ self.loadings_.T, self.lowest_, self.highest_)
            filled[rows] = np.where(observed[rows], filled[rows], guess)
        return filled

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        return super().get_feature_names_out(input_features)[self.kept_]


def _scaled(data: Float, weights: Float) -> tuple[Float, NDArray[np.bool_], Float, Float]:
    """Rows of mean 0 and spread 1 with zeros in the gaps, what is observed, and the means and spreads."""
    observed = ~np.isnan(data)
    count = weights @ observed
    mean = weights @ np.nan_to_num(data) / count
    scaled = np.where(observed, data - mean, 0.0)
    scale = np.sqrt(weights @ scaled**2 / count)
    # Rounding is no spread.
    scale = np.where(scale > 1e-12 * np.maximum(np.abs(mean), np.finfo(float).tiny), scale, 1.0)
    return scaled / scale, observed, mean, scale


@dataclass(frozen=True, eq=False)
class _Model:
    """m, V and psi."""

    mean: Float
    loadings: Float
    noise: Float

    def expected(self, centred: Float, observed: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], Float, Float]]:
        """For blocks of rows: their numbers, expected t, and its covariance; rows with the same gaps share a solve."""
        rank = self.loadings.shape[1]
        scaled = self.loadings / self.noise[:, None]
        outer = (self.loadings[:, :, None] * scaled[:, None, :]).reshape(-1, rank * rank)
        # The different patterns of gaps, and which one each row has.
        packed = np.unique(np.packbits(observed, axis=1), axis=0, return_index=True, return_inverse=True)
        patterns, pattern_of = observed[packed[1]], packed[2].ravel()
        order = np.argsort(pattern_of, kind="stable")
        size = max(1, _BLOCK // rank**2)
        for start in range(0, order.size, size):
            rows = order[start : start + size]
            first, last = pattern_of[rows[0]], pattern_of[rows[-1]]
            precision = (patterns[first : last + 1].astype(np.float64) @ outer).reshape(-1, rank, rank)
            covariance = np.linalg.inv(precision + np.eye(rank))[pattern_of[rows] - first]
            yield rows, np.einsum("nij,nj->ni", covariance, centred[rows] @ scaled), covariance


@dataclass(frozen=True, eq=False)
class _Moments:
    """Second moments of columns of mean 0 and spread 1: a matrix, or Y with Y'Y where columns outnumber rows.

    ``n_pairs`` is the mean number of rows that have values in both columns of a pair.
    """

    matrix: Float | None
    rows: Float
    variances: Float
    n_rows: float
    n_pairs: float

    @classmethod
    def of(cls, scaled: Float, observed: NDArray[np.bool_], weights: Float) -> _Moments:
        """Moments of the cells that are there, pair by pair, made positive semidefinite, which pairs need not be."""
        n_rows, cells = float(weights.sum()), observed.astype(np.float64)
        count = weights @ cells
        variances = weights @ scaled**2 / count
        n_pairs = float(weights @ cells.mean(axis=1) ** 2)
        if scaled.shape[1] > n_rows:
            return cls(None, np.sqrt(weights)[:, None] * scaled / np.sqrt(count), variances, n_rows, n_pairs)
        weighted = weights[:, None]
        pairs = scaled.T @ (weighted * scaled) / np.maximum(cells.T @ (weighted * cells), 1e-300)
        values, vectors = np.linalg.eigh(pairs)
        matrix = (vectors * np.maximum(values, _LEAST_NOISE)) @ vectors.T
        return cls(matrix, scaled[:0], np.diag(matrix).copy(), n_rows, n_pairs)

    def times(self, B: Float) -> Float:
        """The moments times B."""
        return self.rows.T @ (self.rows @ B) if self.matrix is None else self.matrix @ B

    @cached_property
    def _leading(self) -> tuple[Float, Float]:
        """Eigenvalues and eigenvectors, the largest first; zeros where rows repeated by a weight give none."""
        if self.matrix is not None:
            values, vectors = np.linalg.eigh(self.matrix)
            return values[::-1], vectors[:, ::-1]
        values, left = np.linalg.eigh(self.rows @ self.rows.T)
        more = max(0, max(_RANKS) - values.size)
        vectors = self.rows.T @ (left[:, ::-1] / np.sqrt(np.maximum(values[::-1], 1e-12)))
        return np.pad(values[::-1], (0, more)), np.pad(vectors, ((0, 0), (0, more)))

    def model(self, rank: int, max_iter: int = _MOMENT_STEPS) -> _Model:
        """V and psi of so many directions that explain the moments: factor analysis by EM, from the leading ones."""
        values, vectors = self._leading[0][:rank], self._leading[1][:, :rank]
        left = (self.variances.sum() - values.sum()) / max(self.variances.size - rank, 1)
        loadings = vectors * np.sqrt(np.maximum(values - left, 1e-8))
        noise = np.maximum(self.variances - (loadings**2).sum(axis=1), _LEAST_NOISE)
        for _ in range(max_iter):
            scaled = loadings / noise[:, None]
            covariance = np.linalg.inv(np.eye(rank) + loadings.T @ scaled)
            with_t = self.times(scaled @ covariance)
            squares = covariance + covariance @ (scaled.T @ with_t)
            # A prior worth one row: loadings of columns with few cells stay small.
            loadings = np.linalg.solve(squares + np.eye(rank) / self.n_rows, with_t.T).T
            before, noise = noise, np.maximum(self.variances - (loadings * with_t).sum(axis=1), _LEAST_NOISE)
            # t is of unit variance: what its estimate lacks is the loadings' (parameter-expanded EM, which is fast).
            loadings = loadings @ np.linalg.cholesky(squares)
            if np.abs(noise - before).max() < _MOMENT_TOL:
                break
        return _Model(np.zeros_like(noise), loadings, noise)

    def left_out_error(self, model: _Model) -> float:
        """Error of a cell predicted from the rest of its row, (P S P)_jj / P_jj^2 for the precision P of the model."""
        rank = model.loadings.shape[1]
        if self.n_pairs <= rank + 1:  # as many loadings as rows say nothing of others
            return np.inf
        scaled = model.loadings / model.noise[:, None]
        covariance = np.linalg.inv(np.eye(rank) + model.loadings.T @ scaled)
        precision = 1.0 / model.noise - ((scaled @ covariance) * scaled).sum(axis=1)
        if self.matrix is None:
            residual = self.rows / model.noise - (self.rows @ scaled) @ covariance @ scaled.T
            squares = (residual**2).sum(axis=0)
        else:
            whole = np.diag(1.0 / model.noise) - scaled @ covariance @ scaled.T
            squares = ((whole @ self.matrix) * whole).sum(axis=1)
        return float(np.sqrt(np.mean(squares / precision**2)) * self.n_pairs / (self.n_pairs - 1 - rank))


def _step(model: _Model, scaled: Float, observed: NDArray[np.bool_], weights: Float) -> tuple[_Model, Float]:
    """One iteration: the expected t, then V, psi and m from it; also returns V t."""
    n_columns, rank = model.loadings.shape
    centred = np.where(observed, scaled - model.mean, 0.0)
    squares, with_t = np.zeros((n_columns, rank * rank)), np.zeros((n_columns, rank))
    expected = np.empty((len(scaled), rank))
    for rows, t, covariance in model.expected(centred, observed):
        expected[rows] = t
        cells = weights[rows, None] * observed[rows]
        squares += cells.T @ (t[:, :, None] * t[:, None, :] + covariance).reshape(rows.size, -1)
        with_t += (weights[rows, None] * centred[rows]).T @ t
    prior = np.eye(rank)
    loadings = np.linalg.solve(squares.reshape(-1, rank, rank) + prior, with_t[:, :, None])[:, :, 0].astype(np.float64)
    count = weights @ observed
    noise = (weights @ centred**2 - (loadings * with_t).sum(axis=1)) / count
    guess = expected @ loadings.T
    mean = model.mean + weights @ np.where(observed, centred - guess, 0.0) / count
    return _Model(mean, loadings, np.maximum(noise, _LEAST_NOISE)), guess
