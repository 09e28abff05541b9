"""Functions of a block of rows: dense, of any array library, or sparse. Small sums are in float64.

Sparse blocks stay sparse: their columns that hardly have zeros are centred, for the others centring is implicit, by
``(X - 1m')B = XB - 1(m'B)`` and its like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from jointclust.rows.arrays import is_sparse, like, namespace, numbers_to
from jointclust.types import Array, Float, Sparse

_A = TypeVar("_A", bound=Array)
# Rows whose products are summed in float32; most values of a matrix of rows by clusters, on a device and on the host.
SHORT, HOT, CACHED = 2**13, 2**26, 2**20
# Rows up to which float32 counts them exactly.
_COUNTED = 2**24
# Columns that are centred at a time where the centred rows, a copy, are not what is wanted.
_WIDE = 2**14
# A sparse column of which this share is stored is centred itself. With more zeros its variance is a tenth or more of
# its squared mean, so that squares about zero cost one digit at the most.
_FULL = 0.9


class Swept(NamedTuple):
    """What a block, or a whole pass, gives: arrays with one row per row, sums, and pieces to put side by side."""

    rows: Sequence[Any] = ()
    sums: Sequence[Any] = ()
    pieces: Sequence[Any] = ()


# What is done with a block of each of the arrays that are swept.
Visit = Callable[..., Swept]


def is_table(block: object) -> bool:
    """Whether rows are those of a data frame of pandas."""
    return hasattr(block, "iloc")


def joined(pieces: Sequence[Array]) -> Array:
    """Blocks put below each other again."""
    if any(sp.issparse(piece) for piece in pieces):
        return sp.csr_array(sp.vstack(list(pieces), format="csr"))
    if is_table(pieces[0]):
        import pandas as pd

        return pd.concat(list(pieces))
    return namespace(pieces[0]).concat(list(pieces), axis=0)


def float64(x: Array) -> Array:
    """The block in float64, as it is where it is that already."""
    if isinstance(x, np.ndarray):
        return x.astype(np.float64, copy=False)
    xp = namespace(x)
    return xp.astype(x, xp.float64, copy=False)


def float32(x: Array) -> Array:
    """The block in float32."""
    return namespace(x).astype(x, namespace(x).float32)


def centred(x: Array, mean: Float | None) -> Array:
    """A dense block less the mean, in float64: one step, without a copy of the block."""
    return float64(x) if mean is None else x - like(mean, x, namespace(x).float64)


def own_shift(x: Sparse, mean: Float) -> Float:
    """The mean in those columns of a sparse block that hardly have zeros, 0 in the others."""
    stored = np.bincount(x.indices, minlength=x.shape[1])
    return np.where(stored >= max(1.0, _FULL * x.shape[0]), mean, 0.0)


def shifted(x: Any, shift: Float) -> Any:
    """``X - 1s'`` in the precision of the block; a sparse one stays sparse where the shift is zero."""
    if not is_sparse(x):
        return x - like(shift, x)
    columns = np.flatnonzero(shift)
    if columns.size == 0:
        return x
    n = x.shape[0]
    values, starts = np.tile(shift[columns].astype(x.dtype), n), np.arange(0, n * columns.size + 1, columns.size)
    return sp.csr_array(x - sp.csr_array((values, np.tile(columns, n), starts), shape=x.shape))


def seen_from(origin: NDArray, A: Any, B: Any) -> tuple[Any, Any]:
    """Two sets of rows minus the same row, the origin; sparse rows stay sparse.

    Distances between them stay the same, and rounding costs fewest digits where all rows lie near the origin.
    """
    if is_sparse(A) and not is_sparse(B):
        A = A.toarray()
    shift = own_shift(B, origin) if is_sparse(B) else origin
    return shifted(A, shift), shifted(B, shift)


