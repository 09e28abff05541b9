"""Directions that suit given labels: the projection steps of the methods, and a transformer for people with labels."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from jointclust.coordinates import Clusters, Coordinates, check_weights, coordinates_of
from jointclust.exceptions import CollapseWarning, tell
from jointclust.linalg import fix_signs, nearest_orthonormal, top_eigenvectors
from jointclust.rows import as_rows
from jointclust.types import Float

# Share of tr(S_w) by which S_t breaks ties in the null space of S_w, which would be a matter of chance.
_TIE = 1e-10
# Share of the mean eigenvalue of S_t that "auto" adds to S_w.
_AUTO_RIDGE = 1e-3


def margin_directions(clusters: Clusters, n_components: int, trade_off: float, guess: Float | None = None) -> Float:
    """Leading eigenvectors of ``S_t - trade_off S_w``, up to the limit, ``-S_w``.

    There, ties in the null space of S_w go to the directions of most variance.
    """
    s2, M = clusters.coordinates.eigenvalues, clusters.between_factor
    device = clusters.coordinates.rows.device
    if trade_off == 0:
        return np.eye(s2.size, n_components)
    if trade_off <= 1:
        return top_eigenvectors((1 - trade_off) * s2, np.sqrt(trade_off) * M, n_components, guess, device)[1]
    total = float(s2.sum())
    least = tie_break(total - float(np.sum(M**2)), total)
    return top_eigenvectors((max(1 / trade_off, least) - 1) * s2, M, n_components, guess, device)[1]


def tie_break(within: float, total: float) -> float:
    """The share of the total scatter to take off a within scatter, given their traces."""
    return _TIE * max(within / total, 1e-6) if total > 0 else _TIE


def fisher_directions(clusters: Clusters, n_components: int, ridge: float) -> Float:
    """Leading solutions of ``S_b q = theta (S_w + ridge I) q`` with ``Q'(S_w + ridge I)Q = I``.

    With ``T = S_t + ridge I``, diagonal here, they are ``T^-1/2`` times the right singular vectors of ``M T^-1/2``,
    whose squared singular values are ``theta / (1 + theta)``.
    """
    scale = 1.0 / np.sqrt(clusters.coordinates.eigenvalues + ridge)
    _, sigma, rows = np.linalg.svd(clusters.between_factor * scale, full_matrices=False)
    if n_components > sigma.size:  # beyond c directions no between-cluster scatter is left: take variance
        rows = np.linalg.qr(np.vstack([rows, np.eye(n_components, scale.size)]).T)[0].T
        sigma = np.concatenate([sigma, np.zeros(rows.shape[0] - sigma.size)])
    rows, sigma = rows[:n_components], sigma[:n_components]
    shrink = np.sqrt(np.maximum(1.0 - sigma**2, np.finfo(float).eps))
    return fix_signs((rows / shrink[:, None]).T * scale[:, None])


def scoring_directions(clusters: Clusters, n_components: int, ridge: float) -> Float:
    """``W = (S_t + ridge I)^-1 X'E Theta``: the regression of optimal scores for the classes on the rows.

    With ``T = S_t + ridge I`` and the singular value decomposition ``M T^-1/2 = Delta Sigma P'`` the scores are
    ``Theta = Pi^-1/2 Delta``, Pi holding the sizes, and ``W = T^-1/2 P Sigma``.
    """
    scale = 1.0 / np.sqrt(clusters.coordinates.eigenvalues + ridge)
    _, sigma, rows = np.linalg.svd(clusters.between_factor * scale, full_matrices=False)
    return fix_signs((rows[:n_components] * sigma[:n_components, None]).T * scale[:, None])


def uncorrelated_rotation(matrix: Float) -> tuple[Float, float]:
    """The R with orthonormal columns and the largest ``tr(R'M)``, and that trace, the nuclear norm of M.

    ``M1 = 0``, so one direction of R is free: it takes the first axis, made orthogonal to the rest. With fewer rows
    than columns R is a partial isometry.
    """
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    n_rows, n_columns = matrix.shape
    if n_rows < n_columns:
        return left @ right, float(singular.sum())
    rank = int(np.sum(singular > 1e-10 * singular[0])) if singular[0] > 0 else 0
    left = completed(left[:, :rank], np.eye(n_rows, min(n_rows, 2 * n_columns)), n_columns)
    right = completed(right[:rank].T, np.column_stack([np.ones(n_columns), np.eye(n_columns)]), n_columns)
    return left @ right.T, float(singular.sum())


def completed(basis: Float, candidates: Float, size: int) -> Float:
    """Orthonormal columns with more of them, from the candidates in turn, made orthogonal to the rest."""
    for candidate in candidates.T:
        if basis.shape[1] == size:
            break
        for _ in range(2):  # once more for the digits that the first time loses
            candidate = candidate - basis @ (basis.T @ candidate)
        if np.linalg.norm(candidate) > 1e-3:
            basis = np.column_stack([basis, candidate / np.linalg.norm(candidate)])
    return basis


def fix_free_direction(loadings: Float) -> Float:
    """The same Z with a fixed sign of its free direction, which all columns share and which the first axis gave."""
    free = loadings.mean(axis=1, keepdims=True)
    return loadings - free + fix_signs(free)


def principal_axes(coordinates: Coordinates, projection: Float) -> Float:
    """The same orthonormal columns turned, within their span, to the directions of most variance first."""
    _, rotation = np.linalg.eigh((projection.T * coordinates.eigenvalues) @ projection)
    return projection @ rotation[:, ::-1]


def automatic_ridge(ridge: float | str, coordinates: Coordinates) -> float:
    """A number as it is; "auto" relative to the spectrum."""
    if ridge == "auto":
        return float(_AUTO_RIDGE * coordinates.eigenvalues.mean()) or 1.0
    return float(ridge)


def relative_ridge(ridge: float | str, share: float, total_variance: float, n_components: int) -> float:
    """A number as it is; "auto" as a share of the total variance per component."""
    if ridge == "auto":
        return share * total_variance / max(n_components, 1) or 1.0
    return float(ridge)


class DiscriminantProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Linear projection that shows given classes: the supervised parents of the clustering methods.

    .. math:: \min_{W'W = I} \mathrm{tr}(W'S_wW), \quad \max_{W'W = I} \mathrm{tr}(W'S_bW), \quad
              \max_{W'W = I} \mathrm{tr}(W'(S_b - S_w)W), \quad
              \max_W \mathrm{tr}\left[(W'S_bW)(W'(S_w + \rho I)W)^{-1}\right]

    .. math:: \min_{\Theta,\, W} \tfrac12 \|E\Theta - XW\|_F^2 + \tfrac{\rho}{2} \|W\|_F^2, \quad
              \Theta'E'E\Theta = I, \; 1'E\Theta = 0

    .. math:: \min_{Z,\, b,\, \alpha} \|XZ + 1b' - \alpha E\|_F^2 + \rho \|Z\|_F^2, \quad Z'(X'X + \rho I)Z = I

    for the criteria "olsda" (orthogonal least squares discriminant analysis), "ocm" (orthogonal centroid method), "mmc"
    (maximum margin criterion), "lda" (linear discriminant analysis), "scoring" (penalised optimal scoring, with the
    one-hot classes E and their scores Theta) and "ridge" (uncorrelated ridge regression, one column per class). S_w and
    S_b are the within- and between-class scatter; all directions lie in the range of the total scatter.

    Parameters
    ----------
    criterion : {"olsda", "ocm", "mmc", "lda", "scoring", "ridge"}, default="lda"
        What to optimise.
    n_components : int, default=None
        Number of directions; None is one less than the number of classes, or what the data allow. "ridge" has one per
        class, always.
    ridge : float or "auto", default="auto"
        Added to S_w by "lda" and to S_t by "scoring" and "ridge", in squared units of the data; "auto" is 1e-3 of the
        mean non-zero eigenvalue of S_t.
    variance : float, default=None
        Share of the variance kept first, by PCA; None keeps the numerical rank.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
        ``min(n_samples, n_features) > 4000``.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The directions; orthonormal rows, except for "lda", which gives them unit within-class scatter, "scoring", W',
        and "ridge", Z'.
    mean_ : array of shape (n_features,)
        Mean row, subtracted first.
    classes_ : array
        The classes.
    ridge_ : float
        The ridge used by "lda", "scoring" and "ridge".
    scale_, intercept_ : float and array of shape (n_classes,)
        alpha and b of "ridge".

    See Also
    --------
    DiscriminativeEmbeddedClustering : Finds the labels too.

    Examples
    --------
    >>> import jointclust as jc
    >>> digits = jc.datasets.load("digits")
    >>> jc.DiscriminantProjection("mmc", n_components=2).fit(digits.data, digits.target).transform(digits.data).shape
    (1797, 2)
    """

    _trade_offs: ClassVar[dict[str, float]] = {"ocm": 1.0, "mmc": 2.0, "olsda": np.inf}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [StrOptions({"olsda", "ocm", "mmc", "lda", "scoring", "ridge"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "ridge": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "variance": [Interval(Real, 0, 1, closed="right"), None],
        "max_rank": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        criterion: str = "lda",
        *,
        n_components: int | None = None,
        ridge: float | str = "auto",
        variance: float | None = None,
        max_rank: int = 500,
    ):
        self.criterion = criterion
        self.n_components = n_components
        self.ridge = ridge
        self.variance = variance
        self.max_rank = max_rank

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the directions that show the classes y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        data, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2, multi_output=False
        )
        check_classification_targets(y)
        self.classes_, labels = np.unique(column_or_1d(y), return_inverse=True)
        coordinates = coordinates_of(
            as_rows(data),
            check_weights(sample_weight, data),
            variance=self.variance,
            max_rank=self.max_rank,
            rng=np.random.RandomState(0),
        )
        for name in ("ridge_", "scale_", "intercept_"):
            self.__dict__.pop(name, None)
        asked = None if self.criterion == "ridge" else self.n_components
        n_components = resolve_n_components(asked, self.classes_.size - 1, coordinates)
        clusters = coordinates.clusters(labels.astype(np.int32), self.classes_.size)
        if self.criterion in ("lda", "scoring"):
            self.ridge_ = automatic_ridge(self.ridge, coordinates)
            if self.criterion == "scoring" and n_components > self.classes_.size - 1:
                n_components = max(self.classes_.size - 1, 1)
                tell(
                    f"{self.classes_.size} classes have {n_components} scores, so n_components={n_components} is used "
                    f"instead of {self.n_components}.",
                    CollapseWarning,
                )
            directions_of = fisher_directions if self.criterion == "lda" else scoring_directions
            loadings = coordinates.loadings(directions_of(clusters, n_components, self.ridge_))
        elif self.criterion == "ridge":
            loadings = coordinates.loadings(self._uncorrelated_ridge(clusters))
        else:
            directions = margin_directions(clusters, n_components, self._trade_offs[self.criterion])
            loadings = nearest_orthonormal(coordinates.loadings(principal_axes(coordinates, directions)))
        self.mean_ = coordinates.mean.astype(data.dtype)
        loadings = fix_free_direction(loadings) if self.criterion == "ridge" else fix_signs(loadings)
        self.components_ = np.ascontiguousarray(loadings.T.astype(data.dtype))
        return self

    def _uncorrelated_ridge(self, clusters: Clusters) -> Float:
        """Z in coordinates; publishes alpha and b."""
        if self.n_components is not None:
            tell(
                f"criterion='ridge' has one column per class: n_components={self.n_components} is unused.", UserWarning
            )
        self.ridge_ = automatic_ridge(self.ridge, clusters.coordinates)
        whitening = 1.0 / np.sqrt(clusters.coordinates.eigenvalues + self.ridge_)
        rotation, nuclear = uncorrelated_rotation(whitening[:, None] * clusters.sums.T)
        mean = clusters.sizes / clusters.sizes.sum()
        spread = float(clusters.sizes.sum() - clusters.sizes @ mean)
        self.scale_ = nuclear / spread if spread > 0 and nuclear > 1e-10 * np.sqrt(spread) else 1.0
        if clusters.coordinates.rank < mean.size:
            tell(
                f"{mean.size} classes exceed the rank of the data ({clusters.coordinates.rank}): a partial isometry "
                "takes the place of uncorrelated columns.",
                CollapseWarning,
            )
        self.intercept_ = self.scale_ * mean
        return whitening[:, None] * rotation

    def transform(self, X: ArrayLike) -> NDArray:
        """Project rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Y : array of shape (n_samples, n_components)
            ``(X - mean_) @ components_.T``.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return as_rows(rows).project(self.components_.T, self.mean_)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def resolve_n_components(asked: int | None, default: int, coordinates: Coordinates) -> int:
    """The number of components the data allow; says so when it is less than asked for."""
    rank, n_features = coordinates.rank, coordinates.rows.n_features
    if asked is None:
        return min(max(default, 1), rank)
    if asked > n_features:
        raise ValueError(
            f"n_components={asked} exceeds the number of features ({n_features}): lower it or leave it None."
        )
    if asked > rank:
        if not coordinates.exact:
            message = (
                f"n_components={asked} exceeds the rank of the randomised decomposition ({rank}), so {rank} are used. "
                "Raise max_rank, or lower n_components."
            )
        else:
            kept = coordinates.variance_kept
            share = "" if kept > 1 - 1e-9 else f" at {kept:.3g} of the variance"
            message = (
                f"n_components={asked} exceeds the rank of the data ({rank}{share}): every row would map to 0 in the "
                f"other directions, so {rank} are used. Lower n_components or leave it None."
            )
        tell(message, CollapseWarning)
    return min(asked, rank)
