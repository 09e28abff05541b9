"""The decomposition of the total scatter: exact, from a Gram matrix or randomised, by what the rows allow."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from jointclust._sklearn import Interval, check_sample_weight, get_feature_names, validate_params
from jointclust.numerics.linalg import eigh, eigh_on, fix_signs, leading_eigenpairs
from jointclust.rows import (
    Projected,
    Rows,
    Store,
    as_rows,
    check_elsewhere,
    check_weights_elsewhere,
    is_elsewhere,
    refuse_annotated,
    sample_known,
    tidied,
    total_weight,
    weight_limits,
)
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float

# Up to this min(n, D) a dense decomposition is exact and takes seconds.
EXACT_LIMIT = 4000
# A table has so many columns, and one of them with more than this share of the variance decides alone.
_TABLE, _DOMINANT = (3, 100), 0.9
# Remote rows that starts look at: so many, or so many per cluster or coordinate.
SAMPLE, SAMPLE_PER_CLUSTER, SAMPLE_PER_COLUMN = 50_000, 64, 20


def to_start_from(coordinates: Coordinates, n_clusters: int, rng: np.random.RandomState) -> Coordinates:
    """These coordinates; where a pass is costly, those of a sample in memory, with a basis of its own."""
    if not coordinates.rows.is_remote:
        return coordinates
    rank = coordinates.rank
    size = max(SAMPLE, SAMPLE_PER_CLUSTER * n_clusters, SAMPLE_PER_COLUMN * rank)
    X, weights, known = sample_known(coordinates.rows.X, size, rng, coordinates.weights, coordinates.known)
    coordinates.rows.n_passes += 1
    sample = coordinates_of(as_rows(X), weights, max_rank=rank, rng=rng)
    return replace(sample.first(rank), known=known)


@validate_params(
    {
        "X": ["array-like", "sparse matrix"],
        "sample_weight": ["array-like", None],
        "variance": [Interval(Real, 0, 1, closed="right"), None],
        "max_rank": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def decompose(
    X: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    variance: float | None = None,
    max_rank: int = 500,
    random_state: int | np.random.RandomState | None = 0,
) -> Coordinates:
    """Coordinates of X in the eigenbasis of its total scatter, for many fits to share.

    Every clusterer's ``fit`` takes the result in place of X. It holds X and the coordinates of the rows, which
    takes twice the memory of a single fit and pays off over many fits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    variance : float, optional
        Share of the variance to keep; None keeps the numerical rank.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
        ``min(n_samples, n_features) > 4000``.
    random_state : int, RandomState or None, default=0
        Seed of the randomised decomposition.

    Returns
    -------
    coordinates : Coordinates
        The decomposition, with the rows it is about.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, _ = jc.datasets.two_gaussians(random_state=0)
    >>> coordinates = jc.decompose(X)
    >>> jc.DiscriminativeEmbeddedClustering(2, trade_off=5, random_state=0).fit(coordinates).labels_.shape
    (1000,)
    """
    refuse_annotated(X)
    names = get_feature_names(X)
    if is_elsewhere(X):
        X = check_elsewhere(X, accept_sparse=True, min_samples=2)
    else:
        options = {"dtype": [np.float64, np.float32], "ensure_min_samples": 2, "input_name": "X"}
        X = check_array(tidied(X), accept_sparse="csr", **options)
    weights, rng = check_weights(sample_weight, X), check_random_state(random_state)
    coordinates = coordinates_of(as_rows(X), weights, variance=variance, max_rank=max_rank, rng=rng)
    if coordinates.scores is None and not coordinates.rows.is_remote:
        coordinates = replace(coordinates, scores=coordinates.leading(coordinates.rank))
    return replace(coordinates, feature_names=names)


def check_rows(X: object) -> None:
    """Raise if X is Coordinates, or no matrix of rows."""
    refuse_annotated(X)
    if isinstance(X, Coordinates):
        raise TypeError("X holds Coordinates, which only fit takes, of clusterers: pass the rows themselves.")


def check_weights(sample_weight: ArrayLike | None, X: Any) -> Float | None:
    """Weights of the rows of X in float64; None stays None."""
    if sample_weight is None:
        return None
    if is_elsewhere(X) or isinstance(X, Store):
        weights = check_weights_elsewhere(sample_weight, X)
    else:
        given = to_host(sample_weight) if is_elsewhere(sample_weight) else sample_weight
        weights = check_sample_weight(given, X, dtype=np.float64)
    least, total = weight_limits(weights)
    if np.isnan(total):
        raise ValueError("Input sample_weight contains NaN.")
    if least < 0:
        raise ValueError(f"sample_weight must not be negative; the smallest is {least:.3g}.")
    if total == 0:
        raise ValueError("All sample_weight are zero: at least one row needs weight.")
    if not 1e-100 < total < 1e100:
        raise ValueError(f"sample_weight sums to {total:.3g}: divide it by its largest value.")
    return weights


def coordinates_of(
    rows: Rows,
    weights: Float | None,
    *,
    rng: np.random.RandomState,
    variance: float | None = None,
    max_rank: int = 500,
    leading: int | None = None,
) -> Coordinates:
    """Eigenbasis of the total scatter of clean rows; with ``leading``, only that many coordinates of it.

    Exact, from the smaller of the D x D and the n x n Gram matrix, up to ``min(n, D) = 4000``; beyond, and for sparse
    rows of more than ``max_rank`` dimensions, a randomised decomposition of that rank. Sparse rows stay sparse.
    """
    limit = max_rank if rows.is_sparse else EXACT_LIMIT
    # The n x n matrix needs all pairs of rows at once, which remote rows never are.
    tall = rows.n_features <= rows.n_samples or rows.is_remote
    exact, gram, dominant = (rows.n_features if tall else rows.n_samples) <= limit, None, None
    # Squares may leave the range: `_check_scale` then says so in the user's words.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        mean = rows.mean(weights)
        if not exact:
            total = rows.squared_norm(mean, weights)
        elif tall:
            gram = rows.scatter(mean, weights)
            total = float(np.trace(gram))
            dominant = dominant_column(gram.diagonal())
        else:
            gram = rows.gram(mean)
            total = float(np.trace(gram) if weights is None else gram.diagonal() @ to_host(weights))
        noise = _noise(rows, mean, weights)
    _check_scale(rows, total, noise)

    if gram is None:
        # To compute a few times as many directions as asked for makes those asked for exact.
        wanted = max_rank if leading is None else min(max_rank, max(100, 4 * leading))
        parts = _randomised(rows, mean, weights, wanted, rng)
    elif tall:
        parts = dict(zip(("eigenvalues", "basis"), _eigh(gram, leading, rows.device), strict=True))
    else:
        parts = _from_gram(gram, weights, rows, leading)

    # Squaring costs half the digits: what lies below this is rounding, not data.
    precision = max(np.finfo(float).eps, float(np.finfo(rows.dtype).eps) ** 2)
    values = parts["eigenvalues"]
    floor = max(max(rows.n_samples, rows.n_features) * precision * values[0], noise)
    if values[0] <= floor:
        values[0] = 0.0  # constant rows keep one direction, in which nothing varies
    # The null space of the scatter is left out; what it would hold is zero for every row.
    rank = max(1, int(np.sum(values[:leading] > floor)))
    parts = {name: None if part is None else part[..., :rank] for name, part in parts.items()}
    coordinates = Coordinates(rows, mean, weights, total_variance=total, exact=exact, dominant=dominant, **parts)
    return coordinates.keep(variance)


def dominant_column(variances: Float) -> tuple[int, float] | None:
    """The column of a table that carries nearly all of the variance, and its share; None where none does."""
    total = float(variances.sum())
    if not (_TABLE[0] <= variances.size <= _TABLE[1] and 0 < total < np.inf):
        return None
    largest = int(variances.argmax())
    share = float(variances[largest] / total)
    return (largest, share) if share > _DOMINANT else None


def checked_variance(rows: Rows, mean: Float, weights: Float | None) -> float:
    """Trace of the total scatter, refused where it leaves the floating-point range."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        total, noise = rows.squared_norm(mean, weights), _noise(rows, mean, weights)
    _check_scale(rows, total, noise)
    return total


