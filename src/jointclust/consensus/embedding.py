"""Directions over all views in which the clusters of a consensus differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.linalg

from jointclust.numerics.linalg import left_singular, signs_of
from jointclust.numerics.partitions import centers_of, cluster_sizes
from jointclust.rows import as_rows, total_weight
from jointclust.rows.arrays import is_device_array, like
from jointclust.types import Float, Labels

# Beside the within-cluster scatter, this share of the mean variance: with few rows some directions are noise.
_RIDGE = 1.0
_FEWEST = 2


@dataclass(frozen=True, eq=False)
class DiscriminantMap:
    """The affine map ``y = W'(t - origin)`` of rows in the leading directions of all views.

    Attributes
    ----------
    origin : array of shape (n_directions,)
        Mean row.
    directions : array of shape (n_directions, n_components)
        The matrix W.
    """

    origin: Float
    directions: Float

    @classmethod
    def fit(cls, T: Any, labels: Labels, n_clusters: int, weights: Any) -> Self:
        """The map for rows and their labels."""
        return cls(*discriminant_directions(T, labels, n_clusters, weights))

    def __call__(self, T: Any) -> Any:
        """Map rows."""
        return (T - like(self.origin, T)) @ like(self.directions, T)


def _moments(T: Any, labels: Labels, n_clusters: int, weights: Any) -> tuple[Float, Float, Float]:
    """The mean row, the scatter about it, and the clusters' means minus it."""
    if is_device_array(T):
        rows = as_rows(T)
        mean = rows.mean(weights)
        return mean, rows.scatter(mean, weights), centers_of(T, labels, n_clusters, weights) - mean
    mean = np.average(T, axis=0, weights=weights)
    centred = T - mean
    scaled = centred if weights is None else centred * weights[:, None]
    return mean, centred.T @ scaled, centers_of(centred, labels, n_clusters, weights)


def discriminant_directions(T: Any, labels: Labels, n_clusters: int, weights: Any) -> tuple[Float, Float]:
    """The mean row, and directions W with ``S_b W = (S_w + ridge I) W diag(d)``, d largest, ``W'(S_w + ridge I)W = I``.

    Scatters are means over the rows. There are ``n_clusters - 1`` directions, or two where that is less: then the next
    one is that of most variance among those orthogonal to the first.
    """
    mass = float(T.shape[0] if weights is None else total_weight(weights))
    mean, scatter, means = _moments(T, labels, n_clusters, weights)
    total = scatter / mass
    sizes = cluster_sizes(labels, n_clusters, weights) / mass
    centers = means * np.sqrt(sizes)[:, None]
    between = centers.T @ centers
    width = T.shape[1]
    metric = total - between + (_RIDGE * np.trace(total) / width or 1.0) * np.eye(width)
    wanted = min(max(n_clusters - 1, 1), width)
    # With metric = LL', the directions are L'^-1 times the left singular vectors of L^-1 centers'; few are needed.
    factor = scipy.linalg.cholesky(metric, lower=True)
    whitened = scipy.linalg.solve_triangular(factor, centers.T, lower=True)
    axes = left_singular(whitened, wanted)
    directions = scipy.linalg.solve_triangular(factor, axes, lower=True, trans="T")
    if wanted < min(_FEWEST, width):
        basis = scipy.linalg.null_space(directions.T)
        more = basis @ np.linalg.eigh(basis.T @ total @ basis)[1][:, ::-1][:, : _FEWEST - wanted]
        more = more / np.sqrt(np.einsum("ij,ik,kj->j", more, metric, more))
        directions = np.hstack([directions, more])
    return mean, directions * signs_of(centers @ directions)
