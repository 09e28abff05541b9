"""The neighbour graph of rows as a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, splu
from sklearn.neighbors import KDTree, NearestNeighbors

from jointclust.numerics.linalg import is_small, lanczos, leading_eigenpairs, leading_eigenpairs_on
from jointclust.rows import blocks
from jointclust.rows.arrays import is_device_array, like, namespace, to_host
from jointclust.rows.blocks import squared_lengths
from jointclust.types import Array, Float, Matrix

# Rows up to which neighbours are looked up one row after the other; columns up to which a tree finds them faster.
_FEW, _NARROW = 16, 15
# Columns beyond which a row is large enough to be looked at alone.
_WIDE = 2**10
# Parts of a graph up to which their indicators are a dense matrix.
_PARTS = 8
# Relative error of an eigenvalue of a graph; its square is that of the space of eigenvectors.
_TOLERANCE = 1e-6
# Pairs of rows that are compared at a time on a device.
_PAIRS = 2**28


@dataclass(frozen=True)
class GraphSpectrum:
    """The centred graph kernel: its leading eigenpairs, its trace, the number of parts of the graph."""

    eigenvalues: Float
    vectors: Float
    trace: float
    n_parts: int


def distinct_rows(X: Matrix) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each distinct row occurs first, and which of these each row equals."""
    if sp.issparse(X):
        tidy = sp.csr_array(X, copy=True)
        tidy.sum_duplicates()
        tidy.eliminate_zeros()
        # A row without zeros or duplicates is its indices and values: their bytes stand for it.
        ends = zip(tidy.indptr[:-1], tidy.indptr[1:], strict=True)
        keys = np.array([hash((tidy.indices[a:b].tobytes(), tidy.data[a:b].tobytes())) for a, b in ends])
    elif X.shape[1] > _WIDE:
        keys = np.array([hash((row + 0.0).tobytes()) for row in np.asarray(X)])  # one at a time: no copy of all
    else:
        rows = np.ascontiguousarray(X) + 0.0  # no negative zeros
        # Each row as one item of raw bytes, so that sorting them takes one comparison a pair.
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)  # in the order of the rows
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[inverse.ravel()]


def neighbors(X: Matrix, among: Matrix, n_neighbors: int) -> NDArray[np.intp]:
    """Indices of the nearest rows, nearest first; among equally near ones, the first.

    A few more are looked up, because which of several equally near rows the search returns depends on its threads.
    """
    n, n_near = among.shape[0], min(n_neighbors + 8, among.shape[0])
    if is_device_array(X):
        distances, index = _device_neighbors(X, among, n_near)
    elif X.shape[0] <= _FEW and isinstance(X, np.ndarray) and isinstance(among, np.ndarray):
        distances, index = _few_neighbors(X, among, n_near)
    elif among.shape[1] <= _NARROW and isinstance(X, np.ndarray) and isinstance(among, np.ndarray):
        # Asked for the tree, scikit-learn would start workers that swap the process's warning filters.
        distances, index = KDTree(among).query(X, n_near)
    else:
        distances, index = NearestNeighbors(n_neighbors=n_near, algorithm="brute").fit(among).kneighbors(X)
    # Distances that differ by less than seven digits of the farthest one are equal: the rest is rounding.
    xp = namespace(distances)
    farthest = xp.sort(distances, axis=1)[:, n_neighbors - 1 : n_neighbors]
    rounded = xp.round(1e7 * (distances / xp.where(farthest > 0, farthest, xp.ones_like(farthest))))
    # A whole number for each, by distance and then by index: sorted at once.
    nearest = xp.sort(rounded * n + xp.astype(index, xp.float64), axis=1)[:, :n_neighbors]
    return xp.astype(nearest % n, xp.int64)


def _few_neighbors(X: Float, among: Float, n_near: int) -> tuple[Float, NDArray[np.intp]]:
    """Distances and indices of the nearest rows, unsorted: a faster way for few rows than setting up a search."""
    distances = np.stack([np.linalg.norm(among - row, axis=1) for row in X])
    index = np.argpartition(distances, n_near - 1, axis=1)[:, :n_near]
    return np.take_along_axis(distances, index, axis=1), index


