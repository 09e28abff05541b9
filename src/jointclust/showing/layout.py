"""Where rows are drawn: along directions of an embedding, or beside their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.manifold import TSNE
from sklearn.utils import check_array, check_random_state

from jointclust import progress
from jointclust.numerics.graph import distinct_rows, neighbors
from jointclust.numerics.linalg import signs_of
from jointclust.numerics.partitions import centers_of
from jointclust.rows import threads
from jointclust.rows.arrays import is_sparse
from jointclust.rows.blocks import stretches
from jointclust.showing.features import some_of_each
from jointclust.types import Float, Labels, Sparse

NEXT = "next principal direction"
# Rows in memory.
Rows = NDArray[Any] | Sparse
# Most directions; of many rows fewer, so that the page stays small.
_MOST_DIRECTIONS, _FEWEST_DIRECTIONS, _NUMBERS = 8, 3, 600_000
# Rows in which directions and features are correlated, and the least correlation that is named.
_ROWS, _LIKE = 10_000, 0.3
# Rows that are laid out, by scikit-learn and by openTSNE: each takes less time than the default fit of 20,000 rows.
LANDMARKS, MANY_LANDMARKS = 3_000, 8_000
# Landmarks of a cluster, at least.
_FEWEST = 30
# Rows up to which the plane of their principal directions says as much.
_FEW = 10
# Principal directions in which neighbours are looked for.
_DIRECTIONS = 50
# Landmarks by which another row is placed, and rows that are placed at once.
_NEAREST, _BLOCK = 6, 16_384
_PERPLEXITY, _ITERATIONS = 30.0, 500
# Iterations after which it is told how far the map is.
_TOLD = 100


@dataclass(frozen=True, eq=False)
class Direction:
    """One direction: positions of the rows, its share of the variance, and the features most correlated with it."""

    name: str
    values: Float
    share: float | None
    like: list[tuple[int, float]]


def directions(Y: NDArray[Any], labels: Labels, rows: Rows | None, features: Rows) -> list[Direction]:
    """The embedding along its directions of largest variance; one dimension has the next of the rows beside it."""
    Y = np.asarray(Y, dtype=np.float64)
    Y = Y - Y.mean(axis=0)
    values, turn = np.linalg.eigh(Y.T @ Y)
    Y = Y @ turn[:, ::-1]
    shares = values[::-1] / (values.sum() or 1.0)
    kept = min(Y.shape[1], max(_FEWEST_DIRECTIONS, min(_MOST_DIRECTIONS, _NUMBERS // len(Y))))
    columns: list[tuple[str, Float, float | None]]
    columns = [(f"direction {index + 1}", Y[:, index], float(shares[index])) for index in range(kept)]
    if Y.shape[1] == 1 and rows is not None:
        columns = [("direction 1", Y[:, 0], None), (NEXT, beside(rows, Y, labels), None)]
    elif Y.shape[1] == 1:
        columns.append(("nothing: there is one direction", np.zeros(len(Y)), None))
    like = _alike(features, np.column_stack([column for _, column, _ in columns]))
    return [Direction(*column, alike) for column, alike in zip(columns, like, strict=True)]


def plane_of_centers(rows: Rows, labels: Labels) -> Float:
    """The rows in the plane through the clusters' centers (the orthogonal centroid method), their mean at 0."""
    sizes = np.bincount(labels).astype(np.float64)
    member = sp.csr_array((np.ones(labels.size), (labels, np.arange(labels.size))))
    sums = member @ rows
    centers = (sums.toarray() if is_sparse(sums) else sums) / np.maximum(sizes, 1.0)[:, None]
    mean = sizes @ centers / labels.size
    turn = np.linalg.svd(np.sqrt(sizes)[:, None] * (centers - mean), full_matrices=False)[2]
    turn = turn[: max(sizes.size - 1, 1)].T
    return np.asarray(rows @ turn) - mean @ turn


def beside(rows: Rows, Y: Float, labels: Labels) -> Float:
    """The next principal direction of the rows, as wide as the clusters are in their only one: these look round."""
    Y = Y - Y.mean(axis=0)
    inside = Y - centers_of(Y, labels, int(labels.max()) + 1, None)[labels]
    return _next_direction(rows, Y) * (float(inside.std()) or 1.0)


