"""Partitions of rows that cut a spanning tree of them."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from jointclust.types import Float, Labels

# Share of a link's length that is added to its reach: of links with equal reach the shortest is taken.
_SHORTEST = 1e-9


class SpanningTree(NamedTuple):
    """A minimum spanning tree of n rows.

    Attributes
    ----------
    links : array of shape (n - 1, 2)
        Numbers of the rows that are linked, in the order of the widths.
    widths : array of shape (n - 1,)
        The largest of the link's length and the reach of its ends.
    lengths : array of shape (n - 1,)
        Euclidean lengths.
    """

    links: NDArray[np.intp]
    widths: Float
    lengths: Float

    @property
    def n_rows(self) -> int:
        return len(self.links) + 1

    @property
    def usual_length(self) -> float:
        """The mean length of a link; 1 where there is none."""
        return float(self.lengths.sum()) / max(len(self.lengths), 1) or 1.0

    def parts(self, cut: NDArray[np.bool_]) -> Labels:
        """The part of each row where some links are cut."""
        kept = self.links[~cut]
        graph = sp.csr_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(self.n_rows, self.n_rows))
        return connected_components(graph, directed=False)[1].astype(np.int32)


def spanning_tree(X: Float, reach: Float | None = None) -> SpanningTree:
    """The minimum spanning tree of rows, by Prim's algorithm.

    With the ``reach`` of each row (the distance to a near neighbour) a link is as wide as the largest of its length and
    the reach of its ends, which keeps rows in sparse places from being bridges.
    """
    n, rest = len(X), len(X) - 1
    rows = np.ascontiguousarray(X.T[:, 1:], dtype=np.float64)
    reaches = np.zeros(0) if reach is None else reach[1:] ** 2
    index, near, best = np.arange(1, n), np.zeros(rest, np.intp), np.full(rest, np.inf)
    links, keys = np.zeros((rest, 2), np.intp), np.zeros(rest)
    row, own = X[0].astype(np.float64), 0.0 if reach is None else float(reach[0] ** 2)
    number = 0
    for left in range(rest, 0, -1):
        gap = rows[:, :left] - row[:, None]
        squared = np.einsum("ij,ij->j", gap, gap)
        if reach is not None:
            squared = np.maximum(np.maximum(squared, reaches[:left]), own) + _SHORTEST * squared
        closer = squared < best[:left]
        np.copyto(best[:left], squared, where=closer)
        np.copyto(near[:left], number, where=closer)
        j, last = int(best[:left].argmin()), left - 1
        number, row = int(index[j]), rows[:, j].copy()
        links[left - 1], keys[left - 1] = (near[j], number), best[j]
        # The last of the rows that are left takes the place of the one that is taken.
        rows[:, j], index[j], near[j], best[j] = rows[:, last], index[last], near[last], best[last]
        if reach is not None:
            own, reaches[j] = float(reaches[j]), reaches[last]
    order = np.lexsort((links[:, 1], links[:, 0], keys))
    links = links[order]
    return SpanningTree(links, np.sqrt(keys[order]), np.linalg.norm(X[links[:, 0]] - X[links[:, 1]], axis=1))


def fair_joins(tree: SpanningTree, mass: Float, most_inequality: float) -> NDArray[np.intp]:
    """The order in which links join rows to one cluster: single linkage, corrected for the sizes of clusters.

    The shortest link joins next; while the Gini index of the clusters' sizes,
    ``sum_ij |s_i - s_j| / (2 (m - 1) sum_i s_i)``, is above the limit, the shortest one that has an end in a smallest
    cluster (Genie: Gagolewski, Bartoszuk and Cena, 2016).
    """
    n, total = tree.n_rows, float(mass.sum())
    sizes, parent = mass.astype(np.float64), list(range(n))
    first, second = tree.links.T.tolist()
    spread = float(np.sort(sizes) @ (2 * np.arange(n) - n + 1))  # the sum over pairs
    values, counts = np.unique(sizes, return_counts=True)
    heap, number_of = values.tolist(), dict(zip(values.tolist(), counts.tolist(), strict=True))
    free, order = [True] * (n - 1), list[int]()
    shortest, beside_smallest, smallest = 0, 0, -1.0

    def distance(size: float, n_joined: int) -> float:
        """The sum of differences from all sizes; clusters that were joined to others have size 0."""
        return float(np.abs(sizes - size).sum()) - n_joined * size

    for n_joined in range(n - 1):
        while not free[shortest]:
            shortest += 1
        link = shortest
        if spread > most_inequality * (n - n_joined - 1) * total:
            while number_of[heap[0]] == 0:
                heappop(heap)
            if heap[0] != smallest:
                smallest, beside_smallest = heap[0], shortest
            # A link that was passed over stays unfit until the smallest size changes: new clusters are larger.
            while not free[beside_smallest] or smallest not in (
                sizes[_root(parent, first[beside_smallest])],
                sizes[_root(parent, second[beside_smallest])],
            ):
                beside_smallest += 1
            link = beside_smallest
        one, other = _root(parent, first[link]), _root(parent, second[link])
        a, b = float(sizes[one]), float(sizes[other])
        spread += abs(a - b) - distance(a, n_joined) - distance(b, n_joined)
        parent[other], sizes[one], sizes[other] = one, a + b, 0.0
        spread += distance(a + b, n_joined + 1)
        number_of[a] -= 1
        number_of[b] -= 1
        if number_of.get(a + b, 0) == 0:
            heappush(heap, a + b)
        number_of[a + b] = number_of.get(a + b, 0) + 1
        free[link] = False
        order.append(link)
    return np.array(order, np.intp)


def widest_cut(tree: SpanningTree, mass: Float, n_clusters: int, least: float) -> tuple[NDArray[np.bool_], float]:
    """The widest links whose cut leaves ``n_clusters`` parts of at least this mass, and how much wider they are.

    A link can be cut if the rows that narrower links join at either end have this mass; smaller sets of rows stay with
    the part nearest to them. The factor is the ratio of the narrowest link that is cut and the next one; it is 0 if
    there are not so many parts.
    """
    parent, sizes, between = list(range(tree.n_rows)), mass.tolist(), list[int]()
    for number, (one, other) in enumerate(tree.links.tolist()):
        one, other = _root(parent, one), _root(parent, other)
        if min(sizes[one], sizes[other]) >= least:
            between.append(number)
        parent[other], sizes[one] = one, sizes[one] + sizes[other]
    cut, n_cut = np.zeros(len(tree.links), dtype=bool), n_clusters - 1
    if n_cut == 0 or len(between) < n_cut:
        return cut, 0.0
    cut[between[-n_cut:]] = True
    next_one = tree.widths[between[-n_cut - 1]] if len(between) > n_cut else 0.0
    return cut, float(tree.widths[between[-n_cut]] / next_one) if next_one > 0 else np.inf


def _root(parent: list[int], row: int) -> int:
    """The row that stands for the cluster of a row; the way to it becomes shorter."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row


