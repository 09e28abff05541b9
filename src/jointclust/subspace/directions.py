"""Directions that suit given labels: the projection steps of the methods, and a transformer for people with labels."""

from __future__ import annotations

import numpy as np

from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.linalg import fix_signs, right_singular, top_eigenvectors
from jointclust.numerics.partitions import FEW
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.types import Float

# Share of tr(S_w) by which S_t breaks ties in the null space of S_w, which would be a matter of chance.
_TIE = 1e-10
# Share of the mean eigenvalue of S_t that "auto" adds to S_w.
_AUTO_RIDGE = 1e-3
# Components up to which there is one fewer than clusters.
MOST_COMPONENTS = 256
# Trade-offs between S_t and S_w that have a name.
TRADE_OFFS = {"pca": 0.0, "ocm": 1.0, "mmc": 2.0, "olsda": np.inf}


def trade_off_of(given: float | str) -> float:
    """The number that a trade-off stands for, up to infinity."""
    value = TRADE_OFFS[given] if isinstance(given, str) else float(given)
    return np.inf if value > 1e100 else value  # no float tells the two apart


def margin_directions(clusters: Clusters, n_components: int, trade_off: float, guess: Float | None = None) -> Float:
    """Leading eigenvectors of ``S_t - trade_off S_w``, up to the limit, ``-S_w``.

    There, ties in the null space of S_w go to the directions of most variance.
    """
    s2, M = clusters.coordinates.eigenvalues, clusters.between_factor
    device = clusters.coordinates.rows.device
    if trade_off == 0:
        return np.eye(s2.size, n_components)
    if trade_off <= 1:
        return top_eigenvectors((1 - trade_off) * s2, np.sqrt(trade_off) * M, n_components, guess, device)[1]
    total = float(s2.sum())
    least = tie_break(total - float(np.sum(M**2)), total)
    return top_eigenvectors((max(1 / trade_off, least) - 1) * s2, M, n_components, guess, device)[1]


def tie_break(within: float, total: float) -> float:
    """The share of the total scatter to take off a within scatter, given their traces."""
    return _TIE * max(within / total, 1e-6) if total > 0 else _TIE


def fisher_directions(clusters: Clusters, n_components: int, ridge: float, unit: str = "within") -> Float:
    """Leading solutions of ``S_b q = theta (S_w + ridge I) q`` with ``Q'(S_w + ridge I)Q = I``.

    With ``unit="total"`` they have ``Q'(S_t + ridge I)Q = I``.
    With ``T = S_t + ridge I``, diagonal here, they are ``T^-1/2`` times the right singular vectors of ``M T^-1/2``,
    whose squared singular values are ``theta / (1 + theta)``.
    """
    scale = 1.0 / np.sqrt(clusters.coordinates.eigenvalues + ridge)
    sigma, rows = right_singular(clusters.between_factor * scale)
    if n_components > sigma.size:  # beyond c directions no between-cluster scatter is left: take variance
        rows = np.linalg.qr(np.vstack([rows, np.eye(n_components, scale.size)]).T)[0].T
        sigma = np.concatenate([sigma, np.zeros(rows.shape[0] - sigma.size)])
    rows, sigma = rows[:n_components], sigma[:n_components]
    if unit == "total":
        return fix_signs(rows.T * scale[:, None])
    shrink = np.sqrt(np.maximum(1.0 - sigma**2, np.finfo(float).eps))
    return fix_signs((rows / shrink[:, None]).T * scale[:, None])


def scoring_directions(clusters: Clusters, n_components: int, ridge: float) -> Float:
    """``W = (S_t + ridge I)^-1 X'E Theta``: the regression of optimal scores for the classes on the rows.

    With ``T = S_t + ridge I`` and the singular value decomposition ``M T^-1/2 = Delta Sigma P'`` the scores are
    ``Theta = Pi^-1/2 Delta``, Pi holding the sizes, and ``W = T^-1/2 P Sigma``.
    """
    scale = 1.0 / np.sqrt(clusters.coordinates.eigenvalues + ridge)
    _, sigma, rows = np.linalg.svd(clusters.between_factor * scale, full_matrices=False)
    return fix_signs((rows[:n_components] * sigma[:n_components, None]).T * scale[:, None])