def _next_direction(rows: Rows, Y: Float) -> Float:
    """Leading principal component of what the embedding leaves of the rows, with unit variance."""
    mean = np.asarray(rows.T @ np.ones(len(Y))).ravel() / len(Y)
    explained = np.linalg.pinv(Y.T @ Y) @ (np.asarray((rows.T @ Y).T) - np.outer(Y.sum(axis=0), mean))

    def ahead(v: NDArray) -> NDArray:
        return rows @ v.ravel() - mean @ v.ravel() - Y @ (explained @ v.ravel())

    def back(u: NDArray) -> NDArray:
        return rows.T @ u.ravel() - mean * u.sum() - explained.T @ (Y.T @ u.ravel())

    rng, least = np.random.RandomState(0), 1e-9 * float(abs(cast(Any, rows)).max())
    if min(rows.shape) < 2 or ahead(rng.standard_normal(rows.shape[1])).std() <= least:
        return np.zeros(len(Y))  # what rounding leaves is no direction
    residual = LinearOperator(rows.shape, matvec=ahead, rmatvec=back, dtype=np.float64)
    direction = svds(residual, k=1, v0=rng.standard_normal(min(rows.shape)))[2][0]
    places = ahead(direction * (np.sign(direction[np.abs(direction).argmax()]) or 1.0))
    return places / (places.std() or 1.0)


