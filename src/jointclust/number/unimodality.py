"""Counts the clusters of which every two have fewer rows between them than a unimodal density allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from jointclust.number.curve import agreement_of, cluster_means, nearest_in
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.partitions import assign
from jointclust.numerics.valleys import unimodal_p_value
from jointclust.rows import threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float, Labels

# Two clusters are separated where a unimodal density would have so few rows between them with less probability.
_LEVEL = 0.05
# Fragments that one half is cut into: for each expected cluster, fewest, most; rows of a half for each.
_PER_CLUSTER, _FEWEST, _MOST, _ROWS_PER_FRAGMENT = 3, 40, 320, 8
# Share of the clusters that join at a time, in pairs; iterations of the mixture before the first join, and after each.
_JOINED, _FIRST_ITERATIONS, _ITERATIONS = 0.25, 10, 4
_ROWS_PER_DIRECTION = 10
FEWEST_ROWS = 4 * _ROWS_PER_FRAGMENT
_MOST_ROWS, _MOST_DIRECTIONS = 1_500, 100
# Up to this rank, all directions are tried beside those above the noise.
_FEW_DIRECTIONS = 50
# Factor by which an eigenvalue must exceed the edge of the noise, because eigenvalues of noise scatter about it.
_MARGIN = 1.02
# Share of each direction's variance that makes the within-cluster covariance invertible.
_RIDGE = 1e-3


class SeparatedClusters(NamedTuple):
    """The number of clusters in each half of the rows, the agreement of both partitions, the rows and labels.

    ``by_levels``: the gaps between clusters may be those between the few values of a column.
    """

    numbers: tuple[int, int]
    agreement: float
    rows: NDArray[np.intp]
    labels: Labels
    by_levels: bool = False

    @property
    def n_clusters(self) -> int:
        return max(self.numbers)


def separated_clusters(
    coordinates: Coordinates, order: NDArray[np.intp], rng: np.random.RandomState, expected: float = 1.0
) -> SeparatedClusters:
    r"""The largest number of clusters of which every two are separated, tested on rows that did not form them.

    .. math:: f(m) \ge \min(f(a), f(b)) \quad \text{for } a < m < b \text{ and every unimodal density } f

    One half of the rows is cut into many fragments: k-means in the principal components above the noise, then a
    Gaussian mixture with one covariance and hard labels, which does not depend on the scale of the directions. The
    other half decides which fragments are joined. It is projected on the line that discriminates between two of them. A
    binomial test compares the number of rows about the middle with the number about the scarcer of the two centers.
    Where the middle does not have significantly fewer, the two are joined. The nearest such pairs are joined first,
    then the labels are computed again, until every pair is separated. Then the halves change places.

    Gaussian and uniform data give 1. Clusters whose mixture has one mode count as one, and so do clusters with fewer
    than about eight rows in a half.
    """
    sample = rng.permutation(order)[:_MOST_ROWS]
    kept = directions_to_try(coordinates, sample.size)
    rows = coordinates.leading(max(kept)[0])[sample].astype(np.float64)
    half = sample.size // 2
    partitions = []
    with threads.suited_to(rows.shape[1]):
        for one, other in ((rows[:half], rows[half:]), (rows[half:], rows[:half])):
            tried = [(joined_fragments(one[:, :k], other[:, :k], rng, expected, even), k) for k, even in kept]
            labels, k = max(tried, key=lambda pair: pair[0].max())
            partitions.append(nearest_clusters(one[:, :k], labels, rows[:, :k]))
    numbers = int(partitions[0].max()) + 1, int(partitions[1].max()) + 1
    return SeparatedClusters(numbers, agreement_of(*partitions), sample, partitions[0])


def directions_to_try(coordinates: Coordinates, n: int) -> list[tuple[int, bool]]:
    """Numbers of leading directions to try: those above the noise; if there are few, also all, with even variance."""
    most = min(max(2, n // _ROWS_PER_DIRECTION), _MOST_DIRECTIONS)
    above = min(max(rank_above_noise(coordinates), min(5, coordinates.rank)), most)
    few = coordinates.rank <= min(_FEW_DIRECTIONS, most)
    return [(above, False), *([(coordinates.rank, True)] if few else [])]


def rank_above_noise(coordinates: Coordinates) -> int:
    """Number of eigenvalues beyond the largest one of white noise (Marchenko and Pastur, 1967).

    The level of the noise follows from the median eigenvalue (Gavish and Donoho, 2014). Where the decomposition has a
    limited rank, the level is the mean of the eigenvalues that are not counted, including those that were cut off.
    """
    n, D = coordinates.n_samples - 1, coordinates.rows.n_features
    shorter, shape = min(n, D), min(n, D) / max(n, D)
    low, high = (1 - np.sqrt(shape)) ** 2, (1 + np.sqrt(shape)) ** 2
    values = np.zeros(max(shorter, coordinates.rank))
    values[: coordinates.rank] = coordinates.eigenvalues
    if coordinates.exact:
        grid = np.linspace(low, high, 1001)[1:-1]
        mass = np.cumsum(np.sqrt((high - grid) * (grid - low)) / grid)
        level = float(np.median(values[:shorter])) / grid[np.searchsorted(mass, mass[-1] / 2)]
        return int(np.sum(values > _MARGIN * high * level))
    above = coordinates.rank
    while True:
        level = (coordinates.total_variance - values[:above].sum()) / max(shorter - above, 1)
        if (fewer := int(np.sum(values > _MARGIN * high * level))) >= above:
            return above
        above = fewer


def joined_fragments(one: Float, other: Float, rng: np.random.RandomState, expected: float, even: bool) -> Labels:
    """Labels of one half after the fragments that the other half does not separate are joined.

    The k-means that makes fragments may see directions of even variance: large ones need not show clusters.
    """
    n_fragments = min(max(_FEWEST, int(_PER_CLUSTER * expected)), _MOST, max(2, len(one) // _ROWS_PER_FRAGMENT))
    rows = one / np.maximum(one.std(axis=0), np.finfo(float).tiny) if even else one
    labels = kmeans(np.ascontiguousarray(rows), n_fragments, rng, n_restarts=1).labels
    return join(one, other, mixture_labels(one, labels, _FIRST_ITERATIONS))


def join(one: Float, other: Float, labels: Labels) -> Labels:
    """Join fragments of one half until every two are separated in the other half."""
    while (n_clusters := int(labels.max()) + 1) > 1:
        centers, sizes = cluster_means(one, labels, n_clusters)
        factor = cholesky(within_covariance(one, labels, centers), lower=True)
        pairs = nearest_unseparated(whitened(factor, other), whitened(factor, centers), sizes)
        if not pairs:
            break
        for first, second in pairs:
            labels = np.where(labels == second, first, labels)
        labels = mixture_labels(one, labels, _ITERATIONS)
    return labels


def nearest_unseparated(rows: Float, centers: Float, sizes: Float) -> list[tuple[int, int]]:
    """The nearest pairs (by Ward's distance) that are not separated, if any: up to one for every fourth cluster.

    No two pairs have a cluster in common.
    """
    nearest, along, inner = assign(rows, centers), rows @ centers.T, centers @ centers.T
    members, squares = [np.flatnonzero(nearest == k) for k in range(len(centers))], inner.diagonal()
    first, second = np.triu_indices(len(centers), 1)
    distances = squares[first] + squares[second] - 2 * inner[first, second]
    ward = distances * sizes[first] * sizes[second] / (sizes[first] + sizes[second])
    pairs: list[tuple[int, int]] = []
    free = np.ones(len(centers), dtype=bool)
    for index in np.argsort(ward, kind="stable"):
        a, b = int(first[index]), int(second[index])
        if not (free[a] and free[b]):
            continue
        # On the line between two centers: products with both are known.
        some = np.concatenate([members[a], members[b]])
        line = along[some, b] - along[some, a]
        if unimodal_p_value(line, inner[a, b] - squares[a], squares[b] - inner[a, b]) > _LEVEL:
            pairs.append((a, b))
            free[[a, b]] = False
            if len(pairs) >= _JOINED * len(centers):
                break
    return pairs


def mixture_labels(rows: Float, labels: Labels, n_iter: int) -> Labels:
    """Labels of a Gaussian mixture with one covariance, whose determinant they minimise, from a start."""
    labels = consecutive(labels)
    for _ in range(n_iter):
        before, labels = labels, consecutive(nearest_clusters(rows, labels, rows))
        if np.array_equal(before, labels):
            break
    return labels


def nearest_clusters(labelled: Float, labels: Labels, rows: Float) -> Labels:
    """The nearest cluster center of each row, in the metric of the within-cluster covariance."""
    centers, sizes = cluster_means(labelled, labels, int(labels.max()) + 1)
    return nearest_in(rows, centers, sizes, within_covariance(labelled, labels, centers))


def within_covariance(rows: Float, labels: Labels, centers: Float) -> Float:
    """The covariance within clusters, made invertible."""
    rest = rows - centers[labels]
    covariance = rest.T @ rest / len(rows)
    covariance[np.diag_indices(len(covariance))] += _RIDGE * rows.var(axis=0) + np.finfo(float).tiny
    return covariance


def whitened(factor: Float, rows: Float) -> Float:
    """Rows in the coordinates in which the covariance is the identity."""
    return np.ascontiguousarray(solve_triangular(factor, rows.T, lower=True).T)


def consecutive(labels: Labels) -> Labels:
    """The same labels, numbered 0, 1, 2 and so on."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)
