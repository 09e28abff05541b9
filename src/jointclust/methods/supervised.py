"""The supervised parents: directions that show given classes, for people with labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from jointclust._sklearn import Interval, StrOptions, fit_context
from jointclust.estimators.base import Limits, TakesRows
from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.linalg import fix_signs, nearest_orthonormal
from jointclust.rows import as_rows
from jointclust.subspace.coordinates import Clusters
from jointclust.subspace.decomposition import check_weights, coordinates_of
from jointclust.subspace.directions import (
    automatic_ridge,
    fisher_directions,
    fix_free_direction,
    margin_directions,
    principal_axes,
    resolve_n_components,
    scoring_directions,
    trade_off_of,
    uncorrelated_rotation,
)
from jointclust.types import Float


@dataclass(eq=False, repr=False)
class DiscriminantProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TakesRows):
    r"""Linear projection that shows given classes: the supervised parents of the clustering methods.

    .. math:: \min_{W'W = I} \mathrm{tr}(W'S_wW), \quad \max_{W'W = I} \mathrm{tr}(W'S_bW), \quad
              \max_{W'W = I} \mathrm{tr}(W'(S_b - S_w)W), \quad
              \max_{W'W = I} \mathrm{tr}(W'(S_t - \lambda S_w)W), \quad
              \max_W \mathrm{tr}\left[(W'S_bW)(W'(S_w + \rho I)W)^{-1}\right]

    .. math:: \min_{\Theta,\, W} \tfrac12 \|E\Theta - XW\|_F^2 + \tfrac{\rho}{2} \|W\|_F^2, \quad
              \Theta'E'E\Theta = I, \; 1'E\Theta = 0

    .. math:: \min_{Z,\, b,\, \alpha} \|XZ + 1b' - \alpha E\|_F^2 + \rho \|Z\|_F^2, \quad Z'(X'X + \rho I)Z = I

    for the criteria "olsda" (orthogonal least squares discriminant analysis), "ocm" (orthogonal centroid method), "mmc"
    (maximum margin criterion), "dec" (discriminative embedding, of which these three are cases), "lda" (linear
    discriminant analysis), "scoring" (penalised optimal scoring, with the one-hot classes E and their scores Theta) and
    "ridge" (uncorrelated ridge regression, one column per class). S_w and S_b are the within- and between-class
    scatter, S_t is their sum, and all directions lie in its range.

    Parameters
    ----------
    criterion : {"olsda", "ocm", "mmc", "dec", "lda", "scoring", "ridge"}, default="lda"
        What to optimise.
    n_components : int, default=None
        Number of directions; None is one less than the number of classes, or what the data allow. "ridge" has one per
        class, always.
    trade_off : float or {"pca", "ocm", "mmc", "olsda"}, default=1.5
        Lambda of "dec", from 0 to infinity.
    ridge : float or "auto", default="auto"
        Added to S_w by "lda" and to S_t by "scoring" and "ridge", in squared units of the data; "auto" is 1e-3 of the
        mean non-zero eigenvalue of S_t.
    variance, max_rank

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The directions; orthonormal rows, except for "lda", which gives them unit within-class scatter, "scoring", W',
        and "ridge", Z'. Within their span those of "olsda", "ocm" and "mmc" turn to most variance first, while those
        of "dec" are the eigenvectors, as :class:`DiscriminativeEmbeddedClustering` has them.
    mean_
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

    _limits: ClassVar[Limits] = {
        "criterion": [StrOptions({"olsda", "ocm", "mmc", "dec", "lda", "scoring", "ridge"})],
        "ridge": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    }

    criterion: str = "lda"
    _: KW_ONLY
    n_components: int | None = None
    trade_off: float | str = 1.5
    ridge: float | str = "auto"
    variance: float | None = None
    max_rank: int = 500

    @fit_context(prefer_skip_nested_validation=True)
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
        data, y = self._validated(X, y=y, ensure_min_samples=2, multi_output=False)
        check_classification_targets(y)
        self.classes_, labels = np.unique(column_or_1d(y), return_inverse=True)
        weights, rng = check_weights(sample_weight, data), np.random.RandomState(0)
        coordinates = coordinates_of(as_rows(data), weights, rng=rng, variance=self.variance, max_rank=self.max_rank)
        for name in ("ridge_", "scale_", "intercept_"):
            self.__dict__.pop(name, None)
        wanted = None if self.criterion == "ridge" else self.n_components
        n_components = resolve_n_components(wanted, self.classes_.size - 1, coordinates)
        clusters = coordinates.clusters(labels.astype(np.int32), self.classes_.size)
        if self.criterion in ("lda", "scoring", "ridge"):
            self.ridge_ = automatic_ridge(self.ridge, coordinates)
        if self.criterion in ("lda", "scoring"):
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
            is_dec = self.criterion == "dec"
            trade_off = trade_off_of(self.trade_off if is_dec else self.criterion)
            directions = margin_directions(clusters, n_components, trade_off)
            axes = directions if is_dec else principal_axes(coordinates, directions)
            loadings = nearest_orthonormal(coordinates.loadings(axes))
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
        return as_rows(self._validated(X, reset=False)).project(self.components_.T, self.mean_)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
