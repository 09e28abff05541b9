"""Propositions, theorems and equations of the four papers: both sides computed, or ours beside others.

The differences are stored in theory.csv of the package, from which claims have their verdicts.
"""

import os
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

import jointclust as jc
from jointclust.exceptions import collected
from jointclust.numerics.linalg import project_simplex
from jointclust_papers import shipped
from jointclust_papers.lab import STARTS
from jointclust_papers.theory import RIDGES, SETS, fitted, given

# Other solutions that ours is compared with, and the relative difference that is rounding.
OTHERS, SMALL = 1000, 1e-8
STORED = Path(shipped.__file__).parent / "theory.csv"


def onehot(labels):
    return np.eye(int(labels.max()) + 1)[labels]


def apart(A, B):
    """The difference of two sides, as a share of the larger one."""
    size = max(float(np.linalg.norm(A)), float(np.linalg.norm(B)), 1e-300)
    return float(np.linalg.norm(np.subtract(A, B))) / size


def angle(A, B):
    """The largest principal angle between the spans of two matrices, as its sine."""
    return float(np.sin(scipy.linalg.subspace_angles(A, B)[0]))


def top(matrix, n):
    """Eigenvectors of the n largest eigenvalues."""
    return np.linalg.eigh(matrix)[1][:, ::-1][:, :n]


def scatters(X, labels):
    """``S_t``, ``S_w`` and ``S_b`` by their definitions, class by class."""
    mean = X.mean(axis=0)
    within, between = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
    for k in np.unique(labels):
        own = X[labels == k]
        centre = own.mean(axis=0)
        within += (own - centre).T @ (own - centre)
        between += len(own) * np.outer(centre - mean, centre - mean)
    return (X - mean).T @ (X - mean), within, between


def orthonormal(A):
    """A basis of the columns."""
    return np.linalg.qr(A)[0]


def others(best, rng):
    """Orthonormal matrices far from ours and near to it."""
    for index in range(OTHERS):
        size = 10.0 ** -(index % 6)
        yield orthonormal(
            best + size * rng.standard_normal(best.shape) if index % 2 else rng.standard_normal(best.shape)
        )


def unbeaten(ours, values):
    """How far the largest of other values is above ours, as a share: not above 0 where ours is the maximum."""
    return (max(values) - ours) / max(abs(ours), 1e-300)


# -- DEC --------------------------------------------------------------------------------------------------------


def proposition1(X, y):
    rng, c = np.random.RandomState(0), int(y.max()) + 1
    total, within, _ = scatters(X, y)
    d, trade_off = c - 1, 3.0
    Q = top(total - trade_off * within, d)
    means = np.array([X[y == k].mean(axis=0) for k in range(c)])

    def objective(Q, G, labels):
        Y = (X - X.mean(axis=0)) @ Q
        return float(np.sum(Y**2) - trade_off * np.sum((Y - G[labels]) ** 2))

    centred = means - X.mean(axis=0)
    worst = unbeaten(objective(Q, centred @ Q, y), (objective(P, centred @ P, y) for P in others(Q, rng)))
    G = centred @ Q
    nearest = np.argmin((((X - X.mean(axis=0)) @ Q)[:, None] - G) ** 2 @ np.ones(d), axis=1)
    moved = (
        np.where(rng.random_sample(len(y)) < 10.0 ** -(i % 4), rng.randint(c, size=len(y)), nearest)
        for i in range(OTHERS)
    )
    return max(worst, unbeaten(objective(Q, G, nearest), (objective(Q, G, labels) for labels in moved)))


def equation28(X, y):
    total, within, between = scatters(X, y)
    return max(
        max(
            apart(total - a * within, (1 - a) * total + a * between),
            apart(total - a * within, between + (1 - a) * within),
        )
        for a in (0.5, 1.0, 2.0, 6.0, 26.0)
    )


