"""Two statements of the papers, shown by numbers: the trivial solution of ridge regression, and ODC's theorem 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

from jointclust.exceptions import collected
from jointclust.experiments.experiment import frame
from jointclust.experiments.findings import Claim, Findings, judged
from jointclust.experiments.papers._lab import STARTS, Lab, standardised
from jointclust.experiments.papers._textbook import RidgeFromTen
from jointclust.methods.ridge import UncorrelatedRidgeClustering

if TYPE_CHECKING:
    from pandas import DataFrame

# They come with scikit-learn or are generated, so that anyone can look.
SETS = ("iris", "wine", "mixture")
_RIDGES = (0.01, 1.0, 100.0)
_RANK = "rank of the projection"
# For theorem 3: rows of each set, ridges over the mean eigenvalue, and the angle that rounding leaves.
_ROWS, _SHARES, _SMALL = 150, (1.0, 10.0, 100.0), 1e-4


# -- the trivial solution (RURR-SL's equations 2 and 3) ----------------------------------------------------------


def ridge_objective(X: NDArray, W: NDArray, e: NDArray, Y: NDArray, ridge: float) -> float:
    """``|XW + 1e' - Y|^2 + ridge |W|^2``: equation 2."""
    return float(np.sum((X @ W + e - Y) ** 2) + ridge * np.sum(W**2))


def regressed(X: NDArray, Y: NDArray, ridge: float) -> tuple[NDArray, NDArray]:
    """The W and e that minimise it for labels Y."""
    centred = X - X.mean(axis=0)
    W = np.linalg.solve(centred.T @ centred + ridge * np.eye(X.shape[1]), centred.T @ Y)
    return W, Y.mean(axis=0) - X.mean(axis=0) @ W


def alternated(X: NDArray, labels: NDArray, n_clusters: int, ridge: float) -> tuple[NDArray, float]:
    """Labels and objective where the alternation of equation 2 ends that starts from these labels."""
    one = np.eye(n_clusters)
    for _ in range(1000):
        W, e = regressed(X, one[labels], ridge)
        before, labels = labels, np.argmax(X @ W + e, axis=1)
        if np.array_equal(before, labels):
            break
    return labels, ridge_objective(X, *regressed(X, one[labels], ridge), one[labels], ridge)


def _solutions(X: NDArray, c: int, ridge: float) -> dict[str, tuple[float, int, int | str]]:
    """Objective, number of clusters and rank of the projection of four solutions."""
    one, start = np.eye(c), KMeans(c, n_init=STARTS, random_state=0).fit(X).labels_
    nothing, all_alike = np.zeros((X.shape[1], c)), np.zeros(len(X), dtype=int)
    W, e = regressed(X, one[start], ridge)
    labels, end = alternated(X, start, c, ridge)
    with collected():
        model: UncorrelatedRidgeClustering = RidgeFromTen(c, ridge=ridge, random_state=0).fit(X)
    rank = int(np.linalg.matrix_rank(model.components_, tol=1e-8 * np.abs(model.components_).max()))
    return {
        "trivial solution": (ridge_objective(X, nothing, one[0], one[all_alike], ridge), 1, 0),
        "k-means' labels": (ridge_objective(X, W, e, one[start], ridge), c, int(np.linalg.matrix_rank(W))),
        "alternated from them": (end, np.unique(labels).size, ""),
        "RURR-SL": (model.objective_, np.unique(model.labels_).size, rank),
    }


def equation3(lab: Lab) -> Findings:
    """Ridge regression on free labels has a trivial solution; the uncorrelated constraint forbids it."""
    rows: list[dict[str, Any]] = []
    for name in SETS:
        dataset = lab.load(name)
        for ridge in _RIDGES:
            found = _solutions(standardised(dataset.data), dataset.n_classes, ridge)
            rows += [
                {"dataset": name, "method": method, "measure": "objective", "ridge": ridge, "ours": value}
                | {"clusters": clusters, _RANK: rank, "classes": dataset.n_classes}
                for method, (value, clusters, rank) in found.items()
            ]
    table, title = frame(rows), "The trivial solution of ridge regression"
    note = (
        f"Standardised rows; ridges {', '.join(f'{ridge:g}' for ridge in _RIDGES)}. 'alternated from them' descends in "
        "equation 2 from k-means' labels: it need not reach the trivial solution, which is the least of all, not the "
        "nearest."
    )
    return Findings("rurr", "equation 3", title, table, None, _trivial_claims(table), [note])


