"""The clusters at every number of clusters: the nodes of the tree of a consensus, and those of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.explain import ClusterExplanation, explained_groups
from jointclust.showing.fitted import Fitted
from jointclust.showing.profile import Contrast, contrast, prototypes_in, sums_by_group
from jointclust.types import Labels


@dataclass(frozen=True, eq=False)
class Layers:
    """Nodes: sets of rows that are one cluster at some numbers of clusters.

    Rows of one atom are together in all of them; ``member`` says which atoms each node has. ``fitted`` are the nodes
    of the fit's clusters, ``of_number`` those of the clusters of each layer, from one cluster on.
    """

    source: Fitted
    atoms: Labels
    member: NDArray[np.bool_]
    fitted: list[int]
    of_number: list[list[int]]
    names: list[str]

    @cached_property
    def shown(self) -> list[int]:
        """All nodes, those of the fit first."""
        others = {node for layer in self.of_number for node in layer} - set(self.fitted)
        return [*self.fitted, *sorted(others)]

    @cached_property
    def cluster_of(self) -> dict[int, int]:
        """The number that nodes have as clusters of the fit."""
        return {node: cluster for cluster, node in enumerate(self.fitted)}

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Numbers of rows."""
        counts: NDArray[np.intp] = self.member @ np.bincount(self.atoms, minlength=self.member.shape[1])
        return counts

    def has(self, node: int) -> NDArray[np.bool_]:
        """Which rows a node has."""
        inside: NDArray[np.bool_] = self.member[node][self.atoms]
        return inside

    @cached_property
    def explained(self) -> dict[int, ClusterExplanation]:
        """What makes each node that has rows."""
        by_node = {self.fitted[one.cluster]: one for one in self.source.explanation}
        others = [node for node in self.shown if node not in by_node and self.sizes[node]]
        if others:
            names, places = [self.names[node] for node in others], self.source.places
            explanations = explained_groups(self.source.features, self.atoms, self.member[others], names, places)
            by_node |= dict(zip(others, explanations, strict=True))
        return by_node

    def prototypes(self, node: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows nearest to a node's center, and the farthest."""
        return prototypes_in(self.source.positions, self.has(node))

    @cached_property
    def contrast(self) -> Contrast:
        """What sets the nodes apart in each feature, counted in all rows."""
        return contrast(*sums_by_group(self.source.features.values, self.atoms, self.member.shape[1]), self.member)

    @cached_property
    def looks(self) -> list[int]:
        """The place of each node's colour: that of a cluster of the fit, which the larger part of it keeps."""
        colors = [-1] * len(self.member)
        for cluster, node in enumerate(self.fitted):
            colors[node] = cluster
        joins = [] if self.source.tree is None else self.source.tree.linkage[:, :2].astype(int).tolist()
        whole = len(joins) + 1
        for step, pair in enumerate(joins):  # up
            large = max(pair, key=lambda node: self.sizes[node])
            if colors[whole + step] < 0:
                colors[whole + step] = colors[large]
        unused = max(colors, default=-1) + 1
        for step in range(len(joins) - 1, -1, -1):  # down
            large, small = sorted(joins[step], key=lambda node: -self.sizes[node])
            for node, own in ((large, colors[whole + step]), (small, unused)):
                if colors[node] < 0:
                    colors[node] = max(own, 0)
                    unused = max(unused, colors[node] + 1)
        return colors


def layers_of(fitted: Fitted) -> Layers:
    """The nodes of a fitted model: those of its tree, if it has one, and its clusters."""
    n_clusters, labels, tree = len(fitted.cluster_names), fitted.labels, fitted.tree
    if tree is None:
        member = np.eye(n_clusters, dtype=bool)
        return Layers(fitted, labels, member, list(range(n_clusters)), [], fitted.cluster_names)
    pairs, atoms = np.unique(tree.leaves.astype(np.int64) * n_clusters + labels, return_inverse=True)
    leaf_of, label_of = np.divmod(pairs, n_clusters)
    joins, n_leaves = tree.linkage[:, :2].astype(int).tolist(), len(tree.linkage) + 1
    sets = [leaf_of == leaf for leaf in range(n_leaves)]
    for first, second in joins:
        sets.append(sets[first] | sets[second])
    names, own = list(tree.names), list[int]()
    nodes = {rows.tobytes(): node for node, rows in enumerate(sets)}
    for cluster in range(n_clusters):
        rows = label_of == cluster
        if rows.tobytes() not in nodes:  # known labels may part the rows as no layer does
            nodes[rows.tobytes()] = len(sets)
            sets.append(rows)
            names.append(fitted.cluster_names[cluster])
        own.append(nodes[rows.tobytes()])
    of_number = _layers(joins, n_leaves)
    if n_clusters <= n_leaves:
        of_number[n_clusters - 1] = own
    return Layers(fitted, atoms.ravel().astype(np.int32), np.array(sets), own, of_number, names)


def _layers(joins: list[list[int]], n_leaves: int) -> list[list[int]]:
    """The nodes of each layer from one cluster on, in the order of their first leaves."""
    first = {leaf: leaf for leaf in range(n_leaves)}
    layers = [sorted(first, key=first.__getitem__)]
    for step, (one, other) in enumerate(joins):
        first[n_leaves + step] = min(first.pop(one), first.pop(other))
        layers.append(sorted(first, key=first.__getitem__))
    return layers[::-1]
