"""k-means in an embedding: many restarts at once, weights, repair of empty clusters, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointclust._sklearn import lloyd_step
from jointclust.numerics.diffusion import MANY
from jointclust.numerics.partitions import (
    FEW,
    Partition,
    centers_of,
    cluster_sizes,
    fill_empty,
    known_centers,
    means,
    n_changed,
    nearest_in,
    nearest_of,
    weighted_norm,
)
from jointclust.rows import Swept, as_rows, blocks, is_remote, sample_known, sweep, threads
from jointclust.rows.arrays import beside, is_device_array, like, namespace, precision, to_host
from jointclust.types import Array, Float, Labels, Sweepable

# Restarts look at this many rows at the most (more when there are many clusters): see `sample_rows`.
SAMPLE, SAMPLE_PER_CLUSTER = 20_000, 32
# Candidates whose distances in pairs are computed at once: the draws would compute each of them more than once.
_MOST_BETWEEN = 8_000
# Relative fall of the inertia at which k-means of a sample, or of many clusters, rests.
_NEARLY = 1e-4
# Rows up to which k-means goes on until no label changes.
_EXACT = 50_000
# Values in memory up to which compiled code iterates; more are swept by threads.
COMPILED = 2**22


class Draws(NamedTuple):
    """How centers are drawn.

    Attributes
    ----------
    rounds : int
        Rounds in which candidates for many centers are drawn, as many in each as there are clusters.
    trials : int
        Draws for each center, of which the best is taken.
    share : float
        Share of the centers left to draw that are drawn at a time; 0 draws one at a time.
    """

    rounds: int
    trials: int
    share: float

    @classmethod
    def suited_to(cls, n_clusters: int, careful: bool) -> Draws:
        """The usual draws, or quicker ones for very many centers where other fits outvote what they miss."""
        if careful or n_clusters <= MANY:
            return cls(4, 2 + int(np.log(n_clusters)), 0.0)
        return cls(3, 4, 0.02)


def lloyd_many(
    Y: Sweepable,
    centers: Float,
    weights: Array | None = None,
    *,
    known: Array | None = None,
    max_iter: int = 300,
    tol: float = 0.0,
) -> tuple[list[Any], Float, Float]:
    """Lloyd's iteration from R sets of centers together; returns labels (n, R), centers (R, c, d), inertias (R,).

    A set rests when no row that has weight changes its label, or when its inertia falls by no more than ``tol``,
    relative. Compiled code and sweep both stop by this rule and fill empty clusters alike. The centers returned are
    the means of the labels returned. Known labels (not negative) stay.
    """
    if isinstance(Y, np.ndarray) and known is None and Y.size <= COMPILED:
        rows, mass = np.ascontiguousarray(Y, np.float64), np.ones(len(Y)) if weights is None else np.asarray(weights)
        total = float(mass @ np.einsum("ij,ij->i", rows, rows))
        present = None if mass.all() else np.flatnonzero(mass)
        with threads.single():
            runs = [
                compiled_lloyd(rows, one, mass, present, total, max_iter, tol) for one in centers.astype(np.float64)
            ]
        return [run[0] for run in runs], np.stack([run[1] for run in runs]), np.array([run[2] for run in runs])
    n_sets, n_clusters, _ = centers.shape
    total = weighted_norm(Y, weights)
    centers = centers.copy()
    labels: list[Any] = [None] * n_sets
    inertia = np.full(n_sets, np.inf)
    moving = np.arange(n_sets)
    for _ in range(max_iter):
        new, sums, sizes, changed = _lloyd_step(Y, centers[moving], [labels[r] for r in moving], weights, known)
        for j in np.flatnonzero((sizes == 0).any(axis=1)):
            new[j] = fill_empty(Y, new[j], n_clusters, weights, known)
            old = labels[moving[j]]
            changed[j] = 1.0 if old is None else n_changed(new[j], old, weights)
            sizes[j] = cluster_sizes(new[j], n_clusters, weights)
            sums[j] = centers_of(Y, new[j], n_clusters, weights) * sizes[j][:, None]
        updated = means(sums, sizes)
        within = np.maximum(total - np.einsum("rk,rkd,rkd->r", sizes, updated, updated), 0.0)
        resting = changed == 0
        if tol > 0:
            resting |= inertia[moving] - within <= tol * within
        centers[moving], inertia[moving] = updated, within
        for index, own in zip(moving, new, strict=True):
            labels[index] = own
        moving = moving[~resting]
        if moving.size == 0:
            break
    return labels, centers, inertia


def compiled_lloyd(
    rows: Float, centers: Float, mass: Float, present: NDArray[np.intp] | None, total: float, max_iter: int, tol: float
) -> tuple[NDArray[np.int32], Float, float]:
    """Lloyd's iteration from one set of centers, which are overwritten, by compiled steps over rows in memory.

    ``present`` are the rows that have mass, None if all have.
    """
    n_clusters = len(centers)
    updated, (sizes, shift), inertia = np.empty_like(centers), np.empty((2, n_clusters)), np.inf
    labels, old = np.full((2, len(rows)), -1, np.int32)
    for _ in range(max_iter):
        old, labels = labels, old
        lloyd_step(rows, mass, centers, updated, sizes, labels, shift, 1)
        if not np.bincount(labels, mass, n_clusters).all():  # where the step moves centers, but no labels
            labels = fill_empty(rows, labels, n_clusters, mass)
            sizes = cluster_sizes(labels, n_clusters, mass)
            updated = centers_of(rows, labels, n_clusters, mass)
        within = max(total - float(np.einsum("k,kd,kd->", sizes, updated, updated)), 0.0)
        changed = labels != old if present is None else labels[present] != old[present]
        rests = not changed.any() or (tol > 0 and inertia - within <= tol * within)
        centers, updated, inertia = updated, centers, within
        if rests:
            break
    return labels, centers, inertia


def _lloyd_step(
    Y: Sweepable, centers: Float, labels: list[Any], weights: Array | None, known: Array | None
) -> tuple[list[Any], Float, Float, Float]:
    """New labels of each set, with their sums and sizes and how many labels changed, all in one pass."""
    n_sets, n_clusters, d = centers.shape
    nearest, first = nearest_of(beside(centers, Y)), labels[0] is None

    def step(y: Array, w: Array | None, fixed: Array | None, *old: Array) -> Swept:
        new = blocks.kept(nearest(y), fixed)
        parts = blocks.sums_and_sizes(y, new, n_clusters, w, None)
        changed = [] if first else [blocks.n_changed(new[:, j], block, w) for j, block in enumerate(old)]
        return Swept(rows=[new[:, j] for j in range(n_sets)], sums=[*parts, *changed])

    swept = sweep(step, Y, weights, known, *([] if first else labels), width=n_sets * n_clusters)
    sums, sizes = swept.sums[0].reshape(n_sets, n_clusters, d), swept.sums[1].reshape(n_sets, n_clusters)
    changed = np.ones(n_sets) if first else np.array([float(part) for part in swept.sums[2:]])
    return list(swept.rows), sums, sizes, changed


def settled(
    Y: Sweepable, labels: Array, n_clusters: int, weights: Array | None, known: Array | None = None
) -> Partition:
    """k-means from labels until they rest; for very many rows until they hardly change, which saves most iterations."""
    tol = resting_tol(n_clusters, 0.0 if Y.shape[0] <= _EXACT else 1e-6)
    return lloyd(Y, centers_of(Y, labels, n_clusters, weights), weights, known=known, tol=tol)


def resting_tol(n_clusters: int, tol: float = 0.0) -> float:
    """The relative fall of the inertia at which Lloyd's iteration may rest: some of many clusters always move."""
    return tol if n_clusters <= FEW else max(tol, _NEARLY)


