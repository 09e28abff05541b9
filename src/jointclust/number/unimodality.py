"""Counts the clusters of which every two have fewer rows between them than a unimodal density allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import bdtr

from jointclust.consensus.partitions import Partitions
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.partitions import assign, centers_of, cluster_sizes
from jointclust.rows import threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float, Labels

# Two clusters are separated where a unimodal density would have so few rows between them with less probability.
_LEVEL = 0.05
_SPLITS = 3
# Numbers of fragments: at least the first three; then twice as many while there are fewer than expected clusters, or
# more than half of the fragments stay separate.
_FRAGMENTS = (10, 20, 40)
_MOST_FRAGMENTS = 320
# Fewest rows of a half per fragment, and of the sample per direction.
_ROWS_PER_FRAGMENT, _ROWS_PER_DIRECTION = 8, 10
FEWEST_ROWS = 4 * _ROWS_PER_FRAGMENT
_MOST_ROWS, _MOST_DIRECTIONS = 5_000, 100
# Up to this rank, all directions are tried beside those above the noise.
_FEW_DIRECTIONS = 50
# Factor by which an eigenvalue must exceed the edge of the noise, because eigenvalues of noise scatter about it.
_MARGIN = 1.02
# Share of each direction's variance that makes the within-cluster covariance invertible.
_RIDGE = 1e-3


class SeparatedClusters(NamedTuple):
    """The median number of clusters over the splits, the number in each, and their mean agreement (ARI)."""

    n_clusters: int
    numbers: list[int]
    agreement: float


def separated_clusters(
    coordinates: Coordinates, order: NDArray[np.intp], rng: np.random.RandomState, expected: int = 1
) -> SeparatedClusters:
    r"""The largest number of clusters of which every two are separated, tested on rows that did not form them.

    .. math:: f(m) \ge \min(f(a), f(b)) \quad \text{for } a < m < b \text{ and every unimodal density } f

    One half of the rows is cut into many fragments: k-means in the principal components above the noise, then a
    Gaussian mixture with one covariance and hard labels, which does not depend on the scale of the directions. The
    other half decides which fragments are joined. It is projected on the line that discriminates between two of them. A
    binomial test compares the number of rows about the middle with the number about the scarcer of the two centers.
    Where the middle does not have significantly fewer, the two are joined. The nearest such pair is joined first, then
    the labels are computed again, until every pair is separated. The number is the median over three splits.

    Gaussian and uniform data give 1. Clusters whose mixture has one mode count as one, and so do clusters with fewer
    than about eight rows in a half.
    """
    sample = rng.permutation(order)[:_MOST_ROWS]
    kept = numbers_of_directions(coordinates, sample.size)
    rows = coordinates.leading(max(kept))[sample].astype(np.float64)
    partitions = []
    with threads.suited_to(rows.shape[1]):
        for _ in range(_SPLITS):
            half = rng.permutation(sample.size)
            one, other = rows[half[: sample.size // 2]], rows[half[sample.size // 2 :]]
            tried = [(labels, k) for k in kept for labels in joined_fragments(one[:, :k], other[:, :k], rng, expected)]
            labels, k = max(tried, key=lambda pair: pair[0].max())
            partitions.append(nearest_clusters(one[:, :k], labels, rows[:, :k]))
    numbers = [int(labels.max()) + 1 for labels in partitions]
    agreement = Partitions.of(np.column_stack(partitions), numbers, None).agreement()[np.triu_indices(_SPLITS, 1)]
    return SeparatedClusters(int(np.median(numbers)), numbers, float(np.median(agreement)))


def numbers_of_directions(coordinates: Coordinates, n: int) -> list[int]:
    """Numbers of leading directions to try: those above the noise; also all of them where they are few."""
    most = min(max(2, n // _ROWS_PER_DIRECTION), _MOST_DIRECTIONS)
    above = min(max(rank_above_noise(coordinates), min(5, coordinates.rank)), most)
    few = coordinates.rank <= min(_FEW_DIRECTIONS, most)
    return sorted({above, coordinates.rank} if few else {above})


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


def joined_fragments(one: Float, other: Float, rng: np.random.RandomState, expected: int) -> Iterator[Labels]:
    """Labels after the join, for several numbers of fragments of the rows, first as they are, then standardised."""
    most = min(max(2, len(one) // _ROWS_PER_FRAGMENT), _MOST_FRAGMENTS)
    for rows in (one, one / np.maximum(one.std(axis=0), np.finfo(float).tiny)):
        n_fragments = _FRAGMENTS[0]
        while True:
            n_fragments = min(n_fragments, most)
            labels = kmeans(np.ascontiguousarray(rows), n_fragments, rng, n_restarts=3).labels
            labels = join(one, other, mixture_labels(one, labels, 30))
            yield labels
            enough = n_fragments >= max(_FRAGMENTS[-1], expected)
            if n_fragments == most or (enough and 2 * (int(labels.max()) + 1) <= n_fragments):
                break
            n_fragments *= 2


def join(one: Float, other: Float, labels: Labels) -> Labels:
    """Join fragments of one half until every two are separated in the other half."""
    while (n_clusters := int(labels.max()) + 1) > 1:
        factor = within_factor(one, labels)
        centers = whitened(factor, centers_of(one, labels, n_clusters))
        pairs = nearest_unseparated(whitened(factor, other), centers, cluster_sizes(labels, n_clusters))
        if not pairs:
            break
        for first, second in pairs:
            labels = np.where(labels == second, first, labels)
        labels = mixture_labels(one, labels, 10)
    return labels


def nearest_unseparated(rows: Float, centers: Float, sizes: Float) -> list[tuple[int, int]]:
    """The nearest pair (by Ward's distance) that is not separated, if any; of many clusters one pair in ten.

    No two pairs have a cluster in common.
    """
    nearest = assign(rows, centers)
    members = [rows[nearest == k] for k in range(len(centers))]
    first, second = np.triu_indices(len(centers), 1)
    distances = np.sum((centers[first] - centers[second]) ** 2, axis=1)
    ward = distances * sizes[first] * sizes[second] / (sizes[first] + sizes[second])
    pairs: list[tuple[int, int]] = []
    free = np.ones(len(centers), dtype=bool)
    for index in np.argsort(ward, kind="stable"):
        a, b = int(first[index]), int(second[index])
        if not (free[a] and free[b]):
            continue
        direction = centers[b] - centers[a]
        line = np.concatenate([members[a] @ direction, members[b] @ direction])
        if unimodal_p_value(line, centers[a] @ direction, centers[b] @ direction) > _LEVEL:
            pairs.append((a, b))
            free[[a, b]] = False
            if len(pairs) >= len(centers) // 10:
                break
    return pairs


def unimodal_p_value(line: Float, low: float, high: float) -> float:
    """Probability of so few values in the middle third between two points under a unimodal density.

    Such a density has at least as many values in the middle as in the scarcer of the thirds about the two points, that
    is, at least half of both together.
    """
    half = (high - low) / 6
    left, middle, right = (int(np.sum(np.abs(line - point) <= half)) for point in (low, (low + high) / 2, high))
    return float(bdtr(middle, middle + min(left, right), 0.5))


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
    factor = within_factor(labelled, labels)
    return assign(whitened(factor, rows), whitened(factor, centers_of(labelled, labels, int(labels.max()) + 1)))


def within_factor(rows: Float, labels: Labels) -> Float:
    """Cholesky factor of the within-cluster covariance."""
    rest = rows - centers_of(rows, labels, int(labels.max()) + 1)[labels]
    ridge = _RIDGE * rows.var(axis=0) + np.finfo(float).tiny
    return cholesky(rest.T @ rest / len(rows) + np.diag(ridge), lower=True)


def whitened(factor: Float, rows: Float) -> Float:
    """Rows in the coordinates in which the covariance is the identity."""
    return np.ascontiguousarray(solve_triangular(factor, rows.T, lower=True).T)


def consecutive(labels: Labels) -> Labels:
    """The same labels, numbered 0, 1, 2 and so on."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)
