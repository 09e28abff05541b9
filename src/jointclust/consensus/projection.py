"""The projection of a view on its leading directions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.numerics.graph import distinct_rows, neighbors
from jointclust.numerics.kmeans import kmeans, lloyd
from jointclust.rows import as_rows, host_block
from jointclust.rows.arrays import is_device_array, like, namespace, rows_at, rows_or_all, to_host
from jointclust.rows.blocks import float64, project, squared_distances, squared_lengths
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Array, Float, Matrix

# Share of the variance that the members see, and directions in which neighbours are looked for.
_VARIANCE, _DIRECTIONS = 0.95, 50
# Neighbours are looked for among landmarks: the rows themselves up to 5,000; beyond, anchors, which are centers of a
# k-means of a sample: 1,000, or ten for each cluster; in two or three columns, 5,000 of the rows.
LANDMARKS, ANCHORS, _ANCHORS_PER_CLUSTER, _SAMPLE = 5_000, 1_000, 10, 10_000
# Rows for each anchor below which k-means has little to find: two steps from rows at random are enough.
_FEW_FOR_EACH, _STEPS = 2, 2
# The number of nearest landmarks that vote on a row's label; the nearest, often the row itself, has two votes.
_NEAREST = 5
# Share of the usual distance up to which a row is the landmark itself, which is rounded.
_SAME = 1e-3
# Columns from which on the density of rows cannot be seen.
NOT_LOW = 4
# Values from here on count as this, and are far from all others: squares of larger ones may overflow.
_LARGEST = 1e100


def is_low(n_columns: int) -> bool:
    """Whether rows have so few columns that their density can be seen: two or three."""
    return n_columns in range(2, NOT_LOW)


def n_landmarks(n_rows: int, n_clusters: int, n_columns: int) -> int:
    """How many landmarks stand for so many distinct rows."""
    if is_low(n_columns):
        return min(n_rows, LANDMARKS)
    return n_rows if n_rows <= LANDMARKS else min(max(ANCHORS, _ANCHORS_PER_CLUSTER * n_clusters), LANDMARKS)


def n_values(X: Any) -> int:
    """The number of values that a vote on one row computes; a device searches for landmarks in blocks of its own."""
    return (LANDMARKS + 2 * X.shape[1]) // (8 if is_device_array(X) else 1)


class Distinct(NamedTuple):
    """Landmarks that are the distinct rows: the weight of the rows at each, and the distinct rows, projected."""

    mass: NDArray[np.float64]
    projected: ProjectedRows


@dataclass(frozen=True, eq=False)
class ViewProjection:
    """The affine map ``z = V'(x - mean)`` on the directions that carry 95% of the variance, and landmarks in it.

    Attributes
    ----------
    mean : array of shape (n_features,)
        Mean row.
    basis : array of shape (n_features, rank)
        V, in single precision, which keeps models small; the members are fitted to the rounded directions, too.
    landmarks : array of shape (n_landmarks, at most 50)
        The distinct rows in the leading directions; if there are many, the centers of a k-means of them (anchors).
    reach : float
        How far the fifth-nearest landmark of a row usually is: the median over the rows.
    scale : float
        Root of the mean squared length of ``z``.
    """

    mean: Float
    basis: NDArray[np.float32]
    landmarks: NDArray[np.float32]
    reach: float
    scale: float

    @classmethod
    def fit(cls, coordinates: Coordinates, n_clusters: int, rng: np.random.RandomState) -> tuple[Self, Distinct | None]:
        """The projection on ``n_clusters - 1`` directions or more, and what is known of landmarks that are rows.

        Nothing is known of anchors: their graph computes it from its links.
        """
        low = is_low(coordinates.rows.n_features)
        rank = max(coordinates.keep(_VARIANCE).rank, coordinates.rank if low else min(n_clusters - 1, coordinates.rank))
        basis = coordinates.loadings(np.eye(coordinates.rank, rank)).astype(np.float32)
        variance = float(coordinates.eigenvalues[:rank].sum()) / max(coordinates.mass, 1.0)
        projection = cls(coordinates.mean, basis, np.empty((0, 0), np.float32), 1.0, np.sqrt(variance) or 1.0)
        rows = coordinates.present
        if rows.size > _SAMPLE:
            rows = np.sort(rng.choice(rows, _SAMPLE, replace=False))
        X = rows_or_all(coordinates.rows.X, rows)
        first, which = distinct_rows(host_block(X))
        weights = None if coordinates.weights is None else to_host(coordinates.weights)[rows]
        mass = np.bincount(which, weights=weights).astype(np.float64)
        number = n_landmarks(first.size, n_clusters, X.shape[1])
        if low and number < first.size:
            chosen = np.sort(rng.choice(first.size, number, replace=False))
            first, mass = first[chosen], mass[chosen]
        distinct = rows_or_all(X, first)
        near = projection.project(distinct).near
        if number < first.size:
            near = _anchors(near, number, as_rows(near).here(mass), rng)
        projection = cls(projection.mean, basis, to_host(near).astype(np.float32), 1.0, projection.scale)
        projected = projection.project(distinct)
        reach = float(np.median(to_host(projected.distance)))
        landmarks = Distinct(mass, projected) if number == first.size else None
        return replace(projection, reach=reach or 1.0), landmarks

    def project(self, rows: Matrix) -> ProjectedRows:
        """Project rows of the view."""
        return ProjectedRows(self, rows)


class ProjectedRows:
    """Rows of a view under its projection; each quantity that the members ask for is computed once.

    Rows that are beyond all measurements are far from all landmarks, also where the view compares directions only.
    """

    def __init__(self, projection: ViewProjection, rows: Any, is_beyond: NDArray[np.bool_] | None = None):
        self.projection, self.rows, self.is_beyond = projection, within_limits(rows), is_beyond

    @cached_property
    def leading(self) -> Any:
        """The rows in the leading directions."""
        rows = self.rows.astype(np.float64) if sp.issparse(self.rows) else float64(self.rows)
        return project(rows, self.projection.basis, self.projection.mean)

    @property
    def near(self) -> Float:
        """The rows in the few directions in which neighbours are looked for."""
        return self.leading[:, : min(_DIRECTIONS, self.leading.shape[1])]

    @cached_property
    def nearest(self) -> NDArray[np.intp]:
        """Numbers of the nearest landmarks, nearest first."""
        landmarks = self.projection.landmarks.astype(np.float64)
        return neighbors(self.near, landmarks, min(_NEAREST, len(landmarks)))

    @cached_property
    def distance(self) -> Float:
        """Distance to the last of the nearest landmarks, what lies outside the leading directions included."""
        values = self._distance_to(self.nearest[:, -1])
        return values if self.is_beyond is None else namespace(values).where(self.is_beyond, np.inf, values)

    @property
    def distance_to_others(self) -> Float:
        """The same for rows of the fit as if they were new: a row that is a landmark does not count as its own."""
        landmarks = self.projection.landmarks.astype(np.float64)
        if len(landmarks) <= _NEAREST:
            return self.distance
        nearest = neighbors(self.near, landmarks, _NEAREST + 1)
        is_own = self._distance_to(nearest[:, 0]) <= _SAME * self.projection.reach
        xp = namespace(self.near)
        return self._distance_to(xp.where(is_own, nearest[:, _NEAREST], nearest[:, _NEAREST - 1]))

    def _distance_to(self, landmark: NDArray[np.intp]) -> Float:
        length = squared_distances(self.rows, self.projection.mean)
        xp = namespace(self.near)
        outside = xp.clip(length - squared_lengths(self.near), 0.0, None)
        place = xp.take(like(self.projection.landmarks, self.near), landmark, axis=0)
        return xp.sqrt(squared_lengths(self.near - place) + outside)


def _anchors(near: Any, number: int, mass: Array, rng: np.random.RandomState) -> Float:
    """Centers of a k-means of the rows."""
    if near.shape[0] > _FEW_FOR_EACH * number:
        return kmeans(near, number, rng, mass, n_restarts=1, careful=False).centers
    chosen = np.sort(rng.choice(near.shape[0], number, replace=False))
    return lloyd(near, to_host(rows_at(near, chosen)), mass, max_iter=_STEPS).centers


def within_limits(rows: Any) -> Any:
    """Rows whose squares can be added up; they are the same rows unless a value is larger than any measurement."""
    if not _exceeds(rows):
        return rows
    if sp.issparse(rows):
        limit = min(_LARGEST, float(np.finfo(rows.dtype).max))
        return rows._with_data(np.clip(rows.data, -limit, limit), copy=False)
    xp = namespace(rows)
    limit = min(_LARGEST, float(xp.finfo(rows.dtype).max))
    return xp.clip(rows, -limit, limit)


def are_beyond(rows: Any) -> Any:
    """Which rows hold a value that is larger than any measurement; None if no row does."""
    if not _exceeds(rows):
        return None
    if sp.issparse(rows):
        return (abs(rows) >= _LARGEST).sum(axis=1) > 0
    xp = namespace(rows)
    return xp.any(xp.abs(rows) >= _LARGEST, axis=1)


def _exceeds(rows: Any) -> bool:
    if sp.issparse(rows):
        return float(np.abs(rows.data).max(initial=0)) >= _LARGEST
    xp = namespace(rows)
    return rows.shape[0] > 0 and (float(xp.max(rows)) >= _LARGEST or float(xp.min(rows)) <= -_LARGEST)
