"""Propositions, theorems and equations of the four papers, tested by numbers: both sides, or ours beside others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

from jointclust.exceptions import collected
from jointclust.methods.scoring import OptimalDiscriminantClustering
from jointclust.methods.sparse_scoring import SparseOptimalDiscriminantClustering
from jointclust_papers.claims import claims_of
from jointclust_papers.findings import Findings, Part, Reading, ahead, fact, near
from jointclust_papers.lab import STARTS, Lab, standardised
from jointclust_papers.textbook import ECFromTen, RidgeFromTen

# They come with scikit-learn, so that anyone can look.
SETS = {"iris": 150, "wine": 178, "digits": 300}
RIDGES = (0.01, 1.0, 100.0)
# Other solutions that ours is compared with, and the relative difference that is rounding.
OTHERS, _SMALL = 1000, 1e-8

Given = tuple[NDArray, NDArray]


def _onehot(labels: NDArray) -> NDArray:
    return np.eye(int(labels.max()) + 1)[labels]


def _apart(A: NDArray | float, B: NDArray | float) -> float:
    """The difference of two sides, as a share of the larger one."""
    size = max(float(np.linalg.norm(A)), float(np.linalg.norm(B)), 1e-300)
    return float(np.linalg.norm(np.subtract(A, B))) / size


def angle(A: NDArray, B: NDArray) -> float:
    """The largest principal angle between the spans of two matrices, as its sine."""
    return float(np.sin(scipy.linalg.subspace_angles(A, B)[0]))


def top(matrix: NDArray, n: int) -> NDArray:
    """Eigenvectors of the n largest eigenvalues."""
    return np.linalg.eigh(matrix)[1][:, ::-1][:, :n]


def scatters(X: NDArray, labels: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """``S_t``, ``S_w`` and ``S_b`` by their definitions, class by class."""
    mean = X.mean(axis=0)
    within, between = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
    for k in np.unique(labels):
        own = X[labels == k]
        centre = own.mean(axis=0)
        within += (own - centre).T @ (own - centre)
        between += len(own) * np.outer(centre - mean, centre - mean)
    return (X - mean).T @ (X - mean), within, between


def orthonormal(A: NDArray) -> NDArray:
    """A basis of the columns."""
    return np.linalg.qr(A)[0]


def others(best: NDArray, rng: np.random.RandomState) -> Iterator[NDArray]:
    """Orthonormal matrices far from ours and near to it."""
    for index in range(OTHERS):
        size = 10.0 ** -(index % 6)
        yield orthonormal(
            best + size * rng.standard_normal(best.shape) if index % 2 else rng.standard_normal(best.shape)
        )


def unbeaten(ours: float, values: Iterator[float]) -> float:
    """How far the largest of other values is above ours, as a share: not above 0 where ours is the maximum."""
    return (max(values) - ours) / max(abs(ours), 1e-300)


# -- DEC --------------------------------------------------------------------------------------------------------


def _proposition1(X: NDArray, y: NDArray) -> float:
    rng, c = np.random.RandomState(0), int(y.max()) + 1
    total, within, _ = scatters(X, y)
    d, trade_off = c - 1, 3.0
    Q = top(total - trade_off * within, d)
    means = np.array([X[y == k].mean(axis=0) for k in range(c)])

    def objective(Q: NDArray, G: NDArray, labels: NDArray) -> float:
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


def _equation28(X: NDArray, y: NDArray) -> float:
    total, within, between = scatters(X, y)
    return max(
        max(
            _apart(total - a * within, (1 - a) * total + a * between),
            _apart(total - a * within, between + (1 - a) * within),
        )
        for a in (0.5, 1.0, 2.0, 6.0, 26.0)
    )


def _reformulated(X: NDArray, y: NDArray) -> float:
    """Equations 4 to 9, 12 to 15 and 19 to 22: sums over clusters, and the same as traces and norms."""
    rng, F = np.random.RandomState(0), _onehot(y)
    C, sizes = X - X.mean(axis=0), F.sum(axis=0)
    total, within, between = scatters(X, y)
    Q = orthonormal(rng.standard_normal((X.shape[1], 3)))
    G = rng.standard_normal((3, F.shape[1]))
    Y, means = C @ Q, (F.T @ C / sizes[:, None]) @ Q
    gaps = [
        _apart(np.sum(sizes * np.sum(means**2, axis=1)), np.trace(Q.T @ between @ Q)),
        _apart(np.sum((Y - means[y]) ** 2), np.trace(Q.T @ within @ Q)),
        _apart(
            np.sum([np.sum((Y[y == k] - G[:, k]) ** 2) for k in range(F.shape[1])]),
            float(np.linalg.norm(Y.T - G @ F.T) ** 2),
        ),
    ]
    for trade_off in (0.5, 1.0, 6.0):
        inserted = np.trace(Q.T @ total @ Q) - trade_off * np.linalg.norm(Y.T - means.T @ F.T) ** 2
        matrix = total - trade_off * C.T @ C + trade_off * C.T @ F @ np.diag(1 / sizes) @ F.T @ C
        gaps.append(_apart(inserted, np.trace(Q.T @ matrix @ Q)))
    return max(gaps)


def _attention(X: NDArray, y: NDArray) -> float:
    """How far the share of the scatter that stays within clusters ever rises with lambda, as a share of the total."""
    total, within, _ = scatters(X, y)
    d = max(int(y.max()), 1)
    kept = [top(total - trade_off * within, d) for trade_off in (0.0, 0.5, 1.0, 2.0, 6.0, 11.0, 26.0)]
    return float(np.max(np.diff([np.trace(Q.T @ within @ Q) for Q in kept]))) / float(np.trace(total))


def _special(X: NDArray, y: NDArray, trade_off: float, matrix: Callable[..., NDArray]) -> float:
    """The angle between DEC's subspace and that of a special case; one dimension fewer than S_b has."""
    total, within, between = scatters(X, y)
    d = max(int(y.max()) - 1, 1)
    return angle(top(total - trade_off * within, d), top(matrix(total, within, between), d))


