"""Measures the stability of partitions under resampling."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from jointclust._sklearn import Interval, validate_params
from jointclust.consensus.reproducibility import Repeats
from jointclust.estimators.fitting import weight_options
from jointclust.exceptions import collected
from jointclust.numerics.partitions import adjusted_rand
from jointclust.rows import in_memory, tidied
from jointclust.types import Float, Labels
from jointclust.views.columns import rows_of


def check_halves(n_clusters: int, n_rows: int) -> None:
    """Raise where half of the rows are fewer than the clusters."""
    if n_clusters > n_rows // 2:
        raise ValueError(
            f"{n_rows} rows are too few to resample: half of them cannot hold n_clusters={n_clusters}. Lower "
            "n_clusters, or choose a criterion that does not resample."
        )


def half_stability(
    estimator: Any, X: Any, n_pairs: int, rng: np.random.RandomState, weights: Float | None = None
) -> float:
    """Mean adjusted Rand index, on all rows, of fits on two halves of them.

    This is prediction strength (Tibshirani and Walther, 2005), corrected for chance and for the number of clusters. Two
    partitions with one cluster have agreement 0.
    """
    present = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
    scores = []
    for _ in range(n_pairs):
        order, partitions = rng.permutation(present), []
        for rows in (order[: order.size // 2], order[order.size // 2 :]):
            options = weight_options(estimator, None if weights is None else weights[rows])
            partitions.append(clone(estimator).fit(rows_of(X, rows), **options).predict(rows_of(X, present)))
        scores.append(adjusted_rand(*partitions) if any(np.ptp(labels) > 0 for labels in partitions) else 0.0)
    return float(np.mean(scores))


@validate_params({"n_resamples": [Interval(Integral, 1, None, closed="left")]}, prefer_skip_nested_validation=False)
def bootstrap_stability(
    estimator: Any, X: ArrayLike, *, n_resamples: int = 20, random_state: int | np.random.RandomState | None = None
) -> NDArray:
    """How far each cluster is found again on other rows: ``cluster_reproducibility_`` for any clusterer.

    A refit on half of the rows labels the other half; an optimal assignment says which of its clusters is which. The
    stability of a cluster is the mean Jaccard index with its match, on the rows that the refit did not see.

    Parameters
    ----------
    estimator : estimator
        A clusterer with ``predict``; fitted ones keep their clusters, others are fitted first.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; of more than 10,000 rows on a device, in a file or with Dask a sample is taken.
    n_resamples : int, default=20
        Refits, each on half of the rows.
    random_state : int, RandomState or None, default=None
        Seed of the halves.

    Returns
    -------
    stability : array of shape (n_clusters,)
        0 to 1 for each cluster; clusters below 0.6 should not be trusted, those above 0.85 are found again.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=20, n_clusters=3, n_nuisance=2, random_state=0)
    >>> bool(jc.bootstrap_stability(jc.LDAKMeans(3, random_state=0), X, n_resamples=5, random_state=0).min() > 0.9)
    True
    """
    rng = check_random_state(random_state)
    rows = in_memory(X, "bootstrap_stability", rng)[0]
    data = check_array(tidied(rows), accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=4)
    fitted = estimator if hasattr(estimator, "labels_") else clone(estimator).fit(data)
    labels = np.asarray(fitted.predict(data)).astype(np.int32)
    n_clusters = int(labels.max()) + 1
    check_halves(n_clusters, data.shape[0])
    return stability_of_clusters(estimator, data, labels, n_clusters, n_resamples, rng)


def stability_of_clusters(
    estimator: Any, X: Any, labels: Labels, n_clusters: int, n_resamples: int, rng: np.random.RandomState
) -> Float:
    """How far fits on halves of X find each cluster again, on the rows that they did not see."""
    kept = np.flatnonzero(labels >= 0)  # others were rejected

    def refit(own: NDArray[np.intp], rest: NDArray[np.intp]) -> Labels:
        with collected():
            predicted = np.asarray(clone(estimator).fit(X[kept[own]]).predict(X[kept[rest]])).astype(np.int32)
        return np.where(predicted < 0, max(int(predicted.max()) + 1, 0), predicted)

    return Repeats.of(labels[kept], n_clusters, refit, n_resamples, rng).of_clusters()
