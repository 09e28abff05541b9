"""Members of a consensus: which ones on one view and on several, and how any estimator is fitted on what suits it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from jointclust.consensus.classifiers import CenterLabels, LandmarkLabels, Member
from jointclust.consensus.projection import ViewProjection
from jointclust.estimators.base import Clusterer, TakesRows
from jointclust.methods.discriminative import LDAKMeans
from jointclust.methods.scoring import OptimalDiscriminantClustering
from jointclust.numerics.anchors import anchor_spectrum
from jointclust.numerics.graph import GraphSpectrum, distinct_rows, graph_spectrum
from jointclust.numerics.kmeans import fewer_restarts, kmeans_on
from jointclust.rows import as_rows, blocks, threads
from jointclust.rows.arrays import is_on_gpu, like, to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import coordinates_of
from jointclust.types import Array, Float

# The members on one view: on the evidence page.
_VARIANCES = (0.7, 0.8, 0.9, 0.95)
_DISCRIMINANTS = tuple((ridge, init) for ridge in (1e-3, 0.1) for init in ("k-means++", "k-means++", "whitened"))
_ITERATIONS = 12  # more cost twice the time for a fraction of a point
_GRAPHS, _EMBEDDED_GRAPHS = (5, 8, 10, 15), (5, 8, 10)
N_AUTOMATIC = len(_VARIANCES) * len(_DISCRIMINANTS) + len(_GRAPHS) + len(_EMBEDDED_GRAPHS)
# Rows beyond which the neighbour graphs look at a sample.
_GRAPH_ROWS = 5_000
# The members on each of several views: finer partitions beside those of the number asked for, on the evidence page too.
_FINER, _ROWS_PER_CLUSTER = (1.5, 2.0, 3.0), 3
_NEIGHBORS, _ANCHORS_OF_A_ROW, _RESTARTS = 5, 3, 10


class Plan(NamedTuple):
    """Parameters of LDAKMeans; the ridge in units of the mean eigenvalue."""

    variance: float
    ridge: float
    init: str
    n_init: int
    max_iter: int


_MAIN = (Plan(0.9, 1e-3, "k-means++", 3, 10), Plan(0.8, 1e-3, "whitened", 2, 10))
_FINE = Plan(0.9, 0.1, "k-means++", 1, 4)


class Effort(NamedTuple):
    """How much is fitted: a share of the usual rows, finer scales, starts of LDAKMeans at the most, times each."""

    share: float
    finer: tuple[float, ...]
    n_init: int
    times: int


EFFORTS = {
    "quick": Effort(0.3, (2.0,), 1, 1),
    "normal": Effort(1.0, _FINER, 3, 1),
    "thorough": Effort(2.0, _FINER, 3, 3),
}


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


def finer_numbers(n_clusters: int, n_rows: int, factors: tuple[float, ...] = _FINER) -> list[int]:
    """Numbers of clusters beyond the one asked for, as far as there are rows for them."""
    most = n_rows // _ROWS_PER_CLUSTER
    numbers = {min(int(np.ceil(factor * n_clusters)), most) for factor in factors}
    return sorted(number for number in numbers if number > n_clusters)


def members_on(
    view: ViewProjection,
    mass: Float | None,
    Z: Array,
    weights: Float | None,
    n_clusters: int,
    effort: Effort,
    rng: np.random.RandomState,
    n_jobs: int | None,
    report: Callable[[], object],
) -> list[Member]:
    """Fitted members on the rows of a view, seen through a lens: LDA k-means and a neighbour graph, at several scales.

    A finer partition says which rows are surely together, and leaves it to the others which of its groups to join.
    """
    coordinates = coordinates_of(as_rows(Z), weights, variance=None, max_rank=Z.shape[1], rng=rng)
    landmarks, device = view.landmarks.astype(np.float64), Z if is_on_gpu(Z) else None
    graph = partial(_from_graph, view, mass, Z[:, : landmarks.shape[1]], weights, device)
    finer = finer_numbers(n_clusters, len(landmarks), effort.finer)
    main = [plan._replace(n_init=min(plan.n_init, effort.n_init)) for plan in _MAIN]
    if device is not None:  # which is there to be fast: of many clusters the luck of a start averages out
        main = [plan._replace(n_init=max(1, fewer_restarts(plan.n_init, n_clusters))) for plan in main]
    plans = [(n_clusters, plan) for plan in main] + [(number, _FINE) for number in finer]
    n_fits = len(plans) + 2
    seeds = rng.randint(np.iinfo(np.int32).max, size=effort.times * n_fits)

    def fit(number: int) -> list[Member]:
        seed, index = int(seeds[number]), number % n_fits
        found: list[Member]
        if index < len(plans):
            found = [_discriminant(view, coordinates, *plans[index], seed)]
        elif index == len(plans):
            found = graph(None, [n_clusters, *finer], "neighbour graph", seed)
        else:
            embedding = OptimalDiscriminantClustering(n_clusters, random_state=seed).fit(coordinates)
            columns = to_host(embedding.components_)[:, : landmarks.shape[1]].T
            found = graph(columns, [n_clusters], "neighbour graph of ODC", seed)
        for _ in found:
            report()
        return found

    return [member for found in threads.each(fit, seeds.size, n_jobs) for member in found]


def n_members_on(n_clusters: int, n_rows: int, effort: Effort) -> int:
    """How many members :func:`members_on` fits on so many distinct rows."""
    return effort.times * (len(_MAIN) + 2 + 2 * len(finer_numbers(n_clusters, n_rows, effort.finer)))


def _discriminant(
    view: ViewProjection, coordinates: Coordinates, n_clusters: int, plan: Plan, seed: int
) -> CenterLabels:
    level = float(coordinates.keep(plan.variance).eigenvalues.mean()) or 1.0
    options = {**plan._asdict(), "ridge": plan.ridge * level}
    found = LDAKMeans(n_clusters, random_state=seed, **options).fit(coordinates)
    projection = np.ascontiguousarray(to_host(found.components_).T)
    centers = to_host(found.cluster_centers_) + to_host(found.mean_) @ projection
    return CenterLabels(view, f"LDA k-means, {n_clusters} clusters", projection, centers)


def _from_graph(
    view: ViewProjection,
    mass: Float | None,
    near: Array,
    weights: Float | None,
    device: Array | None,
    columns: Float | None,
    numbers: list[int],
    kind: str,
    seed: int,
) -> list[Member]:
    """Spectral clustering of the landmarks: of one neighbour graph, the partitions of several sizes.

    Landmarks that are rows are linked to one another, anchors by the rows between them.
    """
    Z = view.landmarks.astype(np.float64)
    if columns is not None:
        Z, near = Z @ columns, near @ like(columns, near)
    n_components = max(max(numbers) - 1, 1)
    if mass is None:
        spectrum, mass, which = anchor_spectrum(near, Z, weights, _ANCHORS_OF_A_ROW, n_components, device)
    else:
        first, which = distinct_rows(Z)
        mass = np.bincount(which, weights=mass).astype(np.float64)
        n_neighbors = min(_NEIGHBORS, max(2, first.size // 4), first.size)
        spectrum = graph_spectrum(Z[first], mass, n_neighbors, n_components, device)
    rng = np.random.RandomState(seed)
    found: list[Member] = []
    for number in (min(number, mass.size) for number in numbers):
        Y = spectral_rows(spectrum, mass, number)
        labels = kmeans_on(device, Y, number, rng, mass, n_restarts=_RESTARTS)[which]
        found.append(LandmarkLabels(view, f"{kind}, {number} clusters", labels.astype(np.uint16), number))
    return found


def spectral_rows(spectrum: GraphSpectrum, mass: Float, n_clusters: int) -> Float:
    """Rows in the leading eigenvectors of their neighbour graph, scaled to length one: what k-means clusters."""
    q = max(n_clusters - 1, 1)
    values = spectrum.eigenvalues[:q]
    shrunk = values / (values + 0.1 * spectrum.trace / q) if spectrum.trace > 0 else values
    return blocks.unit(spectrum.vectors[:, :q] / np.sqrt(mass)[:, None] * shrunk)


def fit_member(
    member: Any,
    X: Any,
    coordinates: Coordinates,
    weights: Float | None,
    seed: int,
    told: dict[str, ArrayLike] | None = None,
) -> Any:
    """A member fitted on what suits it: ours on the shared coordinates where they can, others on the rows.

    What else it is told of the rows (``known_labels``, ``groups``) goes to the last step of a pipeline.
    """
    told = told or {}
    names = [
        name for name, value in member.get_params().items() if name.split("__")[-1] == "random_state" and value is None
    ]
    member.set_params(**dict.fromkeys(names, seed))
    first = member[0] if isinstance(member, Pipeline) and len(member) == 2 else member
    shared = isinstance(first, Clusterer) and first.takes_coordinates(coordinates)
    if shared and first is not member:
        member[1].fit(member[0].fit(coordinates).transform(X), **weight_options(member[1], weights), **told)
        return member
    if shared:
        return member.fit(coordinates, **told)
    prefix = f"{member.steps[-1][0]}__" if isinstance(member, Pipeline) else ""
    return member.fit(X, **weight_options(member, weights), **{prefix + name: told[name] for name in told})


def weight_options(estimator: Any, weights: Float | None) -> dict[str, Any]:
    """The sample weights by the name that an estimator, or the last step of a pipeline, takes them under, if any."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if weights is None or not has_fit_parameter(last, "sample_weight"):
        return {}
    return {f"{estimator.steps[-1][0]}__sample_weight" if last is not estimator else "sample_weight": weights}


def training_labels(member: Any, X: Any) -> NDArray:
    """A member's labels of the rows it was fitted on, equal to its ``predict`` of them where none is known."""
    last = member.steps[-1][1] if isinstance(member, Pipeline) else member
    own = isinstance(last, TakesRows) or not hasattr(member, "predict")
    return np.asarray(last.labels_ if own else member.predict(X))
