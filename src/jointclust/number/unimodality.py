"""Whether there are clusters: fragments of half of the rows, joined where the others show no valley."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

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

Table = dict[str, list[Any]]
# Two clusters are apart when a unimodal density would show so deep a valley with less than this probability.
_LEVEL = 0.05
_SPLITS = 3
# Fragments to start from: always these; beyond, twice as many while there are fewer than clusters are expected, or
# more than half of them stay apart.
_FRAGMENTS = (10, 20, 40)
_MOST_FRAGMENTS = 320
# Rows of a half that a fragment should have, and rows of all that a direction should have.
_ROWS_PER_FRAGMENT, _ROWS_PER_DIRECTION = 8, 10
FEWEST_ROWS = 4 * _ROWS_PER_FRAGMENT
_MOST_ROWS, _MOST_DIRECTIONS = 5_000, 100
# Directions that are kept beside those above the noise when there are no more than this.
_FEW_DIRECTIONS = 50
# By how much an eigenvalue has to exceed the noise's edge, about which those of noise scatter.
_MARGIN = 1.02
# Relative to each direction's variance, so that the within-cluster covariance can be inverted.
_RIDGE = 1e-3


class Valleys(NamedTuple):
    """Clusters between valleys: the median over splits, the number of each, how far they agree (ARI), the evidence."""

    n_clusters: int
    numbers: list[int]
    agreement: float
    table: Table


def n_between_valleys(
    coordinates: Coordinates, order: NDArray[np.intp], rng: np.random.RandomState, expected: int = 1
) -> Valleys:
    r"""The largest number of clusters of which every two are separated by a valley, on rows that did not form them.

    .. math:: f(m) \ge \min(f(a), f(b)) \quad \text{for } a < m < b \text{ and every unimodal density } f

    One half of the rows is cut into many fragments: k-means in the principal components above the noise, then a
    Gaussian mixture with one covariance and hard labels, which no scaling of the directions can mislead. The other half
    decides which fragments belong together. Two are projected on the line that discriminates between them; where
    the rows about the middle are not significantly fewer than those about the scarcer of the two centers (a binomial
    test), there is no valley, and they are joined. The nearest such pair is joined first and the labels are formed
    again, until every pair is apart. The number is the median over three splits into halves.

    Gaussian and uniform data have no valley anywhere: the number is 1. Clusters that overlap so far that their mixture
    has one mode are counted as one, and so are those of which a half has fewer than about eight rows.

    The table has one row per try: split, directions, scaled (whether they were given the same variance before the
    fragments were formed), fragments, clusters (what was left of them), doubt (of the pair of clusters that is hardest
    to tell apart, the probability of so deep a valley in a unimodal density; NaN when one cluster was left).
    """
    table: Table = {name: [] for name in ("split", "directions", "scaled", "fragments", "clusters", "doubt")}
    sample = rng.permutation(order)[:_MOST_ROWS]
    kept = directions_kept(coordinates, sample.size)
    rows = coordinates.leading(max(kept))[sample].astype(np.float64)
    best = []
    with threads.suited_to(rows.shape[1]):
        for split in range(_SPLITS):
            half = rng.permutation(sample.size)
            one, other = rows[half[: sample.size // 2]], rows[half[sample.size // 2 :]]
            tries = [found for k in kept for found in tries_of(one[:, :k], other[:, :k], rng, expected)]
            for found, _ in tries:
                for name, value in {"split": split, **found}.items():
                    table[name].append(value)
            largest, labels = max(tries, key=lambda found: found[0]["clusters"])
            best.append(extended(one[:, : largest["directions"]], labels, rows[:, : largest["directions"]]))
    numbers = [int(labels.max()) + 1 for labels in best]
    number = int(np.median(numbers))
    partitions = Partitions.of(np.column_stack(best), numbers, None).agreement()
    return Valleys(number, numbers, float(np.median(partitions[np.triu_indices(_SPLITS, 1)])), table)


def directions_kept(coordinates: Coordinates, n: int) -> list[int]:
    """How many leading directions to look at: those above the noise, and all if they are few."""
    most = min(max(2, n // _ROWS_PER_DIRECTION), _MOST_DIRECTIONS)
    above = min(max(rank_above_noise(coordinates), min(5, coordinates.rank)), most)
    few = coordinates.rank <= min(_FEW_DIRECTIONS, most)
    return sorted({above, coordinates.rank} if few else {above})


def rank_above_noise(coordinates: Coordinates) -> int:
    """Eigenvalues beyond the edge that those of white noise have (Marchenko and Pastur, 1967).

    The noise's level is read off the median eigenvalue, as by Gavish and Donoho (2014). Where the decomposition has a
    limited rank, it is the mean of the eigenvalues not counted, those that were cut off included.
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