def uncorrelated_rotation(matrix: Float) -> tuple[Float, float]:
    """The R with orthonormal columns and the largest ``tr(R'M)``, and that trace, the nuclear norm of M.

    ``M1 = 0``, so one direction of R is free: it takes the first axis, made orthogonal to the rest. With fewer rows
    than columns R is a partial isometry.
    """
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    n_rows, n_columns = matrix.shape
    if n_rows < n_columns:
        return left @ right, float(singular.sum())
    rank = int(np.sum(singular > 1e-10 * singular[0])) if singular[0] > 0 else 0
    left = completed(left[:, :rank], np.eye(n_rows, min(n_rows, 2 * n_columns)), n_columns)
    right = completed(right[:rank].T, np.column_stack([np.ones(n_columns), np.eye(n_columns)]), n_columns)
    return left @ right.T, float(singular.sum())


def orthogonal_regression(diagonal: Float, linear: Float, start: Float, n_steps: int = 50) -> Float:
    """``min tr(Z'DZ) - 2 tr(Z'B)`` over ``Z'Z = I`` by generalised power iteration (Nie, Zhang and Li, 2017).

    The polar factor of ``(eta I - D)Z + B``, again and again, eta being the largest entry of D; never worse than Z.
    """
    shifted = diagonal.max() - diagonal
    Z = start
    for _ in range(n_steps):
        left, _, right = np.linalg.svd(shifted[:, None] * Z + linear, full_matrices=False)
        before, Z = Z, left @ right
        if np.abs(Z - before).max() < 1e-8:
            break
    return Z


def completed(basis: Float, candidates: Float, size: int) -> Float:
    """Orthonormal columns, and further ones from the candidates in turn, made orthogonal to the rest."""
    for candidate in candidates.T:
        if basis.shape[1] == size:
            break
        for _ in range(2):  # once more for the digits that the first time loses
            candidate = candidate - basis @ (basis.T @ candidate)
        if np.linalg.norm(candidate) > 1e-3:
            basis = np.column_stack([basis, candidate / np.linalg.norm(candidate)])
    return basis


def fix_free_direction(loadings: Float) -> Float:
    """The same Z with a fixed sign of its free direction, which all columns share and which the first axis gave."""
    free = loadings.mean(axis=1, keepdims=True)
    return loadings - free + fix_signs(free)


def principal_axes(coordinates: Coordinates, projection: Float) -> Float:
    """The same orthonormal columns turned, within their span, to the directions of most variance first."""
    _, rotation = np.linalg.eigh((projection.T * coordinates.eigenvalues) @ projection)
    return projection @ rotation[:, ::-1]


def automatic_ridge(ridge: float | str, coordinates: Coordinates) -> float:
    """A number as it is; "auto" relative to the spectrum."""
    if ridge == "auto":
        return float(_AUTO_RIDGE * coordinates.eigenvalues.mean()) or 1.0
    return float(ridge)


def relative_ridge(ridge: float | str, share: float, total_variance: float, n_components: int) -> float:
    """A number as it is; "auto" as a share of the total variance per component."""
    if ridge == "auto":
        return share * total_variance / max(n_components, 1) or 1.0
    return float(ridge)


def wanted_components(n_clusters: int, rank: int) -> int:
    """``n_clusters - 1``, at most 256; for many clusters at most 3/4 of the rank, or there would be no subspace."""
    return min(n_clusters - 1, MOST_COMPONENTS, max(FEW, 3 * rank // 4))


def resolve_n_components(wanted: int | None, default: int, coordinates: Coordinates) -> int:
    """The number of components the data allow; says so when it is less than asked for."""
    rank, n_features = coordinates.rank, coordinates.rows.n_features
    if wanted is None:
        return min(max(default, 1), rank)
    if wanted > n_features:
        raise ValueError(
            f"n_components={wanted} exceeds the number of features ({n_features}): lower it or leave it None."
        )
    if wanted > rank:
        if not coordinates.exact:
            message = (
                f"n_components={wanted} exceeds the rank of the randomised decomposition ({rank}), so {rank} are used. "
                "Raise max_rank, or lower n_components."
            )
        else:
            kept = coordinates.variance_kept
            share = "" if kept > 1 - 1e-9 else f" at {kept:.3g} of the variance"
            message = (
                f"n_components={wanted} exceeds the rank of the data ({rank}{share}): every row would map to 0 in the "
                f"other directions, so {rank} are used. Lower n_components or leave it None."
            )
        tell(message, CollapseWarning)
    return min(wanted, rank)