def reformulated(X, y):
    """Equations 4 to 9, 12 to 15 and 19 to 22: sums over clusters, and the same as traces and norms."""
    rng, F = np.random.RandomState(0), onehot(y)
    C, sizes = X - X.mean(axis=0), F.sum(axis=0)
    total, within, between = scatters(X, y)
    Q = orthonormal(rng.standard_normal((X.shape[1], 3)))
    G = rng.standard_normal((3, F.shape[1]))
    Y, means = C @ Q, (F.T @ C / sizes[:, None]) @ Q
    gaps = [
        apart(np.sum(sizes * np.sum(means**2, axis=1)), np.trace(Q.T @ between @ Q)),
        apart(np.sum((Y - means[y]) ** 2), np.trace(Q.T @ within @ Q)),
        apart(
            np.sum([np.sum((Y[y == k] - G[:, k]) ** 2) for k in range(F.shape[1])]),
            float(np.linalg.norm(Y.T - G @ F.T) ** 2),
        ),
    ]
    for trade_off in (0.5, 1.0, 6.0):
        inserted = np.trace(Q.T @ total @ Q) - trade_off * np.linalg.norm(Y.T - means.T @ F.T) ** 2
        matrix = total - trade_off * C.T @ C + trade_off * C.T @ F @ np.diag(1 / sizes) @ F.T @ C
        gaps.append(apart(inserted, np.trace(Q.T @ matrix @ Q)))
    return max(gaps)


def attention(X, y):
    """How far the share of the scatter that stays within clusters ever rises with lambda, as a share of the total."""
    total, within, _ = scatters(X, y)
    d = max(int(y.max()), 1)
    kept = [top(total - trade_off * within, d) for trade_off in (0.0, 0.5, 1.0, 2.0, 6.0, 11.0, 26.0)]
    return float(np.max(np.diff([np.trace(Q.T @ within @ Q) for Q in kept]))) / float(np.trace(total))


def special(X, y, trade_off, matrix):
    """The angle between DEC's subspace and that of a special case; one dimension fewer than S_b has."""
    total, within, between = scatters(X, y)
    d = max(int(y.max()) - 1, 1)
    return angle(top(total - trade_off * within, d), top(matrix(total, within, between), d))


# -- EC ---------------------------------------------------------------------------------------------------------


def least_squares(X, y):
    """Equations 3 to 5."""
    rng, F = np.random.RandomState(0), onehot(y)
    n, d = X.shape
    total, within, between = scatters(X, y)
    A_w, A_t = F @ np.diag(1 / F.sum(axis=0)) @ F.T, np.full((n, n), 1 / n)
    W = orthonormal(rng.standard_normal((d, min(3, d))))
    return max(
        apart(A_w @ A_w, A_w),
        apart(A_t @ A_t, A_t),
        apart(np.sum((W.T @ X.T - W.T @ X.T @ A_w) ** 2), np.trace(W.T @ within @ W)),
        apart(np.sum((W.T @ X.T - W.T @ X.T @ A_t) ** 2), np.trace(W.T @ total @ W)),
        apart(X.T @ (A_w - A_t) @ X, between),
    )


def equation7(X, y):
    n, F = len(X), onehot(y)
    H, P = np.eye(n) - 1 / n, F @ np.diag(1 / F.sum(axis=0)) @ F.T
    _, within, between = scatters(X, y)
    W = orthonormal(np.random.RandomState(0).standard_normal((X.shape[1], 3)))
    left = np.sum((W.T @ X.T @ H @ (np.eye(n) - P)) ** 2)
    return max(apart(X.T @ H @ P @ H @ X, between), apart(left, np.trace(W.T @ within @ W)))


def theorem1_ec(X, y):
    """OLSDA's objective, and the inertia of k-means whose labels are given."""
    _, within, _ = scatters(X, y)
    W = top(-within, 2)
    T = (X - X.mean(axis=0)) @ W
    inertia = sum(np.sum((T[y == k] - T[y == k].mean(axis=0)) ** 2) for k in np.unique(y))
    return apart(np.trace(W.T @ within @ W), inertia)