def _seconds(run: Callable[[], Any]) -> float:
    """CPU seconds, the least of three."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        run()
        taken.append(time.process_time() - began)
    return min(taken)


def _slope(times: list[float]) -> float:
    """The exponent of a size that is doubled from one time to the next."""
    return float(np.polyfit(np.arange(len(times)), np.log2(times), 1)[0])


def exponents() -> dict[str, tuple[float, float]]:
    """How CPU time grows when a size is doubled: measured and printed."""
    rng = np.random.RandomState(0)

    def lloyd(n: int, D: int, c: int) -> float:
        X, G = rng.standard_normal((n, D)), rng.standard_normal((c, D))
        # Distances one centre at a time, as a naive step has them.
        return _seconds(lambda: np.argmin([np.sum((X - g) ** 2, axis=1) for g in G], axis=0))

    def step(n: int, D: int) -> float:
        X = rng.standard_normal((n, D))
        return _seconds(lambda: np.linalg.eigh(X.T @ X))

    return {
        "k-means, n": (_slope([lloyd(n, 100, 20) for n in (4000, 8000, 16000)]), 1.0),
        "k-means, D": (_slope([lloyd(4000, D, 20) for D in (100, 200, 400)]), 1.0),
        "k-means, c": (_slope([lloyd(4000, 100, c) for c in (20, 40, 80)]), 1.0),
        "iterative step, D (D > n)": (_slope([step(100, D) for D in (250, 500, 1000)]), 2.0),
    }


def eigen_share() -> list[Part]:
    """Time of the eigendecomposition over that of the slower other step, at the sizes of table III."""
    rng, parts = np.random.RandomState(0), []
    for name, (n, D, c, d) in {"umist": (575, 644, 20, 19), "coil": (1440, 1024, 20, 19)}.items():
        X, Y, G = rng.standard_normal((n, D)), rng.standard_normal((n, d)), rng.standard_normal((c, d))
        matrix = X.T @ X
        eigen = _seconds(partial(np.linalg.eigh, matrix))
        assign = _seconds(partial(lambda Y, G: np.argmin([np.sum((Y - g) ** 2, axis=1) for g in G], axis=0), Y, G))
        scatter = _seconds(partial(lambda X: X.T @ X, X))
        ratio = float(np.log(eigen / max(assign, scatter)))
        parts.append(fact(f"sizes of {name}", ratio > 0, ratio))
    return parts


# -- EC ---------------------------------------------------------------------------------------------------------


def _least_squares(X: NDArray, y: NDArray) -> float:
    """Equations 3 to 5."""
    rng, F = np.random.RandomState(0), _onehot(y)
    n, d = X.shape
    total, within, between = scatters(X, y)
    A_w, A_t = F @ np.diag(1 / F.sum(axis=0)) @ F.T, np.full((n, n), 1 / n)
    W = orthonormal(rng.standard_normal((d, min(3, d))))
    return max(
        _apart(A_w @ A_w, A_w),
        _apart(A_t @ A_t, A_t),
        _apart(np.sum((W.T @ X.T - W.T @ X.T @ A_w) ** 2), np.trace(W.T @ within @ W)),
        _apart(np.sum((W.T @ X.T - W.T @ X.T @ A_t) ** 2), np.trace(W.T @ total @ W)),
        _apart(X.T @ (A_w - A_t) @ X, between),
    )


def _equation7(X: NDArray, y: NDArray) -> float:
    n, F = len(X), _onehot(y)
    H, P = np.eye(n) - 1 / n, F @ np.diag(1 / F.sum(axis=0)) @ F.T
    _, within, between = scatters(X, y)
    W = orthonormal(np.random.RandomState(0).standard_normal((X.shape[1], 3)))
    left = np.sum((W.T @ X.T @ H @ (np.eye(n) - P)) ** 2)
    return max(_apart(X.T @ H @ P @ H @ X, between), _apart(left, np.trace(W.T @ within @ W)))


def _theorem1_ec(X: NDArray, y: NDArray) -> float:
    """OLSDA's objective, and the inertia of k-means whose labels are given."""
    _, within, _ = scatters(X, y)
    W = top(-within, 2)
    T = (X - X.mean(axis=0)) @ W
    inertia = sum(np.sum((T[y == k] - T[y == k].mean(axis=0)) ** 2) for k in np.unique(y))
    return _apart(np.trace(W.T @ within @ W), inertia)


