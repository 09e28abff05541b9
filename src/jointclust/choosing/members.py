"""Members of a consensus: which ones, and how any estimator is fitted on what suits it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from jointclust.estimators.base import Clusterer
from jointclust.methods.discriminative import LDAKMeans
from jointclust.methods.scoring import OptimalDiscriminantClustering
from jointclust.numerics.graph import distinct_rows
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float

# The members of "auto": on the evidence page.
_VARIANCES = (0.7, 0.8, 0.9, 0.95)
_DISCRIMINANTS = tuple((ridge, init) for ridge in (1e-3, 0.1) for init in ("k-means++", "k-means++", "whitened"))
_ITERATIONS = 12  # more cost twice the time for a fraction of a point
_GRAPHS, _EMBEDDED_GRAPHS = (5, 8, 10, 15), (5, 8, 10)
# Rows beyond which the neighbour graphs look at a sample.
_GRAPH_ROWS = 5_000


def automatic_members(n_clusters: int, X: Any, coordinates: Coordinates) -> Iterator[Any]:
    """Unfitted members, of kinds that err in different ways."""
    for variance in _VARIANCES:
        level = float(coordinates.keep(variance).eigenvalues.mean()) or 1.0
        for share, init in _DISCRIMINANTS:
            yield LDAKMeans(n_clusters, variance=variance, ridge=share * level, init=init, max_iter=_ITERATIONS)
    sample = _GRAPH_ROWS if coordinates.n_samples > _GRAPH_ROWS else None
    first, _ = distinct_rows(X if coordinates.weights is None else X[coordinates.present])
    most = max(2, first.size // 4)  # a graph of everything with everything says nothing

    def graph(n_neighbors: int) -> OptimalDiscriminantClustering:
        n_neighbors = min(n_neighbors, most)
        return OptimalDiscriminantClustering(
            n_clusters, kernel="nearest_neighbors", n_neighbors=n_neighbors, n_landmarks=sample
        )

    for n_neighbors in _GRAPHS:
        yield graph(n_neighbors)
    for n_neighbors in _EMBEDDED_GRAPHS:
        yield Pipeline([("embedding", OptimalDiscriminantClustering(n_clusters)), ("graph", graph(n_neighbors))])


def fit_member(member: Any, X: Any, coordinates: Coordinates, weights: Float | None, seed: int) -> Any:
    """A member fitted on what suits it: ours on the shared coordinates where they can, others on the rows."""
    names = [
        name for name, value in member.get_params().items() if name.split("__")[-1] == "random_state" and value is None
    ]
    member.set_params(**dict.fromkeys(names, seed))
    first = member[0] if isinstance(member, Pipeline) and len(member) == 2 else member
    shared = isinstance(first, Clusterer) and first.takes_coordinates(coordinates)
    if shared and first is not member:
        member[1].fit(member[0].fit(coordinates).transform(X), **weight_options(member[1], weights))
        return member
    if shared:
        return member.fit(coordinates)
    return member.fit(X, **weight_options(member, weights))


def weight_options(estimator: Any, weights: Float | None) -> dict[str, Any]:
    """The sample weights by the name that an estimator, or the last step of a pipeline, takes them under, if any."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if weights is None or not has_fit_parameter(last, "sample_weight"):
        return {}
    return {f"{estimator.steps[-1][0]}__sample_weight" if last is not estimator else "sample_weight": weights}


def training_labels(member: Any, X: Any) -> NDArray:
    """A member's labels of the rows it was fitted on, equal to its ``predict`` of them."""
    last = member.steps[-1][1] if isinstance(member, Pipeline) else member
    own = isinstance(last, Clusterer) or not hasattr(member, "predict")
    return np.asarray(last.labels_ if own else member.predict(X))
