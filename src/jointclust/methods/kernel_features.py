"""Kernels for linear methods: these work on features whose inner products are the centred kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from jointclust._sklearn import CallbackContext
from jointclust.estimators.base import Clusterer, Limits, check_n_clusters, warn_of_scale
from jointclust.estimators.joint import AlternatingClusterer
from jointclust.estimators.known import KnownRows
from jointclust.exceptions import CollapseWarning, tell
from jointclust.methods.scoring_embeddings import (
    EXACT_GRAPH,
    EXACT_KERNEL,
    GRAPH_LANDMARKS,
    KERNEL_LIMITS,
    LANDMARKS,
    PUBLISHED,
    Embedding,
    GraphEmbedding,
    Result,
    mode_of,
)
from jointclust.rows import Rows, as_rows
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import EXACT_LIMIT, check_weights, coordinates_of, dominant_column
from jointclust.types import Float

# Features of a neighbour graph: those beyond a few per cluster separate single rows.
_GRAPH_FEATURES, _GRAPH_PER_CLUSTER = 50, 4
# Arrays of an embedding that have a row, or a column, for each component.
_ROWS, _COLUMNS = ("dual_coef_", "_unit_components"), ("landmark_embedding_",)


def turned(embedding: Embedding, matrix: Float) -> Embedding:
    """An embedding followed by a linear map: ``Z -> Z matrix``."""
    rows = {name: matrix.T @ getattr(embedding, name) for name in _ROWS if hasattr(embedding, name)}
    columns = {name: getattr(embedding, name) @ matrix for name in _COLUMNS if hasattr(embedding, name)}
    return replace(embedding, **rows, **columns)  # type: ignore[type-var]


def kernel_features(model: Any, X: Any, weights: Float | None, rng: np.random.RandomState) -> tuple[Result, NDArray]:
    """ODC's embedding without a ridge, in all its components, scaled to be features; and these features of the rows.

    The leading eigenvectors U of the centred kernel times the roots of their eigenvalues: kernel PCA.
    """
    mode, n = mode_of(model.kernel), X.shape[0]
    most, usual = (EXACT_GRAPH, GRAPH_LANDMARKS) if mode is GraphEmbedding else (EXACT_KERNEL, LANDMARKS)
    n_features = model.n_landmarks or (usual if n > most else n)
    if n > EXACT_LIMIT:
        n_features = min(n_features, model.max_rank)
    if mode is GraphEmbedding:
        n_features = min(n_features, max(_GRAPH_FEATURES, _GRAPH_PER_CLUSTER * model.n_clusters))
    given = {name: getattr(model, name) for name in (*KernelClusterer._limits, "max_rank", "n_clusters")}
    proxy: Any = SimpleNamespace(**given, n_components=None, ridge=0.0, _n_wanted=max(min(n_features, n - 1), 1))
    fitted = mode.fit(proxy, X, weights, rng)
    scale = np.sqrt(fitted.shrinkage.eigenvalues)
    return replace(fitted, embedding=turned(fitted.embedding, np.diag(scale))), fitted.values * scale


def feature_coordinates(
    fitted: Result, features: NDArray, weights: Float | None, rng: np.random.RandomState, **options: Any
) -> Coordinates:
    """Features as coordinates: as they are, except those of a neighbour graph, which are decomposed."""
    if isinstance(fitted.embedding, GraphEmbedding):
        return replace(coordinates_of(as_rows(features), weights, rng=rng, **options), dominant=None)
    values, n_features = fitted.shrinkage.eigenvalues, features.shape[1]
    mean, basis, trace = np.zeros(n_features), np.eye(n_features), fitted.shrinkage.trace
    whole = Coordinates(as_rows(features), mean, weights, values, trace, True, scores=features, basis=basis)
    return whole.keep(options.get("variance"))


@dataclass(eq=False, repr=False, kw_only=True)
class KernelClusterer(AlternatingClusterer):
    """Base of linear methods that work on features of a kernel; with ``kernel="linear"`` it does nothing."""

    _limits: ClassVar[Limits] = KERNEL_LIMITS

    kernel: str | Callable[[Any, Any], NDArray] = "linear"
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 1
    n_neighbors: int = 8
    n_landmarks: int | None = None
    landmarks: str = "k-means"

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return super()._accepts_sparse if is_linear(self) else mode_of(self.kernel).accepts_sparse

    def _refusal(self, kind: str) -> str | None:
        if is_linear(self):
            return super()._refusal(kind)
        return f"kernel={self.kernel!r} looks at pairs of rows. Use kernel='linear', or fit a sample in memory."

    def takes_coordinates(self, coordinates: Coordinates) -> bool:
        return is_linear(self) and super().takes_coordinates(coordinates)

    def _coordinates_of(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState, **options: Any
    ) -> Coordinates:
        for name in (*PUBLISHED, "_kernel_fit", "_offset"):
            self.__dict__.pop(name, None)
        if is_linear(self):
            return super()._coordinates_of(X, sample_weight, rng, **options)
        if isinstance(X, Coordinates):
            raise TypeError("Coordinates are those of kernel='linear': pass the rows themselves to use another kernel.")
        data = self._validated(X, ensure_min_samples=2)
        weights = check_weights(sample_weight, data)
        check_n_clusters(self.n_clusters, data.shape[0], weights)
        if isinstance(data, np.ndarray) and not mode_of(self.kernel).is_pairwise:
            with np.errstate(over="ignore", invalid="ignore"):  # a later check raises
                warn_of_scale(self, dominant_column(data.var(axis=0, dtype=np.float64)))
        self._kernel_fit, features = kernel_features(self, data, weights, rng)
        return feature_coordinates(self._kernel_fit, features, weights, rng, **options)

    def _fit(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, facts: KnownRows, rng: np.random.RandomState
    ) -> tuple[CallbackContext, Rows]:
        context, rows = super()._fit(X, sample_weight, facts, rng)
        if not is_linear(self):
            publish_dual(self)
        return context, rows

    def _embed(self, rows: Rows) -> NDArray:
        if "_offset" not in self.__dict__:
            return super()._embed(rows)
        return mode_of(self.kernel).of(self).fitted_values(rows) - self._offset

    inverse_transform = available_if(lambda self: is_linear(self))(Clusterer.inverse_transform)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = mode_of(self.kernel).is_pairwise
        return tags


def is_linear(model: KernelClusterer) -> bool:
    """Whether the method works on the rows as they are."""
    return mode_of(model.kernel).is_linear


def publish_dual(model: Any) -> None:
    """Publish ``dual_coef_``, which maps rows, in place of ``components_``, which map features of the kernel."""
    fitted, components = model.__dict__.pop("_kernel_fit"), model.__dict__.pop("components_")
    model._squared_length, model._offset = float(np.sum(components.astype(np.float64) ** 2)), components @ model.mean_
    del model.mean_
    embedding = turned(fitted.embedding, components.T)
    for name in embedding.published():
        value = getattr(embedding, name)
        setattr(model, name, np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value)
    if fitted.doubt is not None:
        tell(fitted.doubt, CollapseWarning)
