"""Data clustering via uncorrelated ridge regression (Zhang, Li, Wu and Zhao, 2020): URR-SL and RURR-SL."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.decomposition import PCA

from jointclust.exceptions import collected
from jointclust_papers import lab as common
from jointclust_papers import rurr_runs as runs_of
from jointclust_papers.claims import against, claims_of
from jointclust_papers.experiments.selection import whole
from jointclust_papers.findings import Findings, Part, Reading, ahead, fact, near
from jointclust_papers.lab import Lab, grid_of_axes, with_baseline
from jointclust_papers.rurr_runs import KMEANS_START, SETS, SHORT, SPREADS, TOYS, UNITS, gaussians
from jointclust_papers.textbook import RidgeFromTen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = ("k-means", "RMKMC", "FKM", "RSFKM", "URR-SL", "RURR-SL")
_COLOURS = {"URR-SL": "#c46a1b", "RURR-SL": "#c8102e"}
_ZEROS = (1, 5, 20, 100)
AT_REST = 3000
AS_PRINTED = (
    "URR-SL (alpha = 1) and RURR-SL are algorithm 1 as printed: random soft labels, 100 iterations. Those from k-means "
    "start from the best of ten and stop by what their hard labels explain; they are folded."
)


# -- table I ------------------------------------------------------------------------------------------------------


def table1(lab: Lab) -> Findings:
    """Accuracy and NMI, eight sets, six methods."""
    names, missing, used = lab.find(SETS)
    runs = runs_of.table_runs(lab, names)
    fuzzy = common.with_parameter(runs[runs["method"] == "FKM"], "fuzzifier", "fuzzifier")
    printed = fuzzy[fuzzy["fuzzifier"] == (2.5 if 2.5 in set(fuzzy["fuzzifier"]) else fuzzy["fuzzifier"].max())]
    runs = pd.concat([runs[runs["method"] != "FKM"], printed.drop(columns="fuzzifier")], ignore_index=True)
    methods = list(dict.fromkeys(runs["method"]))
    rows = common.oracle_rows(runs, names, methods, {"accuracy": "accuracy", "nmi": "nmi"})
    # The table prints l2,1, the text says that it is the capped norm.
    known = [row | {"method": row["method"].replace("RSFKM (l2,1)", "RSFKM")} for row in rows]
    table = with_baseline(common.beside_paper("rurr", "table 1", known), "k-means")
    evidence = _table_readings(lab, runs, fuzzy, names)
    notes = [
        "Rows are scaled so that the mean non-zero eigenvalue of the total scatter is 1 (logarithms first for "
        "colon): the paper's ridges 10^-4 to 10^4 mean something only relative to it, and it does not give its scale.",
        AS_PRINTED,
        "RSFKM's number of neighbours, 10 to 50 in the paper, is at most c - 1: larger ones do not exist.",
        f"Numbers are means of {lab.runs(10)} runs, without the fits that collapsed, which the column counts. "
        "Parameters are those of the best mean, by the classes, for each measure; half or more fits that collapsed "
        "leave no number.",
    ]
    claims = claims_of("rurr", "table 1", evidence, missing)
    figure = common.dots(table, names, ("accuracy", "nmi"), PRINTED)
    return Findings("rurr", "table 1", "Accuracy and NMI", table, figure, claims, notes, missing, used)


def _table_readings(lab: Lab, runs: DataFrame, fuzzy: DataFrame, names: list[str]) -> dict[str, list[Reading]]:
    rivals = ("k-means", "RMKMC", "FKM", "RSFKM (l2,1)")
    ways = {"100 iterations": ("", True), "10 iterations": (SHORT, True), "from k-means": (KMEANS_START, False)}
    keys = ("accuracy", "nmi", "urr", "flower17", "imm", "tuned")
    readings: dict[str, list[Reading]] = {f"rurr-{key}": [] for key in keys}
    for choice, (way, counted) in ways.items():
        ours, plain = "RURR-SL" + way, "URR-SL" + way
        best = {metric: against(runs, names, ours, (*rivals, plain), metric) for metric in ("accuracy", "nmi")}
        pair = [
            part
            for metric in ("accuracy", "nmi")
            for part in _renamed(against(runs, names, ours, (plain,), metric), metric)
        ]
        parts = {
            "accuracy": best["accuracy"],
            "nmi": best["nmi"],
            "urr": pair,
            "flower17": against(runs, [n for n in names if n == "flower17"], ours, ("RMKMC",), "accuracy", 0.0134),
            "imm": against(runs, [n for n in names if n == "imm"], ours, ("RMKMC",), "nmi", 0.04815),
            "tuned": against(runs, names, ours, ("URR-SL (alpha tuned)",), "accuracy", -0.01),
        }
        for key in keys:
            readings[f"rurr-{key}"].append(Reading(parts[key], choice, counted))
    one = against(runs, names, "RURR-SL", ("k-means (one start)",), "accuracy")
    readings["rurr-accuracy"].append(Reading(one, "against k-means with one random start alone", counted=False))
    ten = against(runs, names, "RURR-SL", ("k-means",), "accuracy")
    readings["rurr-accuracy"].append(Reading(ten, "against k-means with ten starts alone", counted=False))
    readings["rurr-capped"] = [Reading(against(runs, names, "RSFKM (capped)", ("RSFKM (l2,1)",), "accuracy"))]
    readings["rurr-fuzzifier"] = [Reading(_fuzzifiers(fuzzy, names))]
    readings["rurr-cost"] = [Reading(_costs(lab, names))]
    readings["rurr-sizes"] = [Reading(lab.sizes("rurr"))]
    return readings


def _renamed(parts: Sequence[Part], more: str) -> list[Part]:
    return [Part(f"{one.name} {more}", one.outcome, one.mean, one.low, one.high, one.p, one.n) for one in parts]


def _fuzzifiers(runs: DataFrame, names: list[str]) -> list[Part]:
    """Accuracy at 2.5 less that at the best other fuzzifier, as the fits are."""
    parts = []
    for name in names:
        wide = runs[runs["dataset"] == name].pivot_table(index="seed", columns="fuzzifier", values="accuracy")
        others = [m for m in wide if m != 2.5]
        if 2.5 in wide and others:
            rival = wide[others].mean().idxmax()
            parts.append(ahead(f"{name}, {rival:g}", (wide[2.5] - wide[rival]).to_numpy(float)))
    return parts


def _costs(lab: Lab, names: list[str]) -> list[Part]:
    """Logarithm of RURR-SL's time for an iteration over URR-SL's, by start."""
    parts, last = [], 50 if lab.quick else 150
    for name in names:
        times = lab.computed(f"costs {name} {last}", partial(_step_times, lab, name, last))
        parts.append(near(name, np.log([own / plain for plain, own in times]), float(np.log(1.5))))
    return parts


def _step_times(lab: Lab, name: str, last: int) -> list[tuple[float, float]]:
    """CPU seconds of the iterations after the first twenty, URR-SL's and RURR-SL's, for a few starts.

    Both do as many, so that what is done once for all iterations, and where a method stops, do not count.
    """
    data = lab.load(name)
    X = np.asarray(data.data, dtype=float)
    X = np.log(X) if name == "colon" else X
    taken = []
    for seed in range(lab.runs(8)):
        by_length = {n: fitting_times(X, data.n_classes, seed, n) for n in (20, last)}
        plain, own = (max(by_length[last][m] - by_length[20][m], 1e-9) for m in ("URR-SL", "RURR-SL"))
        taken.append((plain, own))
    return taken


# -- figure 1: convergence ----------------------------------------------------------------------------------------


def _pair(c: int, seed: int, n_iter: int) -> dict[str, RidgeFromTen]:
    """URR-SL and RURR-SL from the same random soft labels, so many iterations: tol = 0 always ends at max_iter."""
    given: dict[str, Any] = {"ridge": 1.0, "max_iter": n_iter, "tol": 0.0, "random_state": seed, "init": "random"}
    return {"URR-SL": RidgeFromTen(c, rescale=False, **given), "RURR-SL": RidgeFromTen(c, **given)}


def fitted(X: NDArray, c: int, seed: int, n_iter: int) -> dict[str, RidgeFromTen]:
    """URR-SL and RURR-SL on rows of unit scatter from the same random soft labels, so many iterations."""
    with collected():
        scaled = common.unit_scatter(X)
        return {name: model.fit(scaled) for name, model in _pair(c, seed, n_iter).items()}


def fitting_times(X: NDArray, c: int, seed: int, n_iter: int) -> dict[str, float]:
    """CPU seconds of these fits."""
    scaled, taken = common.unit_scatter(X), {}
    with collected():
        for name, model in _pair(c, seed, n_iter).items():
            began = time.process_time()
            model.fit(scaled)
            taken[name] = time.process_time() - began
    return taken


def _objectives(X: NDArray, c: int, seed: int, n_iter: int) -> list[dict[str, Any]]:
    """Objectives after some iterations and at rest, the bound, and whether they ever rose."""
    rows = []
    for method, model in fitted(X, c, seed, n_iter).items():
        history = model.objective_history_
        rose = bool(np.any(np.diff(history) > 1e-9 * abs(history[0])))
        for n in (5, 50, n_iter):
            value = float(history[min(n, len(history)) - 1])
            known = {"method": method, "draw": seed, "iterations": n, "ours": value, "rose": rose}
            rows.append(known | {"lower bound": float(model.lower_bound_), "alpha": float(model.scale_)})
    return rows


def ends(lab: Lab, name: str, spread: float = 1.5) -> DataFrame:
    """Objectives on draws of random data or of a toy."""
    rows: list[dict[str, Any]] = []
    n_iter = 500 if lab.quick else AT_REST
    for draw in range(lab.runs(10)):
        if name == "random data":
            X, c = np.random.RandomState(draw).standard_normal((300, 50)), 5
        else:
            X, c = gaussians(name, spread, draw)[0], TOYS[name][0]
        known = {"dataset": name, "spread": spread}
        key = f"ends {name} {spread} {draw} {n_iter}"
        rows += [known | row for row in lab.computed(key, partial(_objectives, X, c, draw, n_iter))]
    return DataFrame(rows)


def less(ended: DataFrame, n_iter: int, name: str) -> Part:
    """By how much RURR-SL's objective is the smaller one, as a share; less than 1e-6 is none."""
    wide = ended[ended["iterations"] == n_iter].pivot(index="draw", columns="method", values="ours")
    return ahead(name, ((wide["URR-SL"] - wide["RURR-SL"]) / wide["URR-SL"]).to_numpy(float), rounding=1e-6)


