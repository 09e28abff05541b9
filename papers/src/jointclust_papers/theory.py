"""Propositions, theorems and equations of the four papers: what tests have shown of them, and what is measured here."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from jointclust.exceptions import collected
from jointclust_papers import shipped
from jointclust_papers.claims import claims_of
from jointclust_papers.findings import Findings, Part, Reading, ahead, fact, near
from jointclust_papers.lab import Lab, standardised
from jointclust_papers.textbook import ECFromTen, RidgeFromTen

# They come with scikit-learn, so that anyone can look.
SETS = {"iris": 150, "wine": 178, "digits": 300}
RIDGES = (0.01, 1.0, 100.0)

Given = tuple[NDArray, NDArray]


def given() -> dict[str, Given]:
    """Standardised rows and classes."""
    lab = Lab()
    by_name = {}
    for name, n in SETS.items():
        data = lab.load(name)
        X = standardised(np.asarray(data.data, dtype=float)[:n])
        by_name[name] = X[:, X.std(axis=0) > 0], np.unique(data.target[:n], return_inverse=True)[1]
    return by_name


def proved(paper: str) -> dict[str, list[Reading]]:
    """Read what papers/tests/test_theory.py has stored: the difference of both sides of a statement, set by set."""
    parts: dict[str, list[Part]] = {}
    for row in (one for one in shipped.rows("theory.csv") if one["claim"].startswith(f"{paper}-")):
        difference = float(row["difference"])
        parts.setdefault(row["claim"], []).append(fact(row["dataset"], difference < float(row["limit"]), difference))
    return {claim: [Reading(of_claim)] for claim, of_claim in parts.items()}


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


def fitted(X: NDArray, y: NDArray, ridge: float) -> RidgeFromTen:
    """RURR of as many clusters as there are classes."""
    with collected():
        return RidgeFromTen(int(y.max()) + 1, ridge=ridge, random_state=0).fit(X)


def _correlation(X: NDArray, y: NDArray, ridge: float) -> float:
    """The largest correlation of two columns of XZ."""
    Z = fitted(X, y, ridge).components_.T
    correlations = np.corrcoef((X - X.mean(axis=0)) @ Z, rowvar=False)
    return float(np.abs(correlations - np.diag(np.diag(correlations))).max())


def theory(lab: Lab, paper: str) -> Findings:
    """What a paper proves or derives."""
    readings = proved(paper)
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
