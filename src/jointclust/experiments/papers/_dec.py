"""Discriminative embedded clustering (Hou, Nie, Yi and Tao, 2015): its figures and tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans

from jointclust import datasets
from jointclust.exceptions import collected
from jointclust.experiments.experiment import Method, frame, pandas
from jointclust.experiments.findings import Claim, Findings
from jointclust.experiments.papers._lab import Lab, beside_paper, curves, grid_of_axes, judged, percent, untestable
from jointclust.experiments.selection import SELECTIONS
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering as DEC
from jointclust.methods.discriminative import LDAKMeans
from jointclust.metrics import clustering_accuracy

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

# Table III: the reduced dimensions of each set.
DIMENSIONS = {
    "umist": list(range(2, 21, 2)),
    "coil20": list(range(5, 15)),
    "isolet5": list(range(5, 51, 5)),
    "corel": list(range(1, 11)),
    "pollen": list(range(2, 21, 2)),
    "orl": list(range(20, 30)),
    "digits": list(range(1, 11)),
    "mixture": list(range(1, 11)),
}
SETS = ("umist", "coil20", "isolet5", "corel", "pollen", "orl")
COARSE = [1.0, 6.0, 11.0, 16.0, 21.0, 26.0]
# The lower panels of figure 5.
FINE = {"umist": 18.0, "coil20": 3.0, "isolet5": 3.0}
FAMILY = {
    "PCAKM": DEC(trade_off=0.0, update_rule="fixed"),
    "OCMKM": DEC(trade_off=1.0),
    "MMCKM": DEC(trade_off=2.0),
    "OLSDAKM": DEC(trade_off=np.inf),
}
METHODS = ("K-means", "PCAKM", "LDAKM", "OCMKM", "MMCKM", "OLSDAKM", "DEC")
NOTES = [
    "Rows as they come, only centred; directions in which the data do not vary at all are left out, without which "
    "every trade-off above 1 collapses. The paper does not say how it handles them.",
    "One start per run, by k-means++. The iterative methods take the rule 'comparison': the paper draws ten random "
    "labellings in every step, of which none could ever win against the old centroids; ours are ten runs of k-means "
    "in the embedding, drawn whenever the alternation rests. K-means and PCAKM run once.",
    "The trade-off of DEC is chosen once per data set at c - 1 dimensions, on the paper's two levels, by mean accuracy "
    "(oracle, as in the paper). Beside it stands the same search by agreement, which sees no classes (label-free).",
    "LDAKM has at most c - 1 dimensions: larger ones do not exist and its curve ends there.",
]
_STYLE = {
    "K-means": ("0.45", "--"),
    "PCAKM": ("#7a7a00", "-"),
    "LDAKM": ("#8c4bbf", "-"),
    "OCMKM": ("#1f77b4", "-"),
    "MMCKM": ("#17a2a2", "-"),
    "OLSDAKM": ("#c46a1b", "-"),
    "DEC": ("#c8102e", "-"),
    "DEC (label-free)": ("#c8102e", ":"),
}


# -- the trade-off ----------------------------------------------------------------------------------------------


def trade_off_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Runs of DEC over both levels of trade-offs, at c - 1 dimensions; the fine level once for each way of choosing."""
    tables = [_over(lab, names, COARSE).assign(level="coarse")]
    for name in names:
        coarse = tables[0][tables[0]["dataset"] == name]
        for selection, column in SELECTIONS.items():
            middle = _best(coarse, column)
            if selection == "oracle":
                middle = FINE.get(name, middle)
            fine = np.unique(np.clip(np.arange(middle - 1, middle + 1.01, 0.25), 0.25, None)).tolist()
            tables.append(_over(lab, [name], lab.few(fine)).assign(level=selection))
    return pandas().concat(tables, ignore_index=True)


def _over(lab: Lab, names: list[str], trade_offs: list[float]) -> DataFrame:
    table = lab.run({"DEC": (DEC(), {"trade_off": trade_offs})}, names, 50, shared=True)
    return table.assign(trade_off=[json.loads(text)["trade_off"] for text in table["parameters"]])


def _best(runs: DataFrame, column: str | None) -> float:
    return float(runs.groupby("trade_off")[column or "accuracy"].mean().idxmax())