def _weighted(X: NDArray, y: NDArray, part: str) -> float:
    """Whether centroids, W and labels of the re-weighted problem are beaten by others; weights at random."""
    rng, F = np.random.RandomState(0), _onehot(y)
    C, weights = X - X.mean(axis=0), rng.uniform(0.1, 10, len(X))
    centers = (F.T * weights) @ C / (F.T @ weights)[:, None]
    residual = C - centers[y]
    matrix = (residual.T * weights) @ residual
    k = max(X.shape[1] // 2, 1)
    W = top(-matrix, k)

    def loss(W: NDArray, G: NDArray, labels: NDArray) -> float:
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


def rises(lab: Lab) -> list[Part]:
    """Algorithm 1 of EC, as printed: runs in which its objective rose."""
    names = lab.find(("orl", "imm", "yale"), stand_ins=("digits",))[0]
    parts = []
    for name in names:
        data = lab.load(name)
        histories = []
        for seed in range(lab.runs(5)):
            with collected():
                model = ECFromTen(data.n_classes, variance=0.9, init="random", random_state=seed).fit(data.data)
            histories.append(model.objective_history_)
        share = float(np.mean([np.any(np.diff(one) > 1e-6 * one[0]) for one in histories]))
        parts.append(fact(f"{name}, share of runs", share == 0, share))
    return parts


# -- ODC --------------------------------------------------------------------------------------------------------


def _scoring(X: NDArray, y: NDArray) -> float:
    """The example of section 2.1: rows l of Theta' hold zeros, one positive number and equal negative ones."""
    sizes = np.bincount(y).astype(float)
    c, n = len(sizes), len(y)
    theta = np.zeros((c, c - 1))
    for level in range(c - 1):
        rest, after = sizes[level:].sum(), sizes[level + 1 :].sum()
        theta[level, level] = np.sqrt(after / (rest * sizes[level]))
        theta[level + 1 :, level] = -np.sqrt(sizes[level] / (rest * after))
    Y = _onehot(y) @ theta
    return max(
        _apart(theta @ theta.T, np.diag(1 / sizes) - 1 / n),
        _apart(Y.T @ Y, np.eye(c - 1)),
        float(np.abs(Y.sum(axis=0)).max()),
    )


def _smoother(X: NDArray, ridge: float) -> NDArray:
    """``HX(X'HX + ridge I)^-1 X'H``."""
    C = X - X.mean(axis=0)
    return C @ np.linalg.pinv(C.T @ C + ridge * np.eye(X.shape[1]), hermitian=True) @ C.T


def _theorem1_odc(X: NDArray, y: NDArray) -> float:
    """Random Theta with Theta'Pi Theta = I and pi'Theta = 0, near and far: none has a lower objective."""
    rng, sizes, F = np.random.RandomState(0), np.bincount(y).astype(float), _onehot(y)
    root, c = np.sqrt(sizes), len(sizes)
    worst = -np.inf
    for ridge in RIDGES:
        R = (F / root).T @ _smoother(X, ridge) @ (F / root)
        plane = scipy.linalg.null_space(root[None])
        best = plane @ top(plane.T @ R @ plane, c - 1)
        value = partial(_fit_of, X, ridge)
        values = (value(F @ (plane @ Q / root[:, None])) for Q in others(plane.T @ best, rng))
        worst = max(worst, unbeaten(value(F @ (best / root[:, None])), values))
    return worst


def _fit_of(X: NDArray, ridge: float, Y: NDArray) -> float:
    """Minus problem 2's objective at the best W for scores Y."""
    C = X - X.mean(axis=0)
    W = np.linalg.lstsq(
        np.r_[C, np.sqrt(ridge) * np.eye(X.shape[1])], np.r_[Y, np.zeros((X.shape[1], Y.shape[1]))], rcond=None
    )[0]
    return -0.5 * float(np.sum((Y - C @ W) ** 2) + ridge * np.sum(W**2))


def _lda(X: NDArray, y: NDArray) -> float:
    """Eigenvalues of penalised LDA, and those of ``Theta'E'HXW``."""
    total, _, between = scatters(X, y)
    sizes, F = np.bincount(y).astype(float), _onehot(y)
    gaps = []
    for ridge in RIDGES:
        penalised = total + ridge * np.eye(len(total))
        values = scipy.linalg.eigh(between, penalised, eigvals_only=True)[::-1][: len(sizes) - 1]
        plane = scipy.linalg.null_space(np.sqrt(sizes)[None]) / np.sqrt(sizes)[:, None]
        scores = (X - X.mean(axis=0)).T @ F @ plane
        own = np.linalg.eigvalsh(scores.T @ np.linalg.solve(penalised, scores))[::-1]
        k = min(len(values), len(own))
        gaps.append(_apart(values[:k], own[:k]))
    return max(gaps)


def _theorem2(X: NDArray, y: NDArray) -> float:
    rng, q = np.random.RandomState(0), int(y.max())
    worst = -np.inf
    for ridge in RIDGES:
        S = _smoother(X, ridge)
        Y = top(S, q)
        value = lambda Y, S=S: -0.5 * (Y.shape[1] - float(np.sum(Y * (S @ Y))))  # noqa: E731  at the best W
        shifted = (orthonormal(Q - Q.mean(axis=0)) for Q in others(Y, rng))
        worst = max(worst, unbeaten(value(Y), (value(Q) for Q in shifted)), _apart(value(Y), _fit_of(X, ridge, Y)))
    return worst


def _eigenvalues(X: NDArray, y: NDArray) -> float:
    """How far eigenvalues are outside 0 to 1, and without a ridge from both ends."""
    with_ridge = np.concatenate([np.linalg.eigvalsh(_smoother(X, ridge)) for ridge in RIDGES])
    without = np.linalg.eigvalsh(_smoother(X, 0.0))
    outside = np.maximum(-with_ridge, with_ridge - 1).max()
    return float(max(outside, np.minimum(np.abs(without), np.abs(1 - without)).max()))


def _minimum(X: NDArray, y: NDArray) -> float:
    """The minimum without a ridge, for all features and for rows of low rank."""
    q, C = max(int(y.max()), 3), X - X.mean(axis=0)
    U, s, V = np.linalg.svd(C, full_matrices=False)
    gaps = []
    for rank in (1, 2, int(np.sum(s > 1e-9 * s[0]))):
        rows = (U[:, :rank] * s[:rank]) @ V[:rank]
        Y = top(_smoother(rows, 0.0), q)
        value = 0.5 * (q - float(np.sum(Y * (_smoother(rows, 0.0) @ Y))))
        gaps.append(abs(value - max(q - rank, 0) / 2))
    return max(gaps)


def kernel_features(X: NDArray, kernel: str) -> NDArray:
    """Rows whose products are the kernel."""
    if kernel == "linear":
        return X
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=1.0 / X.shape[1]))
    kept = values > 1e-9 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _kernel(X: NDArray, y: NDArray) -> float:
    n, gaps = len(X), []
    H = np.eye(n) - 1 / n
    for kernel in ("linear", "rbf"):
        features = kernel_features(X, kernel)
        K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=1.0 / X.shape[1])
        C = H @ K @ H
        for ridge in (1.0, 100.0):
            S = C @ np.linalg.inv(C + ridge * np.eye(n))
            explicit = _smoother(features, ridge)
            Y = top(explicit, int(y.max()))
            gaps += [_apart(S, explicit), _apart(S @ Y, explicit @ Y)]
    return max(gaps)


