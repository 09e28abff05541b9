"""The tree of a consensus: nested partitions that join or split its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import xlogy

from jointclust.consensus.agreement import Agreement
from jointclust.consensus.confidence import ConfidenceRule
from jointclust.consensus.partitions import Partitions, cluster_votes
from jointclust.consensus.training import Patterns
from jointclust.consensus.views import MOST_ROWS
from jointclust.numerics.kmeans import kmeans
from jointclust.rows.arrays import to_host
from jointclust.types import Float, Labels

# Each cluster is cut into this many parts, which are then joined again.
_PARTS = 6
# Clusters of the finest layer, for each cluster of the consensus.
FINEST = 4
# Parts stay apart if the members' clusters give this share of the information on which part a row is in.
# Halves of round clusters reach 0.2 to 0.4, classes of real data mostly 0.35 to 0.8.
_LEAST_SHARE = 1 / 3
# A member with all rows of two parts in one cluster gives no information; at least this share of members counts as
# informative.
_FEWEST = 0.3
_RESTARTS = 10
# Weight of a row without weight, among the rows of its group: a group of absent rows has a place, too.
_ABSENT = 1e-200


@dataclass(frozen=True, eq=False)
class Weighted(Partitions):
    """Partitions of weighted rows: of patterns, each with its share of the weight.

    Attributes
    ----------
    weights : array of shape (n_rows,)
        Of the rows.
    groups : array of shape (n_rows,) or None
        The group that a row stays with, -1 if it is by itself.
    """

    weights: Float
    groups: NDArray | None = None

    def at(self, index: NDArray[np.bool_]) -> Weighted:
        """The partitions of some rows."""
        groups = None if self.groups is None else self.groups[index]
        return replace(self, codes=self.codes[index], weights=self.weights[index], groups=groups)

    def compact(self) -> tuple[Weighted, NDArray[np.intp]]:
        """The partitions without empty clusters, and the columns of ``B`` that are left."""
        coded = [np.unique(column, return_inverse=True) for column in self.codes.T]
        codes = np.column_stack([code.ravel() for _, code in coded])
        columns = [start + names for start, (names, _) in zip(self.offsets, coded, strict=False)]
        return replace(self, codes=codes, sizes=[names.size for names, _ in coded]), np.concatenate(columns)


class Join(NamedTuple):
    """Two sets of rows made one; it keeps the number of the first, which is the smaller one.

    ``lost`` is the information on the members' clusters that the layer loses, ``rank`` the place in the order of joins.
    ``pairs`` and ``own`` count the pairs of rows that become pairs inside a cluster: those that each member has in one
    cluster, and all.
    """

    first: int
    second: int
    lost: float
    rank: float
    pairs: Float
    own: float

    def renamed(self, names: Sequence[int] | Labels) -> Join:
        """The same with other numbers for the sets."""
        return self._replace(first=int(names[self.first]), second=int(names[self.second]))


@dataclass(frozen=True, eq=False)
class Tree:
    r"""Which clusters join in which order: those that lose least information on the members' clusters.

    .. math:: I = \sum_m w_m \sum_{c, g} n_{cg}^m \log \frac{n_{cg}^m \, n}{n_c \, n_g^m}

    with the weight n of rows in cluster c, in cluster g of member m, and in both. The clusters of the consensus are cut
    into parts by k-means among their own rows, in the members' embedding. Parts that the members do not agree to keep
    apart are joined first, then those of the same cluster, then the clusters.

    Attributes
    ----------
    codes, parts, votes : array of shape (n_votes,)
        Votes of the members' clusters, numbered through, for parts; only those that share rows with the part.
    cluster_of_part, leaf_of_part : array of shape (n_parts,)
        The cluster of the consensus and that of the finest layer which a part belongs to.
    joins : array of shape (n_leaves - 1, 2)
        Numbers of leaves, the finest layer first; a joined set has its smallest one.
    heights : array of shape (n_leaves - 1,)
        Share of the finest layer's information on the members' clusters that is lost so far.
    agreement : array of shape (n_leaves,)
        Of the layers from one cluster on: mean adjusted Rand index with the members, by their weights.
    leaf_of_override : array of shape (n_overrides,) or None
        The leaf of each group, by the number of its override; -1 for overrides that are none of a group.
    """

    codes: NDArray[np.int32]
    parts: NDArray[np.int32]
    votes: Float
    cluster_of_part: NDArray[np.int32]
    leaf_of_part: NDArray[np.int32]
    joins: NDArray[np.int32]
    heights: Float
    agreement: Float
    leaf_of_override: NDArray[np.int32] | None = None

    @property
    def n_leaves(self) -> int:
        return len(self.joins) + 1

    @classmethod
    def of(cls, partitions: Weighted, clusters: NDArray, rng: np.random.RandomState) -> Tree:
        """The tree over clusters of weighted rows."""
        names, clusters = np.unique(clusters, return_inverse=True)
        starts, entries, fine = [0], list[tuple[NDArray, NDArray, Float]](), list[Join]()
        for number in range(names.size):
            columns, table, joins = _parts_of(partitions.at(clusters == number), rng)
            part, column = np.nonzero(table.T)
            entries.append((columns[column], starts[-1] + part, table[column, part]))
            starts.append(starts[-1] + len(joins) + 1)
            fine += [join.renamed(range(starts[-2], starts[-1])) for join in joins]
        fine.sort(key=lambda join: join.rank)
        coarse = [join.renamed(starts) for join in _joined(partitions, clusters, names.size)]
        n_hidden = max(0, starts[-1] - FINEST * names.size)
        leaf = _numbers([join[:2] for join in fine[:n_hidden]], starts[-1])
        joins = [join.renamed(leaf) for join in [*fine, *coarse][n_hidden:]]
        lost = np.cumsum([join.lost for join in joins])
        codes, parts, votes = (np.concatenate(each) for each in zip(*entries, strict=True))
        return cls(
            codes.astype(np.int32),
            parts.astype(np.int32),
            votes,
            np.repeat(names, np.diff(starts)).astype(np.int32),
            leaf,
            np.array([join[:2] for join in joins], np.int32).reshape(-1, 2),
            lost / (lost.max(initial=0.0) or 1.0),
            _agreement(partitions, joins),
        )

    def leaves(self, codes: NDArray, clusters: Labels, weights: Float | None = None, groups: Any = None) -> Labels:
        """The cluster of the finest layer for rows, from their codes, numbered through, and their clusters.

        Rows of a group, which are in one cluster, get the same one, by the sum of their votes.
        """
        leaves = np.zeros(len(codes), np.int32)
        for cluster in np.unique(clusters):
            rows = clusters == cluster
            start, stop = np.searchsorted(self.cluster_of_part, [cluster, cluster + 1])
            own = slice(*np.searchsorted(self.parts, [start, stop]))
            table = np.zeros((max(int(codes.max()), int(self.codes.max(initial=0))) + 1, stop - start))
            table[self.codes[own], self.parts[own] - start] = self.votes[own]
            together = (None, None) if weights is None or groups is None else (weights[rows], groups[rows])
            leaves[rows] = self.leaf_of_part[start + _voted(table, codes[rows], *together)]
        return leaves

    def renumbered(self, numbers: NDArray[np.intp]) -> Tree:
        """The same tree where the clusters of the consensus have other numbers."""
        cluster = numbers[self.cluster_of_part].astype(np.int32)
        rank = np.argsort(cluster, kind="stable")
        parts = np.argsort(rank)[self.parts].astype(np.int32)
        entries = np.argsort(parts, kind="stable")
        return replace(
            self,
            codes=self.codes[entries],
            parts=parts[entries],
            votes=self.votes[entries],
            cluster_of_part=cluster[rank],
            leaf_of_part=self.leaf_of_part[rank],
        )

    def numbers(self, n_clusters: int) -> Labels:
        """The cluster that each leaf belongs to in a layer, numbered in the order of their first leaves."""
        return _numbers(self.joins[: self.n_leaves - n_clusters], self.n_leaves)

    def labels(self, n_clusters: int) -> Labels:
        """The same; the layer of the consensus has its numbers of clusters, some of which may be free."""
        if n_clusters != np.unique(self.cluster_of_part).size:
            return self.numbers(n_clusters)
        labels = np.empty(self.n_leaves, np.int32)
        labels[self.leaf_of_part] = self.cluster_of_part
        return labels


def _numbers(joins: Any, n: int) -> Labels:
    """Numbers from 0 of the sets that n things are in after some joins, in the order of their first ones."""
    first = np.arange(n)
    for one, other in joins:
        first[first == other] = one
    return np.unique(first, return_inverse=True)[1].ravel().astype(np.int32)


def _voted(table: Float, columns: NDArray, weights: Float | None = None, groups: NDArray | None = None) -> Labels:
    """The part with most votes for rows, from the votes of their codes; one for all rows of a group."""
    total = np.zeros((len(columns), table.shape[1]))
    for column in columns.T:
        total += table[column]
    if weights is not None and groups is not None and (groups >= 0).any():
        rows = np.flatnonzero(groups >= 0)
        numbers = np.unique(groups[rows], return_inverse=True)[1].ravel()
        sums = np.zeros((int(numbers.max()) + 1, table.shape[1]))
        np.add.at(sums, numbers, np.maximum(weights[rows, None], _ABSENT) * total[rows])
        total[rows] = sums[numbers]
    return total.argmax(axis=1).astype(np.int32)


def _parts_of(partitions: Weighted, rng: np.random.RandomState) -> tuple[NDArray[np.intp], Float, list[Join]]:
    """The parts of one cluster, the largest first: the columns that vote for them, their votes, and how parts join."""
    present = partitions.weights > 0
    n_parts = min(_PARTS, int(present.sum()))
    if n_parts < 2:
        return np.empty(0, np.intp), np.empty((0, 1)), []
    here, columns = partitions.at(present).compact()
    proposed = kmeans(here.embedded(n_parts), n_parts, rng, here.weights, n_restarts=_RESTARTS).labels
    while True:
        proposed = _by_size(proposed, here.weights)
        n_parts = int(proposed.max()) + 1
        tables = zip(here.shares, here.votes_for(proposed, n_parts), strict=True)
        table = np.vstack([share * votes for share, votes in tables])
        voted = _voted(table, here.codes + here.offsets[:-1], here.weights, here.groups)
        if np.unique(voted).size == n_parts:
            return columns, table, _joined(here, voted, n_parts, least=_LEAST_SHARE)
        proposed = voted  # without parts that get no rows


def _by_size(labels: Labels, weights: Float) -> Labels:
    """Labels without gaps, 0 being the largest."""
    dense = np.unique(labels, return_inverse=True)[1].ravel()
    order = np.argsort(-np.bincount(dense, weights=weights).round(13), kind="stable")
    return np.argsort(order)[dense].astype(np.int32)


def _joined(partitions: Weighted, labels: NDArray, n_clusters: int, least: float = 0.0) -> list[Join]:
    """Join clusters until there is one, first those that the members hardly separate."""
    onehot = sp.csr_array((partitions.weights, (labels, np.arange(labels.size))), shape=(n_clusters, labels.size))
    counts = (onehot @ partitions.stacked(np.ones(int(partitions.offsets[-1])))).toarray()
    sizes, shares = onehot.sum(axis=1), np.repeat(partitions.shares, partitions.sizes)
    lost = np.array([_lost(counts, sizes, shares, one) for one in range(n_clusters)])
    np.fill_diagonal(lost, np.inf)
    joins: list[Join] = []
    rank, unsure = -np.inf, least > 0
    for _ in range(n_clusters - 1):
        share = np.round(lost / _most_lost(partitions, counts, sizes), 9) if unsure else lost
        unsure = unsure and bool(share.min() < least)
        first, second = sorted(map(int, np.unravel_index(np.argmin(share if unsure else lost), lost.shape)))
        rank = rank if unsure else max(rank, lost[first, second], 0.0)
        pairs = 2 * np.add.reduceat(counts[first] * counts[second], partitions.offsets[:-1])
        own = 2 * float(sizes[first] * sizes[second])
        joins.append(Join(first, second, max(float(lost[first, second]), 0.0), rank, pairs, own))
        counts[first] += counts[second]
        sizes[first] += sizes[second]
        gone = np.isinf(lost[first])
        gone[second] = True
        lost[first] = np.where(gone, np.inf, _lost(counts, sizes, shares, first))
        lost[:, first] = lost[first]
        lost[second], lost[:, second] = np.inf, np.inf
    return joins


def _lost(counts: Float, sizes: Float, shares: Float, one: int) -> Float:
    """What is lost of I when a cluster joins each of the others."""
    here = counts[one] > 0
    kept = _entropy_gain(counts[one, here], counts[:, here]) @ shares[here]
    # Rounded, so that equal ones are equal on every machine: the first of them joins.
    return np.round(_entropy_gain(sizes[one], sizes) - kept, 13)


def _most_lost(partitions: Weighted, counts: Float, sizes: Float) -> Float:
    """The most of I that two clusters can lose when they join, from entropies of the join and of members in it."""
    joint, both = counts[:, None] + counts, sizes[:, None] + sizes
    inside = np.add.reduceat(xlogy(joint, joint), partitions.offsets[:-1], axis=2)
    most = _entropy_gain(sizes[:, None], sizes)
    could = np.minimum(xlogy(both, both)[..., None] - inside, most[..., None]) @ partitions.shares
    return np.maximum(could, _FEWEST * most)


def _entropy_gain(a: Float, b: Float) -> Float:
    """By how much ``n log n`` of a sum is more than of its parts."""
    return xlogy(a + b, a + b) - xlogy(a, a) - xlogy(b, b)


def _agreement(partitions: Weighted, joins: list[Join]) -> Float:
    """Mean adjusted Rand index with the members of the layers from one cluster on, pairs counted by weight."""
    total = float(partitions.weights.sum())
    members = np.array(
        [
            np.sum(np.bincount(column, weights=partitions.weights, minlength=size) ** 2)
            for column, size in zip(partitions.codes.T, partitions.sizes, strict=True)
        ]
    )
    pairs = np.array([one.pairs for one in reversed(joins)]).reshape(-1, partitions.n_members)
    both = members - np.vstack([np.zeros(partitions.n_members), np.cumsum(pairs, axis=0)])
    own = (total**2 - np.cumsum([0.0, *(one.own for one in reversed(joins))]))[:, None]
    expected, most = own * members / total**2, (own + members) / 2
    same = most - expected <= 1e-12 * most
    return np.where(same, 1.0, (both - expected) / np.where(same, 1.0, most - expected)) @ partitions.shares


def tree_of(agreement: Agreement, patterns: Patterns, seed: int) -> Tree:
    """The tree over the clusters of a consensus, from a sample of the patterns if there are many."""
    codes, rng, sizes = patterns.codes, np.random.RandomState(seed), agreement.sizes
    some, groups = patterns.some(agreement.soft_labels(codes).argmax(axis=1), MOST_ROWS, rng), agreement.groups(codes)
    together, shares = agreement.groups(some.codes), agreement.shares
    weighted = Weighted(some.codes[:, : len(sizes)], sizes, some.masses, shares, 1.0, 1.0, groups=together)
    tree = Tree.of(weighted, agreement.soft_labels(some.codes).argmax(axis=1), rng)
    if groups is None:
        return tree
    leaves = leaves_of(agreement, tree, codes, patterns.masses)
    of_override = np.full(int(groups.max()) + 1, -1, np.int32)
    of_override[groups[groups >= 0]] = leaves[groups >= 0]
    return replace(tree, leaf_of_override=of_override)


def leaves_of(agreement: Agreement, tree: Tree, codes: NDArray, weights: Float | None = None) -> Labels:
    """The clusters of the finest layer that rows with these codes are in.

    With weights, rows of a group get the same one; the tree knows those of the groups that it was made for.
    """
    votes, groups = agreement.soft_labels(codes), agreement.groups(codes)
    present = np.unique(tree.cluster_of_part)  # a cluster without training rows has no place in the tree
    starts, clusters = np.cumsum([0, *agreement.sizes[:-1]]), present[votes[:, present].argmax(axis=1)]
    leaves = tree.leaves(codes[:, : len(starts)] + starts, clusters, weights, groups)
    if groups is not None and tree.leaf_of_override is not None:
        leaves[groups >= 0] = tree.leaf_of_override[groups[groups >= 0]]
    return leaves


@dataclass(frozen=True, eq=False)
class LayerAgreement(Agreement):
    """An agreement on the clusters of a layer, which have the most votes of their rows.

    Attributes
    ----------
    whole : Agreement
        That of the consensus whose layer it is.
    tree : Tree
        Its tree.
    label_of_leaf : array of shape (n_leaves,)
        The cluster of the layer that each leaf belongs to.
    """

    whole: Agreement
    tree: Tree
    label_of_leaf: Labels

    @classmethod
    def of(cls, whole: Agreement, tree: Tree, n_clusters: int, patterns: Patterns) -> LayerAgreement:
        """The agreement on a layer: the members' clusters vote for its clusters by the rows that they share."""
        label_of_leaf = tree.labels(n_clusters)
        labels, n_clusters = label_of_leaf[leaves_of(whole, tree, patterns.codes)], int(label_of_leaf.max()) + 1
        weighted = Partitions(patterns.codes[:, : len(whole.sizes)], whole.sizes, patterns.masses, whole.shares)
        overrides = None
        if whole.overrides is not None and patterns.codes.shape[1] > len(whole.sizes):
            which = patterns.codes[:, -1]
            overrides = cluster_votes(which, labels, len(whole.overrides), n_clusters, patterns.masses)
        own = {field.name: getattr(whole, field.name) for field in fields(Agreement)}
        nothing_known = None if overrides is None else np.zeros(len(overrides), bool)
        own |= {"votes": weighted.votes_for(labels, n_clusters), "overrides": overrides}
        own |= {"known_overrides": nothing_known}
        if isinstance(whole.scale, ConfidenceRule):  # models of 0.2 have one rule for all clusters
            before = whole.soft_labels(patterns.codes).argmax(axis=1)
            shares = np.zeros((n_clusters, whole.n_clusters))
            np.add.at(shares, (labels, before), patterns.masses)
            own["scale"] = whole.scale.for_others(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300))
        return cls(**own, whole=whole, tree=tree, label_of_leaf=label_of_leaf)

    def soft_labels(self, codes: NDArray) -> Float:
        """The votes; the cluster of the layer has the largest share."""
        votes, place = np.array(to_host(super().soft_labels(codes))), np.arange(len(codes))
        labels = self.label_of_leaf[leaves_of(self.whole, self.tree, to_host(codes))]
        largest = votes.argmax(axis=1)
        votes[place, largest], votes[place, labels] = votes[place, labels], votes[place, largest]
        tied = (votes == votes[place, labels][:, None]).sum(axis=1) > 1
        votes[place[tied], labels[tied]] += 1e-9
        return votes / votes.sum(axis=1, keepdims=True)


def check_layer(tree: Tree, n_clusters: int) -> int:
    """The number of clusters of a layer that exists."""
    if isinstance(n_clusters, bool | np.bool_) or n_clusters not in range(1, tree.n_leaves + 1):
        raise ValueError(
            f"There is no layer of n_clusters={n_clusters!r}: there are those of 1 to {tree.n_leaves}. For more, fit "
            "with more clusters."
        )
    return int(n_clusters)


def linkage_of(tree: Tree, n_clusters: int | None) -> Float:
    """The joins above a layer, as SciPy's ``linkage`` gives trees."""
    hidden = 0 if n_clusters is None else tree.n_leaves - check_layer(tree, n_clusters)
    n = tree.n_leaves - hidden
    node, size, linkage = np.arange(n), np.ones(n), np.empty((n - 1, 4))
    for step, (first, second) in enumerate(tree.numbers(n)[tree.joins[hidden:]]):
        size[first] += size[second]
        linkage[step] = *sorted((node[first], node[second])), tree.heights[hidden + step], size[first]
        node[first] = n + step
    return linkage
