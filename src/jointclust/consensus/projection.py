"""A view as a model keeps it: the leading directions of its rows, and landmarks among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.numerics.graph import distinct_rows, neighbors
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.partitions import assign
from jointclust.rows import as_rows, host_block
from jointclust.rows.arrays import is_device_array, like, namespace, rows_at, to_host, whole_numbers
from jointclust.rows.blocks import float64, project, squared_distances, squared_lengths
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float, Labels, Matrix

# Share of the variance that the members see, and directions in which neighbours are looked for.
_VARIANCE, _DIRECTIONS = 0.95, 50
# Landmarks where neighbours are looked for: the rows themselves up to so many; of more rows anchors, the centers of
# a sample's k-means, so many or ten for each cluster.
LANDMARKS, _ANCHORS, _ANCHORS_PER_CLUSTER, _SAMPLE = 5_000, 1_000, 10, 10_000
# Nearest landmarks of a row that say where it belongs; the nearest, often the row itself, counts twice.
_NEAREST = 5


def n_landmarks(n_rows: int, n_clusters: int) -> int:
    """How many landmarks stand for so many distinct rows."""
    return n_rows if n_rows <= LANDMARKS else min(max(_ANCHORS, _ANCHORS_PER_CLUSTER * n_clusters), LANDMARKS)


def n_values(X: Any) -> int:
    """How many values a vote makes of a row; on a device the search for landmarks goes in stretches of its own."""
    return (LANDMARKS + 2 * X.shape[1]) // (8 if is_device_array(X) else 1)


@dataclass(frozen=True, eq=False)
class Lens:
    """The affine map ``z = V'(x - mean)`` on the directions that carry 95% of the variance, and landmarks in it.

    Attributes
    ----------
    mean : array of shape (n_features,)
        Mean row.
    basis : array of shape (n_features, rank)
        V, in single precision: a model is small, and what is fitted is fitted through the rounded directions.
    landmarks : array of shape (n_landmarks, at most 50)
        In the leading directions: the distinct rows, or, where these are many, anchors, centers of a k-means of them.
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
    def through(
        cls, coordinates: Coordinates, n_clusters: int, rng: np.random.RandomState
    ) -> tuple[Self, NDArray[np.float64] | None]:
        """The lens on rows, of ``n_clusters - 1`` directions or more, and the weight of the rows at each landmark.

        Where the landmarks are anchors it is for the links to say.
        """
        rank = max(coordinates.keep(_VARIANCE).rank, min(n_clusters - 1, coordinates.rank))
        basis = coordinates.loadings(np.eye(coordinates.rank, rank)).astype(np.float32)
        variance = float(coordinates.eigenvalues[:rank].sum()) / max(coordinates.mass, 1.0)
        lens = cls(coordinates.mean, basis, np.empty((0, 0), np.float32), 1.0, np.sqrt(variance) or 1.0)
        rows = coordinates.present
        if rows.size > _SAMPLE:
            rows = np.sort(rng.choice(rows, _SAMPLE, replace=False))
        X = rows_at(coordinates.rows.X, rows)
        first, which = distinct_rows(host_block(X))
        weights = None if coordinates.weights is None else to_host(coordinates.weights)[rows]
        mass, distinct = np.bincount(which, weights=weights).astype(np.float64), rows_at(X, first)
        near, number = lens.see(distinct).near, n_landmarks(first.size, n_clusters)
        if number < first.size:
            near = kmeans(near, number, rng, as_rows(near).here(mass), n_restarts=1).centers
        lens = cls(lens.mean, basis, to_host(near).astype(np.float32), 1.0, lens.scale)
        reach = float(np.median(to_host(lens.see(distinct).distance)))
        return replace(lens, reach=reach or 1.0), mass if number == first.size else None

    def see(self, rows: Matrix) -> Seen:
        """Rows of the view through the lens."""
        return Seen(self, rows)


