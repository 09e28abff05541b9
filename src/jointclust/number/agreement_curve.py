"""How far members of different kinds agree, as a function of the number of clusters."""

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

# Directions in which neighbours are looked for, and neighbours.
_NEAR, _NEIGHBORS = 50, 5
_RESTARTS = 3
# Rows are equal whose coordinates differ by no more than this share of the largest.
_EQUAL = 1e-12
# LDA k-means: share of the variance, ridge in units of the mean variance, iterations.
_VARIANCE, _RIDGE, _ITERATIONS = 0.9, 0.1, 4
# Numbers of clusters to look at: the first ones one by one, then in steps of a fifth, which are refined about peaks.
_STEP, _FINE, _FIRST_MOST = 1.2, 1.05, 60
# Peaks about which to look closely.
_REFINED = 3
# What e times as many clusters have to gain in agreement, what counts as full, and from how far below it that is so.
_PRICE, _FULL, _DOUBT = 0.05, 0.975, 0.1


class Part:
    """Partitions of some rows by members of three kinds, for any number of clusters.

    Spectral clustering of the neighbour graph has nothing in common with Ward's tree and with LDA k-means but the rows:
    what it finds and they find too is there.

    Parameters
    ----------
    Z : array of shape (n_samples, n_directions)
        Rows in their principal directions.
    seed : int
        Of the starts of k-means.
    """

    def __init__(self, Z: Float, seed: int):
        Z, self._seed = Z - Z.mean(axis=0), seed
        variances = Z.var(axis=0)
        shares = np.cumsum(variances) / max(variances.sum(), np.finfo(float).tiny)
        self._Z = np.ascontiguousarray(Z[:, : int(np.searchsorted(shares, _VARIANCE)) + 1])
        q = self._Z.shape[1]
        self._total = self._Z.T @ self._Z
        self._total[np.diag_indices(q)] += (_RIDGE * variances[:q].mean() + np.finfo(float).tiny) * len(Z)
        # Equal rows are equal up to rounding once they are rotated.
        near = Z[:, :_NEAR]
        unit = _EQUAL * max(float(np.abs(near).max()), np.finfo(float).tiny)
        first, self._which = distinct_rows(np.round(near / unit))
        self._mass = np.bincount(self._which).astype(np.float64)
        n_neighbors = min(_NEIGHBORS, max(2, first.size // 4), first.size)
        self._graph = neighbor_graph(neighbors(near[first], near[first], n_neighbors), self._mass)
        self._tree = linkage(self._Z, "ward")
        self._spectrum: GraphSpectrum | None = None

    def look_up_to(self, n_clusters: int) -> Self:
        """Decompose the graph as far as partitions of so many clusters need."""
        n_components = max(min(n_clusters, self._mass.size) - 1, 1)
        self._spectrum = balanced_spectrum(self._graph, self._mass, n_components)
        return self

    def agreement(self, n_clusters: int) -> float:
        """Of the graph with the two others, in the mean; 0 where it could not fail, for want of rows."""
        if n_clusters > min(self._mass.size, len(self._Z) // 2):
            return 0.0
        graph = self.graph(n_clusters)
        return (agreement_of(graph, self.ward(n_clusters)) + agreement_of(graph, self.discriminant(n_clusters))) / 2

    def graph(self, n_clusters: int) -> Labels:
        """Spectral clustering of the neighbour graph."""
        assert self._spectrum is not None
        Y, rng = spectral_rows(self._spectrum, self._mass, n_clusters), np.random.RandomState(self._seed)
        return kmeans(Y, n_clusters, rng, self._mass, n_restarts=_RESTARTS).labels[self._which]

    def ward(self, n_clusters: int) -> Labels:
        """Ward's tree, cut."""
        return fcluster(self._tree, n_clusters, "maxclust").astype(np.int32) - 1

    def discriminant(self, n_clusters: int) -> Labels:
        """LDA k-means: nearest center in the metric of the scatter within clusters, in turn with both, from k-means."""
        Z = self._Z
        labels = kmeans(Z, n_clusters, np.random.RandomState(self._seed), n_restarts=_RESTARTS).labels
        for _ in range(_ITERATIONS):
            sizes, centers = cluster_sizes(labels, n_clusters), centers_of(Z, labels, n_clusters)
            between = np.sqrt(sizes)[:, None] * centers
            factor = cholesky(self._total - between.T @ between, lower=True)
            whitened = solve_triangular(factor, centers.T, lower=True)
            directions = solve_triangular(factor, whitened, lower=True, trans="T")
            # The squared distance to a center, but for what is the same for all centers.
            closeness = Z @ directions - 0.5 * np.sum(whitened**2, axis=0)
            found = np.where(sizes > 0, closeness, -np.inf).argmax(axis=1).astype(np.int32)
            if np.array_equal(found, labels):
                break
            labels = found
        return labels


def agreement_of(one: Labels, other: Labels) -> float:
    """Adjusted Rand index in which a cluster counts as the root of its size: pairs are not all in the largest ones."""
    shape = int(one.max()) + 1, int(other.max()) + 1
    table = np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    table /= np.sqrt(np.sqrt(np.maximum(np.outer(table.sum(axis=1), table.sum(axis=0)), 1.0)))
    both, first, second = (float(np.sum(part**2)) for part in (table, table.sum(axis=1), table.sum(axis=0)))
    expected, most = first * second / table.sum() ** 2, (first + second) / 2
    return 1.0 if most - expected <= 1e-12 * most else (both - expected) / (most - expected)


@dataclass
class Curve:
    """Agreement by number of clusters, in each of several repeats.

    Attributes
    ----------
    repeats : list of list of Part
        Some of the rows, in each view.
    wanted : array of int
        Numbers of clusters to choose among, in rising order.
    report : callable
        Is told how many numbers of clusters have been looked at, and how many there will be.
    found : dict of int to array of shape (n_repeats, n_views)
        The agreement.
    """

    repeats: list[list[Part]]
    wanted: NDArray[np.intp]
    report: Callable[[int, int], None]
    found: dict[int, Float] = field(default_factory=dict)

    def look(self) -> Self:
        """Look at a coarse grid, at more clusters while they agree better still, and closely about the peaks."""
        coarse, most = grid(self.wanted), 0
        while most < coarse[-1] and (most == 0 or self.numbers[self.merit.argmax()] > most / _STEP**3):
            most = min(max(2 * most, _FIRST_MOST, coarse[0]), coarse[-1])
            self.look_at([number for number in coarse if number <= most])
        while gaps := self.gaps():
            self.look_at(gaps)
        return self

    def look_at(self, numbers: list[int]) -> None:
        """Add so many clusters."""
        new = [number for number in numbers if number not in self.found]
        done = len(self.found)
        if new and max(new) > max(self.found, default=0):
            for part in (part for views in self.repeats for part in views):
                part.look_up_to(max(new))
        for index, number in enumerate(new):
            self.found[number] = np.array([[part.agreement(number) for part in views] for views in self.repeats])
            self.report(done + index + 1, done + len(new))

    def gaps(self) -> list[int]:
        """Numbers half-way between those beside the best peaks, where these are not near enough."""
        numbers, found = self.numbers, set()
        for peak in self.peaks()[:_REFINED]:
            for one, other in pairwise(numbers[max(peak - 1, 0) : peak + 2]):
                inside = self.wanted[(self.wanted > one) & (self.wanted < other)]
                if inside.size and other > _FINE * one:
                    found.add(int(inside[inside.size // 2]))
        return sorted(found)

    @property
    def numbers(self) -> NDArray[np.intp]:
        """Numbers of clusters that were looked at."""
        return np.array(sorted(self.found))

    @property
    def agreement(self) -> Float:
        """Mean over the views, in each repeat, of shape (n_numbers, n_repeats)."""
        return np.array([self.found[number].mean(axis=1) for number in self.numbers])

    @property
    def merits(self) -> Float:
        """What numbers are chosen by, in each repeat."""
        agreement = np.minimum(self.agreement / _FULL, 1.0)
        doubt = np.minimum((1.0 - agreement) / _DOUBT, 1.0)
        # Where all agree the finer partition is as sure, and says more.
        return agreement - (2.0 * doubt - 1.0) * _PRICE * np.log(self.numbers)[:, None]

    @property
    def merit(self) -> Float:
        return self.merits.mean(axis=1)

    def peaks(self) -> list[int]:
        """Where the merit is not less than on either side, best first."""
        padded = np.concatenate([[-np.inf], self.merit, [-np.inf]])
        is_peak = (padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:])
        found = np.flatnonzero(is_peak)
        return [int(index) for index in found[np.argsort(-self.merit[found], kind="stable")]]


def grid(wanted: NDArray[np.intp]) -> list[int]:
    """Some of the numbers, each at least by a fifth above the one before, and the last."""
    numbers = [int(wanted[0])]
    while numbers[-1] < wanted[-1]:
        next_one = max(numbers[-1] + 1, round(_STEP * numbers[-1]))
        numbers.append(int(wanted[min(int(np.searchsorted(wanted, next_one)), wanted.size - 1)]))
    return numbers
