"""Discriminative embedded clustering (Hou, Nie, Yi and Tao, 2015) and LDA k-means (Ding and Li, 2007)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import RESTARTS, Limits
from jointclust.estimators.joint import MOST_ITERATIONS, JointClusterer
from jointclust.methods.kernel_features import KernelClusterer
from jointclust.numerics.kmeans import fewer_restarts, kmeans, lloyd, resting_tol
from jointclust.numerics.partitions import FEW, fill_empty, keep, renumbered, scatters, weighted_norm, within_norm
from jointclust.rows.arrays import to_host
from jointclust.subspace.alternating import Method, State, alternate
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.directions import automatic_ridge, fisher_directions, margin_directions, trade_off_of
from jointclust.types import Float, Labels

# Coordinates per component in the coarse part of a start; steps of Lloyd's iteration between two projections, where
# there are many clusters.
_COARSE, _STEPS = 4, 5


@dataclass
class _Discriminative(Method):
    """DEC's step, in coordinates: Q from the labels by eigenvectors, labels from Q by an updating rule."""

    coordinates: Coordinates
    n_components: int
    trade_off: float
    update_rule: str
    n_restarts: int
    tol: float
    rng: np.random.RandomState
    reading: str = "ours"

    def project(self, clusters: Clusters, guess: Float | None = None) -> Float:
        return margin_directions(clusters, self.n_components, self.trade_off, guess)

    def step(self, start: Clusters, previous: State | None) -> State:
        clusters = start if previous is None else previous.clusters
        projection = self.project(clusters, None if previous is None else previous.projection)
        centers, n_clusters, here = clusters.centers(projection), clusters.n_clusters, self.coordinates
        if self.update_rule == "fixed":
            return self._nearest(projection, centers)
        if self.reading == "as printed":
            return self._drawn(clusters, projection, centers)
        Y, weights, known = here.seen_together(projection), here.weights, here.known
        if self.update_rule == "comparison":
            # Restarts run to rest, so the labels they are compared with do too. Of many clusters there are hardly any
            # restarts, and a better projection is worth more than rest.
            most, tol = 300 if n_clusters <= FEW else _STEPS, resting_tol(n_clusters, self.tol)
            current = lloyd(Y, centers, weights, known=known, max_iter=most, tol=tol)
            state = self._state(clusters, current.labels, projection)
            still = previous is not None and state.objective - previous.objective <= self.tol * abs(state.objective)
            rests = still or self.rests(start, previous, state)
            if self.n_restarts == 0 or self.trade_off == 0 or not rests:
                return state
            beat = current.inertia * (1 - max(self.tol, 1e-9))
        else:
            beat = np.inf
        restart = kmeans(Y, n_clusters, self.rng, weights, known=known, n_restarts=self.n_restarts, beat=beat)
        if restart.inertia >= beat:
            return state
        return self._state(clusters, renumbered(restart.labels, clusters.labels, n_clusters, known), projection)

    def _drawn(self, clusters: Clusters, projection: Float, centers: Float) -> State:
        """Equations 24 and 26 as they stand: the best of some random labellings for the old centroids."""
        Y, weights = self.coordinates.seen_together(projection), self.coordinates.weights
        draws = [self._random_labels(len(centers)) for _ in range(self.n_restarts)]
        losses = [within_norm(Y, labels, centers, weights) for labels in draws]
        if self.update_rule == "comparison" and min(losses) >= within_norm(Y, clusters.labels, centers, weights):
            return self._nearest(projection, centers)
        return self._state(clusters, draws[int(np.argmin(losses))], projection)

    def _random_labels(self, n_clusters: int) -> Labels:
        here = self.coordinates
        n_drawn = here.n_samples if here.groups is None else here.groups.n_groups
        labels = self.rng.randint(n_clusters, size=n_drawn).astype(np.int32)
        if here.groups is not None:
            labels = labels[to_host(here.groups.index)]
        return keep(here.rows.beside(labels), here.known)

    def _nearest(self, projection: Float, centers: Float) -> State:
        """Each row to the nearest centroid, in one pass; where clusters go empty, in one more."""
        nearest = self.coordinates.nearest_clusters(projection, centers)
        if (nearest.sizes == 0).any():
            here, Y = self.coordinates, self.coordinates.seen_together(projection)
            nearest = nearest.relabelled(fill_empty(Y, nearest.labels, len(centers), here.weights, here.known))
        return State(nearest, projection, self.objective(nearest, projection))

    def objective(self, clusters: Clusters, projection: Float, *_: NDArray) -> float:
        if np.isinf(self.trade_off):
            return -clusters.within_scatter(projection)
        return clusters.total_scatter(projection) - self.trade_off * clusters.within_scatter(projection)

    def merit(self, state: State, *, final: bool = False) -> float:
        return -state.clusters.within_scatter(state.projection) if self.trade_off == 0 else state.objective

    def _state(self, clusters: Clusters, labels: Labels, projection: Float) -> State:
        clusters = clusters.relabelled(labels)
        return State(clusters, projection, self.objective(clusters, projection))