def _device_neighbors(X: Array, among: Matrix, n_near: int) -> tuple[Array, Array]:
    """The same on a device: found by products of all pairs in float32, then measured in float64."""
    xp, rows = namespace(X), like(among, X)
    single, offset = blocks.float32(rows), blocks.float32(0.5 * squared_lengths(rows))

    def best(x: Array) -> Array:
        closeness = blocks.float32(x) @ single.T
        closeness -= offset
        return blocks.largest(closeness, n_near)

    index = xp.concat([best(X[some, ...]) for some in blocks.stretches(X.shape[0], max(64, _PAIRS // rows.shape[0]))])
    near = xp.reshape(xp.take(rows, xp.reshape(index, (-1,)), axis=0), (*index.shape, -1))
    return xp.sqrt(xp.sum((near - X[:, None, :]) ** 2, axis=2)), index


def graph_spectrum(
    X: Matrix, mass: Float, n_neighbors: int, n_components: int, device: Array | None = None
) -> GraphSpectrum:
    """Leading eigenpairs of the centred kernel of the symmetric neighbour graph of distinct rows.

    The kernel is ``(M^-1 + P)/2`` with the graph P of :func:`neighbor_graph` and the masses m, in the weighted sense
    ``(I + B)/2`` with ``B = M^1/2 P M^1/2``, whose eigenvalues lie in [-1, 1]. Its first eigenvector is ``m^1/2``,
    which centring removes; nothing else changes. Where an array on a device is given, the matrix is solved there.
    """
    index = to_host(neighbors(X if device is None else like(X, device, namespace(device).float64), X, n_neighbors))
    return balanced_spectrum(neighbor_graph(index, mass), mass, n_components, device)


def neighbor_graph(index: NDArray[np.intp], mass: Float) -> sp.csr_array:
    """The balanced graph B of rows with their nearest rows (themselves included).

    The links are ``A = (N + N')/2``. A diagonal scaling makes them doubly stochastic with respect to the masses m:
    ``P = EAE``, ``Pm = 1`` and ``B = M^1/2 P M^1/2``.
    """
    n, n_neighbors = index.shape
    graph = sp.csr_array((np.ones(index.size), index.ravel(), np.arange(0, index.size + 1, n_neighbors)), shape=(n, n))
    if not (index == np.arange(n)[:, None]).any(axis=1).all():  # a row among copies need not find itself
        graph = sp.csr_array(graph.maximum(sp.eye_array(n)))
    root = np.sqrt(mass)
    return _doubly_stochastic(_scaled(sp.csr_array(graph + graph.T), np.sqrt(0.5) * root), root)


def _scaled(matrix: sp.csr_array, scale: Float) -> sp.csr_array:
    """``EAE`` for the diagonal of E."""
    values = matrix.data * np.repeat(scale, np.diff(matrix.indptr)) * scale[matrix.indices]
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def balanced_spectrum(
    balanced: sp.csr_array, mass: Float, n_components: int, device: Array | None = None
) -> GraphSpectrum:
    """Leading eigenpairs of ``(I + B)/2`` beside the first, for a graph B balanced so that ``B m^1/2 = m^1/2``."""
    n, root = balanced.shape[0], np.sqrt(mass)
    n_parts, part = connected_components(balanced, directed=False)
    indicators = sp.csr_array((root, (np.arange(n), part)), shape=(n, n_parts))
    indicators = indicators @ sp.diags_array(1.0 / np.sqrt(np.bincount(part, mass, n_parts)))
    # One eigenvalue 1 for each part: known beforehand, and Lanczos would not find all copies.
    contrasts = _contrasts(np.sqrt(np.bincount(part, mass, n_parts)), n_components)
    values, vectors = np.ones(contrasts.shape[1]), indicators @ contrasts
    if n == 1:
        return GraphSpectrum(np.zeros(1), np.zeros((1, 1)), 0.0, 1)
    wanted = min(n_components, n - 1) - values.size
    if wanted > 0:
        half = sp.csr_array(0.5 * (sp.eye_array(n) + balanced))
        if is_small(n, wanted):
            dense = half.toarray() - (indicators @ indicators.T).toarray()
            more = leading_eigenpairs(dense, wanted) if device is None else leading_eigenpairs_on(device, dense, wanted)
        else:
            known: Any = indicators.toarray() if n_parts <= _PARTS else indicators
            back = known.T if n_parts <= _PARTS else sp.csr_array(indicators.T)

            def rest(x: Float) -> Float:
                x = x.ravel()
                return half @ x - known @ (back @ x)

            operator = LinearOperator((n, n), matvec=rest, dtype=np.float64)
            more = lanczos(operator, wanted, 50, _TOLERANCE) or _crowded_at_one(balanced, indicators, wanted)
        values, vectors = np.append(values, more[0]), np.hstack([vectors, more[1]])
    trace = 0.5 * (n + balanced.trace()) - 1.0
    return GraphSpectrum(np.maximum(values, 0.0), vectors, float(trace), n_parts)


def _crowded_at_one(balanced: sp.csr_array, indicators: sp.csr_array, k: int) -> tuple[Float, Float]:
    """Leading eigenpairs of ``(I + B)/2`` beside the parts' own, by Lanczos on ``((1 + tiny) I - B)^-1``.

    On curves and surfaces the eigenvalues crowd at 1, where plain Lanczos stalls but the factors are sparse.
    """
    n, tiny = balanced.shape[0], 1e-4
    factors = splu(
        sp.csc_matrix((1 + tiny) * sp.eye_array(n) - balanced),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

    def solve(x: Float) -> Float:
        x = factors.solve(x.ravel() - indicators @ (indicators.T @ x.ravel()))
        return x - indicators @ (indicators.T @ x)

    inverse, vectors = leading_eigenpairs(LinearOperator((n, n), matvec=solve, dtype=np.float64), k)
    return 1.0 + 0.5 * tiny - 0.5 / inverse, vectors


def balance(graph: sp.csr_array) -> sp.csr_array:
    """A symmetric graph scaled so that the links of every row sum to 1."""
    return _doubly_stochastic(sp.csr_array(graph / float(graph.sum() / graph.shape[0])), np.ones(graph.shape[0]))


def _doubly_stochastic(matrix: sp.csr_array, target: Float) -> sp.csr_array:
    """``EAE`` with a positive diagonal E for which ``EAE target = target`` (Sinkhorn and Knopp, damped)."""
    scale = np.ones(len(target))
    for _ in range(1000):
        # The geometric mean of the old scale and Sinkhorn's new one: undamped, the symmetric form swings between two.
        new = np.sqrt(scale * target / (matrix @ (scale * target)))
        change = np.abs(new / scale - 1.0).max()
        scale = new
        if change < 1e-13:
            break
    return _scaled(matrix, scale)


def _contrasts(sizes: Float, n_columns: int) -> Float:
    """Orthonormal columns orthogonal to ``sizes``: the largest entry against the next, both against the third, ..."""
    largest = np.argsort(-sizes, kind="stable")[: min(n_columns, sizes.size - 1)]
    columns = np.zeros((sizes.size, 1 + largest.size))
    columns[:, 0], columns[largest, 1 + np.arange(largest.size)] = sizes, 1.0
    return np.linalg.qr(columns)[0][:, 1:]
