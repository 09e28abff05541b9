"""Optimal discriminant clustering with few features (the closing equation of Zhang and Dai, 2009)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet

from jointclust._sklearn import CallbackContext, Interval, StrOptions
from jointclust.estimators.base import Limits
from jointclust.estimators.embedding_first import Embedded, EmbeddingClusterer
from jointclust.estimators.tasks import iteration_reporter
from jointclust.exceptions import CollapseWarning, collected
from jointclust.methods.scoring import procrustes_loss, scoring_loss
from jointclust.methods.scoring_embeddings import RIDGE_SHARE
from jointclust.numerics.linalg import fix_signs
from jointclust.subspace.alternating import Ending, Run, Steps, alternate
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.directions import relative_ridge, resolve_n_components
from jointclust.types import Float, Labels

# "auto" sparsity, as a share of the one at which the first component loses its last feature.
_SPARSITY_SHARE = 0.5
# Sweeps of coordinate descent in one regression step: each lowers the objective, so there is no need to finish.
_SWEEPS = 20


@dataclass(eq=False, repr=False, kw_only=True)
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
    n_clusters
    n_components : int, default=None
        Columns of Y and W; None is ``n_clusters - 1``, 256 at the most, or what the data allow.
    ridge : float or "auto", default="auto"
        lambda_1, added to X'X. "auto" is a tenth of the total variance per component.
    sparsity : float or "auto", default="auto"
        lambda_2, in the units of X. "auto" is half of the smallest value that would leave some component without
        features at the start; 0 is the dense method.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one, for the start, when
        ``min(n_samples, n_features) > 4000``.
    init, n_init
    max_iter : int, default=200
        Iterations of the alternation.
    tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    components_ : array of shape (n_components, n_features)
        W'.
    support_ : bool array of shape (n_features,)
        Which features are used by any component.
    cluster_centers_, mean_
    ridge_, sparsity_ : float
        The values used.
    objective_, objective_history_, n_iter_, converged_
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

    _limits: ClassVar[Limits] = {
        "ridge": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "sparsity": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    }
    variance = None  # not a parameter: a rotation would mix the features
    _accepts_sparse = False

    ridge: float | str = "auto"
    sparsity: float | str = "auto"
    max_iter: int = 200
    tol: float = 1e-6

    def _refusal(self, kind: str) -> str | None:
        return "coordinate descent visits feature after feature. Use OptimalDiscriminantClustering, or fit a sample."

    def _fit_embedding(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: RandomState, task: CallbackContext
    ) -> Embedded:
        coordinates = self._coordinates(X, sample_weight, rng, leading=self._n_wanted)
        rows = coordinates.rows
        if rows.is_sparse:
            raise TypeError("Sparse rows do not suit coordinate descent on centred features: pass a dense matrix.")
        q = resolve_n_components(self.n_components, self._n_wanted, coordinates)
        self.ridge_ = relative_ridge(self.ridge, RIDGE_SHARE, coordinates.total_variance, q)
        root = np.ones(rows.n_samples) if coordinates.weights is None else np.sqrt(coordinates.weights)
        data = root[:, None] * (rows.X - coordinates.mean)
        W, scores = _dense_solution(coordinates, data, q, self.ridge_)
        reach = np.abs(data.T @ scores).max(axis=0)
        self.sparsity_ = _SPARSITY_SHARE * float(reach.min()) if self.sparsity == "auto" else float(self.sparsity)
        steps = SparseScoring(data, root, scores, self.ridge_, self.sparsity_)
        run = steps.run(W, self.max_iter, self.tol, iteration_reporter(self, task))
        self.mean_, self.exact_ = coordinates.mean.astype(rows.dtype), coordinates.exact
        self.components_ = np.ascontiguousarray(run.state.W.T.astype(rows.dtype))
        used = self.components_ != 0
        self.support_ = used.any(axis=0)
        self.objective_, self.objective_history_ = run.state.objective, np.array(run.history)
        self.n_iter_, self.converged_ = len(run.history), run.ending is Ending.CONVERGED
        empty, constant = int(np.sum(~used.any(axis=1))), coordinates.is_constant
        message = f"{empty} of {q} components have no feature left: lower sparsity (now {self.sparsity_:.3g})."
        doubt = message if empty == q and not constant else None
        notes: list[Warning] = [CollapseWarning(message)] if 0 < empty < q and not constant else []
        if run.ending is not Ending.CONVERGED:
            notes.append(ConvergenceWarning(run.ending.value.format(max_iter=self.max_iter)))
        return Embedded(self._embed(rows), coordinates.weights, constant, doubt, tuple(notes), rows, iterated=True)

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        return -scoring_loss(Y, weights) - penalty(self.components_.astype(np.float64), self.ridge_, self.sparsity_)


@dataclass(frozen=True, eq=False)
class Solution:
    """W, the scores that suit it best, and the objective of the two."""

    W: Float
    scores: Float
    objective: float


@dataclass(frozen=True, eq=False)
class SparseScoring(Steps[Solution, Solution]):
    """The steps of the alternation, on centred rows scaled by the root of their weight."""

    data: Float
    root: Float
    reserve: Float  # scores to fill up with
    ridge: float
    sparsity: float

    def run(self, W: Float, max_iter: int, tol: float, stop: Callable[[], bool]) -> Run[Solution, Solution]:
        """The alternation from the dense solution, which is the optimum already where nothing is to be sparse."""
        if self.sparsity == 0:
            optimum = self.scored(W)
            return Run(optimum, optimum, Ending.CONVERGED, 0, [optimum.objective])
        start = Solution(W, self.reserve, np.inf)
        return alternate(self, start, max_iter=max_iter, tol=tol, stop=stop)

    def step(self, start: Solution, previous: Solution | None) -> Solution:
        """The elastic net for the present scores, from the present W; then scores for the new W."""
        now = start if previous is None else previous
        both = self.ridge + self.sparsity
        net = ElasticNet(
            alpha=both / len(self.data),
            l1_ratio=self.sparsity / both,
            fit_intercept=False,
            max_iter=_SWEEPS,
            tol=1e-6,
            warm_start=True,
        )
        net.coef_ = np.array(now.W.T, order="F")  # a copy: descent changes a single row in place
        with collected():  # a few sweeps do not converge
            net.fit(self.data, now.scores)
        return self.scored(np.atleast_2d(net.coef_).T)

    def scored(self, W: Float) -> Solution:
        """W with its best scores."""
        fitted = self.data @ W
        objective = penalty(W, self.ridge, self.sparsity) + procrustes_loss(fitted.T @ fitted)
        return Solution(W, nearest_scores(fitted, self.root, self.reserve), objective)


def _dense_solution(coordinates: Coordinates, data: Float, q: int, ridge: float) -> tuple[Float, Float]:
    """``W = V diag(s / (s^2 + ridge))`` and ``Y = XV diag(1 / s)``: where the alternation starts."""
    values = coordinates.eigenvalues[:q]
    axes = fix_signs(coordinates.loadings(np.eye(coordinates.rank, q)))
    s = np.where(values > 0, np.sqrt(values), 1.0)
    return axes * (s / (values + ridge)), data @ (axes / s)


def penalty(W: Float, ridge: float, sparsity: float) -> float:
    """``ridge/2 |W|^2 + sparsity |W|_1``."""
    return 0.5 * ridge * float(np.sum(W**2)) + sparsity * float(np.abs(W).sum())


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