def _noise(rows: Rows, mean: Float, weights: Float | None) -> float:
    """Rounding left by centring."""
    weight = float(rows.n_samples if weights is None else total_weight(weights))
    return weight * float(mean @ mean) * (16 * np.finfo(float).eps) ** 2


def _check_scale(rows: Rows, total: float, noise: float) -> None:
    """Squares of the data must fit the floating-point range."""
    low, high = (1e-290, 1e300) if rows.dtype == np.float64 else (1e-30, 1e35)
    if total < high and (total <= noise or total >= low) and not (total <= noise and 0 < rows.spread() < low):
        return
    size, verb = ("small", "underflows") if total < high else ("large", "overflows")
    remedy = " or pass float64." if rows.dtype == np.float32 else "."
    raise ValueError(
        f"The values of X are too {size}: their sum of squares about the mean is {total:.3g}, which {verb} "
        f"{rows.dtype}. Divide X by its largest absolute value{remedy}"
    )


def _eigh(matrix: Float, leading: int | None, device: Any = None) -> tuple[Float, Float]:
    """Eigenpairs of a positive semidefinite matrix, largest first."""
    if device is not None:
        values, vectors = eigh_on(device, like(matrix, device, namespace(device).float64))
        return np.maximum(to_host(values)[::-1], 0.0), fix_signs(to_host(vectors)[:, ::-1])
    if leading is not None:
        values, vectors = leading_eigenpairs(matrix, min(leading, len(matrix)))
        return np.maximum(values, 0.0), vectors
    values, vectors = eigh(matrix, driver="evd", overwrite_a=True)
    return np.maximum(values[::-1], 0.0), np.asfortranarray(fix_signs(vectors[:, ::-1]))


