"""Computes criteria for partitions without labels, of which greater is better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import silhouette_score

from jointclust.numerics.partitions import adjusted_rand
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose
from jointclust.types import Float, Labels

# Most rows in the sample for the silhouette.
_SILHOUETTE_ROWS = 2_000


def agreement(labels: Labels, references: list[Labels]) -> float:
    """Mean adjusted Rand index with other partitions of the same rows (Hubert and Arabie, 1985).

    Methods err in different ways, so clusters that many methods find are more likely to exist.
    """
    return float(np.mean([adjusted_rand(labels, other) for other in references]))


def whitening(coordinates: Coordinates, n_clusters: int) -> Float:
    """Factors that even out the variances of the directions by a ridge: the total variance over ``n_clusters - 1``."""
    ridge = coordinates.total_variance / max(n_clusters - 1, 1)
    return 1.0 / np.maximum(coordinates.eigenvalues + ridge, np.finfo(float).tiny)


def whitened_rows(coordinates: Coordinates, n_clusters: int) -> NDArray:
    """The rows in whitened directions."""
    scale = np.sqrt(whitening(coordinates, n_clusters))
    return coordinates.leading(coordinates.rank) * scale.astype(coordinates.rows.dtype)


def whitened_scatter(coordinates: Coordinates, labels: Labels, shares: Float) -> tuple[float, float]:
    """Between- and within-cluster scatter of rows whose directions are scaled."""
    factor = coordinates.clusters(labels, int(labels.max()) + 1).between_factor
    between = float(np.sum(factor**2 * shares))
    return between, max(float(np.sum(coordinates.eigenvalues * shares)) - between, np.finfo(float).tiny)


def calinski_harabasz(coordinates: Coordinates, labels: Labels) -> float:
    """Between- over within-cluster scatter, per degree of freedom (Calinski and Harabasz, 1974), in whitened rows."""
    n_clusters = np.unique(labels).size
    if n_clusters < 2 or n_clusters >= labels.size:
        return -np.inf
    shares = whitening(coordinates, int(labels.max()) + 1)
    between, within = whitened_scatter(coordinates, labels, shares)
    return (between / (n_clusters - 1)) / (within / (coordinates.mass - n_clusters))


def gap(coordinates: Coordinates, labels: Labels, references: list[tuple[Coordinates, Labels]]) -> float:
    """Log of the within-cluster share of scatter in structureless data, less that here (Tibshirani et al., 2001).

    In whitened rows. The references are draws of :func:`structureless` with labels from the same method, so that the
    gain of any partition of a Gaussian is subtracted.
    """

    def log_within(rows: Coordinates, partition: Labels) -> float:
        # A ridge of the mean eigenvalue: one space for all numbers of clusters.
        between, within = whitened_scatter(rows, partition, whitening(rows, rows.rank + 1))
        return float(np.log(within / (between + within)))

    return float(np.mean([log_within(*pair) for pair in references])) - log_within(coordinates, labels)


def structureless(coordinates: Coordinates, rng: np.random.RandomState) -> Coordinates:
    """As many rows of one Gaussian that has the same covariance, in its principal directions."""
    scale = np.sqrt(coordinates.eigenvalues / coordinates.mass)
    return decompose(rng.standard_normal((coordinates.n_samples, coordinates.rank)) * scale, random_state=rng)


def silhouette(coordinates: Coordinates, labels: Labels, rng: np.random.RandomState) -> float:
    """Mean silhouette (Rousseeuw, 1987) in whitened rows, on a sample of them."""
    n_clusters = np.unique(labels).size
    if n_clusters < 2 or n_clusters >= labels.size:
        return -1.0
    present = coordinates.present
    rows, labels = whitened_rows(coordinates, n_clusters)[present], labels[present]
    size = min(_SILHOUETTE_ROWS, labels.size)
    return float(silhouette_score(rows, labels, sample_size=size, random_state=rng))


def classification_bic(coordinates: Coordinates, labels: Labels) -> float:
    """Minus the description length of the rows: clusters as Gaussians with one covariance (Schwarz, 1978).

    In the coordinates that carry 0.9 of the variance; the covariance is that of the rows less their cluster means.
    """
    kept = coordinates.keep(0.9)
    n, r = kept.mass, kept.rank
    clusters = kept.clusters(labels, int(labels.max()) + 1)
    within = np.diag(kept.eigenvalues) - clusters.between_factor.T @ clusters.between_factor
    sizes = clusters.sizes[clusters.sizes > 0]
    _, logdet = np.linalg.slogdet(within / n + 1e-6 * np.trace(within) / (n * r) * np.eye(r))
    likelihood = -0.5 * n * (logdet + r * (1 + np.log(2 * np.pi))) + float(sizes @ np.log(sizes / sizes.sum()))
    n_parameters = sizes.size * r + 0.5 * r * (r + 1) + sizes.size - 1
    return likelihood - 0.5 * n_parameters * np.log(n)
