"""Measures the agreement of three clustering methods as a function of the number of clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import cholesky, solve_triangular

from jointclust.consensus.members import spectral_rows
from jointclust.numerics.graph import GraphSpectrum, balanced_spectrum, distinct_rows, neighbor_graph, neighbors
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.partitions import centers_of, cluster_sizes
from jointclust.types import Float, Labels

# Directions of the neighbour graph, and its neighbours.
_GRAPH_DIRECTIONS, _NEIGHBORS = 50, 5
_RESTARTS = 3
# Rows are equal where their coordinates differ by no more than this share of the largest.
_EQUAL = 1e-12
# LDA k-means: share of the variance, ridge in units of the mean variance, iterations.
_VARIANCE, _RIDGE, _ITERATIONS = 0.9, 0.1, 4
# Ratio of numbers of clusters in the coarse grid, ratio at the peaks after refinement, first end of the grid.
_STEP, _FINE, _FIRST_MOST = 1.2, 1.05, 60
# Peaks to refine.
_REFINED = 3
# Agreement that e times as many clusters must add; agreement that counts as full; range below full in which the price
# changes its sign.
_PRICE, _FULL, _DOUBT = 0.05, 0.975, 0.1


class Subsample:
    """Partitions of some rows, given in principal directions, by three methods for any number of clusters.

    Spectral clustering of the neighbour graph shares only the rows with Ward's tree and LDA k-means, so clusters that
    both find are likely to exist.
    """

    def __init__(self, Z: Float, seed: int):
        Z, self._seed = Z - Z.mean(axis=0), seed
        variances = Z.var(axis=0)
        shares = np.cumsum(variances) / max(variances.sum(), np.finfo(float).tiny)
        self._Z = np.ascontiguousarray(Z[:, : int(np.searchsorted(shares, _VARIANCE)) + 1])
        q = self._Z.shape[1]
        self._total = self._Z.T @ self._Z
        self._total[np.diag_indices(q)] += (_RIDGE * variances[:q].mean() + np.finfo(float).tiny) * len(Z)
        # Rotated rows that were equal are equal only up to rounding.
        near = Z[:, :_GRAPH_DIRECTIONS]
        unit = _EQUAL * max(float(np.abs(near).max()), np.finfo(float).tiny)
        first, self._which = distinct_rows(np.round(near / unit))
        self._mass = np.bincount(self._which).astype(np.float64)
        n_neighbors = min(_NEIGHBORS, max(2, first.size // 4), first.size)
        self._graph = neighbor_graph(neighbors(near[first], near[first], n_neighbors), self._mass)
        self._tree = linkage(self._Z, "ward")
        self._spectrum: GraphSpectrum | None = None

    def decompose_graph(self, n_clusters: int) -> Self:
        """Compute the eigenvectors of the graph that partitions into up to ``n_clusters`` clusters need."""
        n_components = max(min(n_clusters, self._mass.size) - 1, 1)
        self._spectrum = balanced_spectrum(self._graph, self._mass, n_components)
        return self

    def agreement(self, n_clusters: int) -> float:
        """Mean agreement of spectral clustering with the other two; 0 where there are too few rows to disagree."""
        if n_clusters > min(self._mass.size, len(self._Z) // 2):
            return 0.0
        graph = self.spectral(n_clusters)
        return (agreement_of(graph, self.ward(n_clusters)) + agreement_of(graph, self.discriminant(n_clusters))) / 2

    def spectral(self, n_clusters: int) -> Labels:
        """Spectral clustering of the neighbour graph."""
        assert self._spectrum is not None
        Y, rng = spectral_rows(self._spectrum, self._mass, n_clusters), np.random.RandomState(self._seed)
        return kmeans(Y, n_clusters, rng, self._mass, n_restarts=_RESTARTS).labels[self._which]

    def ward(self, n_clusters: int) -> Labels:
        """Ward's tree, cut."""
        return fcluster(self._tree, n_clusters, "maxclust").astype(np.int32) - 1

    def discriminant(self, n_clusters: int) -> Labels:
        """LDA k-means: from k-means, alternate nearest centers in the metric of the within-cluster scatter."""
        Z = self._Z
        labels = kmeans(Z, n_clusters, np.random.RandomState(self._seed), n_restarts=_RESTARTS).labels
        for _ in range(_ITERATIONS):
            sizes, centers = cluster_sizes(labels, n_clusters), centers_of(Z, labels, n_clusters)
            between = np.sqrt(sizes)[:, None] * centers
            factor = cholesky(self._total - between.T @ between, lower=True)
            whitened = solve_triangular(factor, centers.T, lower=True)
            directions = solve_triangular(factor, whitened, lower=True, trans="T")
            # Minus half of the squared distance to a center, without the term that all centers share.
            closeness = Z @ directions - 0.5 * np.sum(whitened**2, axis=0)
            before, labels = labels, np.where(sizes > 0, closeness, -np.inf).argmax(axis=1).astype(np.int32)
            if np.array_equal(before, labels):
                break
        return labels


