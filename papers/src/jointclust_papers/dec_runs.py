"""Discriminative embedded clustering (Hou, Nie, Yi and Tao, 2015): what is run for its figures and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame
from sklearn.cluster import KMeans

from jointclust import datasets
from jointclust.datasets import Dataset
from jointclust.methods.discriminative import LDAKMeans
from jointclust.selection.candidates import COARSE_TRADE_OFFS, fine_trade_offs
from jointclust_papers import lab as common
from jointclust_papers.experiments.experiment import Grid, Method, Prepare
from jointclust_papers.experiments.selection import best_parameters, whole
from jointclust_papers.lab import STARTS, Lab
from jointclust_papers.textbook import RuledDEC, TextbookDEC

# Every second one of table III's reduced dimensions.
DIMENSIONS = {
    "umist": list(range(4, 21, 4)),
    "coil20": list(range(6, 15, 2)),
    "isolet5": list(range(10, 51, 10)),
    "orl": list(range(20, 30, 2)),
    "digits": list(range(2, 11, 2)),
    "mixture": list(range(2, 11, 2)),
}
SETS = ("umist", "coil20", "isolet5", "corel", "pollen", "orl")
THREE = ("umist", "coil20", "isolet5")
# The coarse level of figure 5, which is all that the paper says of where it looks, and more where the best ones lie.
TRADE_OFFS = [1.0, 2.0, 4.0, 6.0, 11.0, 16.0, 21.0, 26.0]
TOY_TRADE_OFFS = [2.0, 5.0, 10.0, 15.0, 20.0, 26.0]
RULE_TRADE_OFFS = [3.0, 11.0]
# The lower panels of figure 5.
WINDOWS = {"umist": (17.0, 19.0), "coil20": (2.0, 4.0), "isolet5": (2.0, 4.0)}
WHOLE, LEADING = "all directions", "leading directions"
PREPARATIONS: dict[str, Prepare | None] = {WHOLE: None, LEADING: common.leading}
ONE_START, PLUS_START = "K-means (one start)", "K-means (one k-means++ start)"
PLAIN: dict[str, Method] = {"K-means": KMeans(n_init=STARTS), ONE_START: KMeans(n_init=1, init="random")}
RULES = ("comparison", "fixed", "minimization")
# How equations 24 and 26 are read, and what a table calls it; "fixed" draws nothing and has one reading.
READINGS = {"as printed": "", "restarts": ", restarts in every step", "ours": ", ours"}
TITLES = {
    f"{rule}{words}": (rule, reading)
    for reading, words in READINGS.items()
    for rule in RULES
    if rule != "fixed" or reading == "as printed"
}
FIXED = RuledDEC(update_rule="fixed")


def toy_runs(lab: Lab) -> DataFrame:
    """The toy: DEC as printed by its iterations and trade-off, PCAKM, and k-means."""
    draws = [Dataset(*datasets.two_gaussians(random_state=i), f"draw {i}") for i in range(lab.runs(40))]
    grid: Grid = {"max_iter": [1, 10, 20], "trade_off": lab.few(TOY_TRADE_OFFS)}
    once: dict[str, Method] = {PLUS_START: KMeans(n_init=1)}
    given: dict[str, Method] = {"PCAKM": TextbookDEC(n_components=1, max_iter=0), **PLAIN, **once}
    return lab.run({"DEC": (TextbookDEC(n_components=1), grid), **given}, draws, 1, record=("components_",))


def _dimensions(lab: Lab, dataset: Dataset, most: int = 10**9) -> list[int]:
    most = min(most, *dataset.data.shape)
    return [d for d in lab.few(DIMENSIONS[dataset.name]) if d <= most] or [most]


def dimension_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Figure 3: the family over dimensions and trade-offs, LDAKM and k-means, in two preparations."""

    def family(dataset: Dataset) -> Grid:
        searched = lab.few(TRADE_OFFS, 4)
        return {"n_components": _dimensions(lab, dataset), "trade_off": [0.0, *searched, np.inf]}

    def lda(dataset: Dataset) -> Grid:
        return {"n_components": _dimensions(lab, dataset, dataset.n_classes - 1)}

    given: dict[str, Method] = {**PLAIN, "DEC": (FIXED, family), "LDAKM": (LDAKMeans(variance=None), lda)}
    plans = [lab.experiment(given, names, 8, shared=True, prepare=prepare) for prepare in PREPARATIONS.values()]
    tables = lab.tables(plans)
    return pd.concat([t.assign(rows=kind) for kind, t in zip(PREPARATIONS, tables, strict=True)])


def rule_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Figure 4: the updating rules, as they are read, over dimensions, c - 1 among them."""

    def grid(dataset: Dataset) -> Grid:
        few = {*_dimensions(lab, dataset)[::2], min(dataset.n_classes - 1, *dataset.data.shape)}
        return {"n_components": sorted(few), "trade_off": lab.few(RULE_TRADE_OFFS, 1)}

    given: dict[str, Method] = {
        title: (RuledDEC(update_rule=rule, reading="ours" if rule == "fixed" else reading), grid)
        for title, (rule, reading) in TITLES.items()
    }
    return lab.run(given, names, 6, shared=True, record=("objective_history_",))


def trade_off_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Figure 5: DEC over both levels of trade-offs, at c - 1 dimensions, and over all whole numbers between."""
    first = [_over(lab, [n], [*COARSE_TRADE_OFFS, *lab.few(_window(n)), *lab.few(range(1, 27))]) for n in names]
    tables = lab.tables(first)
    chosen = [_over(lab, [n], list(fine_trade_offs(coarse_best(t)))) for n, t in zip(names, tables, strict=True)]
    table = pd.concat([*tables, *lab.tables(chosen)])
    table = common.with_parameter(table, "trade_off", "trade_off")
    return table.drop_duplicates(["dataset", "trade_off", "seed"])


def _window(name: str) -> list[float]:
    low, high = WINDOWS.get(name, (2.0, 4.0))
    return np.arange(low, high + 0.01, 0.25).tolist()


def _over(lab: Lab, names: list[str], trade_offs: list[float]) -> Any:
    values = sorted({float(value) for value in trade_offs})
    return lab.experiment({"DEC": (FIXED, {"trade_off": values})}, names, 10, shared=True)


def coarse_best(runs: DataFrame) -> float:
    """The coarse trade-off that the first half of the runs likes best; the least, where all of them collapsed."""
    own = common.with_parameter(whole(runs), "trade_off", "trade_off")
    own = own[own["trade_off"].isin(COARSE_TRADE_OFFS) & (own["seed"] < (own["seed"].max() + 1) / 2)]
    best = best_parameters(own.assign(parameters=own["trade_off"].astype(str)), "accuracy")
    return float(COARSE_TRADE_OFFS[0] if best is None else best)


def time_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Tables IV to VI: every method as printed, without accelerations."""
    dims = {"coil20": [6, 14], "satellite": [2, 10], "umist": [4, 20]}
    given: dict[str, Method] = {"K-means": KMeans(n_init=1, init="random")}

    def grid(dataset: Dataset) -> Grid:
        return {"n_components": lab.few(dims.get(dataset.name, [2, 4]), 1)}

    kinds = {"PCAKM": 0.0, "LDAKM": 1.0, "OCMKM": 1.0, "MMCKM": 2.0, "OLSDAKM": np.inf, "DEC": 6.0}
    for name, trade_off in kinds.items():
        given[name] = (TextbookDEC(trade_off=trade_off, lda=name == "LDAKM", n_init=1, max_iter=30), grid)
    return lab.tables([lab.experiment(given, names, 2)], alone=True)[0]
