"""The whole family and the usual alternatives side by side, on the user's own data."""

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

# Rows beyond which the quadratic alternatives are left out.
_QUADRATIC = 10_000
_PREPARED = "prepared k-means"


def usual_methods(n_clusters: int, n_rows: int, n_columns: int, *, sparse: bool) -> dict[str, Any]:
    """Our methods at their defaults and what people use otherwise, by name."""
    q = max(1, min(n_clusters - 1, n_columns - 1, n_rows - 1))
    pca = TruncatedSVD if sparse else PCA
    found: dict[str, Any] = {
        "k-means": KMeans(n_clusters, n_init=10),
        _PREPARED: prepared_kmeans(n_clusters),
        "PCA + k-means": make_pipeline(pca(q), KMeans(n_clusters, n_init=10)),
        "PCA + Gaussian mixture": make_pipeline(pca(q), GaussianMixture(n_clusters, reg_covar=1e-6)),
    }
    for entry in registry.METHODS:
        for setting in entry.settings:
            estimator = entry.cls(n_clusters, **setting.params, **setting.compared_with)
            if setting.compared is not None and (not sparse or get_tags(estimator).input_tags.sparse):
                found[setting.compared] = estimator
    if n_rows <= _QUADRATIC:
        found["spectral clustering"] = SpectralClustering(n_clusters, affinity="nearest_neighbors")
        if not sparse:
            found["HDBSCAN"] = HDBSCAN(min_cluster_size=max(2, min(15, n_rows // (4 * n_clusters))), copy=True)
    return found


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
    """Fit the whole family, and the usual alternatives, and put what can be said without labels in a table.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Coordinates
        The data, or its coordinates from :func:`decompose`. Of more than 10,000 rows on a device, in a file or with
        Dask, a sample is compared on, and a warning says so.
    n_clusters : int
        Number of clusters (HDBSCAN finds its own).
    methods : dict of estimators, default=None
        Estimators by name; None takes the family and k-means, prepared k-means (after what a practised user does by
        kind of data: tables standardised, words weighed, reads in logarithms), PCA + k-means, PCA + Gaussian mixture,
        spectral clustering and HDBSCAN.
    y_true : array-like of shape (n_samples,), default=None
        Classes, for evaluation only: adds accuracy and NMI, which the other columns do not see.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable, but for the seconds.
    n_resamples : int, default=3
        Pairs of halves for the stability.
    raw : array, sparse matrix, data frame or list of str, default=None
        What X was made of, where it is no longer raw: prepared k-means prepares it in its own way. None takes X.

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
    if isinstance(X, Coordinates):
        coordinates = X
    else:
        coordinates = coordinates_of(as_rows(data), None, variance=None, max_rank=500, rng=rng)
    weights = coordinates.weights
    own = {_PREPARED: np.array(raw, dtype=object) if isinstance(raw, list) else raw}
    tried = [Candidate(clone(method), {}, rows=own.get(name)) for name, method in methods.items()]
    fit_all(tried, data, coordinates, rng, None, weights)
    check_any(tried)
    members = reference_members(number_of(tried), data, coordinates)
    agreements(tried, reference_labels(members, data, coordinates, rng, None), coordinates)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    columns = ("method", "agreement", "stability", "clusters", "seconds", "warnings")
    table: dict[str, list[Any]] = {column: [] for column in columns}
    order = sorted(range(len(tried)), key=lambda index: -tried[index].score)
    for index in order:
        candidate, labels = tried[index], tried[index].labels
        table["method"].append(list(methods)[index])
        table["agreement"].append(candidate.score)
        stable = labels is not None and hasattr(candidate.estimator, "predict")
        table["stability"].append(quiet_stability(candidate, data, n_resamples, seed, weights) if stable else np.nan)
        table["clusters"].append(0 if labels is None else np.unique(labels).size)
        table["seconds"].append(candidate.seconds)
        table["warnings"].append("; ".join(candidate.messages))
    if truth is not None:
        for name, metric in (("accuracy", clustering_accuracy), ("NMI", normalized_mutual_info)):
            found = [tried[index].labels for index in order]
            table[f"{name} (with y_true)"] = [np.nan if labels is None else metric(truth, labels) for labels in found]
    return table


def quiet_stability(candidate: Candidate, X: Any, n_resamples: int, seed: int, weights: Float | None) -> float:
    """Stability on halves; NaN where a half is too small to fit."""
    rows = X if candidate.rows is None else candidate.rows
    with collected():
        try:
            return half_stability(candidate.estimator, rows, n_resamples, np.random.RandomState(seed), weights)
        except ValueError:
            return float("nan")
