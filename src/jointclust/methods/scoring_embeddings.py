"""The embeddings of optimal discriminant clustering: one class for each way to look at the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.base import Limits
from jointclust.estimators.embedding_first import EmbeddingClusterer, LinearMap
from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.graph import distinct_rows, graph_spectrum, neighbors
from jointclust.numerics.kernels import Kernel, centred_kernel, project_kernel, whitening
from jointclust.numerics.kmeans import kmeans
from jointclust.numerics.linalg import fix_signs, leading_eigenpairs, signs_of
from jointclust.numerics.partitions import cluster_sizes, means
from jointclust.rows import Rows, as_rows
from jointclust.rows.blocks import seen_from
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import checked_variance, coordinates_of
from jointclust.subspace.directions import relative_ridge, resolve_n_components
from jointclust.types import Float

# Rows up to which a kernel matrix is held whole, and how many landmarks stand for more of them.
EXACT_KERNEL, LANDMARKS = 10_000, 1_000
# The same of the neighbour graph, which is sparse but takes the distances of all pairs.
EXACT_GRAPH, GRAPH_LANDMARKS = 50_000, 5_000
# Leading coordinates that the k-means looks at whose centers are landmarks.
_ANCHOR_RANK = 50
# "auto" ridge, as a share of the variance per component: good on faces; more is a little better in the mean.
RIDGE_SHARE = 0.1
KERNEL_LIMITS: Limits = {
    "kernel": [StrOptions({"linear", "rbf", "poly", "cosine", "nearest_neighbors", "precomputed"}), callable],
    "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale"})],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, 0, None, closed="left")],
    "n_neighbors": [Interval(Integral, 2, None, closed="left")],
    "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
    "landmarks": [StrOptions({"k-means", "random"})],
}

Matrix: TypeAlias = NDArray | sp.csr_array
KernelFunction = Callable[[Any, Any], NDArray]


def attributes_of(model: object, kind: type) -> dict[str, Any]:
    """The attributes of an estimator, parameters or fitted, that the fields of a dataclass are named after."""
    return {field.name: getattr(model, field.name) for field in fields(kind)}


def shrinkage_of(model: EmbeddingClusterer, eigenvalues: Float, trace: float) -> Shrinkage:
    """The ridge on the leading eigenvalues of a scatter or kernel with this trace."""
    return Shrinkage(eigenvalues, trace, relative_ridge(model.ridge, RIDGE_SHARE, trace, eigenvalues.size))


def within_rank(model: EmbeddingClusterer, values: Float, floor: float) -> int:
    """How many eigenvalues are above rounding; constant features keep one, in which nothing varies."""
    rank = int(np.sum(values > floor))
    if rank > 0 and model.n_components is not None and rank < model.n_components:
        tell(
            f"n_components={model.n_components} exceeds the rank of the kernel ({rank}): every row would map to 0 "
            f"in the other directions, so {rank} are used. Lower n_components or leave it None.",
            CollapseWarning,
        )
    return max(rank, 1)


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Rows that stand for others, and the weight of those that each stands for."""

    rows: Matrix
    mass: Float


def chosen_landmarks(
    model: EmbeddingClusterer, X: Matrix, weights: Float | None, rng: np.random.RandomState, *, most: int, usual: int
) -> Landmarks | None:
    """Landmarks, which more than ``most`` rows need (``usual`` ones); None when every row is one."""
    n = X.shape[0]
    size = model.n_landmarks
    if size is None and n > most:
        size = usual
        message = f"{n} rows have too many pairs: {size} landmarks stand for them. Set n_landmarks instead."
        tell(message, UserWarning)
    present = np.arange(n) if weights is None else np.flatnonzero(weights)
    if size is None or size >= present.size:
        return None
    for name, least in (("n_clusters", model.n_clusters), ("n_components", model._n_wanted)):
        if size < least:
            raise ValueError(f"n_landmarks={size} is less than {name}={getattr(model, name)}: raise it.")
    if model.landmarks == "k-means":
        return anchors(X, weights, size, rng)
    drawn = np.sort(rng.choice(present, size, replace=False))
    return Landmarks(X[drawn], np.ones(size) if weights is None else weights[drawn])