def weighted(X, y, part):
    """Whether centroids, W and labels of the re-weighted problem are beaten by others; weights at random."""
    rng, F = np.random.RandomState(0), onehot(y)
    C, weights = X - X.mean(axis=0), rng.uniform(0.1, 10, len(X))
    centers = (F.T * weights) @ C / (F.T @ weights)[:, None]
    residual = C - centers[y]
    matrix = (residual.T * weights) @ residual
    k = max(X.shape[1] // 2, 1)
    W = top(-matrix, k)

    def loss(W, G, labels):
        return -float(np.sum(weights * np.sum((C @ W - G[labels]) ** 2, axis=1)))

    G = centers @ W
    if part == "centroids":
        spread = np.abs(G).max()
        near_by = (loss(W, G + spread * 10.0 ** -(i % 6) * rng.standard_normal(G.shape), y) for i in range(OTHERS))
        return unbeaten(loss(W, G, y), near_by)
    if part == "W":
        return unbeaten(loss(W, G, y), (loss(V, centers @ V, y) for V in others(W, rng)))
    nearest = np.argmin(((C @ W)[:, None] - G) ** 2 @ np.ones(k), axis=1)
    moves = ((i, k) for i in range(len(y)) for k in range(len(G)))
    return unbeaten(loss(W, G, nearest), (loss(W, G, np.where(np.arange(len(y)) == i, k, nearest)) for i, k in moves))


# -- ODC --------------------------------------------------------------------------------------------------------


def scoring(X, y):
    """The example of section 2.1: rows l of Theta' hold zeros, one positive number and equal negative ones."""
    sizes = np.bincount(y).astype(float)
    c, n = len(sizes), len(y)
    theta = np.zeros((c, c - 1))
    for level in range(c - 1):
        rest, after = sizes[level:].sum(), sizes[level + 1 :].sum()
        theta[level, level] = np.sqrt(after / (rest * sizes[level]))
        theta[level + 1 :, level] = -np.sqrt(sizes[level] / (rest * after))
    Y = onehot(y) @ theta
    return max(
        apart(theta @ theta.T, np.diag(1 / sizes) - 1 / n),
        apart(Y.T @ Y, np.eye(c - 1)),
        float(np.abs(Y.sum(axis=0)).max()),
    )


def smoother(X, ridge):
    """``HX(X'HX + ridge I)^-1 X'H``."""
    C = X - X.mean(axis=0)
    return C @ np.linalg.pinv(C.T @ C + ridge * np.eye(X.shape[1]), hermitian=True) @ C.T


def theorem1_odc(X, y):
    """Random Theta with Theta'Pi Theta = I and pi'Theta = 0, near and far: none has a lower objective."""
    rng, sizes, F = np.random.RandomState(0), np.bincount(y).astype(float), onehot(y)
    root, c = np.sqrt(sizes), len(sizes)
    worst = -np.inf
    for ridge in RIDGES:
        R = (F / root).T @ smoother(X, ridge) @ (F / root)
        plane = scipy.linalg.null_space(root[None])
        best = plane @ top(plane.T @ R @ plane, c - 1)
        value = partial(fit_of, X, ridge)
        values = (value(F @ (plane @ Q / root[:, None])) for Q in others(plane.T @ best, rng))
        worst = max(worst, unbeaten(value(F @ (best / root[:, None])), values))
    return worst


def fit_of(X, ridge, Y):
    """Minus problem 2's objective at the best W for scores Y."""
    C = X - X.mean(axis=0)
    W = np.linalg.lstsq(
        np.r_[C, np.sqrt(ridge) * np.eye(X.shape[1])], np.r_[Y, np.zeros((X.shape[1], Y.shape[1]))], rcond=None
    )[0]
    return -0.5 * float(np.sum((Y - C @ W) ** 2) + ridge * np.sum(W**2))


def lda(X, y):
    """Eigenvalues of penalised LDA, and those of ``Theta'E'HXW``."""
    total, _, between = scatters(X, y)
    sizes, F = np.bincount(y).astype(float), onehot(y)
    gaps = []
    for ridge in RIDGES:
        penalised = total + ridge * np.eye(len(total))
        values = scipy.linalg.eigh(between, penalised, eigvals_only=True)[::-1][: len(sizes) - 1]
        plane = scipy.linalg.null_space(np.sqrt(sizes)[None]) / np.sqrt(sizes)[:, None]
        scores = (X - X.mean(axis=0)).T @ F @ plane
        own = np.linalg.eigvalsh(scores.T @ np.linalg.solve(penalised, scores))[::-1]
        k = min(len(values), len(own))
        gaps.append(apart(values[:k], own[:k]))
    return max(gaps)


def theorem2(X, y):
    rng, q = np.random.RandomState(0), int(y.max())
    worst = -np.inf
    for ridge in RIDGES:
        S = smoother(X, ridge)
        Y = top(S, q)
        value = lambda Y, S=S: -0.5 * (Y.shape[1] - float(np.sum(Y * (S @ Y))))  # noqa: E731  at the best W
        shifted = (orthonormal(Q - Q.mean(axis=0)) for Q in others(Y, rng))
        worst = max(worst, unbeaten(value(Y), (value(Q) for Q in shifted)), apart(value(Y), fit_of(X, ridge, Y)))
    return worst


def eigenvalues(X, y):
    """How far eigenvalues are outside 0 to 1, and without a ridge from both ends."""
    with_ridge = np.concatenate([np.linalg.eigvalsh(smoother(X, ridge)) for ridge in RIDGES])
    without = np.linalg.eigvalsh(smoother(X, 0.0))
    outside = np.maximum(-with_ridge, with_ridge - 1).max()
    return float(max(outside, np.minimum(np.abs(without), np.abs(1 - without)).max()))


def minimum(X, y):
    """The minimum without a ridge, for all features and for rows of low rank."""
    q, C = max(int(y.max()), 3), X - X.mean(axis=0)
    U, s, V = np.linalg.svd(C, full_matrices=False)
    gaps = []
    for rank in (1, 2, int(np.sum(s > 1e-9 * s[0]))):
        rows = (U[:, :rank] * s[:rank]) @ V[:rank]
        Y = top(smoother(rows, 0.0), q)
        value = 0.5 * (q - float(np.sum(Y * (smoother(rows, 0.0) @ Y))))
        gaps.append(abs(value - max(q - rank, 0) / 2))
    return max(gaps)


def kernel_features(X, kernel):
    """Rows whose products are the kernel."""
    if kernel == "linear":
        return X
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=1.0 / X.shape[1]))
    kept = values > 1e-9 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def kernel(X, y):
    n, gaps = len(X), []
    H = np.eye(n) - 1 / n
    for kernel in ("linear", "rbf"):
        features = kernel_features(X, kernel)
        K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=1.0 / X.shape[1])
        C = H @ K @ H
        for ridge in (1.0, 100.0):
            S = C @ np.linalg.inv(C + ridge * np.eye(n))
            explicit = smoother(features, ridge)
            Y = top(explicit, int(y.max()))
            gaps += [apart(S, explicit), apart(S @ Y, explicit @ Y)]
    return max(gaps)