def _spectral(X: NDArray, y: NDArray) -> float:
    q, C = int(y.max()), X - X.mean(axis=0)
    q = min(q, X.shape[1] - 1)
    return max(angle(top(_smoother(X, ridge), q), top(C @ C.T, q)) for ridge in RIDGES)


def _pca(X: NDArray, y: NDArray) -> float:
    """The angle between the span of W and that of PCA's leading directions."""
    q, C = min(int(y.max()), X.shape[1] - 1), X - X.mean(axis=0)
    gaps = []
    for ridge in RIDGES:
        Y = top(_smoother(X, ridge), q)
        W = np.linalg.solve(C.T @ C + ridge * np.eye(X.shape[1]), C.T @ Y)
        gaps.append(angle(W, top(C.T @ C, q)))
    return max(gaps)


def relaxed_solution(features: NDArray, q: int, ridge: float, rng: np.random.RandomState) -> tuple[NDArray, float]:
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


def within(Y: NDArray, basis: NDArray) -> float:
    """``tr(Y'CC+Y)``, with an orthonormal basis of the range of C: q for scores within it, less for others."""
    return float(np.sum((basis.T @ Y) ** 2))


def _theorem3_odc(X: NDArray, y: NDArray, *, ridged: bool) -> float:
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


def _sparse(X: NDArray, y: NDArray) -> float:
    """The angle between sparse ODC without a penalty and ODC; more than rounding where a penalty leaves no zeros."""
    c = int(y.max()) + 1
    with collected():
        dense = OptimalDiscriminantClustering(c, ridge=1.0, random_state=0).fit(X)
        none = SparseOptimalDiscriminantClustering(c, ridge=1.0, sparsity=0.0, random_state=0).fit(X)
        some = SparseOptimalDiscriminantClustering(c, ridge=1.0, sparsity=0.5, random_state=0).fit(X)
    zeros = float(np.mean(some.components_ == 0))
    return angle(dense.components_.T, none.components_.T) if zeros > 0 else 1.0


