"""The members that a consensus fits where rows have two or three columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jointclust.consensus.classifiers import LandmarkLabels, Member
from jointclust.consensus.projection import ViewProjection
from jointclust.numerics.graph import neighbors
from jointclust.numerics.mixture import divergence, fit_mixture
from jointclust.numerics.spanning_tree import (
    SpanningTree,
    fair_joins,
    information,
    informative_cut,
    spanning_tree,
)
from jointclust.types import Float, Labels

# Limits of the Gini index of cluster sizes; the one of the member that has no other criterion.
_INEQUALITIES, _USUAL = (0.1, 0.3, 0.5, 0.7), 1
# The nearest rows, the row itself included, whose distance is its reach in each spanning tree; 1 is none.
_REACHES = (1, 5)
# Divergence per row up to which a mixture describes the density: of true mixtures it is below, of curves far above.
_DESCRIBES = 0.125


def n_low_members(n_finer: int, n_starts: int) -> int:
    """How many members :func:`low_members` fits."""
    return 1 + n_finer + _n_trees(n_starts)


def _n_trees(n_starts: int) -> int:
    return 1 if n_starts == 1 else len(_REACHES)


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

    def fair(self, n_clusters: int, limit: int = _USUAL) -> Labels:
        """The clusters that are left at one limit of the Gini index."""
        return self.tree.parts(self._cut(n_clusters, [limit]))

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

    In few columns density can be seen, so the members cut a spanning tree where rows are sparse. But where a mixture of
    Gaussian distributions describes the density as well as the neighbours do, its components are the clusters, whether
    or not there are gaps between them.

    The first is the partition that is chosen; finer ones split its clusters, so that most members always vote for it;
    the last ones are other partitions, which say where it is in doubt.
    """
    Z = view.landmarks.astype(np.float64)
    number = min(n_clusters, len(Z))
    trees = [_Cuts.of(Z, mass, n_near) for n_near in _REACHES[: _n_trees(n_starts)]]
    found = [(f"spanning tree, {number} clusters", cuts.informative(number)) for cuts in trees]
    unit = trees[0].tree.usual_length
    best = int(np.argmin([_uninformed(Z, labels, mass, unit) for _, labels in found]))
    mixture = _mixture(Z, mass, number, [labels for _, labels in found], n_starts, rng)
    if mixture is None:
        others = [*found[:best], *found[best + 1 :], (f"fair linkage, {number} clusters", trees[best].fair(number))]
        kind, labels = found[best]
    else:
        others, kind, labels = found, f"Gaussian mixture, {number} clusters", mixture
    split = [(f"{kind}, split", _both(labels, trees[best].informative(min(size, len(Z))))) for size in finer]
    members = [LandmarkLabels(view, name, *_coded(codes)) for name, codes in [(kind, labels), *split, *others]]
    for _ in members:
        report()
    return list(members)


def _uninformed(Z: Float, labels: Labels, mass: Float, unit: float) -> float:
    """What a partition does not tell of the rows: the entropy within its clusters."""
    of_cluster = [labels == number for number in range(int(labels.max()) + 1)]
    lengths = np.array([unit + spanning_tree(Z[rows]).lengths.sum() for rows in of_cluster])
    return float(information(lengths, np.array([mass[rows].sum() for rows in of_cluster]), Z.shape[1]).sum())


def _mixture(
    Z: Float, mass: Float, n_clusters: int, given: list[Labels], n_starts: int, rng: np.random.RandomState
) -> Labels | None:
    """The components of a mixture; None if it does not describe the density of the rows."""
    if len(Z) < 2 * n_clusters or n_clusters < 2:
        return None
    mixture = fit_mixture(Z, n_clusters, mass, rng, n_starts, given)
    return mixture.labels(Z) if divergence(mixture, Z, mass) < _DESCRIBES else None


def _both(one: Labels, other: Labels) -> Labels:
    """The common refinement of two partitions."""
    return one.astype(np.int64) * (int(other.max()) + 1) + other


def _coded(labels: Labels) -> tuple[np.ndarray, int]:
    names, codes = np.unique(labels, return_inverse=True)
    return codes.ravel().astype(np.uint16), names.size
