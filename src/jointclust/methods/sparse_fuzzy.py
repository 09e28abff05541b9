"""Robust sparse fuzzy k-means (Xu, Han, Xiong and Nie, 2016)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import RESTARTS, Limits
from jointclust.estimators.joint import started
from jointclust.exceptions import CollapseWarning, tell
from jointclust.methods.fuzzy import CenterClusterer, CenterRule, Centers
from jointclust.methods.robust import residual_floor
from jointclust.numerics.linalg import project_simplex
from jointclust.numerics.spread import weighted_median
from jointclust.rows import Swept, sweep
from jointclust.subspace.alternating import Run
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.starts import robust_start_labels
from jointclust.types import Float, Labels

# "auto" cap, in medians of the distance from the nearest center at the start.
_CAP = 3.0


@dataclass(frozen=True, eq=False)
class _RobustSparse(CenterRule):
    """Centers by re-weighting, memberships by projection on the simplex of a row's nearest centers."""

    n_neighbors: int
    floor: float
    gamma: float = 1.0
    cap: float = np.inf

    # Means, re-weighted a few times, so that far rows do not draw them away.
    start_rounds = 11

    def start_mass(self, y: Any, soft: Any) -> Any:
        """Masses for means, then for spatial medians: memberships over distances."""
        return soft if self.centers is None else soft / np.maximum(np.sqrt(self.evidence(y)), self.floor)

    def soft(self, evidence: Any) -> Any:
        return sparse_memberships(self.loss(evidence), evidence, self.n_neighbors, self.gamma)

    def mass(self, distances: Any, soft: Any) -> Any:
        lengths = np.sqrt(distances)
        return soft * np.where(lengths < self.cap, 0.5 / np.maximum(lengths, self.floor), 0.0)

    def losses(self, evidence: Any, soft: Any) -> Any:
        return np.sum(soft * self.loss(evidence), axis=1) + self.gamma * np.sum(soft**2, axis=1)

    def loss(self, distances: NDArray) -> NDArray:
        """``h(r) = r`` up to the cap; below the floor the parabola that touches it, which bounded weights minimise."""
        lengths = np.sqrt(distances)
        smooth = np.where(lengths > self.floor, lengths, distances / (2 * self.floor) + self.floor / 2)
        return np.minimum(smooth, self.cap)


def sparse_memberships(h: Float, distances: Float, n_neighbors: int, gamma: float) -> Float:
    """The u on the simplex with at most ``n_neighbors`` entries and the least ``u'h + gamma |u|^2``, row by row.

    These entries are the smallest of h (among equals, the nearest), where u is the projection of ``-h / (2 gamma)``.
    """
    nearest = np.lexsort((distances, h), axis=1)[:, :n_neighbors]
    chosen = np.take_along_axis(h, nearest, axis=1)
    projected = project_simplex((chosen[:, :1] - chosen) / (2.0 * gamma))
    # Memberships of a row beyond the cap are equal; a trace more for the nearest center makes it the label.
    projected[:, 0] += 1e-9
    soft = np.zeros_like(h)
    np.put_along_axis(soft, nearest, projected / projected.sum(axis=1, keepdims=True), axis=1)
    return soft


def row_gammas(h: Float, n_neighbors: int) -> Float:
    """``k/2 h_(k+1) - 1/2 sum_(j<=k) h_(j)`` of each row, the penalty that leaves it k memberships."""
    k = min(n_neighbors, h.shape[1] - 1)
    lowest = np.partition(h, k, axis=1)
    return 0.5 * (k * lowest[:, k] - lowest[:, :k].sum(axis=1))