class Seen:
    """Rows of a view through a lens: what members ask of them is computed once."""

    def __init__(self, lens: Lens | None, rows: Any):
        self._lens, self.rows = lens, rows

    @property
    def lens(self) -> Lens:
        """The lens; models of 0.1 have none, and ask for nothing that needs it."""
        assert self._lens is not None
        return self._lens

    @cached_property
    def leading(self) -> Any:
        """The rows in the leading directions."""
        basis = self.lens.basis.astype(np.float64)
        rows = self.rows.astype(np.float64) if sp.issparse(self.rows) else float64(self.rows)
        return project(rows, basis, self.lens.mean)

    @property
    def near(self) -> Float:
        """The rows in the few directions in which neighbours are looked for."""
        return self.leading[:, : min(_DIRECTIONS, self.leading.shape[1])]

    @cached_property
    def nearest(self) -> NDArray[np.intp]:
        """Numbers of the nearest landmarks, nearest first."""
        landmarks = self.lens.landmarks.astype(np.float64)
        return neighbors(self.near, landmarks, min(_NEAREST, len(landmarks)))

    @cached_property
    def distance(self) -> Float:
        """Distance to the last of the nearest landmarks, what lies outside the leading directions included."""
        length = squared_distances(self.rows, self.lens.mean)
        xp = namespace(self.near)
        outside = xp.clip(length - squared_lengths(self.near), 0.0, None)
        last = xp.take(like(self.lens.landmarks, self.near), self.nearest[:, -1], axis=0)
        return xp.sqrt(squared_lengths(self.near - last) + outside)


@dataclass(frozen=True, eq=False)
class LandmarkLabels:
    """A member that knows the labels of landmarks: a row has the label that most of its nearest landmarks have.

    Attributes
    ----------
    lens : Lens
        With the landmarks.
    labels : array of shape (n_landmarks,)
        Their labels.
    n_clusters : int
        Number of different labels.
    kind : str
        What found them.
    """

    lens: Lens
    labels: NDArray
    n_clusters: int
    kind: str

    def predict(self, rows: Matrix) -> Labels:
        """Labels of rows of the view."""
        return self.of(self.lens.see(rows))

    def of(self, seen: Seen) -> Labels:
        """Labels of rows seen through the lens."""
        xp, shape = namespace(seen.nearest), seen.nearest.shape
        labels = like(self.labels, seen.nearest, xp.int32)
        around = xp.reshape(xp.take(labels, xp.reshape(seen.nearest, (-1,)), axis=0), shape)
        # Votes for the label of each of the nearest, the first of which has two: no table of all labels is needed.
        same = xp.astype(around[:, :, None] == around[:, None, :], xp.int8)
        votes = xp.sum(same, axis=2, dtype=xp.int8) + same[:, :, 0]
        return xp.take_along_axis(around, xp.argmax(votes, axis=1)[:, None], axis=1)[:, 0]


@dataclass(frozen=True, eq=False)
class CenterLabels:
    """A member that knows centers in an embedding of the leading directions: a row has the label of the nearest.

    Attributes
    ----------
    lens : Lens
        With the directions.
    projection : array of shape (rank, n_components)
        From the leading directions to the embedding.
    centers : array of shape (n_clusters, n_components)
        In the embedding.
    kind : str
        What found them.
    """

    lens: Lens
    projection: Float
    centers: Float
    kind: str

    @property
    def n_clusters(self) -> int:
        return len(self.centers)

    def predict(self, rows: Matrix) -> Labels:
        """Labels of rows of the view."""
        return self.of(self.lens.see(rows))

    def of(self, seen: Seen) -> Labels:
        """Labels of rows seen through the lens."""
        return assign(seen.leading @ like(self.projection, seen.leading), self.centers)


@dataclass(frozen=True, eq=False)
class LinearLabels:
    """A member that knows a linear rule in the leading directions: a row has the label of the largest ``z'w + b``.

    Attributes
    ----------
    lens : Lens
        With the directions.
    slopes : array of shape (rank, n_clusters)
        The vectors w.
    levels : array of shape (n_clusters,)
        The numbers b.
    kind : str
        What found them.
    """

    lens: Lens
    slopes: Float
    levels: Float
    kind: str

    @property
    def n_clusters(self) -> int:
        return self.levels.size

    def predict(self, rows: Matrix) -> Labels:
        """Labels of rows of the view."""
        return self.of(self.lens.see(rows))

    def of(self, seen: Seen) -> Labels:
        """Labels of rows seen through the lens."""
        scores = seen.leading @ like(self.slopes, seen.leading) + like(self.levels, seen.leading)
        return whole_numbers(namespace(scores).argmax(scores, axis=1))


Member = CenterLabels | LandmarkLabels | LinearLabels