def chosen_trade_offs(table: DataFrame) -> dict[str, dict[str, float]]:
    """For each data set the trade-off that each way of choosing takes, from the coarse level and its own fine one."""
    return {
        name: {
            selection: _best(group[group["level"].isin(("coarse", selection))], column)
            for selection, column in SELECTIONS.items()
        }
        for name, group in table.groupby("dataset", sort=False)
    }


def figure5(lab: Lab) -> Findings:
    """Accuracy against the trade-off, on two levels."""
    names, missing, used = lab.find(("umist", "coil20", "isolet5"))
    table = trade_off_runs(lab, names)
    chosen = chosen_trade_offs(table)
    table = table[table["level"] != "label-free"]
    grouped = table.groupby(["dataset", "trade_off"], sort=True)[["accuracy", "nmi", "agreement"]]
    means = grouped.mean().reset_index()
    means["sd"] = grouped.std(ddof=0).reset_index()["accuracy"]
    figure, axes = grid_of_axes(len(names))
    spread, steady = {}, {}
    for ax, name in zip(axes, names, strict=True):
        one = means[means["dataset"] == name]
        ax.errorbar(one["trade_off"], one["accuracy"], one["sd"], marker="o", ms=3, lw=1, capsize=2, color="#c8102e")
        ax.set(title=name, xlabel="trade-off", ylabel="accuracy")
        coarse = one[one["trade_off"].isin(COARSE)]["accuracy"]
        fine = one[~one["trade_off"].isin(COARSE)]["accuracy"]
        spread[name], steady[name] = float(np.ptp(coarse)), float(np.ptp(fine))
    claims = [
        judged(
            "The trade-off dominates the performance",
            {name: value > 0.05 for name, value in spread.items()},
            "range of the mean accuracy over 1 to 26: " + _listed(spread),
        ),
        judged(
            "Within a small range performance does not change drastically",
            {name: value < 0.05 for name, value in steady.items()},
            "range of the mean accuracy over the fine level: " + _listed(steady),
        ),
    ]
    notes = [*NOTES[:2], "Chosen: " + "; ".join(f"{n}: {_trade_offs(found)}" for n, found in chosen.items()) + "."]
    rows = means.rename(columns={"accuracy": "ours"}).assign(method="DEC", measure="accuracy")
    columns = ["dataset", "method", "measure", "trade_off", "ours", "sd", "nmi", "agreement"]
    return Findings(
        "dec",
        "figure 5",
        "Accuracy against the trade-off, on two levels",
        rows[columns],
        figure,
        claims,
        notes,
        missing,
        used,
    )


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def _trade_offs(found: dict[str, float]) -> str:
    return ", ".join(f"{selection} {value:g}" for selection, value in found.items())


# -- the toy ----------------------------------------------------------------------------------------------------


def figure2(lab: Lab) -> Findings:
    """The toy: projection directions and accuracy over iterations."""
    draws = [
        datasets.Dataset(*datasets.two_gaussians(random_state=seed), f"draw {seed}") for seed in range(lab.runs(10))
    ]
    base: dict[str, list[float]] = {"trade_off": [5.0], "n_components": [1]}
    methods: dict[str, Method] = {"K-means": KMeans(n_init=1), "0": (DEC(), base | {"trade_off": [0.0]})}
    for T in (1, 10, 20):
        methods[str(T)] = (DEC(max_iter=T, update_rule="fixed"), base)
    methods["comparison"] = (DEC(), base)
    methods["n_init=10"] = (DEC(n_init=10), base)
    table = lab.run(methods, draws, 50, label_free=False, shared=True)
    runs = table.groupby("method", sort=False)["accuracy"]
    first = table[table["dataset"] == "draw 0"].groupby("method", sort=False)["accuracy"].mean()
    rows = []
    for method, value in runs.mean().items():
        name, setting = ("K-means", "") if method == "K-means" else ("DEC", method)
        one = {"dataset": "two_gaussians", "method": name, "measure": "accuracy", "setting": setting, "ours": value}
        rows.append(one | {"sd": runs.std(ddof=0)[method], "worst": runs.min()[method], "first draw": first[method]})
    best = table[table["method"] == "n_init=10"].groupby("dataset")["accuracy"].mean()
    means = runs.mean()
    claims = [
        judged(
            "DEC reaches 0.998 on the toy, where k-means has 0.598",
            {
                "ten starts": bool(best.mean() >= 0.998 - 1e-9 and means["K-means"] < 0.9),
                "one start": bool(means["comparison"] >= 0.998 - 1e-9),
            },
            f"with n_init=10 the mean over {len(draws)} draws is {best.mean():.4f} (lowest {best.min():.4f}; the best "
            f"rule that could be has 0.99865 on average), the first draw {best['draw 0']:.4f}; k-means "
            f"{means['K-means']:.4f}. One start from PCA has {means['comparison']:.3f} in the mean, because it can "
            "stick in PCA's direction",
        ),
        judged(
            "Accuracy grows steadily with the iterations (0.505, 0.514, 0.851, 0.998 after 0, 1, 10, 20)",
            {"grows": bool(means["20"] > means["10"] > max(means["1"], means["0"]))},
            f"{means['0']:.3f}, {means['1']:.3f}, {means['10']:.3f}, {means['20']:.3f} with nearest centroids only "
            "(rule 'fixed')",
        ),
    ]
    notes = [
        "The paper gives no trade-off for the toy; 5 here. 'setting' is the number of iterations; 'comparison' is "
        "one start, 'n_init=10' is ten (PCA, random subspaces, random partitions in turn), best objective kept.",
        f"{len(draws)} draws of the data, {lab.runs(50)} runs on each; the paper shows one.",
    ]
    table = beside_paper("dec", "figure 2", rows)
    return Findings("dec", "figure 2", "Projection directions on the toy", table, _toy_figure(), claims, notes)