def spectral(X, y):
    q, C = int(y.max()), X - X.mean(axis=0)
    q = min(q, X.shape[1] - 1)
    return max(angle(top(smoother(X, ridge), q), top(C @ C.T, q)) for ridge in RIDGES)


def pca(X, y):
    """The angle between the span of W and that of PCA's leading directions."""
    q, C = min(int(y.max()), X.shape[1] - 1), X - X.mean(axis=0)
    gaps = []
    for ridge in RIDGES:
        Y = top(smoother(X, ridge), q)
        W = np.linalg.solve(C.T @ C + ridge * np.eye(X.shape[1]), C.T @ Y)
        gaps.append(angle(W, top(C.T @ C, q)))
    return max(gaps)


def relaxed_solution(features, q, ridge, rng):
    """Scores Y that solve problem 3 with M in the span of the rows, by turns from a random start, and its value.

    For given Y the best M holds generalised eigenvectors; for given M the best Y holds eigenvectors of what M leaves.
    """
    X = features - features.mean(axis=0)
    total = scipy.linalg.cho_factor(X.T @ X + ridge * np.eye(X.shape[1]))
    Y = np.linalg.qr(rng.standard_normal((len(X), q)))[0]
    for _ in range(20_000):
        image = X.T @ Y
        M = scipy.linalg.cho_solve(total, image)  # spans the generalised eigenvectors; M'(total)M = image'M
        scaled = X @ M @ scipy.linalg.inv(scipy.linalg.cholesky(image.T @ M))
        left, singular, _ = np.linalg.svd(scaled, full_matrices=False)
        before, Y, value = Y, left[:, :q], float(np.sum(singular**2))
        if np.linalg.norm(Y - before @ (before.T @ Y)) < 1e-10:
            break
    return Y, value


