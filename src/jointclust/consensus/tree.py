"""Layers of a consensus: nested partitions, coarser ones that join its clusters and finer ones that split them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.utils.validation import check_is_fitted

from jointclust.consensus.partitions import Partitions, mean_votes
from jointclust.consensus.views import MOST_ROWS
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.partitions import looked_up
from jointclust.rows import as_rows, is_lazy, lazily
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.types import Float, Labels

# Each cluster is cut into this many parts, which are then joined again.
_PARTS = 6
# Clusters of the finest layer, for each cluster of the consensus.
_FINEST = 4
# Parts stay apart where the members' groups tell this share of what they could tell of which of the two a row is in.
# Halves of round clusters reach 0.2 to 0.4, classes of real data mostly 0.35 to 0.8.
_LEAST_TOLD = 1 / 3
# A member that has all rows of two parts in one group could tell nothing; when these are many, so many count as others.
_FEWEST = 0.3
_RESTARTS = 10
_NOT_KEPT = "The groups of so many rows were not kept: predict(X, n_clusters=...) tells the labels."


@dataclass(frozen=True, eq=False)
class Weighted(Partitions):
    """Partitions of rows with weights: here of patterns, each with the share of all weight that rows of it have."""

    weights: Float

    def at(self, index: NDArray[np.bool_]) -> Weighted:
        """Those of some rows."""
        return replace(self, groups=self.groups[index], weights=self.weights[index])

    def compact(self) -> tuple[Weighted, NDArray[np.intp]]:
        """Without the groups that no row is in, and the columns of ``B`` that are left."""
        found = [np.unique(column, return_inverse=True) for column in self.groups.T]
        groups = np.column_stack([group.ravel() for _, group in found])
        columns = [start + names for start, (names, _) in zip(self.offsets, found, strict=False)]
        return replace(self, groups=groups, sizes=[names.size for names, _ in found]), np.concatenate(columns)


class Join(NamedTuple):
    """Two sets of rows made one; it keeps the number of the first, which is the smaller one.

    ``lost`` is what the layer no longer tells of the members' groups, ``rank`` says when the join comes, ``pairs`` and
    ``own`` are how many pairs of rows become pairs inside a cluster: in the same group of each member, and all.
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
    r"""Which clusters join in which order: those that lose least of what the layer tells of the members' groups.

    .. math:: I = \sum_m w_m \sum_{c, g} n_{cg}^m \log \frac{n_{cg}^m \, n}{n_c \, n_g^m}

    with the weight n of rows in cluster c, in group g of member m, and in both. The clusters of the consensus are cut
    into parts by k-means among their own rows, in the members' embedding. Parts that the members do not agree to keep
    apart are joined first, then those of the same cluster, then the clusters.

    Attributes
    ----------
    groups, parts, votes : array of shape (n_votes,)
        How much the groups of the members, numbered through, vote for parts; none where no row of the part is in them.
    cluster_of_part, leaf_of_part : array of shape (n_parts,)
        The cluster of the consensus and that of the finest layer which a part belongs to.
    joins : array of shape (n_leaves - 1, 2)
        Numbers of leaves, the finest layer first; a joined set has its smallest one.
    heights : array of shape (n_leaves - 1,)
        Share of what the finest layer tells of the members' groups that is lost so far.
    agreement : array of shape (n_leaves,)
        Of the layers from one cluster on: mean adjusted Rand index with the members, by their weights.
    """

    groups: NDArray[np.int32]
    parts: NDArray[np.int32]
    votes: Float
    cluster_of_part: NDArray[np.int32]
    leaf_of_part: NDArray[np.int32]
    joins: NDArray[np.int32]
    heights: Float
    agreement: Float

    @property
    def n_leaves(self) -> int:
        return len(self.joins) + 1

    @classmethod
    def of(cls, said: Weighted, clusters: NDArray, rng: np.random.RandomState) -> Tree:
        """The tree over clusters of weighted rows."""
        names, clusters = np.unique(clusters, return_inverse=True)
        starts, entries, fine = [0], list[tuple[NDArray, NDArray, Float]](), list[Join]()
        for number in range(names.size):
            columns, table, joins = _parts_of(said.at(clusters == number), rng)
            part, column = np.nonzero(table.T)
            entries.append((columns[column], starts[-1] + part, table[column, part]))
            starts.append(starts[-1] + len(joins) + 1)
            fine += [join.renamed(range(starts[-2], starts[-1])) for join in joins]
        fine.sort(key=lambda join: join.rank)
        coarse = [join.renamed(starts) for join in _joined(said, clusters, names.size)]
        unsure = sum(join.rank == -np.inf for join in fine)
        n_hidden = max(unsure, starts[-1] - _FINEST * names.size)
        leaf = _numbers([join[:2] for join in fine[:n_hidden]], starts[-1])
        joins = [join.renamed(leaf) for join in [*fine, *coarse][n_hidden:]]
        lost = np.cumsum([join.lost for join in joins])
        groups, parts, votes = (np.concatenate(each) for each in zip(*entries, strict=True))
        return cls(
            groups.astype(np.int32),
            parts.astype(np.int32),
            votes,
            np.repeat(names, np.diff(starts)).astype(np.int32),
            leaf,
            np.array([join[:2] for join in joins], np.int32).reshape(-1, 2),
            lost / (lost.max(initial=0.0) or 1.0),
            _agreement(said, joins),
        )

    def leaves(self, groups: NDArray, clusters: Labels) -> Labels:
        """The cluster of the finest layer for rows, from their groups, numbered through, and their clusters."""
        found = np.zeros(len(groups), np.int32)
        for cluster in np.unique(clusters):
            rows = clusters == cluster
            start, stop = np.searchsorted(self.cluster_of_part, [cluster, cluster + 1])
            own = slice(*np.searchsorted(self.parts, [start, stop]))
            table = np.zeros((max(int(groups.max()), int(self.groups.max(initial=0))) + 1, stop - start))
            table[self.groups[own], self.parts[own] - start] = self.votes[own]
            found[rows] = self.leaf_of_part[start + _voted(table, groups[rows])]
        return found

    def numbers(self, n_clusters: int) -> Labels:
        """The cluster that each leaf belongs to in a layer, numbered in the order of their first leaves."""
        return _numbers(self.joins[: self.n_leaves - n_clusters], self.n_leaves)