@dataclass(eq=False, repr=False, kw_only=True)
class DiscriminativeEmbeddedClustering(KernelClusterer, JointClusterer):
    r"""Clusters and the subspace that shows them, traded off by :math:`\lambda`.

    .. math:: \max_{Q'Q = I,\, F,\, G} \; \mathrm{tr}(Q'S_tQ) - \lambda \lVert XQ - FG \rVert_F^2

    ======== =============================================================
    symbol   meaning
    ======== =============================================================
    X        rows, centred (n_samples x n_features)
    S_t      total scatter X'X
    Q        orthonormal projection, ``components_.T``
    F, G     one-hot ``labels_`` and ``cluster_centers_`` in the embedding
    lambda   ``trade_off``: 0 keeps variance, infinity shrinks clusters
    ======== =============================================================

    With labels given, Q holds the leading eigenvectors of ``S_t - lambda S_w``; with Q given, labels are updated in the
    embedding; the two alternate and the objective never decreases (but see ``update_rule``). A run of more than 50
    clusters also ends when fewer than one label in a thousand changes; the labels it is stopped at are then near rest.

    Parameters
    ----------
    n_clusters, n_components
    trade_off : float or {"pca", "ocm", "mmc", "olsda"}, default=1.5
        Lambda, from 0 to infinity. "pca" (0) is PCA, then k-means; "ocm" (1) is reduced k-means, which is plain k-means
        unless ``n_components < n_clusters - 1``; "mmc" (2) maximum margin; "olsda" (infinity) factorial k-means. The
        useful values lie between and depend on the data: see :func:`trade_off_path`.
    update_rule : {"comparison", "fixed", "minimization"}, default="comparison"
        How labels are updated in the embedding. "fixed" assigns each row to the nearest centroid. "comparison" iterates
        that to rest and, each time the alternation rests, draws ``n_restarts`` k-means restarts in the embedding: a
        better one is taken and the alternation goes on, so a run ends only when no restart beats it. "minimization"
        always takes the best restart, even one that lowers the objective.
    reading : {"ours", "as printed"}, default="ours"
        What the last two rules draw. "as printed" is the paper to the letter: in every step ``n_restarts`` random
        labellings, judged with the old centroids. Of these hardly any ever wins, so that "comparison" is "fixed", and
        "minimization" takes labels at random.
    n_restarts : int, default=10
        Restarts of the last two rules, and of the k-means that they start from. Beyond 50 clusters, over which the luck
        of a start averages out, there are fewer in proportion: one tenth of them for 500.
    kernel : {"linear", "rbf", "poly", "cosine", "nearest_neighbors", "precomputed"} or callable, default="linear"
        With another than "linear" the method works on features whose inner products are the kernel (kernel PCA), new
        rows included; ``dual_coef_`` then takes the place of ``components_``. Kernels are those of
        :class:`OptimalDiscriminantClustering`. A kernel has about as many directions as there are rows: keep
        few (``variance=0.9``, or less).
    gamma, degree, coef0, n_neighbors, n_landmarks, landmarks
    variance, max_rank
    init : {"pca", "k-means++", "random"} or array of labels, default="pca"
        k-means in the leading components, in all of them, in a random subspace; or labels 0..n_clusters-1 to start
        from.
    n_init : int, default=1
        Runs, the best of which is kept. With ``init="pca"`` they start in turn from PCA, from a random subspace and
        from a random partition, because PCA can mislead.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    components_ : array of shape (n_components, n_features)
        Orthonormal rows that span the subspace.
    cluster_centers_, mean_
    objective_ : float
        The objective above; for an infinite trade-off, minus the within-cluster sum of squares.
    objective_history_, n_iter_, converged_, variance_share_, within_share_, rank_, variance_kept_, exact_, n_passes_

    See Also
    --------
    trade_off_path : Many trade-offs and dimensions from one decomposition.
    LDAKMeans : The same alternation with linear discriminant analysis.

    References
    ----------
    C. Hou, F. Nie, D. Yi and D. Tao, "Discriminative embedded clustering: a framework for grouping high-dimensional
    data", IEEE Transactions on Neural Networks and Learning Systems, 2015.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.two_gaussians(random_state=0)
    >>> dec = jc.DiscriminativeEmbeddedClustering(2, trade_off=5, n_init=10, random_state=0).fit(X)
    >>> bool(jc.metrics.clustering_accuracy(y, dec.labels_) > 0.99)
    True
    """

    _limits: ClassVar[Limits] = {
        "update_rule": [StrOptions({"comparison", "fixed", "minimization"})],
        "reading": [StrOptions({"ours", "as printed"})],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
    }

    trade_off: float | str = 1.5
    update_rule: str = "comparison"
    reading: str = "ours"
    n_restarts: int = 10
    variance: float | None = None
    init: str | ArrayLike = "pca"

    @property
    def _lambda(self) -> float:
        return trade_off_of(self.trade_off)

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> _Discriminative:
        n_restarts = fewer_restarts(self.n_restarts, self.n_clusters)
        rule = (self.update_rule, n_restarts, self.tol, rng, self.reading)
        return _Discriminative(coordinates, n_components, self._lambda, *rule)

    def _start_restarts(self) -> int:
        return 1 if self.update_rule == "fixed" else self.n_restarts

    def _start(self, index: int, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """k-means; "comparison" then alternates in the leading coordinates, where a step costs a fraction."""
        labels = super()._start(index, coordinates, n_components, rng)
        drawn = self.update_rule == "comparison" and self.reading == "ours"
        if not drawn or coordinates.rank < 2 * _COARSE * n_components:
            return labels
        coarse = coordinates.first(_COARSE * n_components)
        method = replace(self._method(coarse, n_components, rng), n_restarts=0)
        run = alternate(method, self._begin(coarse, labels), max_iter=self.max_iter or MOST_ITERATIONS, tol=self.tol)
        return run.state.clusters.labels

    def _collapse_remedy(self) -> str:
        return super()._collapse_remedy().replace(", or change", ", lower trade_off, or change")

    def _plain_kmeans_reason(self, coordinates: Coordinates, n_components: int) -> str | None:
        if n_components == coordinates.rank:
            return whole_space_reason(coordinates)
        if self._lambda == 1 and n_components >= self.n_clusters - 1:
            lower = f" or lower n_components below {self.n_clusters - 1}" if self.n_clusters > 2 else ""
            return (
                f"with trade_off=1 and n_components={n_components} >= n_clusters - 1 the two problems are the same. "
                f"Raise trade_off (1.5, say){lower}."
            )
        return None

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        within = within_norm(Y, labels, self.cluster_centers_, weights)
        if np.isinf(self._lambda):
            return -within
        return weighted_norm(Y, weights) - self._lambda * within


@dataclass
class Discriminant(Method):
    """LDA k-means' step: discriminant directions of the labels, scaled to unit within-cluster scatter, then k-means."""

    coordinates: Coordinates
    n_components: int
    ridge: float
    rng: np.random.RandomState
    n_restarts: int = RESTARTS
    tol: float = 0.0
    scale: str = "within"
    careful: bool = True

    @property
    def published(self) -> dict[str, float]:
        return {"ridge_": self.ridge}

    def project(self, clusters: Clusters) -> Float:
        return fisher_directions(clusters, self.n_components, self.ridge, self.scale)

    def step(self, start: Clusters, previous: State | None) -> State:
        clusters = start if previous is None else previous.clusters
        projection = self.project(clusters)
        n_clusters, here, Y = clusters.n_clusters, self.coordinates, self.coordinates.seen_together(projection)
        # From new centers: the directions fit the labels they came from so well that Lloyd would never leave those.
        best = kmeans(
            Y,
            n_clusters,
            self.rng,
            here.weights,
            known=here.known,
            n_restarts=self.n_restarts,
            tol=self.tol,
            careful=self.careful,
        )
        clusters = clusters.relabelled(renumbered(best.labels, clusters.labels, n_clusters, here.known))
        return State(clusters, projection, self.objective(clusters, projection))

    def rests(self, start: Clusters, previous: State | None, state: State) -> bool:
        """Whether the labels are unchanged; with many clusters, also whether the step was no better than the last."""
        no_better = previous is not None and state.objective <= previous.objective
        return super().rests(start, previous, state) or (no_better and state.clusters.n_clusters > FEW)

    def objective(self, clusters: Clusters, projection: Float, *_: NDArray) -> float:
        image = clusters.between_factor @ projection
        total = (projection.T * self.coordinates.eigenvalues) @ projection
        between = image.T @ image
        return discriminant_ratio(between, total - between + self.ridge * (projection.T @ projection))


def discriminant_ratio(between: Float, within: Float) -> float:
    """``tr(B W^-1)``; what rounding leaves of a singular W counts as the least that a float can tell from B."""
    values, vectors = np.linalg.eigh(within)
    least = np.finfo(float).eps * max(float(np.trace(between)), float(values[-1]))
    return float(np.sum(np.sum(vectors * (between @ vectors), axis=0) / np.maximum(values, least)))


@dataclass(eq=False, repr=False, kw_only=True)
class LDAKMeans(JointClusterer):
    r"""Linear discriminant analysis and k-means in turn (LDAKM).

    .. math:: \max_{Q,\, F} \; \mathrm{tr}\left[(Q'S_bQ)\,(Q'(S_w + \rho I)Q)^{-1}\right], \quad
              Q'(S_w + \rho I)Q = I

    ======== ===================================================================
    symbol   meaning
    ======== ===================================================================
    S_b      between-cluster scatter of the current labels
    S_w      within-cluster scatter of the current labels
    Q        projection, ``components_.T``; not orthonormal
    F        one-hot ``labels_``
    rho      ``ridge_``, which keeps the problem defined when S_w is singular
    ======== ===================================================================

    k-means depends on the scale of Q, which the paper leaves open. The one here gives every direction the same
    within-cluster scatter; it did best on real data. Each step runs k-means from new centers, best of ten: Lloyd's
    iteration from the old ones would rest at once, because the directions fit the labels that they came from. So the
    objective can fall. The best solution visited is returned; a run ends when k-means finds the same clusters again, or
    nothing better in ten steps. With more than 50 clusters k-means has fewer restarts and stops near rest, and a run
    ends when fewer than one label in a thousand changes or a step finds nothing better.

    Parameters
    ----------
    n_clusters, n_components
    ridge : float or "auto", default="auto"
        Added to S_w, in squared units of the data. "auto" is 1e-3 of the mean non-zero eigenvalue of S_t.
    variance : float, default=0.9
        Share of the variance kept before the alternation, by PCA; None keeps the numerical rank. Without it the method
        collapses when there are about as many features as rows.
    max_rank
    init : {"k-means++", "pca", "whitened", "random"} or array of labels, default="k-means++"
        k-means in the reduced coordinates; in the leading ``n_components`` of them, as they are ("pca") or all with the
        same variance ("whitened"); in a random subspace; or labels 0..n_clusters-1 to start from.
    n_init : int, default=1
        Runs, the best of which (by the objective) is kept.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    components_ : array of shape (n_components, n_features)
        Discriminant directions, scaled as above.
    cluster_centers_, mean_, ridge_, objective_, objective_history_, n_iter_, converged_
    variance_share_, within_share_, rank_, variance_kept_, exact_, n_passes_

    References
    ----------
    C. Ding and T. Li, "Adaptive dimension reduction using discriminant analysis and k-means clustering", ICML 2007.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=100, n_clusters=5, random_state=0)
    >>> lda = jc.LDAKMeans(5, random_state=0).fit(X)
    >>> lda.transform(X).shape
    (500, 4)
    """

    _orthonormal = False
    _limits: ClassVar[Limits] = {
        "ridge": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "init": [StrOptions({"k-means++", "pca", "whitened", "random"}), "array-like"],
    }

    ridge: float | str = "auto"
    variance: float | None = 0.9

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Discriminant:
        return Discriminant(coordinates, n_components, self._ridge(coordinates), rng)

    def _ridge(self, coordinates: Coordinates) -> float:
        return automatic_ridge(self.ridge, coordinates)

    def _plain_kmeans_reason(self, coordinates: Coordinates, n_components: int) -> str | None:
        return whole_space_reason(coordinates) if coordinates.rank == 1 else None

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        total, within = scatters(Y, labels, self.cluster_centers_, weights)
        components = to_host(self.components_)
        return discriminant_ratio(total - within, within + self.ridge_ * (components @ components.T))


def whole_space_reason(coordinates: Coordinates) -> str:
    """Why a subspace as large as the space makes a method plain k-means, and what to do."""
    if coordinates.rank == 1:
        if coordinates.variance_kept > 1 - 1e-9:
            return "the data vary in one direction only, so there is no subspace to choose."
        kept = coordinates.variance_kept
        remedy = "Raise variance" if coordinates.dominant is None else "Scale the columns"
        return f"one direction carries {kept:.2g} of the variance and is all that was kept. {remedy}."
    kind = "data" if coordinates.exact else "randomised decomposition"
    return f"the subspace is the whole space (n_components={coordinates.rank} is the rank of the {kind}). Lower it."