def _toy_figure() -> Figure:
    X, y = datasets.two_gaussians(random_state=0)
    figure, axes = grid_of_axes(4, 3.0, 3.4, 4)
    for ax, T in zip(axes, (0, 1, 10, 20), strict=True):
        model = DEC(
            2, n_components=1, trade_off=5.0 if T else 0.0, max_iter=max(T, 1), update_rule="fixed", random_state=0
        )
        with collected():  # the runs are cut short on purpose
            labels = model.fit(X).labels_
        ax.scatter(*X.T, c=np.array(["#1f77b4", "#c46a1b"])[labels], s=3, rasterized=True)
        direction = 14 * model.components_[0]
        ax.plot(*np.c_[-direction, direction], ls="--", color="#c8102e")
        title = f"T = {T}\naccuracy {clustering_accuracy(y, labels):.3f}"
        ax.set(title=title, xlim=(-16, 16), ylim=(-16, 16), aspect="equal")
    return figure


# -- accuracy against the dimension -----------------------------------------------------------------------------


def _dimension_methods(lab: Lab, name: str, trade_offs: dict[str, float]) -> dict[str, Method]:
    c = lab.load(name).n_classes
    dimensions = lab.few(DIMENSIONS[name])
    lda = [d for d in dimensions if d <= c - 1]
    found: dict[str, Method] = {"K-means": KMeans(n_init=1)}
    found |= {method: (model, {"n_components": dimensions}) for method, model in FAMILY.items()}
    found["LDAKM"] = (LDAKMeans(), {"n_components": lda})
    found["DEC"] = (DEC(), {"n_components": dimensions, "trade_off": [trade_offs["oracle"]]})
    found["DEC (label-free)"] = (DEC(), {"n_components": dimensions, "trade_off": [trade_offs["label-free"]]})
    return {method: found[method] for method in _STYLE}


