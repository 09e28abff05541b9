"""Embedded clustering via robust orthogonal least squares discriminant analysis (Zhang, Nie and Li, 2017)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans

from jointclust.datasets import Dataset
from jointclust.experiments.experiment import Method, frame
from jointclust.experiments.findings import Claim, Findings
from jointclust.experiments.papers._lab import Lab, beside_paper, curves, judged, percent, untestable
from jointclust.experiments.selection import summary
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering
from jointclust.methods.robust import RobustEmbeddedClustering
from jointclust.methods.robust_kmeans import RobustKMeans
from jointclust.subspace.decomposition import decompose

if TYPE_CHECKING:
    from pandas import DataFrame

SETS = ("orl", "coil20", "coil100", "fei", "imm", "yale")
CURVES = ("PCA + k-means", "PCA + RMKMC", "OLSDA", "EC", "EC (random start)")
NOTES = [
    "The paper gives neither its dimensions nor its number of runs: ten dimensions spread over those that carry 90% "
    "of the variance; means of five runs in the figure, of ten in the table.",
    "EC and OLSDA work in the directions that carry 90% of the variance. Without that they collapse where there are "
    "more features than rows, which is so for most of these sets: they then return the labels they started from.",
    "EC and OLSDA start from k-means; 'EC (random start)' is the paper's random labels and subspace.",
    "k-means starts once per run, by k-means++.",
]
_STYLE = {
    "k-means": ("0.45", "--"),
    "RMKMC": ("0.15", ":"),
    "PCA + k-means": ("#7a7a00", "-"),
    "PCA + RMKMC": ("#1f77b4", "-"),
    "OLSDA": ("#c46a1b", "-"),
    "EC": ("#c8102e", "-"),
    "EC (random start)": ("#c8102e", ":"),
}


def _dimensions(dataset: Dataset, n: int) -> list[int]:
    rank = decompose(dataset.data).keep(0.9).rank
    return np.unique(np.linspace(rank / n, rank, n).round().clip(1).astype(int)).tolist()


def methods(lab: Lab, dataset: Dataset) -> dict[str, Method]:
    """The two baselines and the four methods over dimensions, and EC from the paper's start."""
    grid = {"n_components": _dimensions(dataset, 3 if lab.quick else 10)}
    tandem = DiscriminativeEmbeddedClustering(trade_off=0, update_rule="fixed")
    return {
        "k-means": KMeans(n_init=1),
        "RMKMC": RobustKMeans(),
        "PCA + k-means": (tandem, grid),
        "PCA + RMKMC": (RobustKMeans(), grid),
        "OLSDA": (RobustEmbeddedClustering(robust=False), grid),
        "EC": (RobustEmbeddedClustering(), grid),
        "EC (random start)": (RobustEmbeddedClustering(init="random"), grid),
    }


def figure1(lab: Lab) -> Findings:
    """Accuracy against the dimension."""
    names, missing, used = lab.find(SETS)
    rows = []
    for name in names:
        table = lab.run(methods(lab, lab.load(name)), [name], 5, shared=True, label_free=False)
        for (method, parameters), runs in table.groupby(["method", "parameters"], sort=False):
            d = json.loads(parameters).get("n_components", "")
            row = {"dataset": name, "method": method, "measure": "accuracy", "dimension": d}
            more = {"sd": runs["accuracy"].std(ddof=0), "nmi": runs["nmi"].mean()}
            rows.append(row | {"ours": runs["accuracy"].mean()} | more)
    table = frame(rows)
    notes = [*NOTES, "The figure's values are not printed in the paper; its claim is tested."]
    title = "Accuracy against the dimension, four methods and two baselines"
    claims = _figure1_claims(table, names)
    if "fei" in missing:
        claims.append(untestable("The same on FEI", ["fei"]))
    return Findings("ec", "figure 1", title, table, curves(names, table, _STYLE), claims, notes, missing, used)


def _figure1_claims(table: DataFrame, names: list[str]) -> list[Claim]:
    best, gains = {}, {}
    for name in names:
        one = table[table["dataset"] == name]
        wide = one[one["dimension"] != ""].pivot(index="dimension", columns="method", values="ours")
        flat = one[one["dimension"] == ""].set_index("method")["ours"]
        others = np.maximum(wide[list(CURVES[:3])].max(axis=1), flat.max())
        best[name] = float(np.mean(wide["EC"] >= others))
        gains[name] = float(wide["EC"].max() - flat["k-means"])
    text = ", ".join(f"{n} {percent(share)} ({gains[n]:+.3f})" for n, share in best.items())
    return [
        judged(
            "EC is more accurate than PCA + k-means, PCA + RMKMC, OLSDA and the baselines at most dimensions",
            {name: share > 0.5 for name, share in best.items()},
            f"share of dimensions at which EC is best (in brackets its best dimension less k-means): {text}",
        )
    ]


def table1(lab: Lab) -> Findings:
    """Error and NMI on AR, GT and USPS."""
    names, missing, used = lab.find(("ar", "gt", "usps"))
    shown = ("k-means", "RMKMC", "OLSDA", "EC", "EC (random start)")
    rows = []
    for name in names:
        chosen = {method: given for method, given in methods(lab, lab.load(name)).items() if method in shown}
        table = lab.run(chosen, [name], 10, shared=True)
        found = summary(table)
        for measure, metric in (("error", "accuracy"), ("nmi", "nmi")):
            rows += [measure_row(found, name, method, measure, metric) for method in shown]
    table = beside_paper("ec", "table 1", rows)
    claims = []
    for measure, sign in (("error", -1), ("nmi", 1)):
        wide = table[table["measure"] == measure].pivot(index="dataset", columns="method", values="ours")
        best = {n: bool((sign * wide.loc[n, "EC"] >= sign * wide.loc[n, list(shown[:3])]).all()) for n in names}
        text = "; ".join(f"{n}: " + ", ".join(f"{m} {wide.loc[n, m]:.4f}" for m in shown) for n in names)
        claims.append(judged(f"EC is better than k-means, RMKMC and OLSDA in {measure}", best, text))
    if "ar" in missing:
        claims.append(untestable("The same on AR", ["ar"]))
    notes = [
        *NOTES,
        "Dimensions of OLSDA and EC are those of least error, with the NMI that belongs to them, as in the paper "
        "(oracle); the column 'label-free' has the value at the dimension of largest agreement.",
    ]
    return Findings("ec", "table 1", "Error and NMI", table, None, claims, notes, missing, used)


def measure_row(found: DataFrame, dataset: str, method: str, measure: str, metric: str) -> dict[str, Any]:
    """Ours for one cell of a printed table: oracle mean, its spread and best run; the label-free mean beside it."""
    own = found[(found["dataset"] == dataset) & (found["method"] == method)].set_index("selection")
    oracle, free = own.loc["oracle"], own.loc["label-free"]

    def shown(value: float) -> float:
        return 1 - value if measure == "error" else value

    row = {"dataset": dataset, "method": method, "measure": measure, "ours": shown(oracle[metric])}
    return row | {
        "sd": oracle[f"{metric}_std"],
        "best run": shown(oracle[f"{metric}_best"]),
        "label-free": shown(free[metric]),
        "parameters": oracle["parameters"],
        "label-free parameters": free["parameters"],
    }