def anchors(X: Matrix, weights: Float | None, size: int, rng: np.random.RandomState) -> Landmarks:
    """Mean rows of the clusters of a k-means, which sees the leading coordinates; fewer where rows are equal."""
    rows = as_rows(X)
    coordinates = coordinates_of(rows, weights, leading=_ANCHOR_RANK, rng=rng)
    labels = kmeans(coordinates.leading(coordinates.rank), size, rng, weights, n_restarts=1, tol=1e-3).labels
    mass = cluster_sizes(labels, size, weights)
    sums = rows.cluster_sums(labels, size, weights, coordinates.mean)
    centers = (coordinates.mean + means(sums, mass))[mass > 0].astype(X.dtype)
    return Landmarks(sp.csr_array(centers) if sp.issparse(X) else centers, mass[mass > 0])


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The ridge on the leading eigenvalues l: W is made with ``1 / (l + ridge)``, XW with ``l / (l + ridge)``."""

    eigenvalues: Float
    trace: float
    ridge: float

    @cached_property
    def inverse(self) -> Float:
        """``1 / (l + ridge)``; 1 where both are zero, in a direction of no variance."""
        shifted = self.eigenvalues + self.ridge
        return 1.0 / np.where(shifted > 0, shifted, 1.0)

    @property
    def objective(self) -> float:
        """``1/2 |Y - XW|^2 + ridge/2 |W|^2`` at the optimum."""
        return 0.5 * (self.eigenvalues.size - float(np.sum(self.eigenvalues * self.inverse)))

    @property
    def penalty(self) -> float:
        """``ridge/2 |W|^2``, the part of the objective that does not depend on rows."""
        return 0.5 * float(np.sum((self.ridge * self.inverse) * (self.eigenvalues * self.inverse)))

    @property
    def variance_share(self) -> float:
        return float(self.eigenvalues.sum() / self.trace) if self.trace > 0 else 0.0

    def axes(self, rank: int) -> Float:
        """W in coordinates, which number ``rank``: ``diag(s / (s^2 + ridge))``, leading columns."""
        # A constant direction keeps its axis, so that a constant data set has an embedding.
        s = np.sqrt(np.where(self.eigenvalues > 0, self.eigenvalues, 1.0))
        return np.eye(rank, s.size) * (s * self.inverse)

    def doubt(self, n_present: int) -> str | None:
        """Why the embedding says nothing of clusters, if the ridge does not suit the spectrum."""
        shares = self.eigenvalues / np.maximum(self.eigenvalues + self.ridge, np.finfo(float).tiny)
        if self.eigenvalues[0] > 0 and shares[0] < 1e-12:
            return f"ridge={self.ridge:.3g} is so far above the variance that the embedding vanishes: lower it."
        if shares.size >= n_present - 1 > 1 and shares.min() > 0.99:
            return (
                "All directions of the data are used and counted alike, so that all rows are equally far from each "
                "other, and the labels chance. Lower n_components or raise ridge."
            )
        return None


@dataclass(frozen=True, eq=False)
class Result:
    """What a fit found: the embedding, the fitted values XW of the rows, the ridge at work, a doubt if there is one."""

    embedding: Embedding
    values: NDArray
    shrinkage: Shrinkage
    doubt: str | None = None


class Embedding(ABC):
    """XW for any rows. Its fields are attributes of the estimator by the same names: fitted ones and model.

    So an estimator publishes an embedding, and makes it again from what is published.
    """

    # XW of the features themselves: fits Coordinates, looks at rows wherever they are, and can be inverted.
    is_linear: ClassVar[bool] = False
    accepts_sparse: ClassVar[bool] = True
    # Whether X holds a number for each pair of rows in place of features.
    is_pairwise: ClassVar[bool] = False
    # Whether clusters are found better once the rows of XW have length one.
    on_sphere: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def fit(cls, model: EmbeddingClusterer, X: Any, weights: Float | None, rng: np.random.RandomState) -> Result:
        """The best embedding of validated rows, or of Coordinates where it is linear."""

    @abstractmethod
    def fitted_values(self, rows: Rows) -> NDArray:
        """XW for new rows."""

    @classmethod
    def of(cls, model: object) -> Self:
        """The embedding that a fitted estimator publishes."""
        return cls(**attributes_of(model, cls))

    @classmethod
    def published(cls) -> list[str]:
        """Names of the fitted attributes among the fields."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # every mode is a dataclass
        return [name for name in names if name.endswith("_") or name.startswith("_")]