def convergence(lab: Lab) -> Findings:
    """Objectives of URR-SL and RURR-SL over iterations."""
    by_data = {name: ends(lab, name) for name in ("random data", *TOYS)}
    table = pd.concat(by_data.values(), ignore_index=True)
    last = int(table["iterations"].max())
    rose = {
        f"{name}, {method}": float(own["rose"].mean())
        for name, one in by_data.items()
        for method, own in one.groupby("method")
    }
    readings = [Reading([less(by_data["random data"], last, "10 draws")], f"at rest, {last} iterations")]
    readings += [
        Reading([less(by_data["random data"], n, "10 draws")], f"after {n} iterations", counted=False) for n in (5, 50)
    ]
    bound = table[table["iterations"] == last]
    gap = float(((bound["ours"] - bound["lower bound"]) / bound["lower bound"]).max())
    notes = [
        "300 rows of 50 normal numbers, 5 clusters (the paper does not describe its data), and both toys; rows of unit "
        "scatter, ridge 1, one random start for both methods.",
        f"Run to rest, all {len(bound)} objectives are within {gap:.1g} of the bound that none can pass.",
    ]
    evidence = {
        "rurr-theorem2": [Reading([fact(name, share == 0, share) for name, share in rose.items()])],
        "rurr-objective": readings,
    }
    figure, (ax,) = grid_of_axes(1, 5, 3.4)
    for method, model in fitted(np.random.RandomState(0).standard_normal((300, 50)), 5, 0, 200).items():
        gaps = model.objective_history_ - model.lower_bound_
        ax.plot(np.arange(1, len(gaps) + 1), gaps, color=_COLOURS[method], lw=1.2, label=method)
    ax.set(xlabel="iteration", ylabel="objective above the bound", yscale="log", xscale="log")
    ax.legend(fontsize=7)
    claims = claims_of("rurr", "convergence", evidence)
    return Findings("rurr", "convergence", "Figure 1: convergence", table, figure, claims, notes)