def _trivial_claims(table: DataFrame) -> list[Claim]:
    own = dict(list(table.groupby("method")))
    trivial, started, kept = own["trivial solution"]["ours"], own["k-means' labels"]["ours"], own["RURR-SL"]
    keys = [f"{n}, {r:g}" for n, r in zip(kept["dataset"], kept["ridge"], strict=True)]
    return [
        judged(
            "With free labels ridge regression has a trivial solution, one cluster and W = 0, at the lower bound 0 "
            "(equations 2, 3)",
            dict(zip(keys, trivial == 0, strict=True)),
            f"its objective is {trivial.max():g} on all sets and ridges; that of k-means' labels is at least "
            f"{started.min():.3g}",
        ),
        judged(
            "The uncorrelated constraint prevents it: Z has rank c (theorem 4)",
            dict(zip(keys, kept[_RANK] == kept["classes"], strict=True)),
            f"objectives of RURR-SL from {kept['ours'].min():.3g}, ranks {', '.join(str(r) for r in kept[_RANK])}",
        ),
    ]


# -- ODC's theorem 3 --------------------------------------------------------------------------------------------


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


def angle(A: NDArray, B: NDArray) -> float:
    """The largest principal angle between the spans of two matrices, as its sine."""
    return float(np.sin(scipy.linalg.subspace_angles(A, B)[0]))


def kernel_features(X: NDArray, kernel: str) -> NDArray:
    """Rows whose products are the kernel."""
    if kernel == "linear":
        return X
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=1.0 / X.shape[1]))
    kept = values > 1e-9 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _angles(X: NDArray, q: int, kernel: str) -> list[dict[str, Any]]:
    """How far solutions of problem 3 are from the leading eigenvectors of the centred kernel."""
    features = kernel_features(X, kernel)
    features = features - features.mean(axis=0)
    left, singular, _ = np.linalg.svd(features, full_matrices=False)
    C, leading = singular**2, left[:, :q]
    rows = []
    for share in _SHARES:
        ridge = share * float(C.mean())
        Y, value = relaxed_solution(features, q, ridge, np.random.RandomState(0))
        most = float(np.sum(C[:q] / (C[:q] + ridge)))
        rows.append({"ridge": ridge, "ours": angle(Y, leading), "value": value, "largest possible": most})
    kept = singular > 1e-9 * singular[0]
    # Without a ridge the normal equations want a basis of the rank.
    Y, _ = relaxed_solution(left[:, kept] * singular[kept], q, 0.0, np.random.RandomState(0))
    value = within(Y, left[:, kept])
    rows.append({"ridge": 0.0, "ours": angle(Y, leading), "value": value, "largest possible": float(q)})
    return rows


def within(Y: NDArray, basis: NDArray) -> float:
    """``tr(Y'CC+Y)``, with an orthonormal basis of the range of C: q for scores within it, less for others."""
    return float(np.sum((basis.T @ Y) ** 2))


def theorem3(lab: Lab) -> Findings:
    """Discriminative clustering, relaxed, is spectral clustering."""
    table = frame(
        [
            {"dataset": data.name, "method": kernel, "measure": "sine of the angle"} | row
            for data in map(lab.load, SETS)
            for kernel in ("linear", "rbf")
            for row in _angles(standardised(data.data)[:_ROWS], data.n_classes - 1, kernel)
        ]
    )
    notes = [
        f"Problem 3 is solved by turns from random scores, not by the formula it is compared with; the first {_ROWS} "
        f"rows of each set, standardised; ridges {', '.join(f'{share:g}' for share in _SHARES)} in units of the mean "
        "eigenvalue of C, and none. 'value' is what is maximised: with a ridge problem 3's, without one tr(Y'CC+Y).",
    ]
    title = "Discriminative is spectral clustering"
    return Findings("odc", "theorem 3", title, table, None, _spectral_claims(table), notes)


def _spectral_claims(table: DataFrame) -> list[Claim]:
    with_ridge, without = table[table["ridge"] > 0], table[table["ridge"] == 0]
    worst = with_ridge.groupby(["dataset", "method"], sort=False)["ours"].max()
    short = np.abs(1 - without["value"] / without["largest possible"])
    return [
        judged(
            "With M in the span of the rows, the solution of problem 3 spans the leading eigenvectors of the centred "
            "kernel C: discriminative clustering is spectral clustering (theorem 3, ii)",
            {f"{name}, {kernel}": bool(value < _SMALL) for (name, kernel), value in worst.items()},
            f"largest angle over {len(with_ridge)} data sets, kernels and ridges: sine {worst.max():.1g}",
        ),
        judged(
            "Without a ridge it maximises tr(Y'CC+Y) (theorem 3, i)",
            dict(zip(without["dataset"] + ", " + without["method"], short < 1e-9, strict=True)),
            f"solved from random scores it comes within {short.max():.1g} of the largest value; but all scores in the "
            "range of C have that value, and say nothing of clusters: the sine of the angle to the leading "
            f"eigenvectors is {without['ours'].min():.2f} to {without['ours'].max():.2f}",
        ),
    ]
