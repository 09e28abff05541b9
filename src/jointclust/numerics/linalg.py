"""Small dense problems, always solved in float64."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, LinearOperator, aslinearoperator, eigsh

from jointclust.rows import threads
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.types import Array, Float, Namespace

_A = TypeVar("_A", bound=Array)
# Below this size LAPACK is faster than anything clever.
_SMALL = 256
# From this size on LAPACK takes a second or more.
_LONG = 1000
# Columns beyond which singular vectors come from the product of a matrix with itself, if none of the singular values is
# below this share of the largest: squaring costs half the digits.
_LARGE, _ROUNDED = 200, 1e-5
# An eigenvalue this far below the largest one is indistinguishable from zero.
_NEGLIGIBLE = 1e-11


def fix_signs(vectors: Float) -> Float:
    """Flip columns so that the entry of largest magnitude is positive."""
    return vectors * signs_of(vectors)


def signs_of(vectors: Float) -> Float:
    """The sign of each column's entry of largest magnitude."""
    if vectors.size == 0:
        return np.ones(vectors.shape[1])
    largest = np.argmax(np.abs(vectors), axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def nearest_orthonormal(columns: Float) -> Float:
    """The orthonormal columns nearest to these (polar factor)."""
    U, _, Vt = np.linalg.svd(columns, full_matrices=False)
    return U @ Vt


def bottom_eigenvectors(matrix: Float, k: int) -> Float:
    """Eigenvectors of the k smallest eigenvalues of a symmetric matrix, smallest first."""
    return fix_signs(_lapack(matrix, 0, k)[1])


def _lapack(matrix: Float, start: int, stop: int) -> tuple[Float, Float]:
    """Eigenpairs number ``start`` to ``stop - 1`` of a symmetric matrix, smallest first."""
    n = len(matrix)
    if 2 * (stop - start) < n:
        values, vectors = eigh(matrix, subset_by_index=(start, stop - 1))
        if values.size == stop - start:  # LAPACK's MRRR can return none at all where many are equal
            return values, vectors
    values, vectors = eigh(matrix, driver="evd")
    return values[start:stop], vectors[:, start:stop]


def eigh(matrix: Float, **options: Any) -> tuple[Float, Float]:
    """SciPy's ``eigh`` of a symmetric matrix of finite numbers; Ctrl-C need not wait until a large one is solved."""
    solve = partial(scipy.linalg.eigh, matrix, check_finite=False, **options)
    return threads.interruptible(solve) if len(matrix) >= _LONG else solve()


def leading_eigenpairs(matrix: Float | LinearOperator, k: int) -> tuple[Float, Float]:
    """Eigenpairs of the k largest eigenvalues of a symmetric matrix, largest first.

    By Lanczos where that pays, checked for copies of a multiple eigenvalue that it lost; else by LAPACK.
    """
    n = matrix.shape[0]
    pairs = None if is_small(n, k) else lanczos(aslinearoperator(matrix), k)
    if pairs is None:
        dense = matrix if isinstance(matrix, np.ndarray) else matrix @ np.eye(n)
        values, vectors = _lapack(dense, n - k, n)
        pairs = values[::-1], vectors[:, ::-1]
    return pairs[0], fix_signs(pairs[1])


def right_singular(matrix: Float) -> tuple[Float, Float]:
    """Singular values, largest first, and right singular vectors as rows; of many rows from the smaller ``M'M``."""
    if len(matrix) <= matrix.shape[1]:
        return np.linalg.svd(matrix, full_matrices=False)[1:]
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    return np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1].T


def left_singular(matrix: Float, k: int) -> Float:
    """The k leading left singular vectors; of a large tall matrix from ``M'M``, unless some of them are rounding."""
    if _LARGE < matrix.shape[1] <= len(matrix):
        values, rows = right_singular(matrix)
        if values[k - 1] > _ROUNDED * values[0]:
            return np.asarray(matrix @ (rows[:k].T / values[:k]))
    return np.linalg.svd(matrix, full_matrices=False)[0][:, :k]


def is_small(n: int, k: int) -> bool:
    """Whether LAPACK is faster than Lanczos for k eigenpairs of an n x n matrix."""
    return n <= _SMALL or 4 * k >= n