def tries_of(
    one: Float, other: Float, rng: np.random.RandomState, expected: int
) -> Iterator[tuple[dict[str, Any], Labels]]:
    """Fragments of several numbers, from rows as they are and with their directions scaled alike, joined."""
    most = min(max(2, len(one) // _ROWS_PER_FRAGMENT), _MOST_FRAGMENTS)
    for scaled in (False, True):
        start = one / np.maximum(one.std(axis=0), np.finfo(float).tiny) if scaled else one
        n_fragments, found = _FRAGMENTS[0], 0
        while True:
            n_fragments = min(n_fragments, most)
            labels = kmeans(np.ascontiguousarray(start), n_fragments, rng, n_restarts=3).labels
            labels, doubt = join(one, other, regrouped(one, labels, 30))
            found = int(labels.max()) + 1
            row = {"directions": one.shape[1], "scaled": scaled, "fragments": n_fragments}
            yield {**row, "clusters": found, "doubt": doubt}, labels
            enough = n_fragments >= max(_FRAGMENTS[-1], expected)
            if n_fragments == most or (enough and 2 * found <= n_fragments):
                break
            n_fragments *= 2


def join(one: Float, other: Float, labels: Labels) -> tuple[Labels, float]:
    """Join fragments of one half until, in the other, every two are apart: their labels, and the largest doubt."""
    while (n_clusters := int(labels.max()) + 1) > 1:
        factor = within_factor(one, labels)
        centers = whitened(factor, centers_of(one, labels, n_clusters))
        pairs, doubt = nearest_unseparated(whitened(factor, other), centers, cluster_sizes(labels, n_clusters))
        if not pairs:
            return labels, doubt
        for first, second in pairs:
            labels = np.where(labels == second, first, labels)
        labels = regrouped(one, labels, 10)
    return labels, float("nan")


def nearest_unseparated(rows: Float, centers: Float, sizes: Float) -> tuple[list[tuple[int, int]], float]:
    """The nearest pairs (by Ward's distance) with no valley between, if any; the largest p-value looked at.

    One pair, or one in ten of many clusters at a time, none of which has a member in common with another.
    """
    nearest = assign(rows, centers)
    members = [rows[nearest == k] for k in range(len(centers))]
    first, second = np.triu_indices(len(centers), 1)
    apart = np.sum((centers[first] - centers[second]) ** 2, axis=1)
    ward = apart * sizes[first] * sizes[second] / (sizes[first] + sizes[second])
    pairs: list[tuple[int, int]] = []
    free, largest = np.ones(len(centers), dtype=bool), 0.0
    for index in np.argsort(ward, kind="stable"):
        a, b = int(first[index]), int(second[index])
        if not (free[a] and free[b]):
            continue
        direction = centers[b] - centers[a]
        line = np.concatenate([members[a] @ direction, members[b] @ direction])
        doubt = valley_doubt(line, centers[a] @ direction, centers[b] @ direction)
        largest = max(largest, doubt)
        if doubt > _LEVEL:
            pairs.append((a, b))
            free[[a, b]] = False
            if len(pairs) >= len(centers) // 10:
                break
    return pairs, largest


def valley_doubt(line: Float, low: float, high: float) -> float:
    """Probability of so few values in the middle third between two points, were their density unimodal.

    Then the middle holds at least as many as the scarcer of the thirds about the two points: one half, at least, of
    both together.
    """
    half = (high - low) / 6
    left, middle, right = (int(np.sum(np.abs(line - point) <= half)) for point in (low, (low + high) / 2, high))
    return float(bdtr(middle, middle + min(left, right), 0.5))


def regrouped(rows: Float, labels: Labels, n_iter: int) -> Labels:
    """Nearest center in the metric of the within-cluster covariance, in turn with both: minimises its determinant."""
    labels = without_gaps(labels)
    for _ in range(n_iter):
        factor = within_factor(rows, labels)
        centers = whitened(factor, centers_of(rows, labels, int(labels.max()) + 1))
        found = without_gaps(assign(whitened(factor, rows), centers))
        if np.array_equal(found, labels):
            break
        labels = found
    return labels


def extended(one: Float, labels: Labels, rows: Float) -> Labels:
    """Labels of all rows: the nearest center of those that were labelled, in the metric of the scatter within."""
    factor = within_factor(one, labels)
    return assign(whitened(factor, rows), whitened(factor, centers_of(one, labels, int(labels.max()) + 1)))


def within_factor(rows: Float, labels: Labels) -> Float:
    """Cholesky factor of the within-cluster covariance."""
    rest = rows - centers_of(rows, labels, int(labels.max()) + 1)[labels]
    ridge = _RIDGE * rows.var(axis=0) + np.finfo(float).tiny
    return cholesky(rest.T @ rest / len(rows) + np.diag(ridge), lower=True)


def whitened(factor: Float, rows: Float) -> Float:
    """Rows in the coordinates in which the covariance is the identity."""
    return np.ascontiguousarray(solve_triangular(factor, rows.T, lower=True).T)


def without_gaps(labels: Labels) -> Labels:
    """The same labels, numbered from 0 with none left out."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)