@dataclass(eq=False, repr=False, kw_only=True)
class RobustSparseFuzzyKMeans(CenterClusterer):
    r"""Robust sparse fuzzy k-means (RSFKM).

    .. math:: \min_{U,\, V} \; \sum_{i,\, j} u_{ij}\, h(\|x_i - v_j\|) + \gamma \|U\|_F^2, \quad
              u_{ij} \ge 0, \; \sum_j u_{ij} = 1, \; \|u_i\|_0 \le k

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    x_i      row i, in the full space or in the leading principal components
    v_j      center j, ``cluster_centers_``
    u_ij     membership of row i in cluster j, ``soft_labels_``
    h(r)     the loss: r ("l21"), or min(r, cap) ("capped"), in which far rows do not count
    gamma    ``gamma_``: 0 would give hard labels, more is softer
    k        ``n_neighbors``, the number of non-zero memberships
    ======== =============================================================================

    The value ``k/2 h_(k+1) - 1/2 sum_(j<=k) h_(j)`` (of a row's sorted losses) would leave that row exactly k
    memberships. gamma is its mean over rows at the start, and then stays, so that the objective never increases; the
    bound on the number of memberships is ours: without it rows between many centers would have more.

    Parameters
    ----------
    n_clusters
    loss : {"capped", "l21"}, default="capped"
        The loss h.
    n_neighbors : int, default=None
        Non-zero memberships per row, at most; 1 gives hard labels. None is 2.
    cap : float or "auto", default="auto"
        Distance beyond which a row does not count, for the capped loss. "auto" is three times the median distance from
        the nearest center at the start.
    n_components : int, default=None
        Principal components to cluster in; None is the full space, without PCA.
    max_rank
    init : {"k-means++", "random"} or array, default="k-means++"
        k-means, best of ten starts, in which far rows count less where that leaves the centers nearer; random
        memberships; or labels, or memberships of shape (n_samples, n_clusters), to start from.
    n_init : int, default=1
        Runs, the best of which is kept.
    max_iter, tol, random_state, n_jobs

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Largest membership of each row; cluster 0 is the largest unless ``init`` gave labels.
    classes_
    soft_labels_ : array of shape (n_samples, n_clusters)
        Memberships; equal to ``predict_proba`` of the training data.
    cluster_centers_ : array of shape (n_clusters, n_components or n_features)
        Centers in the embedding.
    components_, mean_
    gamma_, cap_ : float
        The values used; the cap is infinite for "l21".
    residual_floor_ : float
        Distances below it count as a parabola that touches h there, so that no weight is infinite.
    objective_, objective_history_, n_iter_, converged_

    References
    ----------
    J. Xu, J. Han, K. Xiong and F. Nie, "Robust and sparse fuzzy k-means clustering", IJCAI 2016.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(500, 30, 4, n_nuisance=2, outliers=0.05, random_state=0)
    >>> model = jc.RobustSparseFuzzyKMeans(4, n_neighbors=2, random_state=0).fit(X)
    >>> int((model.soft_labels_ > 0).sum(axis=1).max())
    2
    """

    _limits: ClassVar[Limits] = {
        "loss": [StrOptions({"capped", "l21"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "cap": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    }

    loss: str = "capped"
    n_neighbors: int | None = None
    cap: float | str = "auto"

    def _refusal(self, kind: str) -> str | None:
        if kind != "device":
            return None
        return "it sorts rows in ways that GPUs have no function for. Use FuzzyKMeans there, or move X to the host."

    def _prepare(
        self, coordinates: Coordinates, n_components: int, given: NDArray | None, rng: np.random.RandomState
    ) -> None:
        """Cap and gamma from one start, so that runs have the same objective."""
        if self.n_neighbors is not None and self.n_neighbors > self.n_clusters:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} exceeds n_clusters={self.n_clusters}: a row cannot belong to more "
                "clusters than there are. Lower it."
            )
        if coordinates.groups is not None:
            raise TypeError("RobustSparseFuzzyKMeans takes no groups of rows: use FuzzyKMeans.")
        self._neighbors = min(2, self.n_clusters) if self.n_neighbors is None else self.n_neighbors
        Y, weights = self._embedding(coordinates, n_components), coordinates.weights
        start = started(self, 0, coordinates, n_components, rng) if given is None else given
        self.residual_floor_ = residual_floor(coordinates)
        rule = _RobustSparse(None, self._neighbors, self.residual_floor_)
        rule = Centers(coordinates, Y, self.n_clusters, rule).first_rule(start)
        if self.loss == "l21" and self.cap != "auto":
            tell(f"cap={self.cap} is not used by loss='l21'.", UserWarning)
        self.cap_ = np.inf
        if self.loss == "capped":
            lengths = lambda y: Swept(rows=[np.sqrt(rule.evidence(y).min(axis=1))])  # noqa: E731
            middle = weighted_median(sweep(lengths, Y, width=Y.shape[1]).rows[0], weights)
            self.cap_ = max(_CAP * middle, self.residual_floor_) if self.cap == "auto" else float(self.cap)
        capped = replace(rule, cap=self.cap_)

        def total(y: NDArray, w: NDArray | None) -> Swept:
            h = capped.loss(capped.evidence(y))
            parts = row_gammas(h, capped.n_neighbors), h.mean(axis=1)
            return Swept(sums=[np.sum(part if w is None else part * w) for part in parts])

        gamma, level = sweep(total, Y, weights, width=max(Y.shape[1], 4 * self.n_clusters)).sums
        # If all rows are beyond the cap, or on their centers, nothing says how soft to be: labels are nearly hard.
        self.gamma_ = float(max(gamma, 1e-9 * level) / coordinates.mass)

    def _rule_at(self, centers: Float | None) -> _RobustSparse:
        return _RobustSparse(centers, self._neighbors, self.residual_floor_, self.gamma_, self.cap_)

    def _kmeans_labels(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        """k-means in which far rows count less: otherwise they would get centers and keep them."""
        plain = super()._kmeans_labels(coordinates, n_components, rng)
        kind = self._start_kind
        return robust_start_labels(kind, plain, coordinates, self.n_clusters, n_components, rng, RESTARTS)

    def _warn(self, coordinates: Coordinates, method: Any, run: Run) -> None:
        super()._warn(coordinates, method, run)
        limit, weights = self.cap_**2, coordinates.weights

        def far(nearest: NDArray, w: NDArray | None) -> Swept:
            return Swept(sums=[np.sum(nearest >= limit if w is None else (nearest >= limit) * w)])

        n_far = float(sweep(far, self._nearest(self._embed(coordinates.rows)), weights).sums[0])
        beyond = n_far / coordinates.mass
        if beyond > 0.5 and not coordinates.is_constant:
            tell(
                f"{beyond:.0%} of the rows lie beyond cap={self.cap_:.3g} of all centers and do not count. Raise it.",
                CollapseWarning,
            )

    def _collapse_remedy(self) -> str:
        raised = f" Raise cap (now {self.cap_:.3g})." if np.isfinite(self.cap_) else ""
        return f"Lower n_clusters or n_neighbors.{raised}"