def _from_gram(gram: Float, weights: Any, rows: Rows, leading: int | None) -> dict[str, Any]:
    """``V = X'U/s`` from the eigenvectors U of the n x n Gram matrix, whose rows count by the root of their weight."""
    root = np.ones(len(gram)) if weights is None else np.sqrt(to_host(weights))
    values, vectors = _eigh(gram * root * root[:, None], leading)
    s = np.sqrt(np.where(values > 0, values, 1.0))
    dual = root[:, None] * vectors / s
    scores = vectors * s if weights is None else gram @ dual
    return {"eigenvalues": values, "scores": rows.here(scores.astype(rows.dtype, order="C")), "dual": dual}


def _randomised(rows: Rows, mean: Float, weights: Any, rank: int, rng: np.random.RandomState) -> dict[str, Any]:
    """Subspace iteration from a random block (Halko, Martinsson and Tropp, 2011): one pass each, centring implicit."""
    width = min(rank + 10, rows.n_samples, rows.n_features)
    rank = min(rank, width)
    basis = rng.standard_normal((rows.n_features, width))
    if rows.n_features <= 4 * rows.n_samples or rows.is_remote or rows.device is not None:
        basis = np.linalg.qr(basis)[0]
        for _ in range(4):
            basis = np.linalg.qr(rows.scattered(basis, mean, weights))[0]
    else:  # the same, made orthonormal on the shorter side
        root = np.ones((rows.n_samples, 1)) if weights is None else np.sqrt(weights)[:, None]
        for _ in range(4):
            image = np.linalg.qr(root * rows.project(basis, mean))[0]
            basis = rows.project_transposed(root * image, mean)
        basis = np.linalg.qr(basis)[0]
    values, rotation = np.linalg.eigh(basis.T @ rows.scattered(basis, mean, weights))
    basis = basis @ rotation[:, ::-1][:, :rank]
    values = np.maximum(values[::-1][:rank], 0.0)
    scores = rows.project(basis, mean)
    return {"eigenvalues": values, "basis": basis, "scores": None if isinstance(scores, Projected) else scores}