def figure3(lab: Lab) -> Findings:
    """Accuracy of seven methods against the dimension."""
    names, missing, used = lab.find(SETS)
    trade_offs = chosen_trade_offs(trade_off_runs(lab, names))
    tables = [
        lab.run(_dimension_methods(lab, name, trade_offs[name]), [name], 50, shared=True, label_free=False)
        for name in names
    ]
    rows = []
    for name, table in zip(names, tables, strict=True):
        for (method, parameters), runs in table.groupby(["method", "parameters"], sort=False):
            d = json.loads(parameters).get("n_components", "")
            one = {
                "dataset": name,
                "method": method,
                "measure": "accuracy",
                "setting": d,
                "ours": runs["accuracy"].mean(),
            }
            more = {"sd": runs["accuracy"].std(ddof=0), "nmi": runs["nmi"].mean()}
            choice = {"DEC": "oracle", "DEC (label-free)": "label-free"}.get(method, "none")
            rows.append(one | more | {"trade-off chosen by": choice})
    table = frame(rows).rename(columns={"setting": "dimension"})
    figure = curves(names, table, _STYLE)
    claims = _figure3_claims(table, names)
    if "isolet5" in missing:
        claims.append(untestable("DEC gains clearly over PCAKM on Isolet", ["isolet5"]))
    gone = [name for name in ("corel", "pollen") if name in missing]
    if gone:
        claims.append(untestable("DEC is best on Corel and Pollen", gone))
    title = "Accuracy against the dimension, seven methods"
    notes = [
        *NOTES,
        "The figure's values are not printed in the paper, so there is no column 'paper'; its claims are tested.",
        "Trade-offs: " + "; ".join(f"{n}: {_trade_offs(trade_offs[n])}" for n in names) + ".",
    ]
    return Findings("dec", "figure 3", title, table, figure, claims, notes, missing, used)


def _figure3_claims(table: DataFrame, names: list[str]) -> list[Claim]:
    wide = {
        name: table[(table["dataset"] == name) & (table["dimension"] != "")].pivot(
            index="dimension", columns="method", values="ours"
        )
        for name in names
    }
    plain = {name: table[(table["dataset"] == name) & (table["method"] == "K-means")]["ours"].iloc[0] for name in names}
    others = ["PCAKM", "LDAKM", "OCMKM", "MMCKM", "OLSDAKM"]
    best = {
        name: float(np.mean(one["DEC"] >= np.maximum(one[others].max(axis=1), plain[name])))
        for name, one in wide.items()
    }
    gain = {name: float((one["DEC"] - one["PCAKM"]).mean()) for name, one in wide.items()}
    joint = {
        name: float(np.mean(one[["OCMKM", "MMCKM", "DEC"]].mean(axis=1) > one["PCAKM"])) for name, one in wide.items()
    }
    falls = {
        name: float(np.mean([one[m].dropna().iloc[-1] < one[m].max() for m in [*others, "DEC"]]))
        for name, one in wide.items()
    }
    tandem = {name: float(np.mean(plain[name] > one["PCAKM"])) for name, one in wide.items()}
    lead = {
        name: float((one["DEC"] - np.maximum(one[others].max(axis=1), plain[name])).mean())
        for name, one in wide.items()
    }
    claims = [
        judged(
            "DEC has the highest accuracy in most cases, on every set",
            {name: share > 0.5 for name, share in best.items()},
            "share of dimensions at which DEC (oracle) is best: "
            + ", ".join(f"{n} {percent(s)}" for n, s in best.items()),
        ),
        judged(
            "Joint methods do better than PCA, then k-means",
            {name: share > 0.5 for name, share in joint.items()},
            "share of dimensions at which the mean of OCMKM, MMCKM and DEC is above PCAKM: "
            + ", ".join(f"{n} {percent(s)}" for n, s in joint.items()),
        ),
        judged(
            "More dimensions do not always mean higher accuracy",
            {name: share > 0 for name, share in falls.items()},
            "share of methods that are best before their last dimension: "
            + ", ".join(f"{n} {percent(s)}" for n, s in falls.items()),
        ),
        judged(
            "Reducing the dimension first does not always help: k-means alone is above PCAKM (Umist)",
            {name: share > 0.5 for name, share in tandem.items() if name == "umist"},
            "share of dimensions at which k-means is above PCAKM: "
            + ", ".join(f"{n} {percent(s)}" for n, s in tandem.items()),
        ),
    ]
    return claims + (_isolet_claims(lead, gain) if "isolet5" in wide else [])


def _isolet_claims(lead: dict[str, float], gain: dict[str, float]) -> list[Claim]:
    others = {name: value for name, value in gain.items() if name != "isolet5"}
    return [
        judged(
            "DEC is best especially on Isolet",
            {"isolet5": lead["isolet5"] == max(lead.values())},
            "DEC less the best other method, mean over dimensions: " + _listed(lead),
        ),
        judged(
            "DEC gains clearly over PCAKM on Isolet (figure 3c)",
            {"isolet5": gain["isolet5"] > 0.02},
            f"mean gain over the dimensions {gain['isolet5']:+.3f}; on the other sets {_listed(others)}",
        ),
    ]
