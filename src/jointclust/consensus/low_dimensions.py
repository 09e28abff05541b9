"""The members that a consensus fits where rows have two or three columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jointclust.consensus.classifiers import Member, NearestLabels
from jointclust.consensus.projection import ViewProjection
from jointclust.numerics.graph import neighbors
from jointclust.numerics.mixture import divergence, fit_mixture
from jointclust.numerics.spanning_tree import (
    SpanningTree,
    fair_joins,
    information,
    informative_cut,
    spanning_tree,
    widest_cut,
)
from jointclust.types import Float, Labels

# Limits of the Gini index of cluster sizes; the one of the member that has no other criterion.
_INEQUALITIES, _USUAL = (0.1, 0.3, 0.5, 0.7), [1]
# The nearest rows, the row itself included, whose distance is its reach in each spanning tree; 1 is none.
_REACHES = (1, 5)
# Starts of the mixture from k-means, for each start of the other members.
_STARTS = 3
# Divergence per row up to which a mixture describes the density: of true mixtures it is below, of curves far above, of
# values that repeat far below zero.
_DESCRIBES = 0.125
# Digits of a column's range to which values are one, rounding of single precision aside.
_DIGITS = 5
# Parts are plainly apart if the gaps between them are wider than the next one by this factor.
_WIDE = 1.3


def n_low_members(n_finer: int, n_starts: int) -> int:
    """How many members :func:`low_members` fits."""
    return 1 + n_finer + _n_trees(n_starts)


def _n_trees(n_starts: int) -> int:
    return 1 if n_starts == 1 else len(_REACHES)


class _Named(NamedTuple):
    """A partition of landmarks, and the method that found it."""

    kind: str
    labels: Labels

    def member(self, view: ViewProjection) -> Member:
        names, codes = np.unique(self.labels, return_inverse=True)
        return NearestLabels(view, f"{self.kind}, {names.size} clusters", codes.ravel().astype(np.uint16), names.size)


class _Cuts(NamedTuple):
    """A spanning tree of weighted rows, and the orders in which its links join them, one for each limit."""

    rows: Float
    mass: Float
    tree: SpanningTree
    joins: list[np.ndarray]

    @classmethod
    def of(cls, Z: Float, mass: Float, n_near: int) -> _Cuts:
        """The tree where each row reaches as far as its ``n_near`` nearest."""
        reach = None
        if n_near > 1:
            reach = np.linalg.norm(Z - Z[neighbors(Z, Z, min(n_near, len(Z)))[:, -1]], axis=1)
        tree = spanning_tree(Z, reach)
        return cls(Z, mass, tree, [fair_joins(tree, mass, limit) for limit in _INEQUALITIES])

    def fair(self, n_clusters: int) -> Labels:
        """The clusters that are left at the usual limit of the Gini index."""
        return self.tree.parts(self._cut(n_clusters, _USUAL))

    def informative(self, n_clusters: int) -> Labels:
        """The parts of all limits at once, joined until so many clusters are left."""
        every = self._cut(n_clusters, range(len(self.joins)))
        return self.tree.parts(informative_cut(self.tree, every, self.mass, n_clusters, self.rows.shape[1]))

    def _cut(self, n_clusters: int, limits: range | list[int]) -> np.ndarray:
        cut = np.zeros(len(self.tree.links), dtype=bool)
        for limit in limits:
            cut[self.joins[limit][len(cut) + 1 - n_clusters :]] = True
        return cut


def low_members(
    view: ViewProjection,
    mass: Float,
    n_clusters: int,
    finer: list[int],
    n_starts: int,
    rng: np.random.RandomState,
    report: Callable[[], object],
) -> list[Member]:
    """Fitted members on the landmarks of a view, which are distinct rows of some mass.

    In few columns density can be seen, in one of three ways. Where a mixture of Gaussian distributions describes the
    density as well as the neighbours do, its components are the clusters, whether or not there are gaps between them.
    Otherwise, where gaps are wide, the parts between them are. Otherwise a spanning tree is cut where that tells most
    of the rows, in clusters of sizes that do not differ too much.

    The first member is the partition that is chosen; finer ones split its clusters, so that most members always vote
    for it; the last ones are other partitions, which say where it is in doubt.
    """
    Z = _without_steps(view.landmarks.astype(np.float64), view.basis.astype(np.float64), rng)
    number = min(n_clusters, len(Z))
    trees = [_Cuts.of(Z, mass, n_near) for n_near in _REACHES[: _n_trees(n_starts)]]
    candidates = [_Named("spanning tree", cuts.informative(number)) for cuts in trees]
    unit = trees[0].tree.usual_length
    best = int(np.argmin([_uninformed(Z, one.labels, mass, unit) for one in candidates]))
    chosen = _mixture(Z, mass, number, [one.labels for one in candidates], n_starts, rng) or _gaps(trees[-1], number)
    if chosen is None:
        chosen, candidates[best] = candidates[best], _Named("fair linkage", trees[best].fair(number))
    finer_parts = [trees[best].informative(min(size, len(Z))) for size in finer]
    split = [_Named(f"{chosen.kind}, split", _both(chosen.labels, parts)) for parts in finer_parts]
    members = [one.member(view) for one in (chosen, *split, *candidates)]
    for _ in members:
        report()
    return members


def _without_steps(Z: Float, basis: Float, rng: np.random.RandomState) -> Float:
    """Rows in which a column of few values varies evenly about each, so that the steps between them are no gaps."""
    columns, changed = Z @ basis.T, np.zeros((len(Z), len(basis)))
    for column, change in zip(columns.T, changed.T, strict=True):
        levels = np.unique(np.round(column, _DIGITS - int(np.ceil(np.log10(np.ptp(column) or 1.0)))))
        if 1 < levels.size <= np.sqrt(len(Z)):
            change[:] = rng.uniform(-0.5, 0.5, len(Z)) * np.median(np.diff(levels))
    return Z + changed @ basis if changed.any() else Z


def _uninformed(Z: Float, labels: Labels, mass: Float, unit: float) -> float:
    """The entropy of the rows within the clusters of a partition."""
    of_cluster = [labels == number for number in range(int(labels.max()) + 1)]
    lengths = np.array([unit + spanning_tree(Z[rows]).lengths.sum() for rows in of_cluster])
    return float(information(lengths, np.array([mass[rows].sum() for rows in of_cluster]), Z.shape[1]).sum())


def _mixture(
    Z: Float, mass: Float, n_clusters: int, given: list[Labels], n_starts: int, rng: np.random.RandomState
) -> _Named | None:
    """The components of a mixture; None if it does not describe the density of the rows."""
    if len(Z) < 2 * n_clusters or n_clusters < 2:
        return None
    mixture = fit_mixture(Z, n_clusters, mass, rng, _STARTS * n_starts, given)
    return _Named("Gaussian mixture", mixture.labels(Z)) if abs(divergence(mixture, Z, mass)) < _DESCRIBES else None


def _gaps(cuts: _Cuts, n_clusters: int) -> _Named | None:
    """The parts between wide gaps; None if there are other gaps that are nearly as wide."""
    least = float(cuts.mass.sum()) / np.sqrt(len(cuts.rows))
    cut, factor = widest_cut(cuts.tree, cuts.mass, n_clusters, least)
    return _Named("gaps", cuts.tree.parts(cut)) if factor >= _WIDE else None


def _both(one: Labels, other: Labels) -> Labels:
    """The common refinement of two partitions."""
    return one.astype(np.int64) * (int(other.max()) + 1) + other
