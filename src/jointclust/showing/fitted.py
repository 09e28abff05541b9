"""What a fitted model knows of the rows it was fitted on, whatever its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from jointclust.consensus.estimator import JointConsensus
from jointclust.selection.criteria import jaccard_per_cluster
from jointclust.types import Estimator, Float, Labels, Predictor
from jointclust.views.preparation import Preparation

# Dimensions from which on an embedding is no reduction.
_FEW_COMPONENTS = 200


def last_step(model: Estimator) -> Any:
    """The clusterer itself: what a search chose, the last step of a pipeline."""
    model = getattr(model, "best_estimator_", model)
    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def labels_of(model: Estimator) -> Labels:
    """The cluster of each training row; of a row that a consensus rejects, the one it would have."""
    clusterer = last_step(model)
    check_is_fitted(clusterer)
    labels = np.asarray(clusterer.labels_)
    return clusterer.soft_labels_.argmax(axis=1) if np.any(labels < 0) else labels


def embedding_of(model: Predictor, X: ArrayLike) -> NDArray[Any]:
    """Embedding of the training rows, equal to ``transform`` of them."""
    return np.asarray(model.transform(X))


def map_of(model: Predictor, X: ArrayLike) -> NDArray[Any]:
    """A few coordinates of the training rows in which to draw them and to measure how typical they are.

    The embedding, but for methods that reduce nothing: there it is the plane through the clusters' centers (the
    orthogonal centroid method).
    """
    if last_step(model).cluster_centers_.shape[1] <= _FEW_COMPONENTS:
        return embedding_of(model, X)
    rows = prepared_of(model, X)
    labels = labels_of(model)
    sizes = np.bincount(labels).astype(np.float64)
    member = sp.csr_array((np.ones(labels.size), (labels, np.arange(labels.size))))
    sums = member @ rows
    centers = (sums.toarray() if sp.issparse(sums) else sums) / np.maximum(sizes, 1)[:, None]
    mean = sizes @ centers / labels.size
    directions = np.linalg.svd(np.sqrt(sizes)[:, None] * (centers - mean), full_matrices=False)[2]
    directions = directions[: max(sizes.size - 1, 1)].T
    return np.asarray(rows @ directions) - mean @ directions


def prepared_of(model: Estimator, X: ArrayLike) -> Any:
    """The rows as the clusterer sees them; a consensus, those of its first view."""
    model = getattr(model, "best_estimator_", model)
    rows = model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X
    clusterer = last_step(model)
    if isinstance(clusterer, JointConsensus):
        return clusterer.prepared(rows)[0]
    return check_array(rows, accept_sparse="csr")


def features_of(model: Estimator, X: Any) -> tuple[Any, list[str] | None]:
    """Rows as numbers in the units of the data, with names: coded columns and words where there are any."""
    model = getattr(model, "best_estimator_", model)
    clusterer = last_step(model)
    check_is_fitted(clusterer)
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    views = clusterer.preparations if isinstance(clusterer, JointConsensus) else []
    first = steps[0] if len(steps) > 1 else views[0] if views else None
    if isinstance(first, Preparation):
        return first.readable(X), [str(name) for name in first.coded_names()]
    return check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan"), None


def check_shown(labels: Labels, n_features: int, names: list[str] | None, Y: NDArray, stability: Float | None) -> None:
    """What is to be shown beside the rows fits them."""
    if names is not None and len(names) != n_features:
        raise ValueError(f"feature_names must have a name for each of the {n_features} columns; got {len(names)}.")
    if Y.ndim != 2 or Y.shape[1] == 0 or not np.isfinite(Y).all():
        raise ValueError(
            f"coordinates must be a table of finite numbers, rows by 1 or more columns; got shape {Y.shape}"
            f"{'' if Y.ndim != 2 else ' with numbers that are not finite'}."
        )
    n_clusters = int(labels.max()) + 1
    if stability is not None and (stability.ndim != 1 or stability.size < n_clusters):
        raise ValueError(f"stability must have a value for each of the {n_clusters} clusters; got {stability.shape}.")


def soft_labels_of(model: Estimator) -> Float | None:
    """Probabilities of the training rows, where the method has them."""
    return getattr(last_step(model), "soft_labels_", None)


def confidence_of(model: Estimator) -> Float | None:
    """How sure each training row's label is, where the method says so: its own word, or the label's probability."""
    soft = soft_labels_of(model)
    if soft is None:
        return None
    return np.asarray(getattr(last_step(model), "confidence_", np.asarray(soft).max(axis=1)))


def objective_of(model: Estimator) -> Float | None:
    """The objective, iteration by iteration, where the method iterates."""
    history = getattr(last_step(model), "objective_history_", None)
    return None if history is None else np.asarray(history)


def member_stability(model: Estimator) -> Float | None:
    """For each cluster of a consensus, how well the members reproduce it: mean Jaccard index with the best match."""
    clusterer = last_step(model)
    if not isinstance(clusterer, JointConsensus):
        return None
    groups, labels = clusterer.groups_of_members(), labels_of(model).astype(np.int32)
    # A finer partition splits every cluster, which says nothing about it.
    alike = [column for column in groups.T if column.max(initial=-1) < clusterer.n_clusters]
    return np.mean([jaccard_per_cluster(labels, one, clusterer.n_clusters) for one in alike], axis=0) if alike else None