def lanczos(operator: LinearOperator, k: int, max_iter: int = 200, tol: float = 0.0) -> tuple[Float, Float] | None:
    """ARPACK's k leading eigenpairs; None when it gave up or a larger eigenvalue is left beside them."""
    n = operator.shape[0]
    start = np.random.RandomState(0).standard_normal(n)
    try:
        ncv = min(n, max(2 * k + 20, 40))
        values, vectors = eigsh(operator, k, which="LA", v0=start, ncv=ncv, maxiter=max_iter, tol=tol)
        values, vectors = values[::-1], vectors[:, ::-1]
        scale = max(abs(values[0]), abs(values[-1]))

        back = np.ascontiguousarray(vectors.T)

        def rest(x: Float) -> Float:
            x = x.ravel()
            return operator.matvec(x) - ((values + scale) * (back @ x)) @ back

        # A Ritz value is a lower bound: whatever is found above the last eigenvalue was lost.
        deflated = LinearOperator((n, n), matvec=rest, dtype=np.float64)
        left = eigsh(deflated, 1, which="LA", v0=start[::-1], tol=1e-3, maxiter=200, return_eigenvectors=False)
    except ArpackError:
        return None
    return None if left[0] > values[-1] + 1e-9 * scale else (values, vectors)


def project_simplex(rows: _A, size: float = 1.0) -> _A:
    """The nearest point of the simplex ``p >= 0, sum(p) = size`` to each row, in Euclidean distance.

    With a row sorted downwards, ``u_1 >= u_2 >= ...``, the projection is ``max(v - t, 0)`` with the threshold
    ``t = max_k (u_1 + ... + u_k - size) / k``.

    Parameters
    ----------
    rows : array of shape (n, c)
        Finite real floating-point rows, of any library that follows the array API.
    size : float, default=1.0
        What each result sums to.

    Returns
    -------
    projected : array of shape (n, c)
        Of the same kind and precision.
    """
    xp = namespace(rows)
    if not xp.isdtype(rows.dtype, "real floating"):
        raise TypeError(f"rows must hold real floating-point numbers; got {rows.dtype}.")
    limits = xp.finfo(rows.dtype)
    if not float(limits.smallest_normal) <= size <= float(limits.max):
        raise ValueError(f"size must be a finite number above 0 that {rows.dtype} can hold; got {size}.")
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"rows must be a matrix with one column or more; got shape {tuple(rows.shape)}.")
    if not xp.all(xp.isfinite(rows)):
        raise ValueError("rows must be finite: a row with infinity or NaN has no nearest point.")
    if xp is not np:
        return _project_simplex(rows, size, xp)
    projected = xp.empty_like(rows)
    step = max(64, 2**17 // rows.shape[1])  # a block that stays in the cache
    with np.errstate(over="ignore"):  # of entries that do not count
        for start in range(0, rows.shape[0], step):
            projected[start : start + step] = _project_simplex(rows[start : start + step], size, np)
    return projected


def _project_simplex(rows: _A, size: float, xp: Namespace) -> _A:
    # Entries lower than the largest by more than the size never count, and could only overflow the sums.
    shifted = rows - xp.max(rows, axis=1, keepdims=True)
    upwards = xp.sort(xp.clip(shifted, -size, None), axis=1)
    if xp is not np:  # many small steps cost more on a device than memory
        totals = xp.cumulative_sum(xp.flip(upwards, axis=1), axis=1) - size
        counts = xp.cumulative_sum(xp.ones_like(totals[:1, :]), axis=1)
        return xp.clip(shifted - xp.max(totals / counts, axis=1, keepdims=True), 0.0, None)
    total = xp.zeros_like(upwards[:, 0])
    threshold = total - size
    for k in range(1, rows.shape[1] + 1):
        total = total + upwards[:, -k]
        threshold = xp.maximum(threshold, (total - size) / k)
    return xp.clip(shifted - threshold[:, None], 0.0, None)


def random_orthonormal(n_rows: int, n_columns: int, rng: np.random.RandomState) -> Float:
    """A subspace drawn uniformly, as the columns of an orthonormal matrix."""
    return fix_signs(np.linalg.qr(rng.standard_normal((n_rows, n_columns)))[0])


def top_eigenvectors(
    diagonal: Float, factor: Float, k: int, guess: Float | None = None, device: Array | None = None
) -> tuple[Float, Float]:
    """Leading eigenpairs of ``diag(a) + B'B``, largest first.

    With the eigenbasis of S_t as coordinates this is the projection step of DEC: ``a = (1 - lambda) s^2`` and
    ``B = sqrt(lambda) * (scaled cluster means)``. ARPACK stalls on it when lambda is large, because the eigenvalues
    crowd at zero. The eigenvalues above ``max(a)`` are found instead as roots of a c x c secular equation, which no
    crowding disturbs; the others by Lanczos where the spectrum decays like that of PCA, else by LAPACK.

    Parameters
    ----------
    diagonal : array of shape (r,)
        The vector a.
    factor : array of shape (c, r)
        The matrix B.
    k : int
        How many eigenpairs, at most r.
    guess : array of shape (r, k), optional
        Orthonormal columns near the answer, such as the previous iteration's; they save time, nothing else.
    device : array, optional
        An array on a GPU that has nothing else to do: the matrix is solved there, which takes a fraction of the time.

    Returns
    -------
    values : array of shape (k,)
    vectors : array of shape (r, k)
        Orthonormal columns with fixed signs.
    """
    r, c = diagonal.size, factor.shape[0]
    pairs = None
    if device is not None and r > _SMALL:
        pairs = _dense_on(device, diagonal, factor, k)
    elif r > _SMALL and k < r // 2:
        if diagonal.max() <= 0 and 6 * k * (2 * c * c * r + 25 * c**3) < r**3:
            pairs = _secular(diagonal, factor, k, guess)
        elif diagonal.max() > 0:
            pairs = _lanczos(diagonal, factor, k)
        if pairs is not None and not _complete(diagonal, factor, pairs[0]):
            pairs = None
    values, vectors = pairs if pairs is not None else _dense(diagonal, factor, k)
    return values, fix_signs(vectors)


def _complete(diagonal: Float, factor: Float, values: Float) -> bool:
    """Whether no eigenvalue was missed, counted by Sylvester's law of inertia.

    ``diag(a) + B'B`` has as many eigenvalues above mu as a has entries, plus as many as ``B (mu I - a)^-1 B'`` has
    eigenvalues above 1. Iterative solvers lose copies of multiple eigenvalues; this finds out.
    """
    scale = float(np.abs(diagonal).max() + np.sum(factor**2))
    mu = values + 1e-10 * scale
    above = np.sum(diagonal > mu[:, None], axis=1) + np.sum(_shifted(diagonal, factor, mu)[0] > 1.0, axis=1)
    return bool(np.all(above <= np.sum(values > mu[:, None], axis=1)))


def _dense(diagonal: Float, factor: Float, k: int) -> tuple[Float, Float]:
    r = diagonal.size
    matrix = factor.T @ factor
    matrix[np.diag_indices(r)] += diagonal
    values, vectors = _lapack(matrix, r - k, r)
    return values[::-1], vectors[:, ::-1]


def _dense_on(device: Array, diagonal: Float, factor: Float, k: int) -> tuple[Float, Float]:
    xp = namespace(device)
    B = like(factor, device, xp.float64)
    return leading_eigenpairs_on(device, B.T @ B + like(np.diag(diagonal), device, xp.float64), k)


def leading_eigenpairs_on(device: Array, matrix: Array, k: int) -> tuple[Float, Float]:
    """Eigenpairs of the k largest eigenvalues of a symmetric matrix, largest first, computed on a device."""
    values, vectors = eigh_on(device, like(matrix, device, namespace(device).float64))
    return to_host(values)[::-1][:k], fix_signs(to_host(vectors[:, -k:])[:, ::-1])


def eigh_on(device: Array, matrix: Array) -> tuple[Array, Array]:
    """All eigenpairs of a symmetric matrix, on a device, smallest first."""
    return tuple(namespace(device).linalg.eigh(matrix))


def _lanczos(diagonal: Float, factor: Float, k: int) -> tuple[Float, Float] | None:
    def multiply(x: Float) -> Float:
        x = x.ravel()
        return diagonal * x + factor.T @ (factor @ x)

    r = diagonal.size
    return _leading(LinearOperator((r, r), matvec=multiply, dtype=np.float64), k)


def _leading(operator: LinearOperator, k: int) -> tuple[Float, Float] | None:
    """ARPACK from a fixed start, so that it gives the same answer every time; None once LAPACK would be faster."""
    try:
        values, vectors = eigsh(operator, k, which="LA", v0=np.ones(operator.shape[0]), maxiter=30)
    except ArpackError:
        return None
    return values[::-1], vectors[:, ::-1]


def _rayleigh_ritz(diagonal: Float, factor: Float, basis: Float) -> tuple[Float, Float]:
    """Eigenpairs of ``diag(a) + B'B`` restricted to the span of orthonormal columns, largest first."""
    image = factor @ basis
    values, rotation = np.linalg.eigh((basis.T * diagonal) @ basis + image.T @ image)
    return values[::-1], basis @ rotation[:, ::-1]


def _secular(diagonal: Float, factor: Float, k: int, guess: Float | None) -> tuple[Float, Float] | None:
    """Eigenpairs above ``max(a)``: the j-th eigenvalue solves ``g_j(mu) = 1``.

    ``g_j`` is the j-th largest eigenvalue of ``B (mu I - a)^-1 B'``. It decreases in mu, so a bracketed Newton
    iteration on ``1 - 1/g``, which is nearly linear, finds every root in a handful of steps. The eigenvector is
    ``(mu I - a)^-1 B'z``; the Rayleigh-Ritz step at the end squares what error is left. What lies below comes from
    :func:`_below_zero`. Returns None when the answer would not be reliable.
    """
    pole = diagonal.max()
    scale = max(float(np.sum(factor**2)), -float(diagonal.min()))
    margin = np.finfo(float).eps * scale
    floor = max(pole + margin, 0.0)  # roots between the pole and zero belong to _below_zero
    n_roots = min(k, int(np.sum(_shifted(diagonal, factor, np.array([floor]))[0] > 1.0)))
    roots = _newton(diagonal, factor, n_roots, floor, scale, guess)
    if roots is None:
        return None
    if n_roots < k:
        rest = _below_zero(diagonal, factor, k - n_roots, scale)
        if rest is None:
            return None
        roots = np.hstack([roots, rest])
    basis, triangle = np.linalg.qr(roots)
    if np.abs(np.diag(triangle)).min() < 1e-3:  # (nearly) equal eigenvalues gave the same vector twice
        return None
    return _rayleigh_ritz(diagonal, factor, basis)


def _newton(
    diagonal: Float, factor: Float, n_roots: int, floor: float, scale: float, guess: Float | None
) -> Float | None:
    """Unit eigenvectors of the ``n_roots`` largest eigenvalues, all known to lie above ``floor``.

    All roots at once, each in a bracket [low, high] of its own; None where one does not come to rest in 60 steps.
    With ``z`` the unit eigenvector of ``g_j(mu)``, the derivative of ``g_j`` is ``-|(mu I - a)^-1 B'z|^2``, minus the
    squared length of the row that `_shifted` returns. Newton's step for ``1 - 1/g`` therefore is ``(g - 1) g`` over it.
    """
    pole = diagonal.max()
    basis = np.linalg.qr(factor.T)[0] if guess is None else guess
    bounds = _rayleigh_ritz(diagonal, factor, basis)[0][:n_roots]  # Ritz values lie below the eigenvalues
    mu = np.full(n_roots, max(floor, 1e-6 * scale))
    mu[: bounds.size] = np.where(bounds > floor, bounds, mu[: bounds.size])
    low, high = np.full(n_roots, floor), np.full(n_roots, scale * (1 + 1e-9))
    rows = np.empty((n_roots, diagonal.size))
    todo = np.arange(n_roots)
    for _ in range(60):
        if todo.size == 0:
            return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).T
        at = mu[todo]
        g, rows[todo] = _shifted(diagonal, factor, at, rank=todo)
        new = at + (g - 1.0) * g / np.einsum("ij,ij->i", rows[todo], rows[todo])
        low[todo] = np.where(g > 1.0, at, low[todo])  # g decreases: above 1 the root lies to the right
        high[todo] = np.where(g > 1.0, high[todo], at)
        outside = (new <= low[todo]) | (new >= high[todo])
        # A step that leaves its bracket halves it instead, on the scale of the distance from the pole.
        new = np.where(outside, pole + np.sqrt((low[todo] - pole) * (high[todo] - pole)), new)
        mu[todo] = new
        todo = todo[np.abs(new - at) > np.maximum(1e-5 * (at - pole), np.finfo(float).eps * scale)]
    return None


