"""The partition that several partitions of the same rows agree on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from jointclust.numerics.diffusion import MANY, diffused
from jointclust.numerics.groups import Groups
from jointclust.numerics.kmeans import kmeans_on
from jointclust.numerics.linalg import leading_eigenpairs, leading_eigenpairs_on, signs_of
from jointclust.numerics.partitions import centers_of, cluster_order, cluster_sizes, keep
from jointclust.rows import blocks, threads
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.types import Array, Float, Labels

_RESTARTS = 30
# Votes are divided by the root of the clusters' sizes; rows keep a part of their length (see Partitions).
_FAIRNESS, _EVENNESS = 0.5, 0.75
# Number of columns of B beyond which only leading eigenvectors are computed.
_MANY_CODES = 1500
# The share of its label that a row passes on per step, and steps after which the rest is below rounding.
_REACH, _STEPS = 0.3, 20


@dataclass(frozen=True, eq=False)
class Partitions:
    """Partitions of the same rows, each with a weight: ``codes[i, m]`` is the cluster of row i in member m.

    Attributes
    ----------
    codes : array of shape (n_samples, n_members)
        Numbers of the members' clusters, from 0.
    sizes : list of int
        Number of clusters of each member.
    weights : array of shape (n_samples,) or None
        Weights of the rows.
    shares : array of shape (n_members,)
        Weights of the members, summing to 1.
    fairness : float
        Power of the clusters' sizes by which votes are divided: with 0 the majority of a member's cluster decides, with
        1 small clusters have as much weight as large ones.
    evenness : float
        Power of the rows' lengths by which they are divided before k-means: 1 makes them equal; with less, rows on
        which the members differ count less.
    device : array or None
        An array on the device that solves large problems.
    proposal : array of shape (n_samples,) or None
        Clusters that the members vote on; None for those that k-means finds.
    """

    codes: NDArray
    sizes: list[int]
    weights: Float | None
    shares: Float
    fairness: float = _FAIRNESS
    evenness: float = _EVENNESS
    device: Array | None = None
    proposal: Labels | None = None

    @property
    def n_members(self) -> int:
        return len(self.sizes)

    @property
    def offsets(self) -> NDArray[np.intp]:
        return np.cumsum([0, *self.sizes])

    @classmethod
    def of(cls, codes: NDArray, sizes: list[int], weights: Float | None) -> Partitions:
        """Partitions of equal weight."""
        return cls(codes, sizes, weights, np.full(len(sizes), 1.0 / len(sizes)))

    def some(self, members: NDArray[np.bool_], shares: Float | None = None) -> Partitions:
        """The partitions of some members, with equal weights or these shares."""
        sizes = [size for size, wanted in zip(self.sizes, members, strict=True) if wanted]
        equal = np.full(len(sizes), 1.0 / len(sizes))
        return replace(self, codes=self.codes[:, members], sizes=sizes, shares=equal if shares is None else shares)

    def scales(self) -> Float:
        """The entries of ``B``: roots of the member's weight over the size of its cluster."""
        masses = [
            np.bincount(column, weights=self.weights, minlength=size)
            for column, size in zip(self.codes.T, self.sizes, strict=True)
        ]
        roots = [np.sqrt(share / np.where(m > 0, m, 1.0)) for share, m in zip(self.shares, masses, strict=True)]
        return np.concatenate(roots)

    def stacked(self, entries: Float) -> sp.csr_array:
        """``B``: the members' one-hot labels side by side, scaled; one entry per row and member."""
        columns = self.codes + self.offsets[:-1]
        start = np.arange(0, columns.size + 1, self.n_members)
        shape = (len(columns), int(self.offsets[-1]))
        return sp.csr_array((entries[columns].ravel(), columns.ravel(), start), shape=shape)

    def embedded(self, n_clusters: int) -> Float:
        """The rows in the leading singular vectors of B but the first, divided by a power of their length.

        Where these are many, signals that have spread over the rows stand for them.
        """
        stacked, find = self.stacked(self.scales()), signals if n_clusters > MANY else leading_directions
        Y = np.asarray(stacked @ find(stacked, max(n_clusters - 1, 1), self.weights, self.device))
        return blocks.unit(Y) * np.linalg.norm(Y, axis=1, keepdims=True) ** (1 - self.evenness)

    def votes_for(self, labels: Labels, n_clusters: int) -> list[Float]:
        """How the clusters of each member vote."""
        return [
            cluster_votes(column, labels, size, n_clusters, self.weights, self.fairness)
            for column, size in zip(self.codes.T, self.sizes, strict=True)
        ]

    def agreed(
        self,
        n_clusters: int,
        rng: np.random.RandomState,
        known: Labels | None = None,
        groups: Groups | None = None,
        n_restarts: int = _RESTARTS,
    ) -> tuple[Labels, list[Float]]:
        """The partition that the members agree on, and how their clusters vote for it.

        Known classes are the first clusters; of the others the first is the largest.
        """
        n_known = 0 if known is None else int(known.max()) + 1
        Y = self.embedded(n_clusters)
        Y = Y if groups is None else groups.averaged(Y)
        proposed = self._proposed(Y, n_clusters, rng, known, n_restarts)
        if known is not None:
            soft = spread_labels(self, proposed, n_clusters)
            proposed = keep(_largest(soft if groups is None else groups.averaged(soft)), known)
        votes = self.votes_for(proposed, n_clusters)
        labels = self._voted(votes)
        sizes = cluster_sizes(labels, n_clusters, self.weights)
        order = cluster_order(sizes, centers_of(Y, labels, n_clusters, self.weights), n_known)
        votes = [table[:, order] for table in votes]
        return self._voted(votes), votes

    def _voted(self, votes: list[Float]) -> Labels:
        """The cluster with most votes, by the votes of each member's clusters."""
        codes: Any = self.codes if self.device is None else like(self.codes, self.device, namespace(self.device).int64)
        return _largest(mean_votes(codes, votes, self.shares))

    def _proposed(
        self, Y: Float, n_clusters: int, rng: np.random.RandomState, known: Labels | None, n_restarts: int
    ) -> Labels:
        """The proposal, or clusters by k-means.

        If labels are known: these, and clusters without known rows; -1 for the other rows.
        """
        n_new = n_clusters if known is None else n_clusters - int(known.max()) - 1
        if known is not None and n_new == 0:
            return known
        clusters = self.proposal
        if clusters is None:
            device, weights = self.device, self.weights
            clusters = kmeans_on(device, Y, n_clusters, rng, weights, n_restarts=n_restarts, careful=False)
        if known is None:
            return clusters
        sizes, n_held = (cluster_sizes(one, n_clusters, None) for one in (clusters, clusters[known >= 0]))
        new = [cluster for cluster in np.argsort(-sizes, kind="stable") if sizes[cluster] > 0 == n_held[cluster]]
        if len(new) < n_new:  # split clusters that hold known rows
            clusters = kmeans_on(self.device, Y, n_clusters, rng, self.weights, known=known, n_restarts=n_restarts)
            new = list(range(n_clusters - n_new, n_clusters))
        number = np.full(n_clusters, -1, dtype=np.int32)
        number[new[:n_new]] = np.arange(n_clusters - n_new, n_clusters)
        return keep(number[clusters], known)

    def agreement(self) -> Float:
        """The adjusted Rand index of each pair of members, over the rows that have weight."""
        present = self.codes if self.weights is None else self.codes[self.weights > 0]
        onehot = Partitions(present, self.sizes, None, self.shares).stacked(np.ones(int(self.offsets[-1])))
        return adjusted_rand_indices(sp.coo_array(onehot.T @ onehot), self.offsets, len(present))


