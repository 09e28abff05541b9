"""Compares the methods of the library with common alternatives on the user's data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_array, check_random_state, column_or_1d, get_tags

from jointclust import registry
from jointclust.exceptions import collected
from jointclust.metrics import clustering_accuracy, normalized_mutual_info
from jointclust.rows import as_rows, in_memory, tidied
from jointclust.rows.arrays import to_host
from jointclust.selection.baseline import prepared_kmeans
from jointclust.selection.candidates import Candidate, fit_all
from jointclust.selection.references import reference_labels, reference_members
from jointclust.selection.search import agreements, check_any, number_of
from jointclust.selection.stability import half_stability
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import coordinates_of
from jointclust.types import Float

# More rows than these exclude methods whose time is quadratic in their number.
_QUADRATIC = 10_000
_PREPARED = "prepared k-means"


def usual_methods(n_clusters: int, n_rows: int, n_columns: int, *, sparse: bool) -> dict[str, Any]:
    """The methods of the library with their defaults, then common alternatives, by name."""
    q = max(1, min(n_clusters - 1, n_columns - 1, n_rows - 1))
    pca = TruncatedSVD if sparse else PCA
    methods: dict[str, Any] = {
        "k-means": KMeans(n_clusters, n_init=10),
        _PREPARED: prepared_kmeans(n_clusters),
        "PCA + k-means": make_pipeline(pca(q), KMeans(n_clusters, n_init=10)),
        "PCA + Gaussian mixture": make_pipeline(pca(q), GaussianMixture(n_clusters, reg_covar=1e-6)),
    }
    for entry in registry.METHODS:
        for setting in entry.settings:
            estimator = entry.cls(n_clusters, **{**setting.params, **setting.compared_with})
            if setting.compared is not None and (not sparse or get_tags(estimator).input_tags.sparse):
                methods[setting.compared] = estimator
    if n_rows <= _QUADRATIC:
        methods["spectral clustering"] = SpectralClustering(n_clusters, affinity="nearest_neighbors")
        if not sparse:
            methods["HDBSCAN"] = HDBSCAN(min_cluster_size=max(2, min(15, n_rows // (4 * n_clusters))), copy=True)
    return methods


def compare(
    X: ArrayLike | Coordinates,
    n_clusters: int,
    methods: dict[str, Any] | None = None,
    y_true: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    *,
    n_resamples: int = 3,
    raw: ArrayLike | None = None,
) -> dict[str, list[Any]]:
    """Fit the methods of the library and common alternatives; tabulate measures that need no labels.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
        The data, or its coordinates from :func:`decompose`. Of more than 10,000 rows on a device, in a file or with
        Dask, a sample is used, with a warning.
    n_clusters : int
        Number of clusters (HDBSCAN finds its own).
    methods : dict of estimators, default=None
        Estimators by name; None takes the methods of the library and k-means, prepared k-means (tables standardised,
        words weighted, reads in logarithms), PCA + k-means, PCA + Gaussian mixture, spectral clustering and HDBSCAN.
    y_true : array-like of shape (n_samples,), default=None
        Classes, for evaluation only: adds accuracy and NMI; the other columns do not use them.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable, except for the seconds.
    n_resamples : int, default=3
        Pairs of halves for the stability.
    raw : array, sparse matrix, data frame or list of str, default=None
        The data from which X was computed: prepared k-means prepares them in its own way. None takes X.

    Returns
    -------
    table : dict of lists
        One row per method, most agreement first, ready for ``pandas.DataFrame``: method, agreement (mean adjusted Rand
        index with the other methods and the members of the consensus), stability (agreement of fits on two halves; NaN
        for methods that do not predict), clusters found, seconds, warnings; with ``y_true`` also "accuracy (with
        y_true)" and "NMI (with y_true)".

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=30, n_clusters=3, random_state=0)
    >>> methods = {"DEC": jc.DiscriminativeEmbeddedClustering(3), "LDAKM": jc.LDAKMeans(3)}
    >>> sorted(jc.compare(X, 3, methods, random_state=0))
    ['agreement', 'clusters', 'method', 'seconds', 'stability', 'warnings']
    """
    rng = check_random_state(random_state)
    given: Any = X.rows.X if isinstance(X, Coordinates) else X
    given, _, taken = in_memory(given, "compare", rng)
    data = check_array(tidied(given), accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=4)
    sparse = not isinstance(data, np.ndarray)
    if methods is None:
        methods = usual_methods(n_clusters, *data.shape, sparse=sparse)
    if not methods:
        raise ValueError("methods is empty: give estimators by name, or leave it None.")
    truth = None if y_true is None else column_or_1d(y_true if taken is None else to_host(y_true)[taken])
    if truth is not None and truth.size != data.shape[0]:
        raise ValueError(f"y_true must have one class per row ({data.shape[0]}); got {truth.size}.")
    coordinates = X if isinstance(X, Coordinates) else coordinates_of(as_rows(data), None, rng=rng)
    own = {_PREPARED: np.array(raw, dtype=object) if isinstance(raw, list) else raw}
    tried = [Candidate(clone(method), {}, rows=own.get(name)) for name, method in methods.items()]
    fit_all(tried, data, coordinates, rng, None)
    check_any(tried)
    members = reference_members(number_of(tried), data, coordinates)
    agreements(tried, reference_labels(members, data, coordinates, rng, None), coordinates)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    ranked = sorted(zip(methods, tried, strict=True), key=lambda pair: -pair[1].score)
    tried = [candidate for _, candidate in ranked]
    table: dict[str, list[Any]] = {
        "method": [name for name, _ in ranked],
        "agreement": [one.score for one in tried],
        "stability": [stability(one, data, n_resamples, seed, coordinates.weights) for one in tried],
        "clusters": [0 if one.labels is None else np.unique(one.labels).size for one in tried],
        "seconds": [one.seconds for one in tried],
        "warnings": ["; ".join(one.messages) for one in tried],
    }
    if truth is not None:
        for name, metric in (("accuracy", clustering_accuracy), ("NMI", normalized_mutual_info)):
            scores = [np.nan if one.labels is None else metric(truth, one.labels) for one in tried]
            table[f"{name} (with y_true)"] = scores
    return table


def stability(candidate: Candidate, X: Any, n_resamples: int, seed: int, weights: Float | None) -> float:
    """Stability on halves; NaN for a method without labels or ``predict``, or where a half is too small to fit."""
    if candidate.labels is None or not hasattr(candidate.estimator, "predict"):
        return float("nan")
    rows = X if candidate.rows is None else candidate.rows
    with collected():
        try:
            return half_stability(candidate.estimator, rows, n_resamples, np.random.RandomState(seed), weights)
        except ValueError:
            return float("nan")
