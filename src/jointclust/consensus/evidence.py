"""The evidence of clusters in each block: agreement of different methods, beyond that on rows without clusters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.members import PLAIN, members_on
from jointclust.consensus.projection import ViewProjection, is_low
from jointclust.consensus.views import ViewedData
from jointclust.exceptions import collected
from jointclust.numerics.partitions import adjusted_rand
from jointclust.rows import as_rows, threads
from jointclust.rows.arrays import to_host
from jointclust.subspace.decomposition import coordinates_of
from jointclust.types import Float, Labels

# Most rows that are looked at; the same for two or three columns; numbers of clusters that are tried; repeats.
_MOST_ROWS, _MOST_OF_LOW, _NUMBERS, _REPEATS = 1_000, 500, 6, 3
# Directions that are looked at: they have this share of the variance, and are so many at most.
_VARIANCE, _DIRECTIONS = 0.95, 50
# A block of less evidence than this share of the most has no votes; with less than this in all, nothing is known.
_LEAST, _SOME = 0.4, 0.15
# Least difference between 1 and the agreement by chance: few draws show the latter up to about a tenth.
_LEAST_ROOM = 0.25
# One member of each kind.
_EFFORT = PLAIN._replace(finer=())


def block_weights(evidence: Float) -> Float:
    """Weights of blocks, which sum to 1: alike for those that show clusters, or for all where none does."""
    votes = evidence >= _LEAST * evidence.max() if evidence.max() >= _SOME else np.ones(evidence.size, dtype=bool)
    return votes / votes.sum()


def evidence_of(viewed: ViewedData, sample: NDArray[np.intp], most: int) -> Float:
    """The evidence of clusters in each block, by its first view: at most 1, about 0 where there are none.

    Two methods that share nothing, LDA k-means of one half of the rows and the neighbour graph of the other half, label
    all rows: it is ``(a - a0) / (1 - a0)`` of their adjusted Rand index a and of that on Gaussian rows of the same
    covariance, a0, which have no clusters but may be long, and are cut across by both. Of the numbers of clusters from
    2 to ``most`` the best counts, for a block may show only some of them; what the best of as many numbers has on
    Gaussian rows is taken off.
    """
    rng = np.random.RandomState(0)
    numbers = np.unique(np.geomspace(2, max(most, 2), _NUMBERS).round().astype(int))
    first = np.unique(viewed.blocks, return_index=True)[1].tolist()
    with collected(), threads.single():
        return np.array([_evidence(*_some(viewed, view, sample, rng), numbers, rng) for view in first])


def _some(
    viewed: ViewedData, view: int, sample: NDArray[np.intp], rng: np.random.RandomState
) -> tuple[Float, Float | None]:
    """Some rows of a view in its leading directions, and their weights."""
    Z = leading(viewed, view, sample)
    weights = None if viewed.weights is None else to_host(viewed.weights)[sample]
    most = _MOST_OF_LOW if is_low(Z.shape[1]) else _MOST_ROWS
    if len(Z) <= most:
        return Z, weights
    some = np.sort(rng.choice(len(Z), most, replace=False))
    return Z[some], None if weights is None else weights[some]


def leading(viewed: ViewedData, view: int, sample: NDArray[np.intp]) -> Float:
    """Rows of a view in its leading directions."""
    kept = viewed.coordinates(view, sample).keep(_VARIANCE)
    return to_host(kept.leading(min(kept.rank, _DIRECTIONS))).astype(np.float64)


def _evidence(Z: Float, weights: Float | None, numbers: NDArray[np.intp], rng: np.random.RandomState) -> float:
    spread, numbers = Z.std(axis=0), numbers[numbers <= len(Z) // 6]
    if not spread.any() or numbers.size == 0:
        return 0.0

    def measured(draw: Callable[[], Float]) -> Float:
        return np.array([[_agreement(draw(), weights, int(k), rng) for k in numbers] for _ in range(_REPEATS)])

    separated, none = measured(lambda: Z), measured(lambda: rng.standard_normal(Z.shape) * spread)
    usual, others = none.mean(axis=0), (none.sum(axis=0) - none) / (_REPEATS - 1)
    room = np.maximum(1.0 - usual, _LEAST_ROOM)
    chance = float(np.mean(((none - others) / room).max(axis=1)))
    return float(np.max((separated.mean(axis=0) - usual) / room)) - chance


def _agreement(Z: Float, weights: Float | None, n_clusters: int, rng: np.random.RandomState) -> float:
    """The mean adjusted Rand index, on all rows, of members that are fitted to different halves and of other kinds."""
    order = rng.permutation(len(Z))
    one, other = (_labels(Z, half, weights, n_clusters, rng) for half in (order[::2], order[1::2]))
    pairs = [(one[0], label) for label in other[1:]] + [(other[0], label) for label in one[1:]]
    return float(np.mean([adjusted_rand(*pair) for pair in pairs]))


def _labels(
    Z: Float, half: NDArray[np.intp], weights: Float | None, n_clusters: int, rng: np.random.RandomState
) -> list[Labels]:
    """Labels of all rows by members of each kind, fitted to half of them."""
    own, rows = None if weights is None else weights[half], Z[half]
    coordinates = coordinates_of(as_rows(rows), own, variance=None, max_rank=Z.shape[1], rng=rng)
    projection, landmarks = ViewProjection.fit(coordinates, n_clusters, rng)
    inner = projection.project(rows).leading
    members = members_on(projection, landmarks, inner, own, n_clusters, _EFFORT, rng, 1, lambda: None)
    projected = projection.project(Z)
    return [member.label(projected) for member in members]