def _numbers(joins: Any, n: int) -> Labels:
    """Numbers from 0 of the sets that n things are in after some joins, in the order of their first ones."""
    first = np.arange(n)
    for one, other in joins:
        first[first == other] = one
    return np.unique(first, return_inverse=True)[1].ravel().astype(np.int32)


def _voted(table: Float, columns: NDArray) -> Labels:
    """The part with most votes for rows, from the votes of their groups."""
    total = np.zeros((len(columns), table.shape[1]))
    for column in columns.T:
        total += table[column]
    return total.argmax(axis=1).astype(np.int32)


def _parts_of(said: Weighted, rng: np.random.RandomState) -> tuple[NDArray[np.intp], Float, list[Join]]:
    """The parts of one cluster, the largest first: the groups that vote for them, how, and how the parts join again."""
    present = said.weights > 0
    n_parts = min(_PARTS, int(present.sum()))
    if n_parts < 2:
        return np.empty(0, np.intp), np.empty((0, 1)), []
    here, columns = said.at(present).compact()
    proposed = kmeans(here.embedded(n_parts), n_parts, rng, here.weights, n_restarts=_RESTARTS).labels
    while True:
        proposed = _by_size(proposed, here.weights)
        n_parts = int(proposed.max()) + 1
        tables = zip(here.shares, here.votes_for(proposed, n_parts), strict=True)
        table = np.vstack([share * votes for share, votes in tables])
        voted = _voted(table, here.groups + here.offsets[:-1])
        if np.unique(voted).size == n_parts:
            return columns, table, _joined(here, voted, n_parts, least=_LEAST_TOLD)
        proposed = voted  # a part that no row is voted into is none


def _by_size(labels: Labels, weights: Float) -> Labels:
    """Labels without gaps, 0 being the largest."""
    found = np.unique(labels, return_inverse=True)[1].ravel()
    order = np.argsort(-np.bincount(found, weights=weights).round(13), kind="stable")
    return np.argsort(order)[found].astype(np.int32)


