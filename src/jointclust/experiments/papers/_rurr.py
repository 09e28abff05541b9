"""Data clustering via uncorrelated ridge regression (Zhang, Li, Wu and Zhao, 2020): URR-SL and RURR-SL."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from jointclust import datasets
from jointclust.datasets import Dataset
from jointclust.exceptions import collected
from jointclust.experiments.experiment import frame
from jointclust.experiments.findings import Claim, Findings
from jointclust.experiments.papers._ec import measure_row
from jointclust.experiments.papers._lab import (
    Lab,
    beside_paper,
    gained,
    grid_of_axes,
    judged,
    log_unit_scatter,
    unit_scatter,
    untestable,
)
from jointclust.experiments.selection import summary
from jointclust.methods.fuzzy import FuzzyKMeans
from jointclust.methods.ridge import UncorrelatedRidgeClustering
from jointclust.methods.robust_kmeans import RobustKMeans
from jointclust.methods.sparse_fuzzy import RobustSparseFuzzyKMeans

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

SETS = ("imm", "orl", "flower17", "colon", "gt", "ethz53", "fei", "glioma")
RIDGES = [10.0**k for k in range(-4, 5)]
NEIGHBOURS = (10, 15, 20, 25, 30, 35, 40, 45, 50)
METHODS = ("k-means", "RMKMC", "FKM", "RSFKM", "URR-SL", "RURR-SL")
EXTRA = ("RSFKM (capped)", "RURR-SL (as printed)")
NOTES = [
    "Rows are scaled so that the mean non-zero eigenvalue of the total scatter is 1 (logarithms first for colon): "
    "the paper's ridges 10^-4 to 10^4 mean something only relative to it, and it does not give its scale.",
    "URR-SL and RURR-SL start from k-means and stop by what their hard labels explain. 'RURR-SL (as printed)' is the "
    "paper's random start, run for 100 iterations.",
    "RSFKM's number of neighbours, 10 to 50 in the paper, is at most c - 1: larger ones do not exist and are clipped "
    "to it. The paper's table says l2,1, its text capped l2: both are here.",
    "FKM has fuzzifier 2.5, as in the paper. Parameters by the oracle for each measure; 'label-free' has the value "
    "at the largest agreement. Ten runs, means; k-means starts once per run, by k-means++.",
    "The paper's NMIs are not consistent with its accuracies (colon: two classes of 40 and 22, accuracy 57% with NMI "
    "69% cannot be): compare the accuracies.",
]


_TOY = (
    "The paper gives no parameters of its toy: see jointclust.datasets.{}. Ten draws, ten runs each, rows as they "
    "are, the default ridge, start from k-means."
)


def _neighbours(lab: Lab, dataset: Dataset) -> dict[str, list[int]]:
    return {"n_neighbors": sorted({max(1, min(k, dataset.n_classes - 1)) for k in lab.few(NEIGHBOURS)})}


def _runs(lab: Lab, names: list[str]) -> DataFrame:
    ridges = {"ridge": lab.few(RIDGES, 5)}

    def neighbours(dataset: Dataset) -> dict[str, list[int]]:
        return _neighbours(lab, dataset)

    methods = {
        "k-means": KMeans(n_init=1),
        "RMKMC": RobustKMeans(),
        "FKM": FuzzyKMeans(fuzzifier=2.5),
        "RSFKM": (RobustSparseFuzzyKMeans(loss="l21"), neighbours),
        "RSFKM (capped)": (RobustSparseFuzzyKMeans(loss="capped"), neighbours),
        "URR-SL": (UncorrelatedRidgeClustering(rescale=False), ridges),
        "RURR-SL": (UncorrelatedRidgeClustering(), ridges),
        "RURR-SL (as printed)": (UncorrelatedRidgeClustering(init="random", max_iter=100), ridges),
    }
    prepare = dict.fromkeys(names, unit_scatter) | {"colon": log_unit_scatter}
    return lab.run(methods, names, 10, shared=True, prepare=prepare)


def table1(lab: Lab) -> Findings:
    """Accuracy and NMI, eight sets, six methods."""
    names, missing, used = lab.find(SETS)
    table = _runs(lab, names)
    rows = []
    for measure in ("accuracy", "nmi"):
        found = summary(table, measure)
        rows += [measure_row(found, name, method, measure, measure) for name in names for method in (*METHODS, *EXTRA)]
    beside = beside_paper("rurr", "table 1", rows)
    return Findings(
        "rurr",
        "table 1",
        "Accuracy and NMI",
        beside,
        _bars(beside, names),
        _claims(beside, names, missing),
        NOTES,
        missing,
        used,
    )


def _claims(table: DataFrame, names: list[str], missing: list[str]) -> list[Claim]:
    claims = []
    others = list(METHODS[:5])
    for measure, text in (
        ("accuracy", "RURR-SL is the most accurate of the six methods on every set"),
        ("nmi", "RURR-SL has the highest NMI in most cases"),
    ):
        wide = table[table["measure"] == measure].pivot(index="dataset", columns="method", values="ours")
        best = {n: bool(wide.loc[n, "RURR-SL"] >= wide.loc[n, others].max()) for n in names}
        rival = {n: wide.loc[n, others].idxmax() for n in names}
        because = "; ".join(
            f"{n}: RURR-SL {wide.loc[n, 'RURR-SL']:.3f}, best other {rival[n]} {wide.loc[n, rival[n]]:.3f}"
            for n in names
        )
        if measure == "nmi" and sum(best.values()) > len(best) / 2:
            best = {"most": True}
        claims.append(judged(text, best, because))
    wide = table.pivot(index="dataset", columns=["measure", "method"], values="ours")
    rescaled = {
        f"{n} {measure}": bool(wide.loc[n, (measure, "RURR-SL")] > wide.loc[n, (measure, "URR-SL")])
        for n in names
        for measure in ("accuracy", "nmi")
    }
    because = "; ".join(
        f"{n}: {wide.loc[n, ('accuracy', 'RURR-SL')]:.3f} against {wide.loc[n, ('accuracy', 'URR-SL')]:.3f}"
        for n in names
    )
    claims.append(judged("RURR-SL is better than URR-SL in accuracy and NMI", rescaled, because))
    claims += _gain_claims(wide)
    gone = [name for name in ("ethz53", "fei") if name in missing]
    if gone:
        claims.append(untestable("The same on ETHZ53 and FEI", gone))
    return claims


def _gain_claims(wide: DataFrame) -> list[Claim]:
    """The two gains that the paper prints in its text."""
    claims = []
    for name, measure, claimed in (("flower17", "accuracy", 0.0268), ("imm", "nmi", 0.0963)):
        if name in wide.index:
            ours, other = (float(wide.loc[name, (measure, method)]) for method in ("RURR-SL", "RMKMC"))
            text = f"On {name} RURR-SL is {100 * claimed:.2f} points above the runner-up, RMKMC, in {measure}"
            claims.append(gained(text, {name: (ours - other, claimed)}, f"{ours:.4f} against {other:.4f}"))
    return claims


def _bars(table: DataFrame, names: list[str]) -> Figure:
    figure, (ax,) = grid_of_axes(1, max(1.1 * len(names) + 2, 6), 3.6)
    wide = table[table["measure"] == "accuracy"].pivot(index="dataset", columns="method", values="ours").loc[names]
    for index, method in enumerate((*METHODS, *EXTRA)):
        colour = {"RURR-SL": "#c8102e", "URR-SL": "#c46a1b"}.get(method, f"{0.3 + 0.08 * index:.2f}")
        ax.bar(np.arange(len(names)) + 0.1 * (index - 3.5), wide[method], 0.1, label=method, color=colour)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("accuracy")
    ax.legend(fontsize=7, ncols=4)
    return figure


# -- figures ----------------------------------------------------------------------------------------------------


def _fitted(X: NDArray, c: int, **parameters: Any) -> tuple[UncorrelatedRidgeClustering, UncorrelatedRidgeClustering]:
    """URR-SL and RURR-SL on scaled rows, to the end of the objective's descent."""
    parameters = {"ridge": 1.0, "max_iter": 50, "tol": 0.0, "random_state": 0} | parameters
    with collected():  # tol = 0 always ends at max_iter
        scaled = unit_scatter(X)
        urr = UncorrelatedRidgeClustering(c, rescale=False, **parameters).fit(scaled)
        return urr, UncorrelatedRidgeClustering(c, **parameters).fit(scaled)


