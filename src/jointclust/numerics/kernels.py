"""Kernels: evaluation, centring and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.metrics.pairwise import pairwise_kernels

from jointclust.rows import block_length
from jointclust.rows.arrays import is_sparse
from jointclust.rows.blocks import seen_from
from jointclust.types import Float, Matrix, Sparse


@dataclass(frozen=True)
class Kernel:
    """A named kernel with its parameters, or a function ``(A, B) -> matrix`` of the user's.

    The origin is one of the rows: "rbf" subtracts it first, which changes only the rounding of distances.
    """

    function: str | Callable[[Any, Any], NDArray | Sparse]
    gamma: float
    degree: float
    coef0: float
    origin: NDArray

    @property
    def width(self) -> float | None:
        """The gamma that decides how far the kernel sees; None where there is no such number."""
        return self.gamma if self.function == "rbf" else None

    def __call__(self, A: Any, B: Any) -> NDArray:
        """The kernel between all rows of A and all rows of B."""
        if isinstance(self.function, str):
            options = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            if self.function == "rbf":
                A, B = seen_from(self.origin, A, B)
            with np.errstate(over="ignore"):  # infinite values raise an error below
                return pairwise_kernels(A, B, metric=self.function, filter_params=True, **options)
        similarities = self.function(A, B)
        values = similarities.toarray() if is_sparse(similarities) else np.asarray(similarities)
        if values.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"The kernel function returned shape {values.shape} for {A.shape[0]} rows and {B.shape[0]} rows: it "
                f"must return a matrix of shape {(A.shape[0], B.shape[0])}, the kernel between all pairs of them."
            )
        if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            raise ValueError("The kernel function returned values that are not finite real numbers.")
        return values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)

    def project(
        self, X: Matrix, landmarks: Matrix, mean: NDArray, coefficients: NDArray, *, sum_to_zero: bool
    ) -> NDArray:
        """``(k(X, landmarks) - mean) coefficients``, a block of rows at a time."""
        out = np.empty((X.shape[0], coefficients.shape[1]), dtype=coefficients.dtype)
        step = block_length(landmarks.shape[0], 2**22)
        for start in range(0, X.shape[0], step):
            block = slice(start, start + step)
            out[block] = project_kernel(self(X[block], landmarks), mean, coefficients, sum_to_zero=sum_to_zero)
        return out


def project_kernel(kernel: NDArray, mean: NDArray, coefficients: NDArray, *, sum_to_zero: bool) -> NDArray:
    """Embedding of rows from their kernel with the landmarks: ``(k - mean) coefficients``.

    Where the coefficients sum to zero the mean of a row's kernel is taken off too, which saves digits.
    """
    out = np.empty((len(kernel), coefficients.shape[1]), dtype=coefficients.dtype)
    step = block_length(kernel.shape[1], 2**22)
    for start in range(0, len(kernel), step):
        block = slice(start, start + step)
        difference = kernel[block] - mean
        if sum_to_zero:
            difference -= difference.mean(axis=1, keepdims=True)
        out[block] = difference @ coefficients
    _check_finite(out)
    return out


def _check_finite(values: NDArray) -> None:
    if not np.isfinite(values).all():
        raise ValueError("The kernel overflows: divide X by its largest absolute value, or choose a smaller gamma.")


def check_kernel_matrix(matrix: Float) -> None:
    """A kernel matrix is square and symmetric."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"A precomputed kernel must be square, rows by the same rows, to fit; got shape {matrix.shape}. Pass rows "
            "of features with another kernel, or compute the kernel between all pairs of rows."
        )
    step = block_length(len(matrix), 2**20)
    largest = max(float(np.abs(matrix).max()), np.finfo(float).tiny)
    tolerance = (1e-8 if matrix.dtype == np.float64 else 1e-4) * largest
    for start in range(0, len(matrix), step):
        gap = np.abs(matrix[start : start + step] - matrix[:, start : start + step].T).max()
        if gap > tolerance:
            raise ValueError(
                f"The kernel is not symmetric: K[i, j] and K[j, i] differ by up to {gap:.3g}. If that is "
                "rounding, pass (K + K.T) / 2."
            )


def centred_kernel(matrix: NDArray, weights: Float | None, *, checked: bool) -> tuple[Float, Float]:
    """The kernel of centred features, in float64, and the (weighted) mean row of the kernel.

    With ``checked`` the matrix is a user's, which need not be a kernel.
    """
    _check_finite(matrix)
    if checked:
        check_kernel_matrix(matrix)
    n = len(matrix)
    share = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    mean = share @ matrix.astype(np.float64, copy=False)
    kernel = matrix - mean
    kernel -= mean[:, None]
    kernel += share @ mean
    if checked:
        check_positive(kernel, rounding(matrix))
    return kernel, mean


def rounding(matrix: NDArray) -> float:
    """How far from zero rounding can move an eigenvalue of a kernel matrix, before or after centring."""
    n = len(matrix)
    return 4.0 * n * float(np.finfo(matrix.dtype).eps) * float(np.abs(matrix).max())


def check_positive(kernel: Float, tolerance: float) -> None:
    """A centred kernel is positive semidefinite, up to rounding."""
    n = len(kernel)
    top = float(np.abs(kernel).sum(axis=1).max())  # no eigenvalue is larger
    smallest = None
    if n > 256 and top > 0:
        # Lanczos finds the largest eigenvalues fast: the smallest of K is the largest of (top I - K).
        shifted = LinearOperator((n, n), matvec=lambda x: top * x.ravel() - kernel @ x.ravel(), dtype=np.float64)
        start = np.random.RandomState(0).standard_normal(n)
        try:
            options = {"ncv": 40, "tol": tolerance / (2 * top), "maxiter": 20, "return_eigenvectors": False}
            largest = eigsh(shifted, 1, which="LA", v0=start, **options)
            smallest = top - float(largest[0])
        except ArpackNoConvergence:  # a crowd of eigenvalues near the smallest
            pass
    if smallest is None:
        smallest = float(scipy.linalg.eigh(kernel, eigvals_only=True, subset_by_index=(0, 0), driver="evx")[0])
    if smallest < -tolerance:
        raise ValueError(
            f"The kernel is not positive semidefinite: after centring it has the eigenvalue {smallest:.3g}. Use a "
            "kernel that is an inner product of features, such as exp(-gamma d^2)."
        )


def whitening(kernel: NDArray) -> Float:
    """The matrix M for which ``k(x, landmarks) M`` are features whose inner products approximate the kernel."""
    values, vectors = np.linalg.eigh(kernel.astype(np.float64))
    if values[-1] <= rounding(kernel):
        return np.zeros((len(kernel), 1))  # all zero
    precision = 1e-12 if kernel.dtype == np.float64 else 1e-6
    kept = values > precision * max(values[-1], 0.0)
    return vectors[:, kept] / np.sqrt(values[kept])