def within(Y, basis):
    """``tr(Y'CC+Y)``, with an orthonormal basis of the range of C: q for scores within it, less for others."""
    return float(np.sum((basis.T @ Y) ** 2))


def theorem3_odc(X, y, *, ridged):
    """The angle to the leading eigenvectors of the centred kernel with a ridge, the gap of the value without one."""
    q, worst = int(y.max()), 0.0
    for kernel in ("linear", "rbf"):
        features = kernel_features(X[:150], kernel)
        features = features - features.mean(axis=0)
        left, s, _ = np.linalg.svd(features, full_matrices=False)
        kept = s > 1e-9 * s[0]
        q = min(q, int(kept.sum()) - 1)
        rng = np.random.RandomState(0)
        for ridge in (0.1, 1.0, 10.0) if ridged else ():
            Y, _ = relaxed_solution(features, q, ridge * float(np.mean(s**2)), rng)
            worst = max(worst, angle(Y, left[:, :q]))
        if not ridged:
            Y, _ = relaxed_solution(left[:, kept] * s[kept], q, 0.0, rng)
            worst = max(worst, abs(1 - within(Y, left[:, kept]) / q))
    return worst


def sparse(X, y):
    """The angle between sparse ODC without a penalty and ODC; more than rounding where a penalty leaves no zeros."""
    c = int(y.max()) + 1
    with collected():
        dense = jc.OptimalDiscriminantClustering(c, ridge=1.0, random_state=0).fit(X)
        none = jc.SparseOptimalDiscriminantClustering(c, ridge=1.0, sparsity=0.0, random_state=0).fit(X)
        some = jc.SparseOptimalDiscriminantClustering(c, ridge=1.0, sparsity=0.5, random_state=0).fit(X)
    zeros = float(np.mean(some.components_ == 0))
    return angle(dense.components_.T, none.components_.T) if zeros > 0 else 1.0


# -- RURR-SL ----------------------------------------------------------------------------------------------------


def ridge_objective(X, W, e, Y, ridge):
    """``|XW + 1e' - Y|^2 + ridge |W|^2``: equation 2."""
    return float(np.sum((X @ W + e - Y) ** 2) + ridge * np.sum(W**2))


def regressed(X, Y, ridge):
    """The W and e that minimise it for labels Y."""
    centred = X - X.mean(axis=0)
    W = np.linalg.solve(centred.T @ centred + ridge * np.eye(X.shape[1]), centred.T @ Y)
    return W, Y.mean(axis=0) - X.mean(axis=0) @ W


def trivial(X, y):
    """The objective of the trivial solution, or 1 where k-means' labels have none above it."""
    one = np.eye(int(y.max()) + 1)
    labels = KMeans(len(one), n_init=STARTS, random_state=0).fit(X).labels_
    gaps = []
    for ridge in RIDGES:
        nothing = ridge_objective(X, np.zeros((X.shape[1], len(one))), one[0], one[np.zeros(len(X), dtype=int)], ridge)
        theirs = ridge_objective(X, *regressed(X, one[labels], ridge), one[labels], ridge)
        gaps.append(nothing if theirs > nothing else 1.0)
    return max(gaps)


def rank(X, y):
    """How many columns of Z are missing."""
    ranks = [np.linalg.matrix_rank(fitted(X, y, ridge).components_, tol=1e-10) for ridge in RIDGES]
    return float(max(int(y.max()) + 1 - rank for rank in ranks))


def theorem1_rurr(X, y):
    rng, c = np.random.RandomState(0), int(y.max()) + 1
    worst = -np.inf
    for _ in range(3):
        M = (X - X.mean(axis=0)).T @ rng.dirichlet(np.ones(c), len(X))
        U, s, V = np.linalg.svd(M, full_matrices=False)
        Q = U @ V
        worst = max(worst, unbeaten(float(np.sum(s)), (float(np.sum(P * M)) for P in others(Q, rng))))
    return worst


def theorem3_rurr(X, y):
    """Projection on the simplex of rows shifted by the l1 weight, which is a constant there."""
    rows = np.random.RandomState(0).standard_normal((50, 5))
    return max(apart(project_simplex(rows, 0.5), project_simplex(rows - zeta, 0.5)) for zeta in (0.1, 1.0, 10.0))