def _descent(ax: Axes, urr: UncorrelatedRidgeClustering, rurr: UncorrelatedRidgeClustering) -> None:
    for name, model, colour in (("URR-SL", urr, "#c46a1b"), ("RURR-SL", rurr, "#c8102e")):
        history = model.objective_history_
        ax.plot(np.arange(1, len(history) + 1), history, color=colour, marker=".", ms=3, lw=1.2, label=name)
    ax.set(xlabel="iteration", ylabel="objective")
    ax.legend(fontsize=7)


def figure1(lab: Lab) -> Findings:
    """Convergence on generated data."""
    rows = []
    for seed in range(lab.runs(10)):
        X = np.random.RandomState(seed).standard_normal((300, 50))
        for name, model in zip(("URR-SL", "RURR-SL"), _fitted(X, 5, init="random", random_state=seed), strict=True):
            history = model.objective_history_
            row = {"dataset": "random data", "method": name, "measure": "objective", "draw": seed, "ours": history[-1]}
            rows.append(row | {"monotone": bool(np.all(np.diff(history) <= 1e-9 * abs(history[0])))})
    table = frame(rows)
    wide = table.pivot(index="draw", columns="method", values="ours")
    lower = {str(draw): bool(row["RURR-SL"] < row["URR-SL"]) for draw, row in wide.iterrows()}
    means = wide.mean()
    claims = [
        judged(
            "RURR-SL converges to a smaller objective than URR-SL",
            lower,
            f"means {means['RURR-SL']:.4f} and {means['URR-SL']:.4f} over {len(wide)} draws",
        ),
        judged(
            "Both objectives never increase (theorem 2)",
            {str(index): bool(flag) for index, flag in enumerate(table["monotone"])},
            f"{int(table['monotone'].sum())} of {len(table)} runs",
        ),
    ]
    figure, (ax,) = grid_of_axes(1, 5, 3.4)
    _descent(ax, *_fitted(np.random.RandomState(0).standard_normal((300, 50)), 5, init="random"))
    notes = ["300 rows of 50 normal numbers, 5 clusters, random start; the paper does not describe its data."]
    return Findings("rurr", "figure 1", "Convergence of URR-SL and RURR-SL", table, figure, claims, notes)