# -- figure 2: the ridge ------------------------------------------------------------------------------------------


def figure2(lab: Lab) -> Findings:
    """Accuracy and NMI against the ridge, on IMM, in two units."""
    names, missing, used = lab.find(("imm",), stand_ins=("digits",))
    runs = common.with_parameter(runs_of.ridge_runs(lab, names[:1]), "ridge", "ridge")
    rows = [row for measure in ("accuracy", "nmi") for row in common.mean_rows(runs, measure, "units", "ridge")]
    table = DataFrame(rows)
    readings = []
    for start, counted in (("", True), (KMEANS_START, False)):
        for unit in UNITS:
            parts = []
            for method in ("URR-SL", "RURR-SL"):
                own = whole(runs[(runs["units"] == unit) & (runs["method"] == method + start)])
                parts += [_middle(own, measure, f"{method} {measure}") for measure in ("accuracy", "nmi")]
            readings.append(Reading([part for part in parts if part is not None], f"{unit}{start}", counted))
    panels = [
        (f"{names[0]}, {unit}", measure, table[(table["units"] == unit) & (table["measure"] == measure)])
        for unit in UNITS
        for measure in ("accuracy", "nmi")
    ]
    styles = {method: (colour, "-") for method, colour in _COLOURS.items()}
    styles |= {method + KMEANS_START: (colour, "--") for method, colour in _COLOURS.items()} | {
        "k-means": ("0.45", "--")
    }
    figure, axes = common.curves(panels, styles, "ridge", columns=2)
    for ax in axes:
        ax.axvspan(1, 10, color="0.93", zorder=0)
    notes = [
        "A ridge means something only in the units of the rows, which the paper does not give: pixels from 0 to 1, "
        "and rows of unit scatter (mean non-zero eigenvalue 1), as in table 1. Grey: 1 to 10.",
        AS_PRINTED,
        f"{lab.runs(10)} runs. A ridge at which half or more fits collapsed is no candidate.",
    ]
    claims = claims_of("rurr", "figure 2", {"rurr-ridge": [] if used else readings}, missing)
    title = "Accuracy and NMI against the ridge"
    return Findings("rurr", "figure 2", title, table, figure, claims, notes, missing, used)