@dataclass(frozen=True, eq=False)
class LinearEmbedding(LinearMap, Embedding):
    """``(X - mean) W`` of the features."""

    is_linear = True

    @classmethod
    def fit(cls, model: Any, X: Coordinates, weights: Float | None, rng: np.random.RandomState) -> Result:
        q = resolve_n_components(model.n_components, model._n_wanted, X)
        shrinkage = shrinkage_of(model, X.eigenvalues[:q], X.total_variance)
        embedding = cls.from_coordinates(X, shrinkage.axes(X.rank))
        return Result(embedding, embedding.fitted_values(X.rows), shrinkage)


@dataclass(frozen=True, eq=False)
class CosineEmbedding(Embedding):
    """The linear form on rows of length one: no kernel matrix is needed."""

    mean_: NDArray
    dual_coef_: NDArray
    exact_: bool
    _unit_components: NDArray
    _unit_mean: NDArray

    @classmethod
    def fit(cls, model: EmbeddingClusterer, X: Matrix, weights: Float | None, rng: np.random.RandomState) -> Result:
        mean, _ = _mean_and_variance(X, weights)
        rows = as_rows(X, unit=True)
        coordinates = coordinates_of(rows, weights, max_rank=model.max_rank, leading=model._n_wanted, rng=rng)
        q = resolve_n_components(model.n_components, model._n_wanted, coordinates)
        shrinkage = shrinkage_of(model, coordinates.eigenvalues[:q], coordinates.total_variance)
        loadings = coordinates.loadings(shrinkage.axes(coordinates.rank))
        values = rows.project(loadings, coordinates.mean)
        signs = signs_of(_present(values, weights))
        values *= signs
        # XW = C dual' for the centred kernel C, whose eigenvectors XW holds, scaled: over the eigenvalues it is dual.
        mass = 1.0 if weights is None else weights[:, None]
        eigenvalues = np.where(shrinkage.eigenvalues > 0, shrinkage.eigenvalues, np.inf)
        embedding = cls(
            mean_=mean,
            dual_coef_=np.ascontiguousarray((mass * values / eigenvalues).T.astype(X.dtype)),
            exact_=coordinates.exact,
            _unit_components=(loadings * signs).T.astype(X.dtype),
            _unit_mean=coordinates.mean.astype(X.dtype),
        )
        return Result(embedding, values, shrinkage)

    def fitted_values(self, rows: Rows) -> NDArray:
        return as_rows(rows.X, unit=True).project(self._unit_components.T, self._unit_mean)