def agreement_of(one: Labels, other: Labels) -> float:
    """Adjusted Rand index in which a cluster has the root of its size as weight, so that large ones count less."""
    shape = int(one.max()) + 1, int(other.max()) + 1
    table = np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    table /= np.sqrt(np.sqrt(np.maximum(np.outer(table.sum(axis=1), table.sum(axis=0)), 1.0)))
    both, first, second = (float(np.sum(part**2)) for part in (table, table.sum(axis=1), table.sum(axis=0)))
    expected, most = first * second / table.sum() ** 2, (first + second) / 2
    return 1.0 if most - expected <= 1e-12 * most else (both - expected) / (most - expected)


@dataclass
class AgreementCurve:
    """The agreement by number of clusters, an array of shape (n_repeats, n_views) for each number."""

    repeats: list[list[Subsample]]
    allowed: NDArray[np.intp]
    # Called with the number of evaluated numbers of clusters, and of those known to follow.
    report: Callable[[int, int], None]
    values: dict[int, Float] = field(default_factory=dict)

    def explore(self) -> Self:
        """Evaluate a coarse grid, extend it while the agreement rises, then refine it about the peaks."""
        coarse, most = grid(self.allowed), 0
        while most < coarse[-1] and (most == 0 or self.numbers[self.criterion.argmax()] > most / _STEP**3):
            most = min(max(2 * most, _FIRST_MOST, coarse[0]), coarse[-1])
            self.evaluate([number for number in coarse if number <= most])
        while missing := self.refinement():
            self.evaluate(missing)
        return self

    def evaluate(self, numbers: list[int]) -> None:
        """Compute the agreement for these numbers of clusters."""
        new = [number for number in numbers if number not in self.values]
        done = len(self.values)
        if new and max(new) > max(self.values, default=0):
            for sample in (sample for views in self.repeats for sample in views):
                sample.decompose_graph(max(new))
        for index, number in enumerate(new):
            self.values[number] = np.array([[sample.agreement(number) for sample in views] for views in self.repeats])
            self.report(done + index + 1, done + len(new))

    def refinement(self) -> list[int]:
        """Midpoints between the best peaks and the numbers next to them, where these are not close enough."""
        numbers, midpoints = self.numbers, set()
        for peak in self.peaks()[:_REFINED]:
            for one, other in pairwise(numbers[max(peak - 1, 0) : peak + 2]):
                inside = self.allowed[(self.allowed > one) & (self.allowed < other)]
                if inside.size and other > _FINE * one:
                    midpoints.add(int(inside[inside.size // 2]))
        return sorted(midpoints)

    @property
    def numbers(self) -> NDArray[np.intp]:
        """Numbers of clusters that have been evaluated."""
        return np.array(sorted(self.values))

    @property
    def agreement(self) -> Float:
        """Mean over the views, of shape (n_numbers, n_repeats)."""
        return np.array([self.values[number].mean(axis=1) for number in self.numbers])

    @property
    def criteria(self) -> Float:
        """The criterion of each number in each repeat: the agreement, less a price for more clusters."""
        agreement = np.minimum(self.agreement / _FULL, 1.0)
        doubt = np.minimum((1.0 - agreement) / _DOUBT, 1.0)
        # Of partitions on which all methods agree, the finer one contains more information.
        return agreement - (2.0 * doubt - 1.0) * _PRICE * np.log(self.numbers)[:, None]

    @property
    def criterion(self) -> Float:
        return self.criteria.mean(axis=1)

    def peaks(self) -> list[int]:
        """Indices at which the criterion is not less than on either side, best first."""
        padded = np.concatenate([[-np.inf], self.criterion, [-np.inf]])
        peaks = np.flatnonzero((padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]))
        return [int(index) for index in peaks[np.argsort(-self.criterion[peaks], kind="stable")]]


def grid(allowed: NDArray[np.intp]) -> list[int]:
    """Some of the allowed numbers, each at least a fifth above the one before, and the last."""
    numbers = [int(allowed[0])]
    while numbers[-1] < allowed[-1]:
        next_one = max(numbers[-1] + 1, round(_STEP * numbers[-1]))
        numbers.append(int(allowed[min(int(np.searchsorted(allowed, next_one)), allowed.size - 1)]))
    return numbers