def _is_wide(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.shape[1] > _WIDE


def _half_centred(x: Sparse, mean: Float | None) -> tuple[Any, Float]:
    """A sparse block S and a row r with ``X - 1m' = S - 1r'``, where squares of neither lose many digits."""
    if mean is None:
        return x, np.zeros(x.shape[1])
    shift = own_shift(x, mean)
    return shifted(x, shift), mean - shift


def unit(x: _A) -> _A:
    """Rows scaled to length one, however small they are; rows of zeros stay."""
    if is_sparse(x):
        largest = np.asarray(abs(x).max(axis=1).toarray()).ravel()
        scaled = sp.csr_array(sp.diags_array(1 / np.where(largest > 0, largest, 1).astype(x.dtype)) @ x)
        return normalize(scaled, copy=False)
    xp = namespace(x)
    for lengths in (lambda y: xp.max(xp.abs(y), axis=1), lambda y: xp.sqrt(xp.sum(y * y, axis=1))):
        length = lengths(x)
        x = x / xp.where(length > 0, length, xp.ones_like(length))[:, None]
    return x


def column_sums(x: Array, weights: Array | None) -> Array:
    """``sum_i w_i x_i``."""
    if is_sparse(x):
        return np.asarray(x.T @ (np.ones(x.shape[0]) if weights is None else weights))
    if weights is not None:
        return float64(weights) @ float64(x)
    return namespace(x).sum(float64(x), axis=0)


def column_range(x: Array) -> tuple[Array, Array]:
    """Least and largest value of each column."""
    if is_sparse(x):
        return x.min(axis=0).toarray().ravel(), x.max(axis=0).toarray().ravel()
    xp = namespace(x)
    return xp.min(x, axis=0), xp.max(x, axis=0)


def squared_norm(x: Array, weights: Array | None, mean: Float) -> Array:
    """``sum_i w_i |x_i - m|^2``."""
    if is_sparse(x):
        mass = np.ones(x.shape[0]) if weights is None else np.asarray(weights)
        return mass @ squared_distances(x, mean)
    norms = squared_distances(x, mean)
    return namespace(x).sum(norms if weights is None else norms * float64(weights))


def squared_distances(x: Any, mean: Float) -> Array:
    """``|x_i - m|^2`` for each row of a block, dense or sparse, in float64."""
    if _is_wide(x):
        parts = stretches(x.shape[1], _WIDE)
        return np.asarray(sum(squared_distances(x[:, some], mean[some]) for some in parts))
    if not is_sparse(x):
        return squared_lengths(centred(x, mean))
    part, rest = _half_centred(x.astype(np.float64, copy=False), mean)
    return np.asarray(part.multiply(part).sum(axis=1)).ravel() - 2.0 * (part @ rest) + rest @ rest


def squared_lengths(y: Array) -> Array:
    """Squared length of each row, in float64."""
    if isinstance(y, np.ndarray):
        return np.einsum("ij,ij->i", y, y, dtype=np.float64)
    xp = namespace(y)

    def lengths(some: slice) -> Array:
        part = float64(y[some, ...])
        return xp.sum(part * part, axis=1)

    # Two temporaries of twice the precision.
    return xp.concat([lengths(some) for some in stretches(y.shape[0], max(1, HOT // max(1, 4 * y.shape[1])))])


def scatter(x: Array, weights: Array | None, mean: Float | None) -> Array:
    """``(X - 1m')' diag(w) (X - 1m')``."""
    if is_sparse(x):
        mass = np.ones(x.shape[0]) if weights is None else np.asarray(weights)
        part, rest = _half_centred(x.astype(np.float64, copy=False), mean)
        product = (part.T @ (sp.diags_array(mass) @ part)).toarray()
        cross = np.outer(part.T @ mass, rest)
        return product - cross - cross.T + mass.sum() * np.outer(rest, rest)
    rows = centred(x, mean)
    if weights is not None:
        root = namespace(rows).sqrt(float64(weights))
        rows = rows * root[:, None]
    return rows.T @ rows


def gram(x: Array, mean: Float) -> Array:
    """``(X - 1m')(X - 1m')'``."""
    if is_sparse(x):
        part, rest = _half_centred(x.astype(np.float64, copy=False), mean)
        across = part @ rest
        return (part @ part.T).toarray() - across[:, None] - across[None, :] + rest @ rest
    rows = centred(x, mean)
    return rows @ rows.T


def project(x: Array, matrix: Array | None, mean: Float | None) -> Array:
    """``(X - 1m') B`` in the precision of the block; B and m may be left out."""
    if is_sparse(x):
        matrix, (part, rest) = np.asarray(matrix, dtype=x.dtype), _half_centred(x, mean)
        image = np.asarray(part @ matrix)
        return image - rest.astype(x.dtype) @ matrix
    if mean is not None and matrix is not None and _is_wide(x):
        parts = stretches(x.shape[1], _WIDE)
        return np.asarray(sum(project(x[:, some], matrix[some], mean[some]) for some in parts))
    if mean is not None:
        x = x - like(mean, x)
    return x if matrix is None else x @ like(matrix, x)


def project_transposed(x: Array, matrix: Array, mean: Float | None) -> Array:
    """``(X - 1m')' B`` for a matrix B with a row for each row of the block."""
    if is_sparse(x):
        part, rest = _half_centred(x.astype(np.float64, copy=False), mean)
        product = np.asarray(part.T @ matrix)
        return product - np.outer(rest, np.asarray(matrix).sum(axis=0, dtype=np.float64))
    return centred(x, mean).T @ float64(matrix)


def cluster_sums(x: Array, labels: Array, n_clusters: int, weights: Array | None, mean: Float | None) -> Array:
    """``sum_i w_i (x_i - m)`` over the rows of each cluster; for labels (n, R), of R sets numbered through."""
    return sums_and_sizes(x, labels, n_clusters, weights, mean)[0]


def sums_and_sizes(x: Array, labels: Array, n_clusters: int, weights: Array | None, mean: Float | None) -> list[Array]:
    """The sums over the rows of each cluster, and the clusters' total weights."""
    if isinstance(x, np.ndarray) or is_sparse(x):
        labels, weights = np.asarray(labels), None if weights is None else np.asarray(weights)
        matrix, sizes = indicator(labels, n_clusters, weights), cluster_sizes(labels, n_clusters, weights)
        if isinstance(x, np.ndarray):
            return [np.asarray(matrix @ centred(x, mean)), sizes]
        part, rest = _half_centred(x.astype(np.float64, copy=False), mean)
        sums = (matrix @ part).toarray()
        return [sums - np.outer(sizes, rest), sizes]
    single = x.dtype != namespace(x).float64
    totals: list[Array] = []
    for some, hot in _hot_stretches(labels, n_clusters, weights, x.dtype):
        rows = x[some, ...] if mean is None else x[some, ...] - like(mean, x)
        parts = [_short_sums(hot, rows) if single else hot.T @ rows, _totals(hot, weights)]
        totals = [total + part for total, part in zip(totals, parts, strict=True)] if totals else parts
    return totals


def cluster_sizes(labels: Array, n_clusters: int, weights: Array | None) -> Any:
    """Total weight of each cluster; for labels (n, R), of R sets numbered through."""
    if isinstance(labels, np.ndarray):
        n_sets = 1 if labels.ndim == 1 else labels.shape[1]
        repeated = None if weights is None else np.repeat(np.asarray(weights), n_sets)
        sizes = np.bincount(_stacked(labels, n_clusters), weights=repeated, minlength=n_clusters * n_sets)
        return sizes.astype(np.float64)
    dtype = namespace(labels).float32 if weights is None else None
    parts = [_totals(hot, weights) for _, hot in _hot_stretches(labels, n_clusters, weights, dtype)]
    return sum(parts[1:], parts[0])


def _totals(hot: Array, weights: Array | None) -> Array:
    """Column sums in float64: counts are exact in float32, too, which takes no copy of twice the size."""
    xp = namespace(hot)
    if weights is None and hot.shape[0] <= _COUNTED:
        return float64(xp.sum(hot, axis=0))
    return xp.sum(hot, axis=0, dtype=xp.float64)


def indicator(labels: NDArray[np.int32], n_clusters: int, weights: Float | None = None) -> sp.csc_array:
    """The one-hot label matrix, clusters x rows, holding the weights; labels of shape (n, R) stack R of them."""
    n_sets = 1 if labels.ndim == 1 else labels.shape[1]
    values = np.ones(labels.size) if weights is None else np.repeat(weights, n_sets)
    index = np.arange(0, labels.size + 1, n_sets, dtype=np.int32)
    return sp.csc_array((values, _stacked(labels, n_clusters), index), shape=(n_clusters * n_sets, len(labels)))


def _stacked(labels: NDArray[np.int32], n_clusters: int) -> NDArray[np.int32]:
    """Labels of R sets, numbered through, row by row."""
    if labels.ndim == 1:
        return labels
    return (labels + n_clusters * np.arange(labels.shape[1], dtype=np.int32)).ravel()


def one_hot(labels: Array, n_clusters: int, weights: Array | None, dtype: Any = None) -> Array:
    """The dense one-hot label matrix, rows x clusters, for libraries without sparse matrices; float64 by default."""
    xp = namespace(labels)
    dtype = xp.float64 if dtype is None else dtype
    numbers = numbers_to(n_clusters, labels)
    hot = xp.reshape(xp.astype(labels[..., None] == numbers, dtype), (labels.shape[0], -1))
    return hot if weights is None else hot * xp.astype(weights, dtype)[:, None]


def stretches(n: int, step: int) -> list[slice]:
    """So many rows at a time; one stretch where there are none."""
    return [slice(start, min(start + step, n)) for start in range(0, max(1, n), step)]


def _hot_stretches(
    labels: Array, n_clusters: int, weights: Array | None, dtype: Any = None
) -> Iterator[tuple[slice, Array]]:
    """One-hot matrices of so many rows at a time that they stay small however many clusters there are."""
    width = n_clusters * (1 if labels.ndim == 1 else labels.shape[1])
    for some in stretches(labels.shape[0], SHORT * max(1, HOT // (SHORT * width))):
        own = None if weights is None else weights[some]
        yield some, one_hot(labels[some, ...], n_clusters, own, dtype)


def _short_sums(a: Array, b: Array, length: int = SHORT) -> Array:
    """``A'B`` of float32 blocks: products of short stretches of rows in float32, and their sum in float64.

    A float32 sum over millions of rows would lose most digits, and float64 products are slow on many devices.
    """
    xp, n = namespace(a), a.shape[0]
    whole = n - n % length
    total = float64(a[whole:, ...].T @ b[whole:, ...])
    if whole:
        a = xp.reshape(a[:whole, ...], (-1, length, a.shape[1]))
        b = xp.reshape(b[:whole, ...], (-1, length, b.shape[1]))
        total = total + xp.sum(xp.matmul(xp.matrix_transpose(a), b), axis=0, dtype=xp.float64)
    return total


def nearest(y: Array, centers: Array, offset: Array, n_sets: int) -> Array:
    """Nearest of the c centers of each of R sets, stacked: labels of shape (n, R); the first one on a tie."""
    xp = namespace(y)
    step = max(64, (CACHED if isinstance(y, np.ndarray) else HOT) // centers.shape[0])
    if y.shape[0] > step:
        parts = [nearest(y[some, ...], centers, offset, n_sets) for some in stretches(y.shape[0], step)]
        return xp.concat(parts, axis=0)
    closeness = y @ centers.T
    closeness -= offset
    shaped = xp.reshape(closeness, (y.shape[0], n_sets, -1))
    return xp.astype(xp.argmax(shaped, axis=2), xp.int32)


def interpolated(x: Array, points: Float, values: Float) -> Array:
    """What ``np.interp`` gives for each column of a block, between points (in the rows, in order) and their values.

    All columns are looked up at once, each in a stretch of its own of one long table.
    """
    xp, (n_points, n_columns) = namespace(x), points.shape
    low, span = points[0], np.where(points[-1] > points[0], points[-1] - points[0], 1.0)
    starts = 2.0 * np.arange(n_columns)
    y = float64(x)
    table = like(((points - low) / span + starts).T.ravel(), y)
    scaled = xp.clip((y - like(low, y)) / like(span, y), 0.0, 1.0) + like(starts, y)
    first = like(n_points * np.arange(n_columns), y, xp.int64)
    above = xp.reshape(xp.searchsorted(table, xp.reshape(scaled, (-1,)), side="right"), y.shape)
    above = xp.astype(above, xp.int64) - first
    above = xp.reshape(xp.clip(above, 1, n_points - 1) + first, (-1,))
    known, wanted = like(points.T.ravel(), y), like(values.T.ravel(), y)
    left, right = xp.take(known, above - 1, axis=0), xp.take(known, above, axis=0)
    gap = right - left
    share = xp.where(
        gap > 0, (xp.reshape(y, (-1,)) - left) / xp.where(gap > 0, gap, xp.ones_like(gap)), xp.ones_like(gap)
    )
    share = xp.clip(share, 0.0, 1.0)
    below = xp.take(wanted, above - 1, axis=0)
    between = below + share * (xp.take(wanted, above, axis=0) - below)
    return xp.astype(xp.reshape(between, y.shape), x.dtype)


def largest(values: Array, k: int) -> Array:
    """The columns of the k largest values of each row, in any order."""
    xp = namespace(values)
    if hasattr(xp, "topk"):  # torch alone
        return xp.topk(values, k, dim=1, sorted=False).indices
    order = xp.argpartition(-values, k - 1, axis=1) if hasattr(xp, "argpartition") else xp.argsort(-values, axis=1)
    return order[:, :k]


def kept(labels: Array, known: Array | None) -> Array:
    """Labels, of one set or (n, R) of many, with the known ones (not negative) in their place."""
    if known is None:
        return labels
    own = known if labels.ndim == 1 else known[:, None]
    return namespace(labels).where(own >= 0, own, labels)


def kept_soft(soft: Array, known: Array | None) -> Array:
    """Soft labels that are one-hot where the label is known."""
    if known is None:
        return soft
    return namespace(soft).where((known >= 0)[:, None], one_hot(known, soft.shape[1], None, soft.dtype), soft)


def residuals(y: Array, labels: Array, centers: Float) -> Array:
    """Distance of each row from its center, in float64."""
    xp = namespace(y)
    return xp.sqrt(squared_lengths(y - xp.take(like(centers, y), labels, axis=0)))


def farthest(y: Array, labels: Array, centers: Float, weights: Array | None, k: int) -> list[Array]:
    """The k rows that are farthest from their centers, with their labels and distances; 0 for rows not to be moved."""
    xp = namespace(y)
    distance = residuals(y, labels, centers) ** 2
    distance = xp.where(distance <= 1e-12 * squared_lengths(y), xp.zeros_like(distance), distance)
    if weights is not None:
        distance = xp.where(weights > 0, distance, xp.zeros_like(distance))
    order = xp.argsort(-distance, stable=True)[:k]
    return [xp.take(part, order, axis=0) for part in (y, labels, distance)]


def _are_at(y: Array, labels: Array, points: NDArray, own: NDArray) -> Array:
    """Whether each row is one of the points, and in its cluster: rows x points."""
    xp = namespace(y)
    same = xp.all(y[:, None, :] == like(points, y)[None, :, :], axis=2)
    return same & (labels[:, None] == like(own, labels)[None, :])


def mass_at(y: Array, labels: Array, points: NDArray, own: NDArray, weights: Array | None) -> Array:
    """Total weight of the rows at each of the points."""
    there = float64(_are_at(y, labels, points, own))
    return namespace(y).sum(there if weights is None else there * float64(weights)[:, None], axis=0)


def moved_to(y: Array, labels: Array, points: NDArray, own: NDArray, target: NDArray) -> Array:
    """Labels, with those of the rows at the points changed to the target."""
    there, xp = _are_at(y, labels, points, own), namespace(y)
    for index, label in enumerate(target):
        labels = xp.where(there[:, index], like(np.asarray(label), labels), labels)
    return labels


def n_changed(a: Array, b: Array, weights: Array | None) -> Array:
    """How many rows that have weight are labelled differently."""
    differ = a != b
    return namespace(a).sum(float64(differ if weights is None else differ & (weights > 0)))


def confusion(a: Array, b: Array, n_clusters: int) -> Array:
    """How many rows have each pair of labels."""
    if isinstance(a, np.ndarray):
        table = np.bincount(a.astype(np.intp) * n_clusters + np.asarray(b), minlength=n_clusters**2)
        return table.reshape(n_clusters, n_clusters)
    return one_hot(a, n_clusters, None).T @ one_hot(b, n_clusters, None)


def uniform(numbers: NDArray[np.int64], seed: int) -> Float:
    """A number between 0 and 1 for each row number: the same however the rows are cut into blocks (splitmix64)."""
    z = (numbers.astype(np.uint64) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