def fewer_restarts(n_restarts: int, n_clusters: int) -> int:
    """The number of restarts, fewer for many clusters, over which the luck of a start averages out."""
    return n_restarts * FEW // max(FEW, n_clusters)


def lloyd(
    Y: Sweepable,
    centers: Float,
    weights: Array | None = None,
    *,
    known: Array | None = None,
    max_iter: int = 300,
    tol: float = 0.0,
) -> Partition:
    """Lloyd's iteration from one set of centers."""
    labels, centers, inertia = lloyd_many(Y, centers[None], weights, known=known, max_iter=max_iter, tol=tol)
    return Partition(labels[0], centers[0], float(inertia[0]))


def kmeans(
    Y: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
    weights: Array | None = None,
    *,
    known: Array | None = None,
    n_restarts: int = 10,
    beat: float = np.inf,
    tol: float = 0.0,
    careful: bool = True,
) -> Partition:
    """Best of ``n_restarts`` k-means runs from k-means++ centers.

    The restarts race: all make two Lloyd steps, the best third goes on to rest. On many rows they race on a sample,
    and only the winner sees all rows. When all are a tenth above the inertia to ``beat`` after the two steps, from
    where they never come back, the best is returned as it is. The last run rests at ``tol``, or
    earlier with many clusters or on a sample. Many clusters have fewer restarts, from better centers.
    The clusters of known labels (not negative) start from the rows that have them, which keep them. Without
    ``careful`` very many clusters have quicker starts, which are slightly worse.
    """
    draws = Draws.suited_to(n_clusters, careful)
    first = np.empty((0, Y.shape[1])) if known is None else known_centers(Y, known, n_clusters, weights)
    rows, row_weights, row_known = sample_rows(Y, n_clusters, rng, weights, known)
    sampled, many = rows.shape[0] != Y.shape[0], n_clusters > FEW
    n_restarts = max(1, fewer_restarts(n_restarts, n_clusters)) if len(first) < n_clusters else 1
    centers = (oversampled if many else plus_plus)(rows, n_clusters, n_restarts, rng, row_weights, first, draws)
    if n_restarts > 1:
        labels, centers, inertia = lloyd_many(rows, centers, row_weights, known=row_known, max_iter=2)
        better = np.argsort(inertia, kind="stable")[: max(1, n_restarts // 3)]
        if not sampled and inertia[better[0]] > 1.1 * beat:
            return Partition(labels[better[0]], centers[better[0]], float(inertia[better[0]]))
        centers = centers[better]
    if len(centers) > 1 or (sampled and (many or n_restarts > 1)):
        _, centers, inertia = lloyd_many(rows, centers, row_weights, known=row_known, tol=_NEARLY)
        centers = centers[[np.argmin(inertia)]]
    return lloyd(
        Y, centers[0], weights, known=known, tol=max(tol, _NEARLY) if sampled else resting_tol(n_clusters, tol)
    )


def kmeans_on(
    device: Array | None,
    Y: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
    weights: Float | None = None,
    *,
    known: Labels | None = None,
    n_restarts: int = 10,
    tol: float = 0.0,
    careful: bool = True,
) -> Labels:
    """Labels of :func:`kmeans` of rows in memory, computed on the device of an array if one is given."""
    settings: dict[str, Any] = {"n_restarts": n_restarts, "tol": tol, "careful": careful}
    if device is None:
        return kmeans(Y, n_clusters, rng, weights, known=known, **settings).labels
    rows: Any = like(Y, device, namespace(device).float64)
    there = [None if values is None else as_rows(rows).here(values) for values in (weights, known)]
    return to_host(kmeans(rows, n_clusters, rng, there[0], known=there[1], **settings).labels)


def sample_rows(
    Y: Array, n_clusters: int, rng: np.random.RandomState, weights: Array | None, known: Array | None
) -> tuple[Array, Array | None, Array | None]:
    """Rows for k-means starts, with weights and labels: a sample, drawn by weight, where a pass over all is costly."""
    size = max(SAMPLE, SAMPLE_PER_CLUSTER * n_clusters)
    if is_remote(Y):
        return sample_known(Y, 2 * size, rng, weights, known)
    if Y.shape[0] <= 2 * size:
        return Y, weights, known
    order, xp = _canonical_order(Y, weights), namespace(Y)
    mass = like(np.ones(1), Y, xp.float64) + xp.zeros_like(order) if weights is None else xp.take(weights, order)
    drawn = _draw(mass[None, :], like(rng.uniform(size=(1, size)), Y, xp.float64))[0, :]
    chosen = xp.take(order, drawn)
    return xp.take(Y, chosen, axis=0), None, None if known is None else xp.take(known, chosen)


def oversampled(
    Y: Array,
    n_clusters: int,
    n_sets: int,
    rng: np.random.RandomState,
    weights: Array | None = None,
    first: Float | None = None,
    draws: Draws | None = None,
) -> Float:
    """Centers for many clusters: k-means++ among candidates that stand for all rows, shape (n_sets, n_clusters, d).

    The candidates are drawn as in k-means|| (Bahmani et al., 2012): rows by weight, then in rounds by squared distance
    from those drawn before. Each moves to the mean of the rows nearest to it, which is clearer than any one of them,
    and counts with their weight.
    """
    n_given = 0 if first is None else len(first)
    draws = Draws.suited_to(n_clusters, True) if draws is None else draws
    n_candidates = draws.rounds * n_clusters
    if Y.shape[0] <= (2 if draws.share == 0 else 1) * n_candidates:
        if n_sets > 1 or Y.shape[0] > _MOST_BETWEEN:
            return plus_plus(Y, n_clusters, n_sets, rng, weights, first, draws)
        mass = namespace(Y).ones_like(Y[:, 0]) if weights is None else weights
        return _drawn_from(
            Y[None, ...], mass[None, ...], n_clusters, _Uniforms.drawn(rng, 1, n_clusters, n_given, draws), first
        )
    if is_device_array(Y):  # all sets at once, with the random numbers that single sets would draw
        numbers = [
            (_rounds(rng, n_clusters, draws), _Uniforms.drawn(rng, 1, n_clusters, n_given, draws))
            for _ in range(n_sets)
        ]
        rounds, quantiles = zip(*numbers, strict=True)
        points, mass = _candidates(Y, np.concatenate(rounds, axis=1), weights)
        return _drawn_from(points, mass, n_clusters, _Uniforms.joined(quantiles), first)
    chosen, dtype, near = [], precision(Y), n_candidates <= _MOST_BETWEEN
    for _ in range(n_sets):
        points, mass = (part.astype(dtype) for part in _candidates(Y, _rounds(rng, n_clusters, draws), weights))
        if near:
            uniforms = _Uniforms.drawn(rng, 1, n_clusters, n_given, draws)
            chosen.append(_drawn_from(points, mass, n_clusters, uniforms, first))
        else:
            chosen.append(plus_plus(points[0], n_clusters, 1, rng, mass[0], first, draws))
    return np.concatenate(chosen)


def _rounds(rng: np.random.RandomState, n_clusters: int, draws: Draws) -> Float:
    """The numbers, between 0 and 1, by which the candidates of one set are drawn in each round."""
    return rng.uniform(size=(draws.rounds, 1, n_clusters))


def _candidates(Y: Array, rounds: Float, weights: Array | None) -> tuple[Any, Any]:
    """Means (n_sets, m, d) and weights (n_sets, m) of the rows nearest to each candidate of each set, in one go.

    A candidate that is drawn twice has no weight the second time. ``rounds`` are the numbers to draw by, of shape
    (n_rounds, n_sets, n_clusters).
    """
    n_rounds, n_sets, n_clusters = rounds.shape
    xp, order, n = namespace(Y), _canonical_order(Y, weights), Y.shape[0]
    Y = xp.take(Y, order, axis=0)
    weights = blocks.float64(xp.ones_like(Y[:, 0]) if weights is None else xp.take(weights, order))
    own = xp.broadcast_to(xp.zeros_like(order)[:, None], (n, n_sets))
    distance = xp.broadcast_to(xp.full_like(weights, xp.inf)[:, None], (n, n_sets))
    mass = xp.broadcast_to(weights, (n_sets, n))
    for first, quantiles in zip(range(0, n_rounds * n_clusters, n_clusters), rounds, strict=True):
        drawn = _draw(mass, like(quantiles, Y, xp.float64))
        points = xp.reshape(xp.take(Y, xp.reshape(drawn, (-1,)), axis=0), (n_sets, n_clusters, -1))
        copies = xp.argmax(xp.astype(drawn[:, :, None] == drawn[:, None, :], xp.int8), axis=2)
        own, distance = sweep(_Nearer(points, copies, first), Y, own, distance, width=n_sets * n_clusters).rows
        mass = (distance * weights[:, None]).T
    m = n_rounds * n_clusters
    sums = lambda y, block, w: Swept(sums=blocks.sums_and_sizes(y, block, m, w, None))  # noqa: E731
    if is_device_array(Y):  # they stay there: with many clusters they are as large as the rows
        sets = [sums(Y, own[:, r], weights).sums for r in range(n_sets)]
    else:
        width = Y.shape[1]
        sets = [sweep(sums, Y, own[:, r], weights, width=width, budget=2**19).sums for r in range(n_sets)]
    total, sizes = (xp.stack(parts, axis=0) for parts in zip(*sets, strict=True))
    return means(total, sizes), sizes


class _Nearer:
    """A function of blocks: the nearest of all points so far in each set; new points are numbered from ``first`` on.

    ``copies`` are the first points that each is a copy of: among copies only rounding would choose.
    """

    def __init__(self, points: Any, copies: Any, first: int):
        self.points, self.copies, self.first = points, copies, first

    def __call__(self, y: Array, own: Array, distance: Array) -> Swept:
        xp, new = namespace(y), nearest_of(self.points)(y)
        new = xp.stack([xp.take(self.copies[r, ...], new[:, r], axis=0) for r in range(new.shape[1])], axis=1)
        reached = [blocks.residuals(y, new[:, r], self.points[r, ...]) ** 2 for r in range(new.shape[1])]
        reached = xp.stack(reached, axis=1)
        closer = reached < distance
        return Swept(rows=[xp.where(closer, like(new, own) + self.first, own), xp.where(closer, reached, distance)])


def _drawn_from(points: Array, mass: Array, n_clusters: int, uniforms: _Uniforms, first: Float | None) -> Float:
    """k-means++ among candidates of each set: on the host, from the distances between them.

    Every draw depends on the one before, which a device would wait for.
    """
    xp, (n_sets, n, d) = namespace(points), points.shape
    orders = [_canonical_order(points[r, ...], mass[r, ...]) for r in range(n_sets)]
    points = xp.stack([xp.take(points[r, ...], order, axis=0) for r, order in enumerate(orders)], axis=0)
    weight = np.stack([to_host(xp.take(mass[r, ...], order)) for r, order in enumerate(orders)])
    exact = uniforms.share == 0
    flat, between = xp.reshape(points, (-1, d)), [_between(points[r, ...], exact) for r in range(n_sets)]
    squares = between[0][None] if n_sets == 1 else np.stack(between)  # stacking copies all pairs
    given = np.tile(np.empty((0, d)) if first is None else first, (n_sets, 1, 1))
    nearest = None
    if given.shape[1]:
        reached = blocks.residuals(flat, nearest_in(flat, given[0]), given[0]) ** 2
        nearest = to_host(blocks.float64(reached)).reshape(n_sets, n)
    sets = np.arange(n_sets)[:, None]

    def distances(rows: Any) -> Array:
        return squares[sets, rows]

    if (n_wanted := n_clusters - given.shape[1]) == 0:
        return given
    chosen = _greedy(distances, weight, nearest, uniforms)
    rows = xp.take(flat, like((chosen + n * sets).ravel(), points, xp.int64), axis=0)
    return np.concatenate([given, to_host(rows).reshape(n_sets, n_wanted, d)], axis=1)


def _between(points: Array, exact: bool) -> Float:
    """Squared distances between points, on the host: in double precision, or rounded to single, which moves faster."""
    points = blocks.float64(points)
    norms, squares = blocks.squared_lengths(points), points @ (-2.0 * points).T
    squares += norms
    squares += norms[:, None]
    distances = to_host(squares if exact else blocks.float32(squares))
    return np.maximum(distances, 0.0, out=distances)


class _Uniforms(NamedTuple):
    """Numbers between 0 and 1 to draw centers by: for the first (n_sets, 1), and for the others (n, n_sets, n_trials).

    There are none for the first where centers are given. ``share`` of the centers left are drawn at a time.
    """

    start: Float | None
    quantiles: Float
    share: float

    @classmethod
    def drawn(cls, rng: np.random.RandomState, n_sets: int, n_clusters: int, n_given: int, draws: Draws) -> _Uniforms:
        """Numbers for all centers but the given ones."""
        start = rng.uniform(size=(n_sets, 1)) if n_given == 0 else None
        n_drawn = n_clusters - n_given - (start is not None)
        return cls(start, rng.uniform(size=(max(n_drawn, 0), n_sets, draws.trials)), draws.share)

    @classmethod
    def joined(cls, sets: Sequence[_Uniforms]) -> _Uniforms:
        """The numbers of several sets, side by side."""
        starts = [one.start for one in sets if one.start is not None]
        quantiles = np.concatenate([one.quantiles for one in sets], axis=1)
        return cls(np.concatenate(starts) if starts else None, quantiles, sets[0].share)


def plus_plus(
    Y: Array,
    n_clusters: int,
    n_sets: int,
    rng: np.random.RandomState,
    weights: Array | None = None,
    first: Float | None = None,
    draws: Draws | None = None,
) -> Float:
    """Greedy k-means++ centers, ``n_sets`` of them side by side, shape (n_sets, n_clusters, d).

    Rows are drawn along a canonical order, so that permuting the rows, or repeating a row instead of giving it a
    weight, changes nothing. All sets have the ``first`` centers, where there are any, in common.
    """
    first = np.empty((0, Y.shape[1])) if first is None else first
    given = np.tile(first, (n_sets, 1, 1))
    if len(first) == n_clusters:
        return given
    xp, order = namespace(Y), _canonical_order(Y, weights)
    n, Y = Y.shape[0], xp.take(Y, order, axis=0)
    weight = xp.ones_like(Y[:, 0]) if weights is None else like(xp.take(weights, order), Y)
    norms, ones = like(blocks.squared_lengths(Y), Y)[:, None], xp.ones_like(Y[:, :1])
    # One product makes squared distances of them: |x|^2 - 2x'y + |y|^2.
    left, right = xp.concat([-2.0 * Y, norms, ones], axis=1), xp.concat([Y, ones, norms], axis=1).T

    def distances(rows: Array) -> Array:
        return xp.reshape(xp.take(left, xp.reshape(rows, (-1,)), axis=0) @ right, (*rows.shape, n))

    nearest = None
    if len(first):
        squares = blocks.residuals(Y, nearest_in(Y, first), first) ** 2
        nearest = xp.broadcast_to(like(squares, Y), (n_sets, n))
    draws = Draws.suited_to(n_clusters, True) if draws is None else draws
    chosen = _greedy(distances, weight, nearest, _Uniforms.drawn(rng, n_sets, n_clusters, len(first), draws))
    rows = xp.take(Y, xp.reshape(chosen, (-1,)), axis=0)
    drawn = to_host(rows).astype(np.float64).reshape(n_sets, chosen.shape[1], -1)
    return np.concatenate([given, drawn], axis=1)


def _greedy(distances: Callable[[Array], Array], weight: Array, nearest: Array | None, uniforms: _Uniforms) -> Any:
    """Rows (n_sets, n_wanted) drawn by their weight and squared distance from the nearest so far, the best of a few.

    ``distances`` makes new arrays of those of rows (n_sets, t) from all n, up to rounding; ``weight`` is that of the n,
    or of those of each set; ``nearest`` (n_sets, n) are distances from centers that there are already.
    """
    xp, (n_drawn, n_sets, n_trials), chosen = namespace(weight), uniforms.quantiles.shape, list[Any]()
    if nearest is None:
        everywhere = xp.broadcast_to(weight, (n_sets, weight.shape[-1]))
        start = _draw(everywhere, like(uniforms.start, weight, xp.float64))
        chosen, nearest = [start[:, 0]], xp.clip(distances(start)[:, 0, :], 0.0, None)
    quantiles = like(np.swapaxes(uniforms.quantiles, 0, 1), weight, xp.float64)
    ends = [0]
    while ends[-1] < n_drawn:
        ends.append(ends[-1] + max(1, int(uniforms.share * (n_drawn - ends[-1]))))
    most = max((end - k for k, end in pairwise(ends)), default=0)
    offsets = like(np.arange(n_sets * most) * n_trials, weight, xp.int64)
    for k, end in pairwise(ends):
        mass = nearest * weight
        covered = xp.sum(mass, axis=1)[:, None] <= 0
        if xp is not np or covered.any():  # every row is a center already
            mass = xp.where(covered, weight, mass)
        trials = _draw(mass, xp.reshape(quantiles[:, k:end, :], (n_sets, -1)))
        reached = distances(trials)
        reached = xp.minimum(reached, nearest[:, None, :], **({"out": reached} if xp is np else {}))
        costs = reached @ weight if weight.ndim == 1 else xp.matmul(reached, weight[:, :, None])[:, :, 0]
        best = offsets[: n_sets * (end - k)] + like(xp.argmin(xp.reshape(costs, (-1, n_trials)), axis=1), offsets)
        drawn = xp.reshape(xp.take(xp.reshape(trials, (-1,)), best), (n_sets, -1))
        chosen += [drawn[:, one] for one in range(end - k)]
        nearest = xp.take(xp.reshape(reached, (costs.shape[0] * costs.shape[1], -1)), best, axis=0)
        if end - k > 1:
            nearest = xp.min(xp.reshape(nearest, (n_sets, end - k, -1)), axis=1)
        nearest = xp.clip(nearest, 0.0, None)
    return xp.stack(chosen, axis=1)


def _canonical_order(Y: Array, weights: Array | None) -> Array:
    """Rows by length, which neither permutation nor rotation nor reflection changes; on a sphere, along the mean."""
    xp = namespace(Y)
    lengths = np.einsum("ij,ij->i", Y, Y) if isinstance(Y, np.ndarray) else blocks.squared_lengths(Y)
    if float(xp.max(lengths) - xp.min(lengths)) <= 1e-6 * float(xp.max(lengths)):  # which only rounding would order
        lengths = Y @ like(blocks.column_sums(Y, weights), Y)
    return xp.argsort(lengths, stable=True)


def _draw(mass: Array, uniform: Array) -> Array:
    """Row indices at the given quantiles (R, t) of each distribution (R, n); massless rows are never drawn."""
    xp, last = namespace(mass), mass.shape[1] - 1
    if isinstance(mass, np.ndarray):
        table = np.cumsum(mass, axis=1, dtype=np.float64)
        levels = np.asarray(uniform) * table[:, -1:]
        return np.minimum(
            [row.searchsorted(level, side="right") for row, level in zip(table, levels, strict=True)], last
        )
    cumulative = xp.cumulative_sum(mass, axis=1, dtype=xp.float64)
    targets = uniform * cumulative[:, -1:]
    if mass.shape[0] * mass.shape[1] * targets.shape[1] < 2**26:  # one comparison beats many small searches there
        below = xp.astype(cumulative[:, None, :] <= targets[:, :, None], xp.int32)
        return xp.clip(xp.sum(below, axis=2, dtype=xp.int64), None, last)
    index = [xp.searchsorted(cumulative[r, :], targets[r, :], side="right") for r in range(mass.shape[0])]
    return xp.clip(xp.stack(index, axis=0), None, last)