def figure2(lab: Lab) -> Findings:
    """Accuracy and NMI against the ridge, on IMM."""
    names, missing, used = lab.find(("imm",), stand_ins=("digits",))
    # All sets of table 1 where they are here, so that the cells are the same ones.
    table = _runs(lab, lab.find(SETS)[0] if not used else names)
    own = table[(table["dataset"] == names[0]) & table["method"].isin(("URR-SL", "RURR-SL"))]
    rows = []
    for (method, parameters), runs in own.groupby(["method", "parameters"], sort=False):
        for measure in ("accuracy", "nmi"):
            row = {"dataset": names[0], "method": method, "measure": measure, "ridge": json.loads(parameters)["ridge"]}
            rows.append(row | {"ours": runs[measure].mean(), "sd": runs[measure].std(ddof=0)})
    found = frame(rows)
    figure, axes = grid_of_axes(2)
    best = {}
    for ax, measure in zip(axes, ("accuracy", "nmi"), strict=True):
        for method, colour in (("URR-SL", "#c46a1b"), ("RURR-SL", "#c8102e")):
            curve = found[(found["method"] == method) & (found["measure"] == measure)]
            ax.plot(curve["ridge"], curve["ours"], color=colour, marker=".", lw=1.2, label=method)
            best[f"{method} {measure}"] = float(curve.loc[curve["ours"].idxmax(), "ridge"])
        ax.set(xscale="log", xlabel="ridge", ylabel=measure, title=names[0])
    axes[0].legend(fontsize=7)
    text = "best ridge (in units of the mean eigenvalue): " + ", ".join(
        f"{key} {value:g}" for key, value in best.items()
    )
    flags = {key: 1 <= value <= 10 for key, value in best.items()}
    claims = [judged("Both are best about a ridge of 1 to 10 on IMM", flags if not used else {}, text)]
    return Findings(
        "rurr", "figure 2", "Accuracy and NMI against the ridge", found, figure, claims, NOTES[:2], missing, used
    )