# -- RURR-SL ----------------------------------------------------------------------------------------------------


def ridge_objective(X: NDArray, W: NDArray, e: NDArray, Y: NDArray, ridge: float) -> float:
    """``|XW + 1e' - Y|^2 + ridge |W|^2``: equation 2."""
    return float(np.sum((X @ W + e - Y) ** 2) + ridge * np.sum(W**2))


def regressed(X: NDArray, Y: NDArray, ridge: float) -> tuple[NDArray, NDArray]:
    """The W and e that minimise it for labels Y."""
    centred = X - X.mean(axis=0)
    W = np.linalg.solve(centred.T @ centred + ridge * np.eye(X.shape[1]), centred.T @ Y)
    return W, Y.mean(axis=0) - X.mean(axis=0) @ W


def _trivial(X: NDArray, y: NDArray) -> float:
    """The objective of the trivial solution, or 1 where k-means' labels have none above it."""
    one = np.eye(int(y.max()) + 1)
    labels = KMeans(len(one), n_init=STARTS, random_state=0).fit(X).labels_
    gaps = []
    for ridge in RIDGES:
        nothing = ridge_objective(X, np.zeros((X.shape[1], len(one))), one[0], one[np.zeros(len(X), dtype=int)], ridge)
        theirs = ridge_objective(X, *regressed(X, one[labels], ridge), one[labels], ridge)
        gaps.append(nothing if theirs > nothing else 1.0)
    return max(gaps)