def _joined(said: Weighted, labels: NDArray, n_clusters: int, least: float = 0.0) -> list[Join]:
    """Join clusters until there is one, first those which the members tell apart less than the least."""
    onehot = sp.csr_array((said.weights, (labels, np.arange(labels.size))), shape=(n_clusters, labels.size))
    counts = (onehot @ said.stacked(np.ones(int(said.offsets[-1])))).toarray()
    sizes, shares = onehot.sum(axis=1), np.repeat(said.shares, said.sizes)
    lost = np.array([_lost(counts, sizes, shares, one) for one in range(n_clusters)])
    np.fill_diagonal(lost, np.inf)
    found: list[Join] = []
    rank, unsure = -np.inf, least > 0
    for _ in range(n_clusters - 1):
        told = np.round(lost / _could_be_told(said, counts, sizes), 9) if unsure else lost
        unsure = unsure and bool(told.min() < least)
        first, second = sorted(map(int, np.unravel_index(np.argmin(told if unsure else lost), lost.shape)))
        rank = rank if unsure else max(rank, lost[first, second], 0.0)
        pairs = 2 * np.add.reduceat(counts[first] * counts[second], said.offsets[:-1])
        own = 2 * float(sizes[first] * sizes[second])
        found.append(Join(first, second, max(float(lost[first, second]), 0.0), rank, pairs, own))
        counts[first] += counts[second]
        sizes[first] += sizes[second]
        gone = np.isinf(lost[first])
        gone[second] = True
        lost[first] = np.where(gone, np.inf, _lost(counts, sizes, shares, first))
        lost[:, first] = lost[first]
        lost[second], lost[:, second] = np.inf, np.inf
    return found


def _lost(counts: Float, sizes: Float, shares: Float, one: int) -> Float:
    """What is lost of I when a cluster joins each of the others."""
    here = counts[one] > 0
    kept = _more(counts[one, here], counts[:, here]) @ shares[here]
    # Rounded, so that equal ones are equal on every machine: the first of them joins.
    return np.round(_more(sizes[one], sizes) - kept, 13)


def _could_be_told(said: Weighted, counts: Float, sizes: Float) -> Float:
    """The most that can be lost of I when two clusters join, from the entropies of the join and of the groups in it."""
    groups, both = counts[:, None] + counts, sizes[:, None] + sizes
    inside = np.add.reduceat(xlogy(groups, groups), said.offsets[:-1], axis=2)
    most = _more(sizes[:, None], sizes)
    could = np.minimum(xlogy(both, both)[..., None] - inside, most[..., None]) @ said.shares
    return np.maximum(could, _FEWEST * most)


def _more(a: Float, b: Float) -> Float:
    """By how much ``n log n`` of a sum is more than of its parts."""
    return xlogy(a + b, a + b) - xlogy(a, a) - xlogy(b, b)


def _agreement(said: Weighted, joins: list[Join]) -> Float:
    """Mean adjusted Rand index with the members of the layers from one cluster on, pairs counted by weight."""
    total = float(said.weights.sum())
    members = np.array(
        [
            np.sum(np.bincount(column, weights=said.weights, minlength=size) ** 2)
            for column, size in zip(said.groups.T, said.sizes, strict=True)
        ]
    )
    pairs = np.array([one.pairs for one in reversed(joins)]).reshape(-1, said.n_members)
    both = members - np.vstack([np.zeros(said.n_members), np.cumsum(pairs, axis=0)])
    own = (total**2 - np.cumsum([0.0, *(one.own for one in reversed(joins))]))[:, None]
    expected, most = own * members / total**2, (own + members) / 2
    same = most - expected <= 1e-12 * most
    return np.where(same, 1.0, (both - expected) / np.where(same, 1.0, most - expected)) @ said.shares


