"""Fuzzy k-means (Bezdek, 1981), and what it shares with its robust form."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import RESTARTS, Limits
from jointclust.estimators.soft import SoftClusterer, SoftRule
from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.linalg import fix_signs
from jointclust.numerics.partitions import cluster_sizes, squared_distances
from jointclust.numerics.spread import leading_direction_share, weighted_median
from jointclust.rows import Swept, blocks, sweep
from jointclust.rows.arrays import namespace, to_host
from jointclust.subspace.alternating import Run, Steps
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.starts import start_labels
from jointclust.types import Array, Float, Labels, Sweepable

# Share of the way from 1 to the fuzzifier at which all centers fall together: collapses nowhere on real data.
_SAFE = 0.1


@dataclass(frozen=True, eq=False)
class CenterRule(SoftRule):
    """Memberships by the squared distances from centers, which are None before the first step."""

    centers: Float | None
    # Rounds of means that the centers of a start take.
    start_rounds: ClassVar[int] = 1

    def evidence(self, y: Array) -> Any:
        assert self.centers is not None
        return squared_distances(y, self.centers)

    @abstractmethod
    def mass(self, distances: Array, soft: Array) -> Array:
        """Masses of the rows in the next centers."""

    @abstractmethod
    def start_mass(self, y: Array, soft: Array) -> Array:
        """Masses of the rows in the first centers, by the labels or memberships of the start."""

    def at_means(self, sums: Float, sizes: Float) -> Self:
        """The rule with the means of masses as centers; one without mass stays where it was, or at the origin."""
        sizes = sizes[:, None]
        kept = np.zeros_like(sums) if self.centers is None else self.centers
        return replace(self, centers=np.where(sizes > 0, sums / np.where(sizes > 0, sizes, 1.0), kept))


Rule = TypeVar("Rule", bound=CenterRule)


@dataclass(frozen=True, eq=False)
class CenterState(Generic[Rule]):
    """The rule with its centers, and the sums and sizes of the masses that the rows have by them."""

    objective: float
    rule: Rule
    sums: Float
    sizes: Float


@dataclass
class Centers(Steps[Array, CenterState[Rule]]):
    """Steps of centers and memberships of rows in an embedding that stays."""

    coordinates: Coordinates
    Y: Sweepable
    n_clusters: int
    rule: Rule

    def step(self, start: Array, previous: CenterState[Rule] | None) -> CenterState[Rule]:
        rule = self.first_rule(start) if previous is None else previous.rule.at_means(previous.sums, previous.sizes)
        here, width, shared = self.coordinates, max(self.Y.shape[1], 4 * self.n_clusters), None
        if here.groups is not None:
            # The rows of a group have their memberships in common, by their mean squared distances.
            distances = sweep(lambda y: Swept(rows=[rule.evidence(y)]), self.Y, width=self.n_clusters).rows[0]
            shared = here.groups.averaged(distances)

        def visit(y: Array, w: Array | None, known: Array | None, shared: Array | None) -> Swept:
            distances = rule.evidence(y)
            soft = blocks.kept_soft(rule.soft(distances if shared is None else shared), known)
            losses, mass = rule.losses(distances, soft), rule.mass(distances, soft)
            if w is not None:
                losses, mass = losses * w, mass * w[:, None]
            xp = namespace(y)
            return Swept(sums=[xp.sum(losses), blocks.project_transposed(y, mass, None).T, xp.sum(mass, axis=0)])

        loss, sums, sizes = sweep(visit, self.Y, here.weights, here.known, shared, width=width).sums
        return CenterState(float(loss), rule, sums, sizes)

    def first_rule(self, start: Array) -> Rule:
        """The rule with centers for labels, or soft labels, to start from."""
        rule = self.rule
        for _ in range(rule.start_rounds):
            rule = self._start_round(rule, start)
        return rule

    def _start_round(self, rule: Rule, start: Array) -> Rule:
        n_clusters = self.n_clusters

        def total(y: Array, block: Array, w: Array | None) -> Swept:
            soft = blocks.one_hot(block, n_clusters, None) if block.ndim == 1 else block
            mass = rule.start_mass(y, soft) if w is None else rule.start_mass(y, soft) * w[:, None]
            return Swept(sums=[blocks.project_transposed(y, mass, None).T, namespace(y).sum(mass, axis=0)])

        sums, sizes = sweep(total, self.Y, start, self.coordinates.weights, width=self.Y.shape[1]).sums
        return rule.at_means(sums, sizes)


@dataclass(frozen=True, eq=False)
class _Fuzzy(CenterRule):
    fuzzifier: float

    def soft(self, evidence: Array) -> Array:
        return fuzzy_memberships(evidence, self.fuzzifier)

    def losses(self, evidence: Array, soft: Array) -> Array:
        return namespace(soft).sum(soft**self.fuzzifier * evidence, axis=1)

    def mass(self, distances: Array, soft: Array) -> Array:
        return soft**self.fuzzifier

    def start_mass(self, y: Array, soft: Array) -> Array:
        return soft**self.fuzzifier


def fuzzy_memberships(distances: Array, fuzzifier: float) -> Array:
    """``1 / sum_k (d_j / d_k)^(1/(m-1))`` of squared distances, in logarithms; a row on a center belongs to it."""
    xp = namespace(distances)
    logarithms = xp.log(xp.clip(distances, float(np.finfo(float).tiny), None)) / (1.0 - fuzzifier)
    soft = xp.exp(logarithms - xp.max(logarithms, axis=1, keepdims=True))
    return soft / xp.sum(soft, axis=1, keepdims=True)


def collapsing_fuzzifier(Y: Sweepable, weights: Array | None) -> float:
    """The fuzzifier from which on all centers may fall together in the mean (Yu, Cheng and Huang, 2004).

    ``1 / (1 - 2 l)`` with the largest eigenvalue l of the mean of ``y y' / |y|^2``; infinite for ``l >= 1/2``.
    """
    share = leading_direction_share(Y, weights)
    return 1.0 / (1.0 - 2.0 * share) if share < 0.5 else np.inf


@dataclass(eq=False, repr=False, kw_only=True)
class CenterClusterer(SoftClusterer):
    """What fuzzy k-means and its robust form share: centers in the full space, or in principal components."""

    n_components: int | None = None
    variance = None  # not a parameter: there is nothing to reduce, or n_components does it
    _unreduced = True

    @abstractmethod
    def _rule_at(self, centers: Float | None) -> CenterRule:
        """Memberships by these centers; none before there is a start."""

    @property
    def _rule(self) -> CenterRule:
        return self._rule_at(to_host(self.cluster_centers_).astype(np.float64))

    def _method(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Centers:
        return Centers(coordinates, self._embedding(coordinates, n_components), self.n_clusters, self._rule_at(None))

    def _kmeans_labels(self, coordinates: Coordinates, n_components: int, rng: np.random.RandomState) -> Labels:
        kind, weights = self._start_kind, coordinates.weights
        return start_labels(kind, coordinates, self.n_clusters, n_components, rng, RESTARTS, weights)

    @property
    def _start_kind(self) -> str:
        return "k-means++" if self._in_full_space else "pca"

    def _publish_parameters(self, coordinates: Coordinates, method: Any, run: Run) -> None:
        dtype, centers = coordinates.rows.dtype, run.state.rule.centers
        self.__dict__.pop("components_", None)
        if not self._in_full_space:
            axes = coordinates.loadings(np.eye(coordinates.rank, centers.shape[1]))
            fixed = fix_signs(axes)
            self.components_ = np.ascontiguousarray(fixed.T.astype(dtype))
            centers = centers * np.sign(np.sum(fixed * axes, axis=0))
        self.cluster_centers_ = np.ascontiguousarray(centers.astype(dtype))

    def _reorder(self, order: NDArray[np.intp]) -> None:
        self.cluster_centers_ = np.ascontiguousarray(self.cluster_centers_[order])

    def _nearest(self, Y: Sweepable) -> Array:
        """Squared distance of each row from the nearest center."""
        rule = self._rule
        nearest = lambda y: Swept(rows=[namespace(y).min(rule.evidence(y), axis=1)])  # noqa: E731
        return sweep(nearest, Y, width=max(Y.shape[1], self.n_clusters)).rows[0]


@dataclass(eq=False, repr=False, kw_only=True)
class FuzzyKMeans(CenterClusterer):
    r"""Fuzzy k-means (fuzzy c-means).

    .. math:: \min_{U,\, V} \; \sum_{i,\, j} u_{ij}^m \|x_i - v_j\|^2, \quad u_{ij} \ge 0, \; \sum_j u_{ij} = 1

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    x_i      row i, in the full space or in the leading principal components
    v_j      center j, ``cluster_centers_``
    u_ij     membership of row i in cluster j, ``soft_labels_``
    m        ``fuzzifier``; 1 would be k-means, more is softer
    ======== =============================================================================

    In high dimension distances are nearly equal, and the customary ``m = 2`` makes all memberships 1/c and all centers
    the mean. From ``1 / (1 - 2 l)`` on, l being the largest eigenvalue of the mean of ``x x' / |x|^2``, the mean
    attracts the centers; some of them meet well before. "auto" goes a tenth of the way from 1 to that value, and never
    beyond 2.

    Parameters
    ----------
    n_clusters
    fuzzifier : float or "auto", default="auto"
        The exponent m, above 1.
    n_components : int, default=None
        Principal components to cluster in; None is the full space, without PCA.
    max_rank
    init : {"k-means++", "random"} or array, default="k-means++"
        k-means, best of ten starts; random memberships; or labels, or memberships of shape (n_samples, n_clusters), to
        start from.
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
    fuzzifier_ : float
        The exponent used.
    collapsing_fuzzifier_ : float
        The exponent from which on the mean attracts all centers; infinite when none does.
    objective_, objective_history_, n_iter_, converged_

    References
    ----------
    J. C. Bezdek, "Pattern recognition with fuzzy objective function algorithms", 1981. J. Yu, Q. Cheng and H. Huang,
    "Analysis of the weighting exponent in the FCM", IEEE Transactions on Systems, Man, and Cybernetics B 34(1), 2004.

    Examples
    --------
    >>> import jointclust as jc
    >>> digits = jc.datasets.load("digits")
    >>> model = jc.FuzzyKMeans(10, random_state=0).fit(digits.data)
    >>> round(model.fuzzifier_, 2), model.soft_labels_.shape
    (1.04, (1797, 10))
    """

    _limits: ClassVar[Limits] = {"fuzzifier": [Interval(Real, 1, None, closed="neither"), StrOptions({"auto"})]}
    fuzzifier: float | str = "auto"

    def _prepare(
        self, coordinates: Coordinates, n_components: int, given: NDArray | None, rng: np.random.RandomState
    ) -> None:
        Y = self._embedding(coordinates, n_components)
        self.collapsing_fuzzifier_ = collapsing_fuzzifier(Y, coordinates.weights)
        self.fuzzifier_ = self._safe_fuzzifier if self.fuzzifier == "auto" else float(self.fuzzifier)

    @property
    def _safe_fuzzifier(self) -> float:
        return min(2.0, 1.0 + _SAFE * (self.collapsing_fuzzifier_ - 1.0))

    def _rule_at(self, centers: Float | None) -> _Fuzzy:
        return _Fuzzy(centers, self.fuzzifier_)

    def _warn(self, coordinates: Coordinates, method: Any, run: Run) -> None:
        super()._warn(coordinates, method, run)
        weights, sizes = coordinates.weights, cluster_sizes(self.labels_, self.n_clusters)
        if coordinates.is_constant or self.n_clusters == 1 or (sizes == 0).any():
            return
        centers = self.cluster_centers_.astype(np.float64)
        nearest = self._nearest(self._embed(coordinates.rows))
        between = squared_distances(centers, centers)
        np.fill_diagonal(between, np.inf)
        meeting = int(np.sum(between.min(axis=1) < 1e-6 * weighted_median(nearest, weights)))

        def squares(soft: Array, w: Array | None) -> Swept:
            squared = namespace(soft).sum(soft**2, axis=1)
            return Swept(sums=[namespace(soft).sum(squared if w is None else squared * w)])

        total = float(sweep(squares, self.soft_labels_, weights, width=self.n_clusters).sums[0])
        sharpness = total / coordinates.mass
        if meeting or sharpness * self.n_clusters < 1.1:
            what = f"{meeting} centers fell together" if meeting else "all memberships are nearly equal"
            tell(
                f"FuzzyKMeans collapsed: {what} at fuzzifier={self.fuzzifier_:.4g}. {self._collapse_remedy()}",
                CollapseWarning,
            )

    def _collapse_remedy(self) -> str:
        if self.fuzzifier_ > self._safe_fuzzifier:
            return f'Lower fuzzifier: {self._safe_fuzzifier:.4g} ("auto") is safe on data like these.'
        return "Lower n_clusters, or fuzzifier."