def _toy(lab: Lab, generate: Callable[..., tuple[NDArray, NDArray]], name: str) -> DataFrame:
    """k-means, URR-SL and RURR-SL over draws of a toy: mean accuracies."""
    rows = []
    for seed in range(lab.runs(10)):
        X, y = generate(random_state=seed)
        rows.append(Dataset(X, y, f"{name} {seed}"))
    methods = {
        "k-means": KMeans(n_init=1),
        "URR-SL": UncorrelatedRidgeClustering(rescale=False),
        "RURR-SL": UncorrelatedRidgeClustering(),
    }
    return lab.run(methods, rows, 10, label_free=False, shared=True)


def _toy_table(table: DataFrame, name: str) -> DataFrame:
    runs = table.groupby("method", sort=False)["accuracy"]
    rows = [
        {"dataset": name, "method": method, "measure": "accuracy", "ours": value, "sd": runs.std(ddof=0)[method]}
        for method, value in runs.mean().items()
    ]
    return frame(rows)


def figure3(lab: Lab) -> Findings:
    """Three clusters: result, soft labels, convergence."""
    table = _toy_table(_toy(lab, datasets.three_clusters, "three_clusters"), "three_clusters")
    means = table.set_index("method")["ours"]
    claims = [
        gained(
            "RURR-SL is 2 points more accurate than URR-SL on three clusters",
            {"RURR-SL": (float(means["RURR-SL"] - means["URR-SL"]), 0.02)},
            f"{means['RURR-SL']:.4f} against {means['URR-SL']:.4f} (k-means {means['k-means']:.4f})",
        )
    ]
    X, y = datasets.three_clusters(random_state=0)
    urr, rurr = _fitted(X, 3)
    figure, axes = grid_of_axes(6)
    order = np.argsort(y, kind="stable")
    zeros = {}
    for column, (name, model) in enumerate((("URR-SL", urr), ("RURR-SL", rurr))):
        axes[3 * column].scatter(
            *X.T, c=np.array(["#1f77b4", "#c46a1b", "#2a9d4a"])[model.labels_], s=4, rasterized=True
        )
        axes[3 * column].set_title(f"{name}: clusters")
        axes[3 * column + 1].imshow(model.soft_labels_[order], aspect="auto", interpolation="nearest", cmap="viridis")
        axes[3 * column + 1].set(title=f"{name}: soft labels", xlabel="cluster", ylabel="row")
        _descent(axes[3 * column + 2], urr, rurr)
        zeros[name] = float(np.mean(model.soft_labels_ < 1e-12))
    text = ", ".join(f"{name} {value:.0%}" for name, value in zeros.items())
    claims.append(_sparse_claim(zeros, f"zeros in the soft labels after 50 iterations: {text}"))
    claims.append(_lower_claim(urr, rurr))
    notes = [_TOY.format("three_clusters")]
    return Findings(
        "rurr", "figure 3", "Three clusters: result, soft labels, convergence", table, figure, claims, notes
    )