def _middle(own: DataFrame, measure: str, name: str) -> Part | None:
    """Best ridge of 1 and 10 less the best other one."""
    wide = own.pivot_table(index="seed", columns="ridge", values=measure, dropna=False)
    means = wide.mean()[wide.notna().mean() > 0.5]
    inside = [r for r in means.index if 1 <= r <= 10]
    outside = [r for r in means.index if r not in inside]
    if not inside or not outside:
        return None if not len(means) else fact(f"{name}, others collapse", bool(inside))
    best, other = means[inside].idxmax(), means[outside].idxmax()
    return ahead(f"{name}, {best:g} and {other:g}", (wide[best] - wide[other]).to_numpy(float))


# -- figures 3 and 4: the toys ------------------------------------------------------------------------------------


def _gains(runs: DataFrame, pairs: dict[str, tuple[str, float]]) -> dict[float, list[Part]]:
    """By spread, the gain of each method over its rival on the same draws; more than half of the size counts."""
    by_spread: dict[float, list[Part]] = {}
    for spread, own in runs.groupby("spread"):
        wide = own.pivot_table(index="draw", columns="method", values="accuracy")
        by_spread[spread] = [
            ahead(method, (wide[method] - wide[rival]).to_numpy(float), size / 2)
            for method, (rival, size) in pairs.items()
        ]
    return by_spread


def _toy_table(runs: DataFrame) -> DataFrame:
    return DataFrame(common.mean_rows(runs.assign(seed=runs["draw"]), "accuracy", "spread"))