def _fitted(X: NDArray, y: NDArray, ridge: float) -> RidgeFromTen:
    with collected():
        return RidgeFromTen(int(y.max()) + 1, ridge=ridge, random_state=0).fit(X)


def _correlation(X: NDArray, y: NDArray, ridge: float) -> float:
    """The largest correlation of two columns of XZ."""
    Z = _fitted(X, y, ridge).components_.T
    correlations = np.corrcoef((X - X.mean(axis=0)) @ Z, rowvar=False)
    return float(np.abs(correlations - np.diag(np.diag(correlations))).max())


def _rank(X: NDArray, y: NDArray) -> float:
    """How many columns of Z are missing."""
    ranks = [np.linalg.matrix_rank(_fitted(X, y, ridge).components_, tol=1e-10) for ridge in RIDGES]
    return float(max(int(y.max()) + 1 - rank for rank in ranks))


def _theorem1_rurr(X: NDArray, y: NDArray) -> float:
    rng, c = np.random.RandomState(0), int(y.max()) + 1
    worst = -np.inf
    for _ in range(3):
        M = (X - X.mean(axis=0)).T @ rng.dirichlet(np.ones(c), len(X))
        U, s, V = np.linalg.svd(M, full_matrices=False)
        Q = U @ V
        worst = max(worst, unbeaten(float(np.sum(s)), (float(np.sum(P * M)) for P in others(Q, rng))))
    return worst


def _theorem3_rurr(X: NDArray, y: NDArray) -> float:
    """Projection on the simplex of rows shifted by the l1 weight, which is a constant there."""
    from jointclust.numerics.linalg import project_simplex

    rows = np.random.RandomState(0).standard_normal((50, 5))
    return max(_apart(project_simplex(rows, 0.5), project_simplex(rows - zeta, 0.5)) for zeta in (0.1, 1.0, 10.0))