def shares_of(views: NDArray[np.intp], weights: Float) -> Float:
    """Shares of members by the weights of their views, each spread over its members."""
    return (weights / np.maximum(np.bincount(views, minlength=weights.size), 1))[views]


def _largest(votes: Array) -> Labels:
    return to_host(namespace(votes).argmax(votes, axis=1)).astype(np.int32)


def spread_labels(partitions: Partitions, labels: Labels, n_clusters: int) -> Float:
    """``F = Y + aBB'F``: labels spread from rows that have one (not negative) to rows that are together with them.

    ``BB'`` averages over the clusters of the members. A row of Y is one-hot, over the weight of all rows of its class.
    """
    held, weights = labels >= 0, partitions.weights
    sizes = cluster_sizes(labels[held], n_clusters, None if weights is None else weights[held])
    soft = np.zeros((labels.size, n_clusters))
    soft[held, labels[held]] = 1.0 / np.where(sizes > 0, sizes, 1.0)[labels[held]]
    stacked = partitions.stacked(partitions.scales())
    averaging = stacked.T if weights is None else sp.csr_array(stacked.T @ sp.diags_array(weights))
    sources = soft
    for _ in range(_STEPS):
        soft = sources + _REACH * np.asarray(stacked @ (averaging @ soft))
    return soft


def adjusted_rand_indices(counts: sp.coo_array, offsets: NDArray[np.intp], n_rows: int) -> Float:
    """The index of each pair of partitions, from the number of rows that each pair of clusters shares.

    With ``p = sum n_ij (n_ij - 1)/2`` over the table of two partitions, ``a`` and ``b`` the same over the clusters of
    either and N over all rows, it is ``(p - ab/N) / ((a + b)/2 - ab/N)``.
    """
    pairs, n_members = counts.data * (counts.data - 1) / 2, offsets.size - 1
    member = np.repeat(np.arange(n_members), np.diff(offsets))
    places = member[counts.coords[0]] * n_members + member[counts.coords[1]]
    both = np.bincount(places, weights=pairs, minlength=n_members**2).reshape(n_members, n_members)
    own = both.diagonal()
    expected = np.outer(own, own) / max(n_rows * (n_rows - 1) / 2, 1.0)
    most = (own[:, None] + own) / 2
    # Two partitions agree if both put all rows together, or all apart.
    same = most - expected <= 1e-12 * np.maximum(most, 1.0)
    return np.where(same, 1.0, (both - expected) / np.where(same, 1.0, most - expected))