def figure3(lab: Lab) -> Findings:
    """Three clusters: result, soft labels, convergence."""
    name = "three Gaussians"
    runs = runs_of.toy_runs(lab, name)
    readings = []
    for start, counted in (("", True), (KMEANS_START, False)):
        gains = _gains(runs, {"RURR-SL" + start: ("URR-SL" + start, 0.02)})
        readings += [Reading(parts, f"spread {spread:g}{start}", counted) for spread, parts in gains.items()]
    X, y = gaussians(name, 1.5, 0)
    figure, axes = grid_of_axes(5, 3.4, 2.9, 3)
    order, seen = np.argsort(y, kind="stable"), PCA(2).fit_transform(X)
    models = fitted(X, 3, 0, 100)
    for row, (method, model) in enumerate(models.items()):
        axes[2 * row].scatter(
            *seen.T, c=np.array(["#1f77b4", "#c46a1b", "#2a9d4a"])[model.labels_], s=4, rasterized=True
        )
        axes[2 * row].set_title(f"{method}: clusters")
        image = axes[2 * row + 1].imshow(
            model.soft_labels_[order], aspect="auto", interpolation="nearest", cmap="viridis", vmin=0, vmax=1
        )
        figure.colorbar(image, ax=axes[2 * row + 1])
        axes[2 * row + 1].set(title=f"{method}: soft labels", xlabel="cluster", ylabel="row, by class", xticks=range(3))
        axes[4].plot(model.objective_history_, color=_COLOURS[method], label=method)
    axes[4].set(xlabel="iteration", ylabel="objective", xscale="log")
    axes[4].legend(fontsize=7)
    claims = claims_of("rurr", "figure 3", {"rurr-three": readings})
    return Findings("rurr", "figure 3", "Three clusters", _toy_table(runs), figure, claims, _toy_notes(lab, name))


def _toy_notes(lab: Lab, name: str) -> list[str]:
    c, d = TOYS[name]
    return [
        f"The paper does not describe its toy. Ours are {c} Gaussians in {d} dimensions, {runs_of.PER_CLUSTER} rows "
        "each, centers normal too, with a spread of 0.8 to 2.5: in the plane, which the paper draws, more than two "
        "clusters leave the method no rank (it asks for d >= c itself).",
        AS_PRINTED,
        f"{lab.runs(20)} draws, one run on each, rows as they are, the default ridge.",
    ]


def figure4(lab: Lab) -> Findings:
    """Many clusters: k-means, URR-SL and RURR-SL."""
    name = "nine Gaussians"
    runs, three = (runs_of.toy_runs(lab, one) for one in (name, "three Gaussians"))
    many, both = [], []
    starts = {"k-means (one start)": "one random start", "k-means": "ten k-means++ starts"}
    for start, counted in (("", True), (KMEANS_START, False)):
        for rival, words in starts.items():
            gains = _gains(runs, {"URR-SL" + start: (rival, 0.045), "RURR-SL" + start: (rival, 0.07)})
            many += [Reading(parts, f"spread {s:g}, {words}{start}", counted) for s, parts in gains.items()]
    for spread in sorted(runs["spread"].unique()):
        pair = {"RURR-SL": ("URR-SL", 0.0)}
        parts = [
            _renamed(_gains(own, pair)[spread], f"accuracy, {toy}")[0]
            for toy, own in ((name, runs), ("three Gaussians", three))
        ]
        own_ends = {toy: ends(lab, toy) for toy in TOYS}
        last = int(own_ends[name]["iterations"].max())
        parts += [less(one, last, f"objective, {toy}") for toy, one in own_ends.items()]
        both.append(Reading(parts, f"spread {spread:g}"))
    alphas = [
        Reading([fact("alpha", abs(value - 0.375) <= 0.05, value)], f"{n} rows for each cluster")
        for n, value in lab.computed("alphas", _alphas)
    ]
    free = runs[runs["method"] == "RURR-SL"].groupby("spread")["scale_"].mean()
    alphas += [
        Reading([fact("mean", abs(v - 0.375) <= 0.05, v)], f"spread {s:g}, 100 rows, default ridge", counted=False)
        for s, v in free.items()
    ]
    evidence = {"rurr-many": many, "rurr-rescaled": both, "rurr-alpha": alphas}
    claims = claims_of("rurr", "figure 4", evidence)
    table = _toy_table(runs)
    figure = _spread_figure(table)
    return Findings("rurr", "figure 4", "Many clusters", table, figure, claims, _toy_notes(lab, name))


def _alphas() -> list[tuple[int, float]]:
    """RURR-SL's alpha on nine Gaussians by the number of rows, ridge 1 at unit scatter, 100 iterations."""
    alphas = []
    for n in (30, 60, 100, 200):
        rng = np.random.RandomState(0)
        X = np.repeat(2.5 * rng.standard_normal((9, 16)), n, axis=0) + rng.standard_normal((9 * n, 16))
        alphas.append((n, float(fitted(X, 9, 0, 100)["RURR-SL"].scale_)))
    return alphas


