"""Optimal discriminant clustering with few features (the closing equation of Zhang and Dai, 2009)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import Clusterer
from jointclust.estimators.embedding_first import EmbeddingClusterer
from jointclust.exceptions import CollapseWarning, collected, tell
from jointclust.methods.scoring import RIDGE_SHARE, procrustes_loss, scoring_loss
from jointclust.numerics.linalg import fix_signs
from jointclust.subspace.alternating import Ending
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.directions import relative_ridge, resolve_n_components
from jointclust.types import Float, Labels

# "auto" sparsity, as a share of the one at which the first component loses its last feature.
_SPARSITY_SHARE = 0.5
# Sweeps of coordinate descent in one regression step: each lowers the objective, so there is no need to finish.
_SWEEPS = 20


class SparseOptimalDiscriminantClustering(EmbeddingClusterer):
    r"""Optimal discriminant clustering that uses few features.

    .. math:: \min_{Y,\, W} \; \tfrac12 \|Y - XW\|_F^2 + \tfrac{\lambda_1}{2} \|W\|_F^2 + \lambda_2 \|W\|_1, \quad
              Y'Y = I, \; Y'1 = 0

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    X        the centred rows, in the original features
    Y        the scores of the rows that stand in for unknown classes
    W        the regression on them, ``components_.T``; its zero rows are features not used
    lambda_1 ``ridge_``
    lambda_2 ``sparsity_``
    XW       the embedding, in which k-means runs
    ======== =============================================================================

    It starts from the dense solution and alternates an elastic net for W with a Procrustes rotation for Y; the
    objective never increases. Without the l1 term it is :class:`OptimalDiscriminantClustering`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int, default=None
        Columns of Y and W; None is ``n_clusters - 1``, or what the data allow.
    ridge : float or "auto", default="auto"
        lambda_1, added to X'X. "auto" is a tenth of the total variance per component.
    sparsity : float or "auto", default="auto"
        lambda_2, in the units of X. "auto" is half of the smallest value that would leave some component without
        features at the start; 0 is the dense method.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one, for the start, when
        ``min(n_samples, n_features) > 4000``.
    init : "k-means++" or array of labels, default="k-means++"
        Where k-means starts.
    n_init : int, default=1
        Runs of k-means, each the best of ten starts.
    max_iter : int, default=200
        Iterations of the alternation.
    tol : float, default=1e-6
        Relative change of the objective at which it has converged.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable.
    n_jobs : int, default=None
        Threads over which the ``n_init`` runs are spread. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each row, 0 being the largest; equal to ``predict`` of the training data.
    components_ : array of shape (n_components, n_features)
        W'.
    support_ : bool array of shape (n_features,)
        Which features are used by any component.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Cluster means in the embedding.
    mean_ : array of shape (n_features,)
        Mean row, subtracted first.
    ridge_, sparsity_ : float
        The values used.
    objective_ : float
        The objective above.
    objective_history_ : array, one value per iteration
        Objective after each iteration.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it converged before ``max_iter``.
    exact_ : bool
        Whether the start came from an exact decomposition.

    References
    ----------
    Z. Zhang and G. Dai, "Optimal scoring for unsupervised learning", NIPS 2009.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=50, n_clusters=3, random_state=0)
    >>> model = jc.SparseOptimalDiscriminantClustering(3, random_state=0).fit(X)
    >>> model.support_.shape, bool(model.support_.sum() < 50)
    ((50,), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EmbeddingClusterer._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "sparsity": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "max_iter": Clusterer._parameter_constraints["max_iter"],
        "tol": Clusterer._parameter_constraints["tol"],
    }
    variance = None  # not a parameter: a rotation would mix the features
    _accepts_sparse = False

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        ridge: float | str = "auto",
        sparsity: float | str = "auto",
        max_rank: int = 500,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.ridge = ridge
        self.sparsity = sparsity
        self.max_rank = max_rank
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _refusal(self, kind: str) -> str | None:
        return "coordinate descent visits feature after feature. Use OptimalDiscriminantClustering, or fit a sample."

    def _fit_embedding(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[NDArray, Float | None]:
        coordinates = self._coordinates(X, sample_weight, rng, leading=self._asked)
        rows: Any = coordinates.rows
        if rows.is_sparse:
            raise TypeError("Sparse rows do not suit coordinate descent on centred features: pass a dense matrix.")
        q = resolve_n_components(self.n_components, self.n_clusters - 1, coordinates)
        values = coordinates.eigenvalues[:q]
        self.ridge_ = relative_ridge(self.ridge, RIDGE_SHARE, coordinates.total_variance, q)
        self._is_constant = coordinates.is_constant
        # W = V diag(s / (s^2 + ridge)) and Y = XV diag(1 / s): the dense solution.
        axes = fix_signs(coordinates.loadings(np.eye(coordinates.rank, q)))
        root = np.ones((rows.n_samples, 1)) if coordinates.weights is None else np.sqrt(coordinates.weights)[:, None]
        data = root * (rows.X - coordinates.mean)
        s = np.where(values > 0, np.sqrt(values), 1.0)
        scores = data @ (axes / s)
        W = self._alternate(data, root.ravel(), scores, axes * (s / (values + self.ridge_)))
        self.mean_ = coordinates.mean.astype(rows.dtype)
        self.components_ = np.ascontiguousarray(W.T.astype(rows.dtype))
        self.support_ = (self.components_ != 0).any(axis=0)
        self.exact_ = coordinates.exact
        return self._embed(rows), coordinates.weights

    def _alternate(self, data: Float, root: Float, scores: Float, W: Float) -> Float:
        """The alternation on centred rows scaled by the root of their weight, from the dense solution."""
        reach = np.abs(data.T @ scores).max(axis=0)
        self.sparsity_ = _SPARSITY_SHARE * float(reach.min()) if self.sparsity == "auto" else float(self.sparsity)
        history: list[float] = []
        start, self.converged_ = scores, self.sparsity_ == 0
        for _ in range(1 if self.converged_ else self.max_iter):
            if self.sparsity_ > 0:
                W = self._regress(data, scores, W)
            fitted = data @ W
            scores = nearest_scores(fitted, root, start)
            history.append(self._penalty(W) + procrustes_loss(fitted.T @ fitted))
            if len(history) > 1 and history[-2] - history[-1] <= self.tol * history[-1]:
                self.converged_ = True
                break
        self.objective_history_ = np.array(history)
        self.objective_, self.n_iter_ = history[-1], len(history)
        return W

    def _regress(self, data: Float, scores: Float, W: Float) -> Float:
        """A few sweeps of coordinate descent on the elastic net, from the W there is."""
        penalty, n = self.ridge_ + self.sparsity_, len(data)
        net = ElasticNet(
            alpha=penalty / n,
            l1_ratio=self.sparsity_ / penalty,
            fit_intercept=False,
            max_iter=_SWEEPS,
            tol=1e-6,
            warm_start=True,
        )
        net.coef_ = np.asfortranarray(W.T)
        with collected():  # a few sweeps do not converge
            net.fit(data, scores)
        return np.atleast_2d(net.coef_).T

    def _penalty(self, W: Float) -> float:
        return 0.5 * self.ridge_ * float(np.sum(W**2)) + self.sparsity_ * float(np.abs(W).sum())

    def _finish(self, Y: NDArray, weights: Float | None) -> None:
        empty = int(np.sum(~(self.components_ != 0).any(axis=1)))
        if empty and not self._is_constant:
            tell(
                f"{empty} of {len(self.components_)} components have no feature left: lower sparsity (now "
                f"{self.sparsity_:.3g}).",
                CollapseWarning,
            )
        if empty < len(self.components_):
            self._warn_if_fewer(self._is_constant)
        if not self.converged_:
            tell(Ending.MAX_ITER.value.format(max_iter=self.max_iter), ConvergenceWarning)
        del self._is_constant

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        return -scoring_loss(Y, weights) - self._penalty(self.components_.T.astype(np.float64))


def nearest_scores(fitted: Float, root: Float, reserve: Float) -> Float:
    """The scores Y, orthonormal and orthogonal to ``root``, with the largest ``tr(Y'Z)`` for the fitted values Z.

    Where Z lacks rank, the directions of ``reserve`` that are farthest from it fill up.
    """
    left, singular, right = np.linalg.svd(fitted, full_matrices=False)
    rank = int(np.sum(singular > 1e-10 * max(singular[0], np.finfo(float).tiny)))
    if rank < singular.size:
        taken = left[:, :rank]
        rest = reserve - taken @ (taken.T @ reserve)
        rest -= np.outer(root, root @ rest) / (root @ root)
        left = np.hstack([taken, np.linalg.svd(rest, full_matrices=False)[0][:, : singular.size - rank]])
    return left @ right