def _alike(features: Rows, columns: Float) -> list[list[tuple[int, float]]]:
    """For each direction the three features most correlated with it, and how."""
    sample = np.linspace(0, len(columns) - 1, min(len(columns), _ROWS)).astype(int)
    some: Any = features[sample].astype(np.float64)
    if is_sparse(some):
        each = np.full(len(sample), 1 / len(sample))
        mean, square = np.asarray(some.T @ each), np.asarray(some.multiply(some).T @ each)
    else:
        some = np.where(np.isfinite(some), some, np.nanmean(np.where(np.isfinite(some), some, np.nan), axis=0))
        some = np.nan_to_num(some - some.mean(axis=0))
        mean, square = np.zeros(some.shape[1]), (some**2).mean(axis=0)
    Z = columns[sample] - columns[sample].mean(axis=0)
    covariance = np.asarray(some.T @ Z) / len(sample)
    scale = np.sqrt(np.maximum(square - mean**2, 0.0))[:, None] * Z.std(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(scale > 1e-12, covariance / scale, 0.0)
    orders = np.argsort(-np.abs(correlation), axis=0, kind="stable")[:3].T
    return [
        [(int(i), float(column[i])) for i in order if abs(column[i]) >= _LIKE]
        for order, column in zip(orders, correlation.T, strict=True)
    ]


def neighbour_map(
    embedding: ArrayLike, random_state: int | np.random.RandomState | None = 0, *, labels: Labels | None = None
) -> Float:
    r"""t-SNE of the rows of an embedding, started from its principal directions so that it repeats.

    .. math:: y_i = \sum_j w_{ij} y_j / \sum_j w_{ij}, \qquad w_{ij} = r_i^2 / d_{ij}^2 - 1

    is the place of a row if there are many: a sample of them, the landmarks, is laid out by t-SNE, and any other row is
    placed between its nearest landmarks. Their distances are d, and r is the distance of the next landmark, whose
    weight is 0. Copies of a row have one place, and near rows have near places. Distances on the map mean little beyond
    the nearest neighbours: it shows which rows are together, not how far groups are apart.

    openTSNE does it where it is installed (the extra ``layout``), of at most 8,000 landmarks; otherwise scikit-learn,
    of at most 3,000.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Rows, such as a model's ``transform`` of them. Of more than 50 columns the 50 principal directions are used.
    random_state : int, RandomState or None, default=0
        Which rows are landmarks.
    labels : array of int of shape (n_samples,), default=None
        Clusters, of each of which there are to be landmarks, however small it is.

    Returns
    -------
    places : array of shape (n_samples, 2)
        Centred, the direction of most variance first.

    Examples
    --------
    >>> import jointclust as jc
    >>> from jointclust.showing.layout import neighbour_map
    >>> X, _ = jc.datasets.mixture(n_samples=100, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.LDAKMeans(3, random_state=0).fit(X)
    >>> neighbour_map(model.transform(X)).shape
    (100, 2)
    """
    rows = check_array(embedding, dtype=[np.float64, np.float32])
    rng = check_random_state(random_state)
    most = MANY_LANDMARKS if _has_opentsne() else LANDMARKS
    groups = np.zeros(len(rows), dtype=np.int32) if labels is None else np.asarray(labels)
    chosen = some_of_each(groups, most, min(_FEWEST, most // (int(groups.max()) + 1)), rng)
    first, copy = distinct_rows(rows[chosen])
    mean, directions = _principal(rows[chosen[first]])
    landmarks = (rows[chosen[first]] - mean) @ directions
    places = _upright(_laid_out(landmarks, rng))
    if len(rows) <= most:
        return places[copy]
    blocks = ((rows[block] - mean) @ directions for block in stretches(len(rows), _BLOCK))
    return np.vstack([_placed(block, landmarks, places) for block in blocks])


def _has_opentsne() -> bool:
    return find_spec("openTSNE") is not None


def _principal(rows: Float) -> tuple[Float, Float]:
    """The mean, and the principal directions over one length, so that the first has variance 1."""
    mean = rows.mean(axis=0, dtype=np.float64)
    centred = rows - mean
    largest = float(np.abs(centred).max()) or 1.0
    variances, directions = np.linalg.eigh((centred / largest).T @ (centred / largest) / len(rows))
    directions = directions[:, ::-1][:, :_DIRECTIONS]
    return mean, directions * signs_of(directions) / (largest * np.sqrt(max(variances[-1], 1e-300)))


def _laid_out(landmarks: Float, rng: np.random.RandomState) -> Float:
    """t-SNE of different rows."""
    n_rows = len(landmarks)
    plane = np.zeros((n_rows, 2))
    plane[:, : landmarks.shape[1]] = landmarks[:, :2]
    if n_rows <= _FEW:
        return plane
    # A little noise, as rows on a line would never leave it.
    start = 1e-4 * (plane + 0.01 * rng.standard_normal(plane.shape))
    perplexity = min(_PERPLEXITY, (n_rows - 1) / 3)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    # Several threads would add in any order, and t-SNE magnifies the difference.
    with threads.alone():
        if _has_opentsne():
            return _by_opentsne(landmarks, start, perplexity, seed)
        method = TSNE(perplexity=perplexity, init=start, angle=0.8, max_iter=_ITERATIONS, random_state=seed, n_jobs=1)
        return method.fit_transform(landmarks).astype(np.float64)


def _by_opentsne(landmarks: Float, start: Float, perplexity: float, seed: int) -> Float:
    from openTSNE import TSNE as FastTSNE  # noqa: N811

    calls = count(1)

    def tell(*_: object) -> None:
        progress.advance("map", next(calls) * _TOLD, _ITERATIONS)

    method = FastTSNE(
        perplexity=perplexity,
        initialization=start,
        neighbors="exact",
        negative_gradient_method="fft" if len(landmarks) > LANDMARKS else "bh",  # which is the faster one
        learning_rate=max(len(landmarks) / 12, 200.0),  # few rows would hardly move
        early_exaggeration_iter=_ITERATIONS // 2,
        n_iter=_ITERATIONS // 2,
        random_state=seed,
        n_jobs=1,
        callbacks=tell,
        callbacks_every_iters=_TOLD,
    )
    return np.array(method.fit(landmarks))


def _upright(places: Float) -> Float:
    """The same map, centred and turned to its directions of largest variance."""
    centred = places - places.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    return centred @ (directions * signs_of(directions))


def _placed(rows: Float, landmarks: Float, places: Float) -> Float:
    """Where rows go, between their nearest landmarks."""
    if len(landmarks) <= _NEAREST:
        # There is no next landmark: the nearest alone decides.
        return places[neighbors(rows, landmarks, 1)[:, 0]]
    nearest = neighbors(rows, landmarks, _NEAREST + 1)
    squares = np.square(rows[:, None, :] - landmarks[nearest]).sum(axis=2)
    # A little more than r, so that not all weights are 0 at one distance; and no distance is below rounding.
    beyond = 1.000001 * squares.max(axis=1, keepdims=True)
    weights = beyond / np.maximum(squares, 1e-24 * beyond) - 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weights, places[nearest])