class Layered:
    """A consensus that can be cut into fewer and into more clusters, through the groups of its members alone."""

    _patterns: NDArray[np.int32]
    _pattern: NDArray[np.int32]
    _masses: Float
    _votes: list[Float]
    _member_weights: Float
    _seed: int
    # Votes that are settled: none, then the known classes, then those of groups of rows that belong together.
    _settled: Float

    def _said(self, groups: NDArray) -> Float:
        """The votes for rows of these groups; a column after those of the members has the row of settled votes."""
        votes, n_members = mean_votes(groups, self._votes, self._member_weights), len(self._votes)
        if groups.shape[1] == n_members:
            return votes
        xp, which = namespace(votes), groups[:, n_members]
        return xp.where(which[:, None] > 0, xp.take(like(self._settled, votes), which, axis=0), votes)

    @property
    def layers_(self) -> list[dict[str, Any]]:
        """Nested partitions of the training rows, coarse to fine."""
        leaves, tree = self._of_each_row(self._leaves, (), np.int32), self._layered()
        return [
            {
                "n_clusters": number,
                "labels": looked_up(tree.numbers(number), leaves),
                "agreement": float(tree.agreement[number - 1]),
            }
            for number in range(1, tree.n_leaves + 1)
        ]

    def cut(self, n_clusters: int) -> Labels:
        """Labels of the training rows in the layer of so many clusters; no row is rejected.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of clusters of the finest layer.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row; parts of the same cluster of ``labels_`` have numbers that follow each other.

        Examples
        --------
        >>> import jointclust as jc
        >>> wine = jc.datasets.load("wine")
        >>> model = jc.JointConsensus(2, random_state=0).fit(wine.data)
        >>> jc.metrics.clustering_accuracy(wine.target, model.cut(3)) > 0.9
        True
        """
        self._checked(n_clusters)
        return self._of_each_row(lambda groups: self._cut(groups, n_clusters), (), np.int32)

    def linkage(self, n_clusters: int | None = None) -> Float:
        """The tree of the layers, as SciPy's ``linkage`` gives trees.

        Parameters
        ----------
        n_clusters : int, optional
            Of the layer whose clusters are the leaves; the finest one if not given.

        Returns
        -------
        linkage : array of shape (n_clusters - 1, 4)
            Each join: the two nodes, its height (the share of what the finest layer tells of the members' groups that
            is lost there, 1 at the root), and the number of leaves.
        """
        tree = self._layered()
        hidden = 0 if n_clusters is None else tree.n_leaves - self._checked(n_clusters)
        n = tree.n_leaves - hidden
        node, size, found = np.arange(n), np.ones(n), np.empty((n - 1, 4))
        for step, (first, second) in enumerate(tree.numbers(n)[tree.joins[hidden:]]):
            size[first] += size[second]
            found[step] = *sorted((node[first], node[second])), tree.heights[hidden + step], size[first]
            node[first] = n + step
        return found

    def _cut(self, groups: NDArray, n_clusters: int) -> Labels:
        """The cluster of rows of these groups in a layer."""
        return self._layered().numbers(self._checked(n_clusters))[self._leaves(groups)]

    def _checked(self, n_clusters: int) -> int:
        finest = self._layered().n_leaves
        if n_clusters not in range(1, finest + 1):
            raise ValueError(
                f"There is no layer of n_clusters={n_clusters!r}: there are those of 1 to {finest}. For more, fit with "
                "more clusters."
            )
        return int(n_clusters)

    def _of_each_row(self, function: Callable[[NDArray], NDArray], tail: tuple[int, ...], dtype: type) -> Any:
        """What a function of groups says of the training rows, where these are; with Dask when it is asked for."""
        groups = vars(self).get("_groups")
        if groups is not None and is_lazy(groups):
            return lazily(function, groups, tail, dtype)
        if groups is not None:
            return as_rows(groups).here(function(to_host(groups)))
        patterns = self._patterns_or_error()
        if "_pattern" not in vars(self):
            raise AttributeError(_NOT_KEPT)
        return function(patterns)[self._pattern]

    def _patterns_or_error(self) -> NDArray[np.int32]:
        check_is_fitted(self)
        if "_patterns" in vars(self):
            return self._patterns
        if "_tree" in vars(self):
            raise AttributeError(_NOT_KEPT)
        raise AttributeError("This model is of version 0.1, which kept nothing to make layers from. Fit it again.")

    def _layered(self) -> Tree:
        """The tree, made when it is first asked for, of a sample where there are many patterns."""
        if vars(self).get("_tree") is None:
            patterns, rng = self._patterns_or_error(), np.random.RandomState(self._seed)
            clusters = self._said(patterns).argmax(axis=1)
            some = np.arange(len(patterns))
            if some.size > MOST_ROWS:
                some = np.union1d(rng.permutation(some)[:MOST_ROWS], np.unique(clusters, return_index=True)[1])
            sizes = [len(table) for table in self._votes]
            said = Weighted(patterns[some, : len(sizes)], sizes, self._masses[some], self._member_weights)
            self._tree: Tree | None = Tree.of(said, clusters[some], rng)
        return cast(Tree, self._tree)

    def _leaves(self, groups: NDArray) -> Labels:
        """The clusters of the finest layer that rows of these groups are in."""
        tree, votes = self._layered(), self._said(groups)
        # A cluster that no training row is in has no place in the tree.
        present = np.unique(tree.cluster_of_part)
        starts = np.cumsum([0, *(len(table) for table in self._votes[:-1])])
        return tree.leaves(groups[:, : len(starts)] + starts, present[votes[:, present].argmax(axis=1)])
