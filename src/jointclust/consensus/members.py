"""The members that a consensus fits on the rows of one view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from jointclust.consensus.classifiers import CenterLabels, LandmarkLabels, Member
from jointclust.consensus.low_dimensions import low_members, n_low_members
from jointclust.consensus.projection import Distinct, ViewProjection, is_low
from jointclust.estimators.embedding_first import n_wanted
from jointclust.methods.discriminative import Discriminant
from jointclust.methods.scoring_embeddings import RIDGE_SHARE, Shrinkage
from jointclust.numerics.anchors import anchor_graph, anchor_spectrum
from jointclust.numerics.diffusion import MANY, diffused
from jointclust.numerics.graph import GraphSpectrum, balanced_spectrum, distinct_rows, neighbor_graph, neighbors
from jointclust.numerics.kmeans import fewer_restarts, kmeans_on
from jointclust.numerics.partitions import is_same_partition
from jointclust.rows import as_rows, blocks, each
from jointclust.rows.arrays import is_on_gpu, like, namespace, to_host
from jointclust.subspace.alternating import Ending, Run, State, alternate, best_of
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.subspace.decomposition import coordinates_of
from jointclust.subspace.directions import relative_ridge, wanted_components
from jointclust.subspace.starts import start_labels
from jointclust.types import Array, Float, Labels

# Finer partitions beside those of the wanted number: see the evidence page.
_FINER, _ROWS_PER_CLUSTER = (1.5, 2.0, 3.0), 3
_NEIGHBORS, _ANCHORS_OF_A_ROW, _RESTARTS = 5, 3, 3
_GRAPH_RESTARTS = 4
# Share of the largest variance below which rounding of the directions counts.
_ROUNDED = 1e-8
# LDA k-means of a member: steps from every start, and steps without a better objective after which it stops.
_FIRST_STEPS, _PATIENCE = 2, 2
# Relative change at which a member's iterations stop: the other members outvote the last rows that would move.
_NEARLY = 1e-3


class Plan(NamedTuple):
    """Parameters of LDA k-means; the ridge in units of the mean eigenvalue."""

    variance: float
    ridge: float
    init: str
    n_init: int
    max_iter: int


_MAIN = (Plan(0.9, 1e-3, "k-means++", 3, 10), Plan(0.8, 1e-3, "whitened", 2, 10))
_FINE = Plan(0.9, 0.1, "k-means++", 1, 4)
# With many clusters there are few rows of each: less ridge, or a whitened start, fits the directions to chance.
_MAIN_OF_MANY = (Plan(0.9, 0.1, "k-means++", 1, 3),) * 2


class Effort(NamedTuple):
    """How much is fitted: share of the usual rows, finer scales, most starts of LDAKMeans, repeats of each member.

    ``plain`` members are one LDAKMeans, and one neighbour graph at all scales.
    """

    share: float
    finer: tuple[float, ...]
    n_init: int
    times: int
    plain: bool = False


EFFORTS = {
    "quick": Effort(0.3, (2.0,), 1, 1),
    "normal": Effort(1.0, _FINER, 3, 1),
    "thorough": Effort(2.0, _FINER, 3, 3),
}
PLAIN = Effort(1.0, (2.0,), 1, 1, plain=True)


def finer_numbers(n_clusters: int, n_rows: int, factors: tuple[float, ...] = _FINER) -> list[int]:
    """Larger numbers of clusters, as far as there are rows for them; of many clusters none, which would cost most."""
    most = n_rows // _ROWS_PER_CLUSTER
    numbers = {min(int(np.ceil(factor * n_clusters)), most) for factor in factors if n_clusters <= MANY}
    return sorted(number for number in numbers if number > n_clusters)


def _main(n_clusters: int) -> tuple[Plan, ...]:
    """The fits of LDA k-means with the wanted number of clusters."""
    return _MAIN if n_clusters <= MANY else _MAIN_OF_MANY


def members_on(
    view: ViewProjection,
    rows: Distinct | None,
    Z: Array,
    weights: Float | None,
    n_clusters: int,
    effort: Effort,
    rng: np.random.RandomState,
    n_jobs: int | None,
    report: Callable[[], object],
    workers_of: Any = None,
) -> list[Member]:
    """Fitted members on the projected rows of a view: LDA k-means and a neighbour graph, at several scales.

    A finer partition shows which rows belong together; the other members decide which of its clusters to join. Rows of
    two or three columns have members of their own. ``workers_of`` are rows whose Dask workers do the fits.
    """
    if is_low(view.mean.size) and rows is not None:
        finer = finer_numbers(n_clusters, len(view.landmarks), effort.finer)
        return low_members(view, rows.mass, n_clusters, finer, effort.n_init * effort.times, rng, report)
    coordinates = _uncorrelated(Z, weights, rng)
    landmarks, device = view.landmarks.astype(np.float64), Z if is_on_gpu(Z) else None
    graph = partial(_from_graph, view, rows, Z[:, : landmarks.shape[1]], weights, device)
    finer = finer_numbers(n_clusters, len(landmarks), effort.finer)
    plans = _main(n_clusters)[:1] if effort.plain else _main(n_clusters)
    main = [plan._replace(n_init=min(plan.n_init, effort.n_init)) for plan in plans]
    if device is not None or n_clusters > MANY:  # with many clusters the choice of a start matters less
        main = [plan._replace(n_init=max(1, fewer_restarts(plan.n_init, n_clusters))) for plan in main]
    fits = [(n_clusters, plan) for plan in main] + [(number, _FINE) for number in finer if not effort.plain]
    n_fits = len(fits) + (1 if effort.plain else 2)
    seeds = rng.randint(np.iinfo(np.int32).max, size=effort.times * n_fits)

    def fit(number: int) -> list[Member]:
        seed, index = int(seeds[number]), number % n_fits
        own_members: list[Member]
        if index < len(fits):
            own_members = [_discriminant(view, coordinates, *fits[index], seed)]
        elif index == len(fits):
            own_members = graph(None, [n_clusters, *finer], "neighbour graph", seed)
        else:
            columns = _scored(coordinates, n_clusters)[: landmarks.shape[1]]
            own_members = graph(columns, [n_clusters], "neighbour graph of ODC", seed)
        return own_members

    def done(members: list[Member]) -> None:
        for _ in members:
            report()

    fitted = each(fit, seeds.size, n_jobs, workers_of, done)
    return [replace(member, view=view) for members in fitted for member in members]


def first_leads(widths: list[int]) -> bool:
    """Whether the members vote on the partition of the first: where one view has two or three columns."""
    return len(widths) == 1 and is_low(widths[0])


def n_members_on(n_clusters: int, n_rows: int, n_columns: int, effort: Effort) -> int:
    """How many members :func:`members_on` fits on so many distinct rows."""
    n_finer = len(finer_numbers(n_clusters, n_rows, effort.finer))
    if is_low(n_columns):
        return n_low_members(n_finer, effort.n_init)
    return effort.times * (2 + n_finer if effort.plain else len(_main(n_clusters)) + 2 + 2 * n_finer)


def _uncorrelated(Z: Array, weights: Float | None, rng: np.random.RandomState) -> Coordinates:
    """Coordinates of rows whose columns are those of an eigenbasis already, which is not computed again.

    Rounded directions leave small ones beside very large ones correlated; these are decomposed.
    """
    rows, values = as_rows(Z), to_host(blocks.column_sums(Z * Z, weights))
    if values[-1] <= _ROUNDED * values[0]:
        return coordinates_of(rows, weights, variance=None, max_rank=rows.n_features, rng=rng)
    mean, basis = np.zeros(values.size), np.eye(values.size)
    return Coordinates(rows, mean, weights, values, float(values.sum()), exact=True, scores=rows.X, basis=basis)


def _discriminant(
    view: ViewProjection, coordinates: Coordinates, n_clusters: int, plan: Plan, seed: int
) -> CenterLabels:
    """LDA k-means from some different starts, of which the best after the first steps goes on."""
    kept = coordinates.keep(plan.variance)
    ridge = plan.ridge * (float(kept.eigenvalues.mean()) or 1.0)
    n_components = min(max(wanted_components(n_clusters, kept.rank), 1), kept.rank)
    starts, runs = list[Labels](), []
    for seed_of_run in np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=plan.n_init):
        rng = np.random.RandomState(seed_of_run)
        labels = start_labels(plan.init, kept, n_clusters, n_components, rng, _RESTARTS, kept.weights, careful=False)
        if any(is_same_partition(labels, other, n_clusters) for other in starts):
            continue
        starts.append(labels)
        method = Discriminant(kept, n_components, ridge, rng, _RESTARTS, _NEARLY, careful=False)
        runs.append((method, _alternate(method, kept.clusters(labels, n_clusters), _FIRST_STEPS)))
    method, run = best_of(runs, lambda pair: pair[1].state.objective)
    states = [run.state]
    if run.ending is Ending.MAX_ITER and plan.max_iter > _FIRST_STEPS:
        states.append(_alternate(method, run.state.clusters, plan.max_iter - _FIRST_STEPS).state)
    best = best_of(states, lambda state: state.objective)
    projection = np.ascontiguousarray(kept.loadings(best.projection))
    centers = best.clusters.centers(best.projection)[best.clusters.sizes > 0] + kept.mean @ projection
    return CenterLabels(view, f"LDA k-means, {n_clusters} clusters", projection, centers)


def _alternate(method: Discriminant, clusters: Clusters, max_iter: int) -> Run[Clusters, State]:
    return alternate(method, clusters, max_iter=max_iter, tol=_NEARLY, patience=_PATIENCE)


def _scored(coordinates: Coordinates, n_clusters: int) -> Float:
    """The embedding of optimal discriminant clustering: the leading directions, evened out."""
    q = min(n_wanted(None, n_clusters), coordinates.rank)
    ridge = relative_ridge("auto", RIDGE_SHARE, coordinates.total_variance, q)
    shrinkage = Shrinkage(coordinates.eigenvalues[:q], coordinates.total_variance, ridge)
    return coordinates.loadings(shrinkage.axes(coordinates.rank))


def _from_graph(
    view: ViewProjection,
    rows: Distinct | None,
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
    if rows is None:
        graph, mass, which = anchor_graph(near, Z, weights, _ANCHORS_OF_A_ROW)
    else:
        first, which = distinct_rows(Z)
        mass = np.bincount(which, weights=rows.mass).astype(np.float64)
        n_neighbors = min(_NEIGHBORS, max(2, first.size // 4), first.size)
        nearest = to_host(rows.projected.nearest)
        if columns is not None or first.size < len(Z) or n_neighbors > nearest.shape[1]:
            there = Z[first] if device is None else like(Z[first], device, namespace(device).float64)
            nearest = to_host(neighbors(there, Z[first], n_neighbors))
        graph = neighbor_graph(nearest[:, :n_neighbors], mass)
    numbers = [min(number, mass.size) for number in numbers]
    rng = np.random.RandomState(seed)
    members: list[Member] = []
    for number, Y in zip(numbers, _embedded(graph, mass, numbers, rows is None, device), strict=True):
        labels = kmeans_on(device, Y, number, rng, mass, n_restarts=_GRAPH_RESTARTS, tol=_NEARLY, careful=False)[which]
        members.append(LandmarkLabels(view, f"{kind}, {number} clusters", labels.astype(np.uint16), number))
    return members


def _embedded(
    graph: sp.csr_array, mass: Float, numbers: list[int], is_of_anchors: bool, device: Array | None
) -> list[Float]:
    """The rows that k-means clusters, for each number of clusters: unit rows of eigenvectors, or of many signals."""
    if min(numbers) > MANY:
        root = np.sqrt(mass)
        S = graph if is_of_anchors else sp.csr_array(0.5 * (sp.eye_array(mass.size) + graph))
        S = S if device is None else like(S.toarray(), device, namespace(device).float64)
        signals = diffused(lambda columns: S @ columns, root / np.linalg.norm(root), numbers, device)
        return [blocks.unit(one / root[:, None]) for one in signals]
    n_components = max(max(numbers) - 1, 1)
    spectrum = (anchor_spectrum if is_of_anchors else balanced_spectrum)(graph, mass, n_components, device)
    return [spectral_rows(spectrum, mass, number) for number in numbers]


def spectral_rows(spectrum: GraphSpectrum, mass: Float, n_clusters: int) -> Float:
    """Rows in the leading eigenvectors of their neighbour graph, scaled to length one: what k-means clusters."""
    q = max(n_clusters - 1, 1)
    values = spectrum.eigenvalues[:q]
    shrunk = values / (values + 0.1 * spectrum.trace / q) if spectrum.trace > 0 else values
    return blocks.unit(spectrum.vectors[:, :q] / np.sqrt(mass)[:, None] * shrunk)