def information(lengths: Float, mass: Float, n_columns: int) -> Float:
    """``s (d log L - (d - 1) log s)``: entropy of a cluster of size s in d columns, from the length L of its tree.

    A small sum over clusters means that the partition tells much of the rows (Müller, Nowozin and Lampert, 2012).
    """
    return mass * (n_columns * np.log(lengths) - (n_columns - 1) * np.log(mass))


def informative_cut(
    tree: SpanningTree, cut: NDArray[np.bool_], mass: Float, n_clusters: int, n_columns: int
) -> NDArray[np.bool_]:
    """Links that stay cut when parts are joined until there are ``n_clusters``, the least loss of information first.

    Parts are joined by the links between them (GIc: Cena, 2018).
    """
    part, unit = tree.parts(cut), tree.usual_length
    n_parts = int(part.max()) + 1
    sizes: Float = np.bincount(part, mass, n_parts).astype(np.float64)
    lengths: Float = unit + np.bincount(part[tree.links[~cut, 0]], tree.lengths[~cut], n_parts).astype(np.float64)
    between = np.flatnonzero(cut)
    one, other = part[tree.links[between]].T
    stays = np.ones(between.size, dtype=bool)
    for _ in range(between.size - max(n_clusters - 1, 0)):
        joint = lengths[one] + lengths[other] + tree.lengths[between] - unit
        own = information(lengths, sizes, n_columns)
        loss = information(joint, sizes[one] + sizes[other], n_columns) - own[one] - own[other]
        link = int(np.where(stays, loss, np.inf).argmin())
        kept, gone = one[link], other[link]
        lengths[kept], sizes[kept] = joint[link], sizes[kept] + sizes[gone]
        one, other = np.where(one == gone, kept, one), np.where(other == gone, kept, other)
        stays[link] = False
    left = cut.copy()
    left[between[~stays]] = False
    return left
