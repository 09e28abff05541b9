"""The agreement of different clustering methods as a function of the number of clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from jointclust.number.neighbor_graph import NeighborGraph, spectral
from jointclust.numerics.graph import GraphSpectrum
from jointclust.numerics.kmeans import lloyd
from jointclust.types import Float, Labels

# LDA k-means: share of the variance, ridge in units of the mean variance, iterations of it and of k-means before it.
_VARIANCE, _RIDGE, _ITERATIONS = 0.9, 0.1, 3
# Ratio of the numbers of a coarse grid, and of those about its best.
_STEP, _FINE = 1.2, 1.1
# How far from the expected number the grid reaches at first; numbers of a grid that are all evaluated.
_REACH, _ALL = 3.0, 6
# Agreement that a number e times as far from the expected one has to add: at least; in addition, if all resolutions
# show the same number; and the spread of their logarithms that counts as the same.
_PRICE, _PRICE_IF_SURE, _SURE = 0.1, 0.5, 0.1
# The best number is on a slope if a finer one has more agreement by this.
_CLIMB = 0.07


class ViewPartitions:
    """LDA k-means of the rows of a view for any number of clusters, from Ward's tree."""

    def __init__(self, Z: Float):
        Z = Z - Z.mean(axis=0)
        variances = Z.var(axis=0)
        shares = np.cumsum(variances) / max(variances.sum(), np.finfo(float).tiny)
        self._Z = np.ascontiguousarray(Z[:, : int(np.searchsorted(shares, _VARIANCE)) + 1])
        q = self._Z.shape[1]
        self._total = self._Z.T @ self._Z
        self._total[np.diag_indices(q)] += (_RIDGE * variances[:q].mean() + np.finfo(float).tiny) * len(Z)
        self._tree = linkage(self._Z, "ward")

    def discriminant(self, n_clusters: int) -> Labels:
        """From k-means, alternate nearest centers in the metric of the within-cluster scatter."""
        Z, labels = self._Z, fcluster(self._tree, n_clusters, "maxclust").astype(np.int32) - 1
        labels = lloyd(Z, cluster_means(Z, labels, n_clusters)[0], max_iter=_ITERATIONS).labels
        for _ in range(_ITERATIONS):
            centers, sizes = cluster_means(Z, labels, n_clusters)
            before, labels = labels, nearest_in(Z, centers, sizes, self._total - (sizes[:, None] * centers).T @ centers)
            if np.array_equal(before, labels):
                break
        return labels


def cluster_means(Z: Float, labels: Labels, n_clusters: int) -> tuple[Float, Float]:
    """Means and sizes of clusters; of few rows, a product with their dense indicators takes least."""
    indicators = (labels == np.arange(n_clusters)[:, None]).astype(np.float64)
    sizes = indicators.sum(axis=1)
    return indicators @ Z / np.maximum(sizes, 1.0)[:, None], sizes


def nearest_in(Z: Float, centers: Float, sizes: Float, scatter: Float) -> Labels:
    """The nearest center of each row, in the metric of a scatter matrix; never an empty cluster's."""
    directions = np.linalg.solve(scatter, centers.T)
    # Minus half of the squared distance to a center, without the term that all centers share.
    closeness = Z @ directions - 0.5 * np.einsum("kd,dk->k", centers, directions)
    return np.where(sizes > 0, closeness, -np.inf).argmax(axis=1).astype(np.int32)


def agreement_of(one: Labels, other: Labels) -> float:
    """Adjusted Rand index in which a cluster has the root of its size as weight, so that large ones count less."""
    return _rand_index(_contingency(one, other))


def likeness(one: Labels, other: Labels) -> float:
    """Mean of the agreement and of the share of clusters that both have.

    A cluster counts by the square of its Jaccard index with the most similar one of the other partition. The Rand
    index counts pairs, most of which are far apart at any number of clusters; clusters that both have become rare as
    soon as the number is wrong.
    """
    table = _contingency(one, other)
    sizes, others = table.sum(axis=1), table.sum(axis=0)
    jaccard = table / np.maximum(sizes[:, None] + others - table, 1.0)
    shared = [np.mean(jaccard.max(axis=1)[sizes > 0] ** 2), np.mean(jaccard.max(axis=0)[others > 0] ** 2)]
    return (_rand_index(table) + float(np.mean(shared))) / 2


def _contingency(one: Labels, other: Labels) -> Float:
    """Numbers of rows by cluster of the one and of the other partition."""
    shape = int(one.max()) + 1, int(other.max()) + 1
    return np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _rand_index(table: Float) -> float:
    table = table / np.sqrt(np.sqrt(np.maximum(np.outer(table.sum(axis=1), table.sum(axis=0)), 1.0)))
    both, first, second = (float(np.sum(part**2)) for part in (table, table.sum(axis=1), table.sum(axis=0)))
    expected, most = first * second / table.sum() ** 2, (first + second) / 2
    return 1.0 if most - expected <= 1e-12 * most else float((both - expected) / (most - expected))