def _below_zero(diagonal: Float, factor: Float, k: int, scale: float) -> Float | None:
    """Unit eigenvectors of the ``k`` negative eigenvalues nearest to zero.

    In ``-(diag(a) + B'B)^-1``, applied by Woodbury's identity, they lead the spectrum and spread out, so that
    Lanczos finds them where it would stall on the matrix itself.
    """
    r = diagonal.size
    nearest = np.argsort(diagonal)[::-1][:k]
    if diagonal[nearest[-1]] >= -_NEGLIGIBLE * scale:  # all zero to rounding: any direction there is as good
        return np.eye(r)[:, nearest]
    inverse = np.minimum(diagonal, -np.finfo(float).eps * scale) ** -1.0
    scaled = factor * inverse
    try:
        middle = np.linalg.inv(np.eye(factor.shape[0]) + scaled @ factor.T)
    except np.linalg.LinAlgError:
        return None

    def multiply(x: Float) -> Float:
        x = x.ravel()
        return scaled.T @ (middle @ (scaled @ x)) - inverse * x

    pairs = _leading(LinearOperator((r, r), matvec=multiply, dtype=np.float64), k)
    return None if pairs is None else pairs[1]


def _shifted(
    diagonal: Float, factor: Float, mu: Float, rank: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.floating], Float]:
    """Eigenvalues of ``B (mu I - a)^-1 B'`` for each mu; with ``rank``, only that one and ``(mu I - a)^-1 B'z``."""
    inverse = 1.0 / (mu[:, None] - diagonal)
    matrices = (factor * inverse[:, None, :]) @ factor.T
    if rank is None:
        return np.linalg.eigvalsh(matrices), inverse
    values, vectors = np.linalg.eigh(matrices)
    row = np.arange(mu.size)
    return values[row, -1 - rank], (vectors[row, :, -1 - rank] @ factor) * inverse