@dataclass(frozen=True, eq=False)
class MatrixEmbedding(Embedding):
    """``(k(X, rows) - mean) dual_coef'`` from a kernel matrix that the user computed."""

    dual_coef_: NDArray
    kernel_mean_: NDArray
    exact_: bool

    accepts_sparse = False
    is_pairwise = True

    @classmethod
    def fit(cls, model: EmbeddingClusterer, X: NDArray, weights: Float | None, rng: np.random.RandomState) -> Result:
        return cls.fit_matrix(model, X, weights, checked=True, width=None)

    @classmethod
    def fit_matrix(
        cls, model: EmbeddingClusterer, matrix: NDArray, weights: Float | None, *, checked: bool, width: float | None
    ) -> Result:
        """The kernel form on the whole kernel matrix."""
        kernel, mean = centred_kernel(matrix, weights, checked=checked)
        root = np.ones(1) if weights is None else np.sqrt(weights)
        scaled = kernel if weights is None else kernel * root * root[:, None]
        values, vectors = leading_eigenpairs(scaled, min(model._n_wanted, len(matrix)))
        trace, eps = float(np.trace(scaled)), float(np.finfo(matrix.dtype).eps)
        # Centring subtracts the mean row: an eigenvalue below the digits that this left is none.
        floor = eps * len(matrix) * max(values[0], 4 * float(np.abs(mean).max()))
        rank = within_rank(model, values, floor)
        values, vectors = np.where(values > floor, values, 0.0)[:rank], vectors[:, :rank]
        shrinkage = shrinkage_of(model, values, trace)
        # A kernel that is constant up to rounding maps all rows to 0, not to what rounding made of them.
        coefficients = root[:, None] * vectors * np.where(values > 0, shrinkage.inverse, 0.0)
        coefficients *= signs_of(_present(kernel @ coefficients, weights))
        embedding = cls(
            dual_coef_=np.ascontiguousarray(coefficients.T.astype(matrix.dtype)),
            kernel_mean_=mean.astype(matrix.dtype),
            exact_=True,
        )
        doubt = _kernel_doubt(values[0], trace, len(matrix), width)
        return Result(embedding, embedding.fitted_values(as_rows(matrix)), shrinkage, doubt)

    def fitted_values(self, rows: Rows) -> NDArray:
        return project_kernel(rows.X, self.kernel_mean_, self.dual_coef_.T, sum_to_zero=self.exact_)


@dataclass(frozen=True, eq=False)
class KernelEmbedding(Embedding):
    """``(k(X, landmarks) - mean) dual_coef'`` of a named kernel; the landmarks are the rows or a sample of them."""

    kernel: str | KernelFunction
    degree: int
    coef0: float
    gamma_: float
    mean_: NDArray
    landmarks_: Matrix
    dual_coef_: NDArray
    kernel_mean_: NDArray
    exact_: bool

    # Whether the kernel is the user's, who may be wrong about it.
    checked: ClassVar[bool] = False

    @classmethod
    def fit(cls, model: EmbeddingClusterer, X: Matrix, weights: Float | None, rng: np.random.RandomState) -> Result:
        mean, total = _mean_and_variance(X, weights)
        mass = X.shape[0] if weights is None else float(weights.sum())
        gamma = float(mass / (total or mass)) if model.gamma == "scale" else float(model.gamma)
        kernel = Kernel(model.kernel, gamma, model.degree, model.coef0, mean)
        chosen = chosen_landmarks(model, X, weights, rng, most=EXACT_KERNEL, usual=LANDMARKS)
        if chosen is None:
            # Rows that are equal count once, by their number: rounding cannot tell them apart then.
            first, which = distinct_rows(X)
            landmarks, own = X[first], weights
            if first.size < X.shape[0]:
                own = np.bincount(which, weights=weights, minlength=first.size).astype(np.float64)
            matrix = kernel(landmarks, landmarks)
            result = MatrixEmbedding.fit_matrix(model, matrix, own, checked=cls.checked, width=kernel.width)
            result = replace(result, values=result.values[which])
        else:
            landmarks = chosen.rows
            result = _fit_features(model, kernel, landmarks, X, weights, rng, checked=cls.checked)
        given = {name: getattr(model, name) for name in ("kernel", "degree", "coef0")}
        fitted = {**attributes_of(result.embedding, MatrixEmbedding), "gamma_": gamma, "mean_": mean}
        return Result(cls(**given, **fitted, landmarks_=landmarks), result.values, result.shrinkage, result.doubt)

    def fitted_values(self, rows: Rows) -> NDArray:
        kernel = Kernel(self.kernel, self.gamma_, self.degree, self.coef0, self.mean_)
        coefficients = self.dual_coef_.T
        return kernel.project(rows.X, self.landmarks_, self.kernel_mean_, coefficients, sum_to_zero=self.exact_)