def _spread_figure(table: DataFrame) -> Figure:
    figure, axes = grid_of_axes(2, 5, 3.4, 2)
    wide = table.pivot(index="spread", columns="method", values="ours")
    looks = {"k-means": ("0.45", "--"), "k-means (one start)": ("0.45", ":")}
    looks |= {m: (c, "-") for m, c in _COLOURS.items()} | {m + KMEANS_START: (c, "--") for m, c in _COLOURS.items()}
    for method, (colour, line) in looks.items():
        own = table[table["method"] == method].sort_values("spread")
        axes[0].plot(own["spread"], own["ours"], color=colour, ls=line, marker=".", label=method)
        axes[0].fill_between(own["spread"], own["low"], own["high"], color=colour, alpha=0.1, lw=0)
    for rival, line in (("k-means (one start)", ":"), ("k-means", "--")):
        for method, colour in _COLOURS.items():
            axes[1].plot(
                wide.index, wide[method] - wide[rival], color=colour, ls=line, marker=".", label=f"{method} - {rival}"
            )
    for size, colour in ((0.045, _COLOURS["URR-SL"]), (0.07, _COLOURS["RURR-SL"])):
        axes[1].axhline(size, color=colour, lw=0.8)
        axes[1].annotate("paper", (SPREADS[-1], size), fontsize=7, color=colour, va="bottom", ha="right")
    axes[0].set(xlabel="spread of the centers", ylabel="accuracy")
    axes[1].set(xlabel="spread of the centers", ylabel="gain over k-means")
    for ax in axes:
        ax.legend(fontsize=6)
    return figure


# -- figure 5: soft labels ----------------------------------------------------------------------------------------


def figure5(lab: Lab) -> Findings:
    """Soft labels and their zeros over iterations."""
    names, missing, used = lab.find(("imm",), stand_ins=("digits",))
    dataset = lab.load(names[0])
    given = {names[0]: (np.asarray(dataset.data, dtype=float), dataset.n_classes)}
    given["three Gaussians"] = (gaussians("three Gaussians", 1.5, 0)[0], 3)
    rows, readings = [], []
    for n in _ZEROS:
        parts = []
        for name, (X, c) in given.items():
            for method, share in lab.computed(f"zeros {name} {n}", partial(_zeros, X, c, n)):
                rows.append(
                    {
                        "dataset": name,
                        "method": method,
                        "measure": "zeros in soft labels",
                        "iterations": n,
                        "ours": share,
                    }
                )
                parts.append(fact(f"{name}, {method}", share > 0.5, share))
        readings.append(Reading(parts, f"after {n} iteration{'s' * (n > 1)}"))
    figure, axes = grid_of_axes(3, 3.6, 3.0, 3)
    order = np.argsort(dataset.target, kind="stable")
    for ax, n in zip(axes, (1, 100), strict=False):
        model = fitted(*given[names[0]], 0, n)["RURR-SL"]
        image = ax.imshow(model.soft_labels_[order], aspect="auto", interpolation="nearest", cmap="viridis")
        figure.colorbar(image, ax=ax)
        ax.set(title=f"RURR-SL, {names[0]}: {n} iteration{'s' * (n > 1)}", xlabel="cluster", ylabel="row, by class")
    table = DataFrame(rows)
    for (name, method), own in table.groupby(["dataset", "method"], sort=False):
        axes[2].plot(
            own["iterations"],
            own["ours"],
            marker=".",
            ls="-" if name == names[0] else "--",
            color=_COLOURS[method],
            label=f"{method}, {name}",
        )
    axes[2].set(xscale="log", xlabel="iterations", ylabel="share of zeros", ylim=(0, 1))
    axes[2].legend(fontsize=7)
    notes = [
        "One run from random soft labels, rows of unit scatter, ridge 1. The paper gives neither its ridge nor its "
        "scale."
    ]
    claims = claims_of("rurr", "figure 5", {"rurr-zeros": readings}, missing)
    title = "Soft labels of URR-SL and RURR-SL"
    return Findings("rurr", "figure 5", title, table, figure, claims, notes, missing, used)


def _zeros(X: NDArray, c: int, n: int) -> list[tuple[str, float]]:
    return [(method, float(np.mean(model.soft_labels_ < 1e-12))) for method, model in fitted(X, c, 0, n).items()]
