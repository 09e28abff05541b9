"""The neighbour graph of some rows over all views, by which a number of clusters is expected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from jointclust.consensus.members import spectral_rows
from jointclust.numerics.communities import communities, community_tree, shared_neighbor_graph
from jointclust.numerics.graph import GraphSpectrum, balance, balanced_spectrum, neighbors
from jointclust.numerics.kmeans import kmeans
from jointclust.types import Float, Labels

# Neighbours of a row beside itself, and directions in which they are looked for.
_NEIGHBORS, _DIRECTIONS = 5, 50
# Resolutions at which communities are counted; of smaller ones that are joined one after the other.
_RESOLUTIONS, _FINE = (0.33, 0.5, 0.75), 2.0
# A community that counts: rows, share of the rows.
_FEWEST, _SHARE = 3, 0.005
# Link of a row to itself, which rows without other links need.
_SELF = 0.01
_RESTARTS = 2
# Neighbours in the two graphs that show parts with gaps; fewest rows of a part; least share of rows in parts.
PART_NEIGHBORS, _FEWEST_OF_A_PART, _IN_PARTS = (10, 15), 5, 0.98


def nearest_of(Z: Float, n_neighbors: int = _NEIGHBORS) -> NDArray[np.intp]:
    """The nearest rows of each row, itself included, in one view, given in its principal directions."""
    near = np.ascontiguousarray(Z[:, :_DIRECTIONS])
    return neighbors(near, near, min(n_neighbors + 1, len(near)))


def graph_of(nearest: NDArray[np.intp], n_neighbors: int = _NEIGHBORS) -> sp.csr_array:
    """The links of rows in one view."""
    return shared_neighbor_graph(nearest[:, : n_neighbors + 1])


def parts_of(nearest: NDArray[np.intp], n_neighbors: int) -> tuple[int, float]:
    """The number of parts of the graph of rows that are near each other, and the share of the rows in them.

    Parts have a gap between them, whatever their shape. Rows by themselves are no parts.
    """
    n, index = len(nearest), nearest[:, : n_neighbors + 1]
    links = sp.csr_array(
        (np.ones(index.size), index.ravel(), np.arange(0, index.size + 1, index.shape[1])), shape=(n, n)
    )
    sizes = np.bincount(connected_components(links.multiply(links.T), directed=False)[1])
    counted = sizes[sizes >= _FEWEST_OF_A_PART]
    return counted.size, float(counted.sum() / n)


def parts_with_gaps(nearest: list[NDArray[np.intp]], *, few_directions: bool) -> tuple[int, int]:
    """The number of parts that most views show and that hold nearly all rows, and that with more neighbours; or 1, 1.

    In more than a few directions gaps are wide: more neighbours show the same number.
    """
    parts = []
    for index in nearest:
        (number, share), (again, _) = (parts_of(index, size) for size in PART_NEIGHBORS)
        parts.append((number, again) if share >= _IN_PARTS and (few_directions or number == again) else (1, 1))
    numbers = [number for number, _ in parts]
    most = max(parts, key=lambda one: numbers.count(one[0]))
    return most if 2 * numbers.count(most[0]) > len(parts) else (1, 1)


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The sum of the neighbour graphs of all views: its communities, and its partitions into any number of clusters.

    Attributes
    ----------
    links : sparse array of shape (n_rows, n_rows)
        Weights of the links.
    counts : tuple of int
        Number of communities at each of three resolutions.
    """

    links: sp.csr_array
    counts: tuple[int, ...]

    @classmethod
    def of(cls, graphs: list[sp.csr_array]) -> NeighborGraph:
        """The sum of graphs of the same rows."""
        links = sp.csr_array(sum(graphs[1:], start=graphs[0]))
        fewest = max(_FEWEST, _SHARE * links.shape[0])
        sizes = [np.bincount(communities(links, resolution)) for resolution in _RESOLUTIONS]
        return cls(links, tuple(max(int(np.sum(size >= fewest)), 1) for size in sizes))

    @property
    def expected(self) -> float:
        """The number of communities: the geometric mean over the resolutions."""
        return float(np.exp(np.mean(np.log(self.counts))))

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithm of the number over the resolutions."""
        return float(np.std(np.log(self.counts)))

    @cached_property
    def _tree(self) -> tuple[Labels, list[tuple[int, int]]]:
        return community_tree(self.links, _FINE)

    def joined(self, n_clusters: int) -> Labels:
        """Small communities joined until there are so many; fewer if there are not as many."""
        labels, joins = self._tree
        first = np.arange(int(labels.max()) + 1)
        for one, other in joins[: max(first.size - n_clusters, 0)]:
            first[first == other] = one
        return np.unique(first[labels], return_inverse=True)[1].ravel().astype(np.int32)

    def spectrum(self, n_clusters: int) -> GraphSpectrum:
        """What partitions into up to ``n_clusters`` clusters need."""
        n = self.links.shape[0]
        balanced = balance(sp.csr_array(self.links + _SELF * sp.eye_array(n)))
        return balanced_spectrum(balanced, np.ones(n), max(min(n_clusters, n) - 1, 1))


def spectral(spectrum: GraphSpectrum, n_clusters: int) -> Labels:
    """Spectral clustering of the graph."""
    rows = spectral_rows(spectrum, np.ones(len(spectrum.vectors)), n_clusters)
    return kmeans(rows, n_clusters, np.random.RandomState(0), n_restarts=_RESTARTS).labels