@dataclass(frozen=True, eq=False)
class FunctionEmbedding(KernelEmbedding):
    """The same for a kernel function of the user's, which need not take sparse rows, nor be a kernel."""

    accepts_sparse = False
    checked = True


@dataclass(frozen=True, eq=False)
class GraphEmbedding(Embedding):
    """The mean embedding of a row's nearest landmarks: the kernel form on the neighbour graph of the distinct rows."""

    n_neighbors: int
    mean_: NDArray
    landmarks_: Matrix
    landmark_embedding_: NDArray
    dual_coef_: NDArray
    exact_: bool

    on_sphere = True

    @classmethod
    def fit(cls, model: EmbeddingClusterer, X: Matrix, weights: Float | None, rng: np.random.RandomState) -> Result:
        mean, _ = _mean_and_variance(X, weights)
        chosen = chosen_landmarks(model, X, weights, rng, most=EXACT_GRAPH, usual=GRAPH_LANDMARKS)
        # Rows that are equal are one node of the graph, by their weight.
        given, own = (X, weights) if chosen is None else (chosen.rows, chosen.mass)
        first, which = distinct_rows(given)
        mass = np.bincount(which, weights=own, minlength=first.size).astype(np.float64)
        kept = mass > 0
        landmarks, mass, n = given[first[kept]], mass[kept], int(kept.sum())
        n_neighbors = model.n_neighbors
        if n_neighbors > n:
            tell(f"n_neighbors={n_neighbors} exceeds the number of distinct rows ({n}): all are used.", UserWarning)
        rows = seen_from(mean, landmarks, landmarks)[1]
        spectrum = graph_spectrum(rows, mass, min(n_neighbors, n), model._n_wanted)
        rank = within_rank(model, spectrum.eigenvalues, 1e-12)
        shrinkage = shrinkage_of(model, spectrum.eigenvalues[:rank], spectrum.trace)
        # The spectrum is that of the kernel times root masses on either side: a row's own share is over its root.
        root = np.sqrt(mass)[:, None]
        vectors = spectrum.vectors[:, :rank]
        vectors = vectors * signs_of(vectors / root)
        embedding = cls(
            n_neighbors=n_neighbors,
            mean_=mean,
            landmarks_=landmarks,
            landmark_embedding_=(vectors / root * (shrinkage.eigenvalues * shrinkage.inverse)).astype(X.dtype),
            dual_coef_=np.ascontiguousarray((root * vectors * shrinkage.inverse).T.astype(X.dtype)),
            exact_=chosen is None,
        )
        # A landmark's embedding is its own; only rows that are none have to look for neighbours.
        own_only = chosen is None and kept.all()
        values = embedding.landmark_embedding_[which] if own_only else embedding.fitted_values(as_rows(X))
        doubt = None
        if spectrum.n_parts > model.n_clusters:
            doubt = (
                f"The neighbour graph falls into {spectrum.n_parts} parts, more than n_clusters="
                f"{model.n_clusters}: some clusters hold parts that nothing links. Raise n_neighbors."
            )
        return Result(embedding, values, shrinkage, doubt)

    def fitted_values(self, rows: Rows) -> NDArray:
        """The mean embedding of the nearest landmarks; that of the landmark itself where the row is one."""
        X = rows.X
        if sp.issparse(self.landmarks_):
            X = sp.csr_array(X)
        elif sp.issparse(X):
            X = X.toarray()
        n_neighbors = min(self.n_neighbors, self.landmarks_.shape[0])
        index = neighbors(*seen_from(self.mean_, X, self.landmarks_), n_neighbors)
        Y = self.landmark_embedding_[index].mean(axis=1)
        # From the farthest to the nearest, so that of equal landmarks the first one has the last word.
        for column in index.T[::-1]:
            difference = self.landmarks_[column] != X
            same = np.asarray(difference.sum(axis=1)).ravel() == 0
            Y[same] = self.landmark_embedding_[column[same]]
        return Y


