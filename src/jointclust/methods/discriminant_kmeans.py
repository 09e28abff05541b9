"""Discriminative k-means (Ye, Zhao and Wu, 2007) and discriminative cluster analysis (De la Torre and Kanade, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from jointclust._sklearn import CallbackContext, StrOptions
from jointclust.estimators.base import Limits, TakesRows
from jointclust.estimators.embedding_first import Embedded, EmbeddingClusterer, LinearMap
from jointclust.exceptions import PlainKMeansWarning
from jointclust.methods.discriminative import Discriminant, LDAKMeans
from jointclust.numerics.partitions import weighted_norm, within_norm
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.directions import relative_ridge, resolve_n_components
from jointclust.types import Float, Labels

# "auto" ridges, as shares of the variance per component: best on average on real data.
_DISKMEANS_SHARE, _DISCLUSTER_SHARE = 2.0, 0.3


@dataclass(eq=False, repr=False, kw_only=True)
class DisKMeans(EmbeddingClusterer):
    r"""Discriminative k-means: k-means with the kernel that discriminant analysis leaves.

    .. math:: \max_{F} \; \mathrm{tr}\left[L'\, C (C + \sigma^2 I)^{-1} L\right], \quad L = F (F'F)^{-1/2},
              \quad C = XX'

    ======== ===================================================================
    symbol   meaning
    ======== ===================================================================
    X        the centred rows, ``X = U diag(s) V'``
    F        one-hot ``labels_``
    sigma^2  ``ridge_``, in squared units of the data
    ======== ===================================================================

    Eliminating the projection from ridge-regularised discriminant analysis leaves k-means on the rows of
    ``U diag(s / sqrt(s^2 + sigma^2))``, all columns. A large ridge gives plain k-means. A small one whitens the data;
    with about as many features as rows it then makes all rows equally far apart.

    Parameters
    ----------
    n_clusters
    n_components : int, default=None
        Columns of the embedding; None takes all, as the formula does.
    ridge : float or "auto", default="auto"
        The value sigma^2, added to X'X. "auto" is twice the total variance over ``n_clusters - 1``.
    variance, max_rank, init, n_init, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    components_ : array of shape (n_components, n_features)
        Principal axes divided by ``sqrt(s^2 + sigma^2)``.
    cluster_centers_, mean_, ridge_, objective_
    objective_history_, n_iter_, converged_
        ``[objective_]``, 1 and True: the embedding takes one step.
    rank_ : int
        Number of coordinates there are.
    variance_kept_, exact_, n_passes_

    References
    ----------
    J. Ye, Z. Zhao and M. Wu, "Discriminative k-means for clustering", NIPS 2007.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=30, n_clusters=4, random_state=0)
    >>> jc.DisKMeans(4, random_state=0).fit(X).labels_.shape
    (500,)
    """

    ridge: float | str = "auto"
    variance: float | None = None

    def _fit_embedding(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: RandomState, task: CallbackContext
    ) -> Embedded:
        coordinates = self._coordinates(X, sample_weight, rng)
        q = resolve_n_components(self.n_components, coordinates.rank, coordinates)
        values = coordinates.eigenvalues
        self.ridge_ = relative_ridge(self.ridge, _DISKMEANS_SHARE, coordinates.total_variance, self.n_clusters - 1)
        shifted = np.where(values + self.ridge_ > 0, values + self.ridge_, 1.0)
        self.rank_, self.variance_kept_ = coordinates.rank, coordinates.variance_kept
        linear = LinearMap.from_coordinates(coordinates, np.eye(coordinates.rank, q) / np.sqrt(shifted)[:, None])
        self.mean_, self.components_, self.exact_ = linear.mean_, linear.components_, linear.exact_
        doubt: str | None = None
        notes: tuple[Warning, ...] = ()
        # Share of the whitened spectrum: 1 is none left of the data's own, 0 is all.
        if q >= coordinates.n_present - 1 and np.mean(values / shifted) > 0.99:
            doubt = (
                "DisKMeans collapsed: ridge is so small that all rows are equally far from each other, and the labels "
                'chance. Raise ridge or leave it "auto", or keep fewer directions (variance=0.9).'
            )
        if self.ridge_ > 1e4 * values[0] and q == coordinates.rank and not coordinates.is_constant:
            message = "DisKMeans is plain k-means here: ridge is far above the data's variance. Lower it."
            notes = (PlainKMeansWarning(message),)
        Y = linear.fitted_values(coordinates.rows)
        return Embedded(Y, coordinates.weights, coordinates.is_constant, doubt, notes, coordinates.rows)

    def _publish_objective(self, embedded: Embedded) -> None:
        self.objective_ = self._score(embedded.Y, self.labels_, embedded.weights)

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        return weighted_norm(Y, weights) - within_norm(Y, labels, self.cluster_centers_, weights)


@dataclass(eq=False, repr=False, kw_only=True)
class DisCluster(LDAKMeans):
    r"""Discriminative cluster analysis: regularised discriminant analysis and k-means, in turns.

    .. math:: \max_{Q,\, F} \; \mathrm{tr}\left[(Q'S_bQ)\,(Q'(S_w + \sigma^2 I)Q)^{-1}\right], \quad
              Q'(S_w + \sigma^2 I)Q = I

    It is :class:`LDAKMeans` with the other remedy against a singular S_w: a ridge large enough to work in all
    directions of the data, instead of a few of them and hardly any ridge.

    The subspace does not depend on the scale of Q, but k-means in it does. With ``scale="total"`` it is ``Q'(S_t +
    sigma^2 I)Q = I``, the ODC paper's: every direction then counts by its share of scatter between clusters.

    Parameters
    ----------
    n_clusters, n_components
    ridge : float or "auto", default="auto"
        The value sigma^2, added to S_w. "auto" is 0.3 times the total variance over ``n_clusters - 1``. 0 is plain
        discriminant analysis, defined where S_w has full rank.
    scale : {"within", "total"}, default="within"
        The scatter that each direction has one unit of, ridge included.
    variance, max_rank
    init : {"k-means++", "pca", "whitened", "random"} or array of labels, default="k-means++"
        k-means in the reduced coordinates; in the leading ``n_components`` of them, as they are ("pca") or all with the
        same variance ("whitened"); in a random subspace; or labels 0..n_clusters-1 to start from.
    n_init : int, default=1
        Runs, the best of which (by the objective) is kept.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_, components_, cluster_centers_, mean_, ridge_, objective_, objective_history_, n_iter_, converged_
        As in :class:`LDAKMeans`.
    variance_share_, within_share_, rank_, variance_kept_, exact_, n_passes_

    References
    ----------
    F. De la Torre and T. Kanade, "Discriminative cluster analysis", ICML 2006.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=100, n_clusters=5, random_state=0)
    >>> jc.DisCluster(5, random_state=0).fit(X).transform(X).shape
    (500, 4)
    """

    _limits: ClassVar[Limits] = {"ridge": TakesRows._limits["ridge"], "scale": [StrOptions({"within", "total"})]}
    ridge: float | str = "auto"
    scale: str = "within"
    variance: float | None = None

    def _method(self, coordinates: Coordinates, n_components: int, rng: RandomState) -> Discriminant:
        return replace(super()._method(coordinates, n_components, rng), scale=self.scale)

    def _ridge(self, coordinates: Coordinates) -> float:
        n = coordinates.n_present
        if self.ridge == 0 and coordinates.rank > n - self.n_clusters:
            raise ValueError(
                f"ridge=0 needs a within-cluster scatter of full rank, but {n} rows in {self.n_clusters} clusters "
                f"leave it singular in {coordinates.rank} dimensions. Set ridge > 0, or keep fewer (variance=0.9)."
            )
        return relative_ridge(self.ridge, _DISCLUSTER_SHARE, coordinates.total_variance, self.n_clusters - 1)
