"""Data sets that are drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state


def two_gaussians(
    n_samples: int = 1000, *, random_state: int | np.random.RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Toy of the DEC paper: two normal clouds side by side, far longer along the direction that does not matter.

    Half the rows each from N([-3, 0], diag(1, 20)) and N([3, 0], diag(1, 20)).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The rows.
    y : array of shape (n_samples,)
        The cloud of each row.
    """
    rng = check_random_state(random_state)
    y = np.arange(n_samples) * 2 // max(n_samples, 1)
    X = rng.standard_normal((n_samples, 2)) * np.sqrt([1.0, 20.0])
    X[:, 0] += np.where(y == 0, -3.0, 3.0)
    return X, y


def three_clusters(
    n_samples: int = 600, *, random_state: int | np.random.RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Three normal clouds in the plane that touch, in the manner of RURR-SL's 3-cluster toy.

    The paper gives no parameters. Here a third of the rows each come from N(center, I), with the centers at the corners
    of a triangle with sides of length 4.

    Parameters
    ----------
    n_samples : int, default=600
        Number of rows.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The rows.
    y : array of shape (n_samples,)
        The cloud of each row.
    """
    rng = check_random_state(random_state)
    y = np.arange(n_samples) * 3 // max(n_samples, 1)
    centers = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, np.sqrt(12.0)]])
    return centers[y] + rng.standard_normal((n_samples, 2)), y


def multi_clusters(
    n_samples: int = 900, n_clusters: int = 9, *, random_state: int | np.random.RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Many normal clouds in the plane, of many shapes and sizes, in the manner of RURR-SL's multicluster toy.

    The paper gives no parameters. Here the centers lie on a square grid; each cloud is two to five times as long as
    wide and points its own way, and the largest has about three times the rows of the smallest, so that k-means is
    good but not perfect.

    Parameters
    ----------
    n_samples : int, default=900
        Number of rows.
    n_clusters : int, default=9
        Number of clouds.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The rows.
    y : array of shape (n_samples,)
        The cloud of each row.
    """
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(f"n_clusters={n_clusters} must lie between 1 and n_samples={n_samples}.")
    rng = check_random_state(random_state)
    side = int(np.ceil(np.sqrt(n_clusters)))
    centers = 6.0 * np.stack(np.divmod(np.arange(n_clusters), side), axis=1)
    # One row each; the others by shares from 1 to 3.
    ends = np.cumsum(np.linspace(1.0, 3.0, n_clusters))
    others = np.searchsorted(ends, ends[-1] * (np.arange(n_samples - n_clusters) + 0.5) / (n_samples - n_clusters or 1))
    y = np.sort(np.concatenate([np.arange(n_clusters), others]))
    angle, length = rng.uniform(0, np.pi, n_clusters), rng.uniform(1.2, 3.0, n_clusters)
    along, across = rng.standard_normal((2, n_samples)) * np.stack([length[y], np.full(n_samples, 0.6)])
    cosine, sine = np.cos(angle[y]), np.sin(angle[y])
    return centers[y] + np.stack([along * cosine - across * sine, along * sine + across * cosine], axis=1), y


def mixture(
    n_samples: int = 2000,
    n_features: int = 200,
    n_clusters: int = 10,
    *,
    separation: float = 8.0,
    n_nuisance: int = 10,
    nuisance_scale: float = 4.0,
    outliers: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Normal clusters in a random subspace of a high-dimensional space, under nuisance directions and outliers.

    The centers lie in ``n_clusters - 1`` dimensions, about ``separation`` from their mean; every direction has unit
    noise; ``n_nuisance`` other directions have ``nuisance_scale`` times that besides, which misleads PCA and k-means.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Rows, columns, clusters.
    separation : float, default=8
        Root mean squared distance of a cluster's center from the centers' mean, in units of the noise.
    n_nuisance : int, default=10
        Directions of large variance that carry no cluster; ``n_clusters - 1 + n_nuisance`` must not exceed
        ``n_features``.
    nuisance_scale : float, default=4
        Standard deviation that they have beside the unit noise.
    outliers : float, default=0
        Share of rows with ten times the noise besides, in all directions; they keep their cluster's label.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The rows, in random order.
    y : array of shape (n_samples,)
        The cluster of each row.
    """
    informative = max(n_clusters - 1, 1)
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(f"n_clusters={n_clusters} must lie between 1 and n_samples={n_samples}.")
    if informative + n_nuisance > n_features:
        raise ValueError(
            f"n_features={n_features} is less than n_clusters - 1 + n_nuisance = {informative + n_nuisance}: "
            "raise it or lower n_nuisance."
        )
    if not 0 <= outliers <= 1:
        raise ValueError(f"outliers={outliers} must be a share between 0 and 1.")
    rng = check_random_state(random_state)
    directions = np.linalg.qr(rng.standard_normal((n_features, informative + n_nuisance)))[0].T
    centers = rng.standard_normal((n_clusters, informative))
    centers -= centers.mean(axis=0)
    centers *= separation / max(float(np.sqrt(np.mean(np.sum(centers**2, axis=1)))), 1e-12)
    y = rng.permutation(np.arange(n_samples) % n_clusters)
    X = rng.standard_normal((n_samples, n_features))
    coefficients = np.hstack([centers[y], nuisance_scale * rng.standard_normal((n_samples, n_nuisance))])
    X += coefficients @ directions
    far = rng.permutation(n_samples)[: round(outliers * n_samples)]
    X[far] += 10.0 * rng.standard_normal((far.size, n_features))
    return X, y
