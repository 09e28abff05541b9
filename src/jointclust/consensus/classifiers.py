"""Members as a fitted model keeps them: rules that label rows of a view."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from jointclust.consensus.projection import ProjectedRows, ViewProjection
from jointclust.numerics.partitions import assign
from jointclust.rows.arrays import like, namespace, whole_numbers
from jointclust.types import Float, Labels, Matrix


@dataclass(frozen=True, eq=False)
class Member:
    """A rule that labels rows of one view.

    Attributes
    ----------
    view : ViewProjection
        The projection of the view.
    kind : str
        The method that found the rule.
    """

    view: ViewProjection
    kind: str

    def predict(self, rows: Matrix) -> Labels:
        """Labels of rows of the view."""
        return self.label(self.view.project(rows))

    def label(self, projected: ProjectedRows) -> Labels:
        """Labels of projected rows."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class LandmarkLabels(Member):
    """A row has the label of most of its nearest landmarks, of which the nearest has two votes.

    Attributes
    ----------
    labels : array of shape (n_landmarks,)
        Labels of the landmarks.
    n_clusters : int
        Number of different labels.
    """

    labels: NDArray
    n_clusters: int

    def label(self, projected: ProjectedRows) -> Labels:
        """Labels of projected rows."""
        nearest = projected.nearest
        xp, shape = namespace(nearest), nearest.shape
        labels = like(self.labels, nearest, xp.int32)
        around = xp.reshape(xp.take(labels, xp.reshape(nearest, (-1,)), axis=0), shape)
        # Count the votes for the label of each of the nearest, so that no table of all labels is needed.
        same = xp.astype(around[:, :, None] == around[:, None, :], xp.int8)
        votes = xp.sum(same, axis=2, dtype=xp.int8) + same[:, :, 0]
        return xp.take_along_axis(around, xp.argmax(votes, axis=1)[:, None], axis=1)[:, 0]


@dataclass(frozen=True, eq=False)
class NearestLabels(LandmarkLabels):
    """A row has the label of the nearest landmark, so that no cluster is too small to be found again."""

    def label(self, projected: ProjectedRows) -> Labels:
        """Labels of projected rows."""
        nearest = projected.nearest
        xp = namespace(nearest)
        return xp.take(like(self.labels, nearest, xp.int32), nearest[:, 0], axis=0)


@dataclass(frozen=True, eq=False)
class CenterLabels(Member):
    """A row has the label of the nearest center in an embedding of the leading directions.

    Attributes
    ----------
    projection : array of shape (rank, n_components)
        From the leading directions to the embedding.
    centers : array of shape (n_clusters, n_components)
        Centers in the embedding.
    """

    projection: Float
    centers: Float

    @property
    def n_clusters(self) -> int:
        return len(self.centers)

    def label(self, projected: ProjectedRows) -> Labels:
        """Labels of projected rows."""
        return assign(projected.leading @ like(self.projection, projected.leading), self.centers)


@dataclass(frozen=True, eq=False)
class LinearLabels(Member):
    """A row has the label of the largest ``z'w + b`` in the leading directions.

    Attributes
    ----------
    slopes : array of shape (rank, n_clusters)
        The vectors w.
    levels : array of shape (n_clusters,)
        The numbers b.
    """

    slopes: Float
    levels: Float

    @property
    def n_clusters(self) -> int:
        return self.levels.size

    def label(self, projected: ProjectedRows) -> Labels:
        """Labels of projected rows."""
        scores = projected.leading @ like(self.slopes, projected.leading) + like(self.levels, projected.leading)
        return whole_numbers(namespace(scores).argmax(scores, axis=1))