def positive(X, y):
    """With fewer rows than features: the least eigenvalue of S_t, and how far that of S_t + lambda I is from lambda."""
    few = X[:: len(X) // 3][: min(3, X.shape[1] - 1)]
    total = (few - few.mean(axis=0)).T @ (few - few.mean(axis=0))
    identity = np.eye(len(total))
    least = [abs(np.linalg.eigvalsh(total)[0])]
    least += [abs(np.linalg.eigvalsh(total + ridge * identity)[0] - ridge) / ridge for ridge in RIDGES]
    return float(max(least))


def rescaled(X, y):
    """Equation 4 at W = Z / alpha, times alpha squared, and equation 5 at Z; random Z, b, Y."""
    rng, c, gaps = np.random.RandomState(0), int(y.max()) + 1, []
    for alpha in (0.1, 0.5, 2.0):
        Z, b = rng.standard_normal((X.shape[1], c)), rng.standard_normal(c)
        Y = rng.dirichlet(np.ones(c), len(X))
        for ridge in RIDGES:
            fourth = ridge_objective(X, Z / alpha, b / alpha, Y, ridge)
            gaps.append(apart(alpha**2 * fourth, ridge_objective(X, Z, b, alpha * Y, ridge)))
    return max(gaps)


def soft_labels(X, y):
    """Equations 7 to 20: Newton's root gives the rows of Y, and no others on the simplex are nearer to V."""
    rng, c, alpha = np.random.RandomState(0), int(y.max()) + 1, 0.7
    V = rng.standard_normal((100, c))
    p = V + (alpha - V.sum(axis=1, keepdims=True)) / c
    root = np.zeros((len(p), 1))
    for _ in range(100):
        value = np.maximum(root - p, 0).sum(axis=1, keepdims=True) / c - root
        root = root - value / (np.mean(root > p, axis=1, keepdims=True) - 1)
    Y = np.maximum(p - root, 0)
    ours = -float(np.sum((V - Y) ** 2))
    rows = (rng.dirichlet(np.ones(c), len(V)) for _ in range(OTHERS))
    moved = (
        Y + 10.0 ** -(i % 6) * (alpha * one - Y) for i, one in enumerate(rows)
    )  # between ours and another row of the simplex
    worst = unbeaten(ours, (-float(np.sum((V - one) ** 2)) for one in moved))
    return max(worst, apart(Y, project_simplex(V, alpha)))


def alpha_and_bias(X, y):
    """Equations 22 to 25: other b and alpha, near and far, are never better."""
    rng, c = np.random.RandomState(0), int(y.max()) + 1
    Y, Z = rng.dirichlet(np.ones(c), len(X)), rng.standard_normal((X.shape[1], c))
    C = X - X.mean(axis=0)
    alpha = float(np.sum(Z * (C.T @ Y)) / np.sum((Y - Y.mean(axis=0)) ** 2))
    b = alpha * Y.mean(axis=0) - X.mean(axis=0) @ Z

    def loss(alpha, b):
        return -float(np.sum((X @ Z + b - alpha * Y) ** 2))

    steps = (10.0 ** -(i % 6) for i in range(OTHERS))
    near_by = (loss(alpha + s * rng.standard_normal(), b + s * rng.standard_normal(c)) for s in steps)
    return unbeaten(loss(alpha, b), near_by)


def constraints(X, y):
    """``|W|^2`` under the orthogonal constraint, which is c / alpha squared whatever W."""
    rng, c = np.random.RandomState(0), min(int(y.max()) + 1, X.shape[1])
    values = [
        np.sum((orthonormal(rng.standard_normal((X.shape[1], c))) / alpha) ** 2) * alpha**2 for alpha in (0.1, 1.0, 5.0)
    ]
    return max(apart(float(value), float(c)) for value in values)


def full_rank(X, y):
    """How many columns of the soft labels are missing."""
    ranks = [np.linalg.matrix_rank(fitted(X, y, ridge).soft_labels_, tol=1e-8) for ridge in RIDGES]
    return float(max(int(y.max()) + 1 - rank for rank in ranks))


STATEMENTS = {
    "dec-prop1": proposition1,
    "dec-eq9": reformulated,
    "dec-eq28": equation28,
    "dec-attention": attention,
    "dec-ex1": partial(special, trade_off=1e-9, matrix=lambda t, w, b: t),
    "dec-ex2": partial(special, trade_off=1.0, matrix=lambda t, w, b: b),
    "dec-ex3": partial(special, trade_off=2.0, matrix=lambda t, w, b: b - w),
    "dec-ex4": partial(special, trade_off=1e9, matrix=lambda t, w, b: -w),
    "ec-eq5": least_squares,
    "ec-eq7": equation7,
    "ec-theorem1": theorem1_ec,
    "ec-centroids": partial(weighted, part="centroids"),
    "ec-eq17": partial(weighted, part="W"),
    "ec-labels": partial(weighted, part="labels"),
    "odc-scoring": scoring,
    "odc-theorem1": theorem1_odc,
    "odc-lda": lda,
    "odc-theorem2": theorem2,
    "odc-eigenvalues": eigenvalues,
    "odc-minimum": minimum,
    "odc-kernel": kernel,
    "odc-spectral": spectral,
    "odc-pca": pca,
    "odc-theorem3i": partial(theorem3_odc, ridged=False),
    "odc-theorem3ii": partial(theorem3_odc, ridged=True),
    "odc-sparse": sparse,
    "rurr-trivial": trivial,
    "rurr-constraint": constraints,
    "rurr-positive": positive,
    "rurr-eq5": rescaled,
    "rurr-labels": soft_labels,
    "rurr-eq25": alpha_and_bias,
    "rurr-full-rank": full_rank,
    "rurr-theorem1": theorem1_rurr,
    "rurr-theorem3": theorem3_rurr,
    "rurr-theorem4": rank,
}
# What comes out of iterations, or of a limit, is not as sharp as an identity.
LIMITS = {
    "dec-ex1": 1e-5,
    "dec-ex4": 1e-5,
    "odc-kernel": 1e-6,
    "odc-theorem3i": 1e-6,
    "odc-theorem3ii": 1e-5,
    "odc-sparse": 1e-3,
}


def limit(claim):
    return max(LIMITS.get(claim, 0), SMALL)


@cache
def rows():
    return given()


@pytest.mark.parametrize("claim", STATEMENTS)
def test_a_statement_holds(claim, monkeypatch):
    monkeypatch.setitem(globals(), "OTHERS", 60)
    assert STATEMENTS[claim](*rows()["iris"]) < limit(claim)


def test_a_wrong_statement_does_not_hold():
    assert special(*rows()["iris"], trade_off=2.0, matrix=lambda t, w, b: b) > limit("dec-ex2")


@pytest.mark.slow
def test_statements_hold_on_every_set():
    """After a change that is meant: JOINTCLUST_WRITE_THEORY=1 pytest -m slow papers/tests/test_theory.py."""
    differences = {(claim, name): statement(*rows()[name]) for claim, statement in STATEMENTS.items() for name in SETS}
    for (claim, name), difference in differences.items():
        assert difference < limit(claim), (claim, name)
    if os.environ.get("JOINTCLUST_WRITE_THEORY"):
        lines = [f"{claim},{name},{value:.4g},{limit(claim):g}" for (claim, name), value in differences.items()]
        STORED.write_text("\n".join(["claim,dataset,difference,limit", *lines, ""]))


def test_every_statement_is_stored():
    stored = {(row["claim"], row["dataset"]): float(row["limit"]) for row in shipped.rows("theory.csv")}
    assert stored == {(claim, name): limit(claim) for claim in STATEMENTS for name in SETS}


def test_theorem3_without_a_ridge_ends_within_the_range_of_the_kernel():
    """Random scores are partly outside of it, and have less than the largest value, 2."""
    X = rows()["iris"][0][:60]
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    C = (left * singular**2) @ left.T
    start = np.linalg.qr(np.random.RandomState(1).standard_normal((60, 2)))[0]
    Y, value = relaxed_solution(left * singular, 2, 0.0, np.random.RandomState(1))
    for scores in (start, Y):
        naive = np.trace(scores.T @ C @ np.linalg.pinv(C, rcond=1e-10, hermitian=True) @ scores)
        assert within(scores, left) == pytest.approx(naive)
    assert within(start, left) < 1.5
    assert within(Y, left) == pytest.approx(value) == pytest.approx(2)