def leading_directions(stacked: sp.csr_array, q: int, weights: Float | None, device: Array | None = None) -> Float:
    """The right singular vectors V after the first, whose left one is constant; ``BV = U s``."""
    scaled, constant = _scaled(stacked, weights)
    n_codes, transposed = constant.size, sp.csr_array(scaled.T)

    def gram(x: Float) -> Float:
        return transposed @ (scaled @ x) - np.multiply.outer(constant, constant @ x)

    if device is not None:
        dense = (transposed @ scaled).toarray() - np.multiply.outer(constant, constant)
        vectors = leading_eigenpairs_on(device, dense, min(q, n_codes))[1]
    elif n_codes > _MANY_CODES:
        operator = LinearOperator((n_codes, n_codes), matvec=gram, matmat=gram, dtype=np.float64)
        vectors = leading_eigenpairs(operator, min(q, n_codes))[1]
    else:
        vectors = threads.interruptible(lambda: np.linalg.eigh(gram(np.eye(n_codes))))[1][:, ::-1][:, :q]
    return vectors * signs_of(np.asarray(stacked @ vectors))


def signals(stacked: sp.csr_array, q: int, weights: Float | None, device: Array | None = None) -> Float:
    """Columns by which rows are as near to each other as in their leading directions: signals spread by ``B'B``."""
    scaled, constant = _scaled(stacked, weights)
    if device is None:
        transposed = sp.csr_array(scaled.T)
        return diffused(lambda columns: transposed @ (scaled @ columns), constant, [q])[0]
    parts = _dense_parts(scaled, device)
    xp, ends = namespace(device), np.cumsum([part.shape[1] for part in parts]).tolist()

    def step(columns: Array) -> Array:
        rows = sum(part @ columns[end - part.shape[1] : end, ...] for part, end in zip(parts, ends, strict=True))
        return xp.concat([part.T @ rows for part in parts], axis=0)

    return diffused(step, constant, [q], device)[0]


def _dense_parts(scaled: sp.csr_array, device: Array) -> list[Array]:
    """The columns of each member, dense, made on the device: a row has one entry in each."""
    shape, xp = (scaled.shape[0], -1), namespace(device)
    columns, entries = scaled.indices.reshape(shape), scaled.data.reshape(shape)
    ends = [*columns.min(axis=0)[1:].tolist(), scaled.shape[1]]
    return [
        blocks.one_hot(like(column - start, device, xp.int32), end - start, like(own, device, xp.float64))
        for column, own, start, end in zip(columns.T, entries.T, [0, *ends[:-1]], ends, strict=True)
    ]


def _scaled(stacked: sp.csr_array, weights: Float | None) -> tuple[sp.csr_array, Float]:
    """``W^1/2 B``, and the right singular vector whose left one is constant.

    It has the singular value 1. It need not be the only one: it is taken out by hand.
    """
    scaled = stacked if weights is None else sp.csr_array(sp.diags_array(np.sqrt(weights)) @ stacked)
    constant = stacked.sum(axis=0) if weights is None else weights @ stacked
    constant = np.asarray(constant).ravel()
    return scaled, constant / np.linalg.norm(constant)


def mean_votes(codes: NDArray, votes: list[Float], shares: Float) -> Float:
    """The mean, by the members' weights, of the votes of a row's clusters in them."""
    xp, parts = namespace(codes), shares / shares.max()
    tables = [like(part * table, codes, xp.float64) for table, part in zip(votes, parts, strict=True)]
    total = xp.take(tables[0], codes[:, 0], axis=0)
    for number, table in enumerate(tables[1:], start=1):
        total += xp.take(table, codes[:, number], axis=0)
    return total / float(parts.sum())


def cluster_votes(
    code: NDArray, labels: Labels, n_codes: int, n_clusters: int, weights: Float | None, fairness: float = 1.0
) -> Float:
    """How the clusters of a member vote: shared rows over a power of the other cluster's size, made to sum to one."""
    pairs = code.astype(np.intp) * n_clusters + labels
    masses = np.bincount(pairs, weights=weights, minlength=n_codes * n_clusters)
    table = np.asarray(masses, dtype=np.float64).reshape(n_codes, n_clusters)
    # Relative to the cluster's size, or small clusters lose their rows to large ones.
    sizes = table.sum(axis=0)
    table = table / np.where(sizes > 0, sizes, 1.0) ** fairness
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / n_clusters)
