"""DEC's figure 4: three updating rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from jointclust.experiments.experiment import Grid, frame
from jointclust.experiments.findings import Claim, Findings
from jointclust.experiments.papers._dec import DIMENSIONS, NOTES, chosen_trade_offs, trade_off_runs
from jointclust.experiments.papers._lab import Lab, grid_of_axes, judged, percent
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering as DEC

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

RULES = ("comparison", "fixed", "minimization")


class OneStart(DEC):
    """DEC from k-means, run once, in PCA's subspace, whatever the rule."""

    def fit(self, X: Any, *given: Any, **options: Any) -> Self:
        """Fit from that start."""
        parameters = self.get_params()
        tandem = DEC(**parameters | {"trade_off": 0.0, "update_rule": "fixed"}).fit(X, *given, **options)
        self.__dict__.update(
            vars(DEC(**parameters | {"init": tandem.labels_}).fit(X, *given, **options)) | {"init": self.init}
        )
        return self


def figure4(lab: Lab) -> Findings:
    """Three updating rules: objective over iterations, and accuracy."""
    names, missing, used = lab.find(("umist", "coil20", "isolet5"))
    trade_offs = chosen_trade_offs(trade_off_runs(lab, names))
    rows, histories = [], {}
    for name in names:
        grid: Grid = {"n_components": lab.few(DIMENSIONS[name]), "trade_off": [trade_offs[name]["oracle"]]}
        full = {"trade_off": [trade_offs[name]["oracle"]]}
        rules = {rule: OneStart(update_rule=rule) for rule in RULES}
        given = {rule: (model, grid) for rule, model in rules.items()}
        curves = lab.run(given, [name], 10, shared=True, label_free=False)
        at_c = lab.run(
            {rule: (model, full) for rule, model in rules.items()},
            [name],
            50,
            shared=True,
            label_free=False,
            record=("objective_history_",),
        )
        histories[name] = at_c
        for (rule, parameters), runs in curves.groupby(["method", "parameters"], sort=False):
            d = json.loads(parameters)["n_components"]
            rows.append(_rule_row(name, rule, "accuracy", d, runs["accuracy"]))
        for rule, runs in at_c.groupby("method", sort=False):
            ends = runs["objective_history_"].map(lambda history: history[-1])
            rows.append(_rule_row(name, rule, "objective at the end", "c - 1", ends))
            rows.append(_rule_row(name, rule, "objective kept", "c - 1", runs["objective"]))
    table = frame(rows)
    claims = [*_figure4_claims(table, names), _convergence(histories)]
    title = "Three updating rules: objective and accuracy"
    figure = _rules_figure(names, table, histories)
    notes = [
        *NOTES[:3],
        "The three rules start from the same labels: k-means, run once, in PCA's subspace.",
        "50 runs for the objectives, 10 for the accuracies; the paper does not say how many it took here.",
    ]
    return Findings("dec", "figure 4", title, table, figure, claims, notes, missing, used)


def _rule_row(name: str, rule: str, measure: str, d: int | str, values: Series) -> dict[str, Any]:
    row = {"dataset": name, "method": rule, "measure": measure, "dimension": d, "ours": values.mean()}
    return row | {"sd": values.std(ddof=0)}


def _figure4_claims(table: DataFrame, names: list[str]) -> list[Claim]:
    objective, kept = (
        table[table["measure"] == measure].pivot(index="dataset", columns="method", values="ours")
        for measure in ("objective at the end", "objective kept")
    )
    accuracy = table[table["measure"] == "accuracy"].groupby(["dataset", "method"])["ours"].mean().unstack()
    most = objective.max(axis=1)
    higher = {n: bool(objective.loc[n, "comparison"] >= most[n] - 1e-9 * abs(most[n])) for n in names}
    better = {n: bool(accuracy.loc[n, "comparison"] >= accuracy.loc[n].max()) for n in names}

    def values(found: DataFrame, shown: str) -> str:
        return "; ".join(f"{n}: " + ", ".join(f"{rule} {found.loc[n, rule]:{shown}}" for rule in RULES) for n in names)

    return [
        judged(
            "'comparison' ends with at least the mean objective of the other two rules",
            higher,
            f"at the end of the runs, as the figure shows it: {values(objective, '.6g')}. Our 'minimization' wanders "
            f"and keeps the best state it visits, of which the means are {values(kept, '.6g')}",
        ),
        judged("'comparison' has the higher accuracy", better, "means over dimensions: " + values(accuracy, ".4f")),
    ]


def _convergence(histories: dict[str, DataFrame]) -> Claim:
    """The objective of 'comparison' never falls; how often that of the others does."""
    falls = {
        rule: float(np.mean([_falls(one) for runs in histories.values() for one in _of(runs, rule)])) for rule in RULES
    }
    text = ", ".join(f"{rule} {percent(share)}" for rule, share in falls.items())
    return judged(
        "'comparison' converges: its objective never falls",
        {"never": falls["comparison"] == 0},
        f"runs in which it fell: {text}",
    )


def _of(runs: DataFrame, rule: str) -> list[list[float]]:
    return list(runs[runs["method"] == rule]["objective_history_"])


def _falls(history: list[float]) -> bool:
    return bool(np.any(np.diff(history) < -1e-9 * abs(history[-1])))


def _rules_figure(names: list[str], table: DataFrame, histories: dict[str, DataFrame]) -> Figure:
    figure, axes = grid_of_axes(2 * len(names), columns=len(names))
    colours = dict(zip(RULES, ("#c8102e", "#1f77b4", "#7a7a00"), strict=True))
    for top, bottom, name in zip(axes[: len(names)], axes[len(names) :], names, strict=True):
        for rule in RULES:
            kept = _of(histories[name], rule)
            length = max(len(one) for one in kept)
            # A run that has ended stays where it ended.
            mean = np.mean([np.r_[one, np.full(length - len(one), one[-1])] for one in kept], axis=0)
            top.plot(np.arange(1, length + 1), mean, color=colours[rule], marker=".", label=rule, lw=1.2)
            curve = table[(table["dataset"] == name) & (table["method"] == rule) & (table["measure"] == "accuracy")]
            bottom.plot(curve["dimension"].astype(int), curve["ours"], color=colours[rule], marker=".", lw=1.2)
        top.set(title=name, xlabel="iteration", ylabel="objective")
        bottom.set(xlabel="dimension", ylabel="accuracy")
    axes[0].legend(fontsize=7)
    return figure