def _lower_claim(urr: UncorrelatedRidgeClustering, rurr: UncorrelatedRidgeClustering) -> Claim:
    values = rurr.objective_history_[-1], urr.objective_history_[-1]
    text = f"{values[0]:.4f} against {values[1]:.4f} from the same start; no objective is below {rurr.lower_bound_:.4f}"
    return judged("RURR-SL ends with a smaller objective than URR-SL", {"smaller": bool(values[0] < values[1])}, text)


def _sparse_claim(zeros: dict[str, float], because: str) -> Claim:
    return judged(
        "The soft labels are sparse by rows (theorem 3)", {key: value > 0.5 for key, value in zeros.items()}, because
    )


def figure4(lab: Lab) -> Findings:
    """Many clusters: k-means, URR-SL and RURR-SL."""
    table = _toy_table(_toy(lab, datasets.multi_clusters, "multi_clusters"), "multi_clusters")
    means = table.set_index("method")["ours"]
    gains = {m: float(means[m] - means["k-means"]) for m in ("URR-SL", "RURR-SL")}
    claims = [
        gained(
            "URR-SL and RURR-SL are 4.5 and 7 points more accurate than k-means on many clusters",
            {"URR-SL": (gains["URR-SL"], 0.045), "RURR-SL": (gains["RURR-SL"], 0.07)},
            ", ".join(f"{m} {value:+.4f}" for m, value in gains.items()) + f" over k-means ({means['k-means']:.4f})",
        )
    ]
    X, y = datasets.multi_clusters(random_state=0)
    c = int(y.max()) + 1
    urr, rurr = _fitted(X, c, max_iter=None, tol=1e-6)
    shown = {"classes": y, "k-means": KMeans(c, n_init=1, random_state=0).fit(X).labels_}
    shown |= {"URR-SL": urr.labels_, "RURR-SL": rurr.labels_}
    figure, axes = grid_of_axes(4, 3.0, 3.0, 4)
    for ax, (name, labels) in zip(axes, shown.items(), strict=True):
        ax.scatter(*X.T, c=labels, cmap="tab20", s=4, rasterized=True)
        ax.set_title(name)
    claims.append(_lower_claim(*_fitted(X, c)))
    notes = [
        _TOY.format("multi_clusters"),
        "A linear map of the plane and the largest of its values cut it into sectors: a cluster in the middle of "
        "others cannot be found by either method, whatever its parameters.",
    ]
    return Findings("rurr", "figure 4", "Many clusters in the plane", table, figure, claims, notes)


def figure5(lab: Lab) -> Findings:
    """Soft labels on IMM."""
    names, missing, used = lab.find(("imm",), stand_ins=("digits",))
    dataset = lab.load(names[0])
    rows, zeros = [], {}
    figure, axes = grid_of_axes(2)
    order = np.argsort(dataset.target, kind="stable")
    for n_iter in (None, 100):
        models = _fitted(dataset.data, dataset.n_classes, max_iter=n_iter, tol=1e-6 if n_iter is None else 0.0)
        for ax, name, model in zip(axes, ("URR-SL", "RURR-SL"), models, strict=True):
            share = float(np.mean(model.soft_labels_ < 1e-12))
            when = "stopped by the labels" if n_iter is None else "100 iterations"
            rows.append(
                {"dataset": names[0], "method": name, "measure": "zeros in soft labels", "setting": when, "ours": share}
            )
            zeros[f"{name}, {when}"] = share
            if n_iter is None:
                ax.imshow(model.soft_labels_[order], aspect="auto", interpolation="nearest", cmap="viridis")
                ax.set(title=f"{name} ({names[0]})", xlabel="cluster", ylabel="row, by class")
    text = ", ".join(f"{name} {value:.0%}" for name, value in zeros.items())
    claims = [_sparse_claim(zeros, f"share of zeros: {text}")]
    title = "Soft labels of URR-SL and RURR-SL"
    return Findings("rurr", "figure 5", title, frame(rows), figure, claims, NOTES[:2], missing, used)