@dataclass
class AgreementCurve:
    """The agreement by number of clusters, for each number an array over comparisons.

    A comparison is that of a partition of the neighbour graph (two methods) with LDA k-means in one view.
    """

    graph: NeighborGraph
    views: list[ViewPartitions]
    allowed: NDArray[np.intp]
    # Called with the number of evaluated numbers of clusters, and of those known to follow.
    report: Callable[[int, int], None]
    values: dict[int, Float] = field(default_factory=dict)
    _spectrum: GraphSpectrum | None = None

    def explore(self) -> Self:
        """Evaluate a coarse grid about the expected number, extend it while the best is its end, refine the best."""
        coarse, reach = grid(self.allowed), _REACH
        self.evaluate(self._within(coarse, reach))
        while reach < self.allowed[-1] and self._is_at_end(coarse):
            reach *= 2
            self.evaluate(self._within(coarse, reach))
        while missing := self.refinement():
            self.evaluate(missing)
        return self

    def climb(self) -> int | None:
        """The number to which the agreement climbs where the best one is on a slope; None where it is not.

        On a slope the best number is only where the price of finer ones outweighs their agreement. Numbers beyond those
        so far are evaluated, up to the end of the range, as long as the last has most agreement.
        """
        agreement = self.agreement.mean(axis=1)
        here = agreement[self.numbers == self.best]
        if not np.any(agreement[self.numbers > self.best] > here + _CLIMB):
            return None
        for number in grid(self.allowed):
            if number > self.numbers[-1] and self.highest == self.numbers[-1]:
                self.evaluate([number])
        return self.highest

    def _within(self, numbers: list[int], reach: float) -> list[int]:
        """The numbers of few, or those of many that are not far from the expected one."""
        if len(numbers) <= _ALL:
            return numbers
        distance = np.abs(np.log(np.array(numbers) / max(self.graph.expected, 2.0)))
        return np.array(numbers)[distance <= max(np.log(reach), distance.min() + 1e-9)].tolist()

    def _is_at_end(self, coarse: list[int]) -> bool:
        best, numbers = self.best, self.numbers
        return (best == numbers[-1] < coarse[-1]) or (best == numbers[0] > coarse[0])

    def evaluate(self, numbers: list[int]) -> None:
        """Compute the agreement for these numbers of clusters."""
        new = [number for number in numbers if number not in self.values]
        done = len(self.values)
        if new and max(new) > max(self.values, default=0):
            self._spectrum = self.graph.spectrum(max(new))
        for index, number in enumerate(new):
            self.values[number] = self.compared(number)
            self.report(done + index + 1, done + len(new))

    def compared(self, number: int) -> Float:
        """The agreement in each comparison; 0 where there are too few rows to disagree."""
        if number > self.graph.links.shape[0] // 2 or self._spectrum is None:
            return np.zeros(2 * len(self.views))
        partitions = [view.discriminant(number) for view in self.views]
        return np.array(
            [
                likeness(one, other)
                for one in (spectral(self._spectrum, number), self.graph.joined(number))
                for other in partitions
            ]
        )

    def refinement(self) -> list[int]:
        """The midpoints between the best number and the numbers next to it, where these are not close enough."""
        numbers, midpoints = self.numbers, set()
        best = int(np.searchsorted(numbers, self.best))
        for one, other in pairwise(numbers[max(best - 1, 0) : best + 2]):
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
        """The agreement, of shape (n_numbers, n_comparisons)."""
        return np.array([self.values[number] for number in self.numbers])

    @property
    def highest(self) -> int:
        """The number with most agreement, whatever was expected."""
        return int(self.numbers[self.agreement.mean(axis=1).argmax()])

    @property
    def merits(self) -> Float:
        """The merit of each number in each comparison: its agreement, less a price for a number not expected."""
        price = _PRICE + _PRICE_IF_SURE * np.exp(-((self.graph.spread / _SURE) ** 2))
        return self.agreement - price * np.log(self.numbers / self.graph.expected)[:, None] ** 2

    @property
    def merit(self) -> Float:
        return self.merits.mean(axis=1)

    @property
    def best(self) -> int:
        return int(self.numbers[self.merit.argmax()])

    def peaks(self) -> list[int]:
        """Indices at which the merit is not less than on either side, best first."""
        merit = self.merit
        padded = np.concatenate([[-np.inf], merit, [-np.inf]])
        peaks = np.flatnonzero((padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]))
        return [int(index) for index in peaks[np.argsort(-merit[peaks], kind="stable")]]


def grid(allowed: NDArray[np.intp]) -> list[int]:
    """Some of the allowed numbers, each about a fifth above the one before, and the last."""
    numbers = [int(allowed[0])]
    while numbers[-1] < allowed[-1]:
        next_one = max(numbers[-1] + 1, round(_STEP * numbers[-1]))
        numbers.append(int(allowed[min(int(np.searchsorted(allowed, next_one)), allowed.size - 1)]))
    return numbers
