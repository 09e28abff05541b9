"""DEC's figure 4: three updating rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans

from jointclust.experiments.experiment import Experiment, frame, pandas
from jointclust.experiments.findings import Claim, Findings
from jointclust.experiments.papers._dec import DIMENSIONS, NOTES, chosen_trade_offs, trade_off_runs
from jointclust.experiments.papers._lab import ONE_BUDGET, STARTS, Lab, grid_of_axes, with_baseline
from jointclust.experiments.papers._textbook import RuledDEC
from jointclust.experiments.verdicts import judged, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

RULES = ("comparison", "fixed", "minimization")
# How the equations are read, and what a table calls it; "fixed" draws nothing and has one reading.
READINGS = {"ours": "", "letter": ", as printed", "restarts": ", restarts in every step"}
TITLES = {
    f"{rule}{words}": (rule, reading)
    for reading, words in READINGS.items()
    for rule in RULES
    if rule != "fixed" or reading == "ours"
}


def _plans(lab: Lab, name: str, trade_off: float) -> list[Experiment]:
    """Accuracies over dimensions, objectives at c - 1 dimensions, and plain k-means."""
    models = {title: RuledDEC(update_rule=rule, reading=reading) for title, (rule, reading) in TITLES.items()}
    grid: dict[str, list[Any]] = {"n_components": lab.few(DIMENSIONS[name]), "trade_off": [trade_off]}
    over = {title: (model, grid) for title, model in models.items()}
    at_c = {title: (model, {"trade_off": [trade_off]}) for title, model in models.items()}
    return [
        lab.experiment(over, [name], 6, shared=True, label_free=False),
        lab.experiment(at_c, [name], 10, shared=True, label_free=False, record=("objective_history_",)),
        lab.experiment({"K-means": KMeans(n_init=STARTS)}, [name], 6, shared=True, label_free=False),
    ]


def figure4(lab: Lab) -> Findings:
    """Three updating rules: objective over iterations, and accuracy."""
    names, missing, used = lab.find(("umist", "coil20", "isolet5"))
    trade_offs = chosen_trade_offs(trade_off_runs(lab, names))
    tables = lab.tables([plan for name in names for plan in _plans(lab, name, trade_offs[name]["oracle"])])
    over, at_c, plain = (pandas().concat(tables[start::3], ignore_index=True) for start in range(3))
    at_c["end"] = [history[-1] for history in at_c["objective_history_"]]
    rows = [_rule_row(name, "K-means", "accuracy", "", own["accuracy"]) for name, own in plain.groupby("dataset")]
    for (name, title, parameters), own in over.groupby(["dataset", "method", "parameters"], sort=False):
        rows.append(_rule_row(name, title, "accuracy", json.loads(parameters)["n_components"], own["accuracy"]))
    for (name, title), own in at_c.groupby(["dataset", "method"], sort=False):
        rows.append(_rule_row(name, title, "objective at the end", "c - 1", own["end"]))
        rows.append(_rule_row(name, title, "objective kept", "c - 1", own["objective"]))
    table = with_baseline(frame(rows), "K-means")
    claims = [claim for reading in READINGS for claim in _figure4_claims(table, names, reading, at_c, over)]
    claims.append(_convergence(at_c))
    title = "Three updating rules: objective and accuracy"
    notes = [
        NOTES[0],
        "All rules start from the same labels: k-means in PCA's subspace, and have the trade-off of figure 5.",
        "Three readings. Ours: ten runs of k-means in the embedding, drawn whenever the alternation rests "
        "('comparison') or in every step ('minimization'). As printed in equations 24 and 26: ten random labellings in "
        "every step, judged with the old centroids, which can hardly win. Restarts in every step: ten runs of k-means "
        "from random rows, as the equations may be meant.",
        f"{lab.runs(10)} runs for the objectives, {lab.runs(6)} for the accuracies; the paper does not say how many it "
        "took here.",
        ONE_BUDGET,
    ]
    figure = _rules_figure(names, table, at_c)
    return Findings("dec", "figure 4", title, table, figure, claims, notes, missing, used)


def _rule_row(name: str, rule: str, measure: str, d: int | str, values: Series) -> dict[str, Any]:
    row = {"dataset": name, "method": rule, "measure": measure, "dimension": d, "ours": values.mean()}
    return row | {"sd": values.std(ddof=0)}


def _figure4_claims(
    table: DataFrame, names: list[str], reading: str, at_c: DataFrame | None = None, over: DataFrame | None = None
) -> list[Claim]:
    """What the paper says of "comparison", for one reading of the rules; with the runs, how sure that is."""
    own = {rule: title for title, (rule, how) in TITLES.items() if how == reading or rule == "fixed"}
    shown = [own[rule] for rule in RULES]
    objective = table[table["measure"] == "objective at the end"].pivot(
        index="dataset", columns="method", values="ours"
    )[shown]
    accuracy = table[table["measure"] == "accuracy"].groupby(["dataset", "method"])["ours"].mean().unstack()[shown]
    most, first = objective.max(axis=1), own["comparison"]
    higher = {n: bool(objective.loc[n, first] >= most[n] - 1e-9 * abs(most[n])) for n in names}
    better = {n: bool(accuracy.loc[n, first] >= accuracy.loc[n].max()) for n in names}

    def values(found: DataFrame, digits: str) -> str:
        return "; ".join(f"{n}: " + ", ".join(f"{m} {found.loc[n, m]:{digits}}" for m in shown) for n in names)

    def ahead(runs: DataFrame, column: str, relative: bool) -> dict[str, np.ndarray]:
        found = {}
        for n in names:
            per = runs[runs["dataset"] == n].groupby(["seed", "method"])[column].mean().unstack()[shown]
            rival = per.drop(columns=first).mean().idxmax()
            found[n] = ((per[first] - per[rival]) / (per.abs().mean().mean() if relative else 1.0)).to_numpy()
        return found

    how = READINGS[reading]
    return [
        judged(
            f"'comparison' ends with at least the mean objective of the other two rules{how}",
            higher,
            f"at the end of the runs, as the figure shows it: {values(objective, '.6g')}",
            None if at_c is None else ahead(at_c, "end", relative=True),
        ),
        judged(
            f"'comparison' has the higher accuracy{how}",
            better,
            "means over dimensions: " + values(accuracy, ".4f"),
            None if over is None else ahead(over, "accuracy", relative=False),
        ),
    ]


def _convergence(runs: DataFrame) -> Claim:
    """The objective of 'comparison' never falls, whatever the reading; how often that of the others does."""
    falls = {
        title: float(np.mean([_falls(one) for one in _of(runs, title)])) for title in dict.fromkeys(runs["method"])
    }
    text = ", ".join(f"{title} {percent(share)}" for title, share in falls.items())
    return judged(
        "'comparison' converges: its objective never falls",
        {title: share == 0 for title, share in falls.items() if title.startswith("comparison")},
        f"runs in which it fell: {text}",
    )


def _of(runs: DataFrame, title: str) -> list[list[float]]:
    return list(runs[runs["method"] == title]["objective_history_"])


def _falls(history: list[float]) -> bool:
    return bool(np.any(np.diff(history) < -1e-9 * abs(history[-1])))


def _rules_figure(names: list[str], table: DataFrame, runs: DataFrame) -> Figure:
    figure, axes = grid_of_axes(2 * len(names), columns=len(names))
    colours = dict(zip(RULES, ("#c8102e", "#1f77b4", "#7a7a00"), strict=True))
    lines = dict(zip(READINGS, ("-", ":", "--"), strict=True))
    for top, bottom, name in zip(axes[: len(names)], axes[len(names) :], names, strict=True):
        for title, (rule, reading) in TITLES.items():
            look = {"color": colours[rule], "ls": lines[reading], "lw": 1.2}
            kept = _of(runs[runs["dataset"] == name], title)
            length = max(len(one) for one in kept)
            # A run that has ended stays where it ended.
            mean = np.mean([np.r_[one, np.full(length - len(one), one[-1])] for one in kept], axis=0)
            top.plot(np.arange(1, length + 1), mean, marker=".", label=title, **look)
            curve = table[(table["dataset"] == name) & (table["method"] == title) & (table["measure"] == "accuracy")]
            bottom.plot(curve["dimension"].astype(int), curve["ours"], marker=".", **look)
        top.set(title=name, xlabel="iteration", ylabel="objective")
        bottom.set(xlabel="dimension", ylabel="accuracy")
    axes[0].legend(fontsize=6)
    return figure