def _positive(X: NDArray, y: NDArray) -> float:
    """With fewer rows than features: the least eigenvalue of S_t, and how far that of S_t + lambda I is from lambda."""
    few = X[:: len(X) // 3][: min(3, X.shape[1] - 1)]
    total = (few - few.mean(axis=0)).T @ (few - few.mean(axis=0))
    identity = np.eye(len(total))
    least = [abs(np.linalg.eigvalsh(total)[0])]
    least += [abs(np.linalg.eigvalsh(total + ridge * identity)[0] - ridge) / ridge for ridge in RIDGES]
    return float(max(least))


def _rescaled(X: NDArray, y: NDArray) -> float:
    """Equation 4 at W = Z / alpha, times alpha squared, and equation 5 at Z; random Z, b, Y."""
    rng, c, gaps = np.random.RandomState(0), int(y.max()) + 1, []
    for alpha in (0.1, 0.5, 2.0):
        Z, b = rng.standard_normal((X.shape[1], c)), rng.standard_normal(c)
        Y = rng.dirichlet(np.ones(c), len(X))
        for ridge in RIDGES:
            fourth = ridge_objective(X, Z / alpha, b / alpha, Y, ridge)
            gaps.append(_apart(alpha**2 * fourth, ridge_objective(X, Z, b, alpha * Y, ridge)))
    return max(gaps)


def _soft_labels(X: NDArray, y: NDArray) -> float:
    """Equations 7 to 20: Newton's root gives the rows of Y, and no others on the simplex are nearer to V."""
    from jointclust.numerics.linalg import project_simplex

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
    return max(worst, _apart(Y, project_simplex(V, alpha)))


def _alpha_and_bias(X: NDArray, y: NDArray) -> float:
    """Equations 22 to 25: other b and alpha, near and far, are never better."""
    rng, c = np.random.RandomState(0), int(y.max()) + 1
    Y, Z = rng.dirichlet(np.ones(c), len(X)), rng.standard_normal((X.shape[1], c))
    C = X - X.mean(axis=0)
    alpha = float(np.sum(Z * (C.T @ Y)) / np.sum((Y - Y.mean(axis=0)) ** 2))
    b = alpha * Y.mean(axis=0) - X.mean(axis=0) @ Z

    def loss(alpha: float, b: NDArray) -> float:
        return -float(np.sum((X @ Z + b - alpha * Y) ** 2))

    steps = (10.0 ** -(i % 6) for i in range(OTHERS))
    near_by = (loss(alpha + s * rng.standard_normal(), b + s * rng.standard_normal(c)) for s in steps)
    return unbeaten(loss(alpha, b), near_by)


def _constraints(X: NDArray, y: NDArray) -> float:
    """``|W|^2`` under the orthogonal constraint, which is c / alpha squared whatever W."""
    rng, c = np.random.RandomState(0), min(int(y.max()) + 1, X.shape[1])
    values = [
        np.sum((orthonormal(rng.standard_normal((X.shape[1], c))) / alpha) ** 2) * alpha**2 for alpha in (0.1, 1.0, 5.0)
    ]
    return max(_apart(float(value), float(c)) for value in values)


def _full_rank(X: NDArray, y: NDArray) -> float:
    """How many columns of the soft labels are missing."""
    ranks = [np.linalg.matrix_rank(_fitted(X, y, ridge).soft_labels_, tol=1e-8) for ridge in RIDGES]
    return float(max(int(y.max()) + 1 - rank for rank in ranks))


def step_exponents() -> dict[str, tuple[float, float]]:
    """How CPU time of a naive step of algorithm 1 grows with d and with n: measured and printed."""
    rng = np.random.RandomState(0)

    def step(n: int, d: int) -> float:
        X, Y = rng.standard_normal((d, n)), rng.dirichlet(np.ones(5), n)

        def run() -> NDArray:
            H = np.eye(n) - 1 / n
            XH = X @ H  # O(d n^2)
            values, vectors = np.linalg.eigh(XH @ X.T + np.eye(d))  # O(d^2 n + d^3)
            U, _, V = np.linalg.svd((vectors / np.sqrt(values)) @ (vectors.T @ (XH @ Y)), full_matrices=False)
            return (vectors / np.sqrt(values)) @ (vectors.T @ (U @ V))

        return _seconds(run)

    return {
        "d (d > n)": (_slope([step(50, d) for d in (250, 500, 1000)]), 3.0),
        "n (n > d)": (_slope([step(n, 50) for n in (500, 1000, 2000)]), 2.0),
    }


# -- all of them ------------------------------------------------------------------------------------------------

Test = Callable[[NDArray, NDArray], float]
TESTS: dict[str, Test] = {
    "dec-prop1": _proposition1,
    "dec-eq9": _reformulated,
    "dec-eq28": _equation28,
    "dec-attention": _attention,
    "dec-ex1": partial(_special, trade_off=1e-9, matrix=lambda t, w, b: t),
    "dec-ex2": partial(_special, trade_off=1.0, matrix=lambda t, w, b: b),
    "dec-ex3": partial(_special, trade_off=2.0, matrix=lambda t, w, b: b - w),
    "dec-ex4": partial(_special, trade_off=1e9, matrix=lambda t, w, b: -w),
    "ec-eq5": _least_squares,
    "ec-eq7": _equation7,
    "ec-theorem1": _theorem1_ec,
    "ec-centroids": partial(_weighted, part="centroids"),
    "ec-eq17": partial(_weighted, part="W"),
    "ec-labels": partial(_weighted, part="labels"),
    "odc-scoring": _scoring,
    "odc-theorem1": _theorem1_odc,
    "odc-lda": _lda,
    "odc-theorem2": _theorem2,
    "odc-eigenvalues": _eigenvalues,
    "odc-minimum": _minimum,
    "odc-kernel": _kernel,
    "odc-spectral": _spectral,
    "odc-pca": _pca,
    "odc-theorem3i": partial(_theorem3_odc, ridged=False),
    "odc-theorem3ii": partial(_theorem3_odc, ridged=True),
    "odc-sparse": _sparse,
    "rurr-trivial": _trivial,
    "rurr-constraint": _constraints,
    "rurr-positive": _positive,
    "rurr-eq5": _rescaled,
    "rurr-labels": _soft_labels,
    "rurr-eq25": _alpha_and_bias,
    "rurr-full-rank": _full_rank,
    "rurr-theorem1": _theorem1_rurr,
    "rurr-theorem3": _theorem3_rurr,
    "rurr-theorem4": _rank,
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


def given() -> dict[str, Given]:
    """Standardised rows and classes."""
    lab = Lab()
    by_name = {}
    for name, n in SETS.items():
        data = lab.load(name)
        X = standardised(np.asarray(data.data, dtype=float)[:n])
        by_name[name] = X[:, X.std(axis=0) > 0], np.unique(data.target[:n], return_inverse=True)[1]
    return by_name


def tested(paper: str) -> dict[str, list[Reading]]:
    """The identities of a paper: the difference of both sides, set by set."""
    data = given()
    readings = {}
    for key, test in TESTS.items():
        if key.startswith(f"{paper}-"):
            values = {name: test(*own) for name, own in data.items()}
            limit = max(LIMITS.get(key, 0.0), _SMALL)
            readings[key] = [Reading([fact(name, value < limit, value) for name, value in values.items()])]
    return readings


def theory(lab: Lab, paper: str) -> Findings:
    """What a paper proves or derives."""
    readings = tested(paper)
    if paper == "dec":
        times = exponents()
        readings["dec-complexity"] = [
            Reading([near(name, [ours - printed], 0.35) for name, (ours, printed) in times.items()])
        ]
        readings["dec-eigen"] = [Reading(eigen_share())]
        readings["dec-sizes"] = [Reading(lab.sizes(paper))]
    if paper == "ec":
        readings["ec-converges"] = [Reading(rises(lab))]
    if paper == "rurr":
        # O() is a bound from above: less is no contradiction.
        readings["rurr-complexity"] = [
            Reading([ahead(name, [printed - ours], -0.35) for name, (ours, printed) in step_exponents().items()])
        ]
        data = given()
        readings["rurr-uncorrelated"] = [
            Reading(
                [fact(n, v < 1e-6, v) for n, v in ((n, _correlation(*own, ridge)) for n, own in data.items())],
                f"ridge {ridge:g}",
            )
            for ridge in (1e-9, *RIDGES)
        ]
    claims = claims_of(paper, "theory", readings)
    rows = [
        {"claim": claim.key, "place": claim.place, "dataset": part.name, "choice": one.choice, "ours": part.mean}
        for claim in claims
        for one in claim.readings
        for part in one.parts
    ]
    return Findings(paper, "theory", "Propositions, theorems and equations", DataFrame(rows), None, claims)