_MODES: dict[str, type[Embedding]] = {
    "linear": LinearEmbedding,
    "cosine": CosineEmbedding,
    "precomputed": MatrixEmbedding,
    "nearest_neighbors": GraphEmbedding,
    "rbf": KernelEmbedding,
    "poly": KernelEmbedding,
}
# Every attribute that some embedding publishes: a fit forgets those of the one before.
PUBLISHED = sorted({name for mode in _MODES.values() for name in mode.published()})


def mode_of(kernel: str | KernelFunction) -> type[Embedding]:
    """The kind of embedding that a kernel asks for; any, where it is no kernel at all."""
    return _MODES.get(kernel, KernelEmbedding) if isinstance(kernel, str) else FunctionEmbedding


def _fit_features(
    model: EmbeddingClusterer,
    kernel: Kernel,
    landmarks: Matrix,
    X: Matrix,
    weights: Float | None,
    rng: np.random.RandomState,
    *,
    checked: bool,
) -> Result:
    """The linear form on the Nystroem features ``k(x, landmarks) K^-1/2``, which are rows like any others."""
    matrix = kernel(landmarks, landmarks)
    between, _ = centred_kernel(matrix, None, checked=checked)
    largest = leading_eigenpairs(between, 1)[0][0]
    doubt = _kernel_doubt(largest, float(np.trace(between)), len(matrix), kernel.width)
    transform = whitening(matrix).astype(X.dtype)
    no_mean = np.zeros(1, dtype=X.dtype)
    features = as_rows(kernel.project(X, landmarks, no_mean, transform, sum_to_zero=False))
    coordinates = coordinates_of(features, weights, max_rank=model.max_rank, leading=model._n_wanted, rng=rng)
    q = within_rank(model, coordinates.eigenvalues[: model._n_wanted], 0.0)
    shrinkage = shrinkage_of(model, coordinates.eigenvalues[:q], coordinates.total_variance)
    projection = fix_signs(coordinates.loadings(shrinkage.axes(coordinates.rank)))
    embedding = MatrixEmbedding(
        dual_coef_=np.ascontiguousarray((transform @ projection).T.astype(X.dtype)),
        # k(x, landmarks) = features K^1/2, so their mean is the features' mean times that.
        kernel_mean_=(coordinates.mean @ np.linalg.pinv(transform.astype(np.float64))).astype(X.dtype),
        exact_=False,
    )
    return Result(embedding, features.project(projection, coordinates.mean), shrinkage, doubt)


def _kernel_doubt(largest: float, trace: float, n: int, width: float | None) -> str | None:
    """A kernel may see all rows as alike, or, when it is nearly diagonal, no two of them."""
    if largest == 0:
        remedy = "" if width is None else f" Raise gamma (now {width:.3g})."
        return f"The kernel is the same for all pairs of rows, up to rounding: there is nothing to cluster.{remedy}"
    # n - 1 equal eigenvalues, after centring, are those of a multiple of the identity.
    if n <= 10 or largest > 1.05 * trace / (n - 1):
        return None
    remedy = "Choose a wider kernel." if width is None else f"Lower gamma (now {width:.3g})."
    return f"The kernel is nearly diagonal: all rows are equally unlike each other, and the labels chance. {remedy}"


def _mean_and_variance(X: Matrix, weights: Float | None) -> tuple[NDArray, float]:
    """The mean row, in the rows' precision, and the trace of their scatter."""
    rows = as_rows(X)
    mean = rows.mean(weights)
    return mean.astype(X.dtype), checked_variance(rows, mean, weights)


def _present(Y: NDArray, weights: Float | None) -> NDArray:
    """The rows that have weight, so that absent ones do not decide on signs."""
    return Y if weights is None else Y[weights > 0]
