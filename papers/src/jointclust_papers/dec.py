"""Discriminative embedded clustering (Hou, Nie, Yi and Tao, 2015): its figures, tables and claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from jointclust import datasets
from jointclust.exceptions import collected
from jointclust.metrics import clustering_accuracy
from jointclust.selection.candidates import COARSE_TRADE_OFFS, fine_trade_offs
from jointclust_papers import dec_runs as runs_of
from jointclust_papers import lab as common
from jointclust_papers.claims import by_seed, claims_of, lead
from jointclust_papers.dec_runs import (
    LEADING,
    ONE_START,
    PLUS_START,
    PREPARATIONS,
    READINGS,
    SETS,
    THREE,
    TITLES,
    TOY_TRADE_OFFS,
    TRADE_OFFS,
    WHOLE,
)
from jointclust_papers.experiments.experiment import collapsed
from jointclust_papers.experiments.selection import best_parameters, whole
from jointclust_papers.findings import Findings, Part, Reading, ahead, fact, near
from jointclust_papers.lab import Lab, grid_of_axes
from jointclust_papers.textbook import RuledDEC, TextbookDEC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPECIAL = {0.0: "PCAKM", 1.0: "OCMKM", 2.0: "MMCKM", np.inf: "OLSDAKM"}
OTHERS = ("K-means", "PCAKM", "LDAKM", "OCMKM", "MMCKM", "OLSDAKM")
EACH, ONCE = "lambda for each dimension", "one lambda"
_COLOURS = {"comparison": "#c8102e", "fixed": "#1f77b4", "minimization": "#7a7a00"}
_STYLE = {
    "K-means": ("0.45", "--"),
    "PCAKM": ("#7a7a00", "-"),
    "LDAKM": ("#8c4bbf", "-"),
    "OCMKM": ("#1f77b4", "-"),
    "MMCKM": ("#17a2a2", "-"),
    "OLSDAKM": ("#c46a1b", "-"),
    f"DEC, {EACH}": ("#c8102e", "-"),
    f"DEC, {ONCE}": ("#c8102e", ":"),
}
AS_PRINTED = (
    "DEC as printed: PCA, ten starts of k-means there, then nearest centroids. The random labellings of its rule "
    "'comparison' never win against the old centroids (figure 4), so that it is the rule 'fixed'."
)
DIRECTIONS = (
    "Rows as they come, only centred; directions in which the data do not vary at all are left out, without which "
    "every trade-off above 1 collapses. The paper does not say how it handles them."
)


# -- figure 2: the toy --------------------------------------------------------------------------------------------


def figure2(lab: Lab) -> Findings:
    """The toy: projection directions and accuracy over iterations, by the trade-off."""
    table = runs_of.toy_runs(lab)
    for name in ("max_iter", "trade_off"):
        table = common.with_parameter(table, name, name)
    # The clusters lie side by side along the first axis.
    sine = [float(np.abs(np.ravel(one)[1])) if isinstance(one, list) else np.nan for one in table["components_"]]
    table = table.assign(
        angle=np.degrees(np.arcsin(np.clip(sine, 0, 1))), draw=table["dataset"], dataset="two_gaussians"
    )
    start = table[table["method"] == "PCAKM"]
    trade_offs = sorted(set(table["trade_off"]) - {""})
    levels = {t: {0: start, **dict(list(table[table["trade_off"] == t].groupby("max_iter")))} for t in trade_offs}
    starts = {"from random rows": ONE_START, "from k-means++": PLUS_START}
    plain = {words: table[table["method"] == method]["accuracy"].mean() for words, method in starts.items()}
    printed = {T: _printed(str(T)) for T in (0, 1, 10, 20)}
    rows, toy, grows, turns = [], [], [], []
    for t, by in levels.items():
        for T, own in by.items():
            known = {"dataset": "two_gaussians", "method": "DEC", "measure": "accuracy", "setting": str(T)}
            rows.append(known | {"trade-off": t} | common.mean_rows(own.assign(method="DEC"), "accuracy")[0])
        choice = f"lambda {t:g}"
        near_by = [near(f"{T} iterations", by[T]["accuracy"].to_numpy(float) - printed[T], 0.05) for T in by]
        # A mean within .05 counts, whatever its interval, as the rule of the claim says.
        toy.append(Reading([fact(part.name, abs(part.mean) <= 0.05, part.mean) for part in near_by], choice))
        steps = [(1, 10), (10, 20)]
        grows.append(Reading([_step(by, a, b, "accuracy", 1.0) for a, b in steps], choice))
        turns.append(Reading([_step(by, a, b, "angle", -1.0) for a, b in steps], choice))
    # Which trade-off comes nearest to each number.
    nearest = [min((abs(one.parts[i].mean), one.choice, one.parts[i]) for one in toy)[1:] for i in range(len(printed))]
    parts = [fact(f"{part.name}, {choice}", abs(part.mean) <= 0.05, part.mean) for choice, part in nearest]
    toy.append(Reading(parts, "each number at its nearest lambda", counted=False))
    gaps = {words: float(value - _printed("", "K-means")) for words, value in plain.items()}
    evidence = {
        "dec-toy": toy,
        "dec-toy-kmeans": [Reading([fact("40 draws", abs(gap) <= 0.05, gap)], words) for words, gap in gaps.items()],
        "dec-toy-direction": turns,
        "dec-toy-accuracy": grows,
    }
    rows += [
        row | {"trade-off": "", "setting": ""}
        for row in common.mean_rows(table[table["method"].isin(("K-means", *starts.values()))], "accuracy")
    ]
    beside = common.beside_paper("dec", "figure 2", rows)
    notes = [
        f"{lab.runs(40)} draws, one run on each; the paper shows one draw. DEC as printed (form S_w, eigenvectors, "
        "nearest centroid), from the best of ten k-means in PCA's direction, stopped after so many iterations.",
        "The paper gives no trade-off: the strip has 2 to 26. One run can stick in PCA's direction, which about one "
        "draw in twenty does; with ten starts (``n_init=10``) the library has 0.9986.",
    ]
    title = "Projection directions on the toy"
    return Findings(
        "dec", "figure 2", title, beside, _toy_figure(beside), claims_of("dec", "figure 2", evidence), notes
    )


def _printed(setting: str, method: str = "DEC") -> float:
    rows = [r for r in common.published() if (r["paper"], r["item"], r["method"]) == ("dec", "figure 2", method)]
    return next(float(row["value"]) for row in rows if row["setting"] == setting)


def _step(by: dict[int, DataFrame], a: int, b: int, column: str, sign: float) -> Part:
    first, then = (by[T].set_index("draw")[column] for T in (a, b))
    return ahead(f"{a} to {b}", sign * (then - first).to_numpy(float))


def _toy_figure(table: DataFrame) -> Figure:
    X, y = datasets.two_gaussians(random_state=0)
    figure, axes = grid_of_axes(5, 3.4, 3.2, 3)
    own = table[table["method"] == "DEC"]
    for trade_off, curve in own.groupby("trade-off"):
        places = np.arange(4)
        curve = curve.set_index("setting").loc[["0", "1", "10", "20"]]
        axes[0].plot(places, curve["ours"], marker=".", label=f"{trade_off:g}", color=_shade(float(trade_off)))
    axes[0].plot(np.arange(4), curve["paper"], "D", mfc="none", color="#c8102e", label="paper")
    axes[0].set_xticks(range(4), ["0", "1", "10", "20"])
    axes[0].set(xlabel="iterations", ylabel="accuracy", title="by trade-off")
    axes[0].legend(fontsize=7)
    for ax, T in zip(axes[1:], (0, 1, 10, 20), strict=True):
        model = TextbookDEC(2, n_components=1, trade_off=10.0, max_iter=T, random_state=0).fit(X)
        ax.scatter(*X.T, c=np.array(["#1f77b4", "#c46a1b"])[model.labels_], s=3, rasterized=True)
        direction = 14 * model.components_[0]
        ax.plot(*np.c_[-direction, direction], ls="--", color="#c8102e")
        title = f"lambda 10, T = {T}\naccuracy {clustering_accuracy(y, model.labels_):.3f}"
        ax.set(title=title, xlim=(-16, 16), ylim=(-16, 16), aspect="equal")
    return figure


def _shade(trade_off: float) -> str:
    return f"{0.75 - 0.7 * TOY_TRADE_OFFS.index(trade_off) / len(TOY_TRADE_OFFS):.2f}"


# -- figure 3: dimensions -----------------------------------------------------------------------------------------


def named(runs: DataFrame) -> DataFrame:
    """Runs of the family under the names of its special cases, and DEC's own within 1 to 26."""
    runs = common.with_parameter(
        common.with_parameter(whole(runs), "n_components", "dimension"), "trade_off", "trade_off"
    )
    cases = [runs[runs["trade_off"] == t].assign(method=name) for t, name in SPECIAL.items()]
    inside = runs["trade_off"].isin(TRADE_OFFS) & (runs["method"] == "DEC")
    return pd.concat([runs[runs["method"] != "DEC"], runs[inside], *cases], ignore_index=True)


def chosen(runs: DataFrame) -> DataFrame:
    """Runs with DEC at the trade-off that the classes choose: for each dimension, and once."""
    own = runs[runs["method"] == "DEC"]
    own = own.assign(parameters=own["trade_off"].astype(str))
    tables = [
        group[group["parameters"] == best_parameters(group, "accuracy")].assign(method=f"DEC, {way}")
        for way, keys in ((EACH, ["dataset", "dimension"]), (ONCE, ["dataset"]))
        for _, group in own.groupby(keys, sort=False)
    ]
    return pd.concat([runs[runs["method"] != "DEC"], *tables], ignore_index=True)


def points(runs: DataFrame, method: str, rivals: Sequence[str]) -> dict[tuple[str, int], tuple[str, NDArray]]:
    """For each set and dimension, the best rival and the lead over it by run; k-means is alike in all dimensions."""
    leads = {}
    for name, one in runs.groupby("dataset", sort=False):
        flat = one[one["dimension"] == ""]
        for d in sorted(d for d in one["dimension"].unique() if d != ""):
            here = pd.concat([one[one["dimension"] == d], flat])
            leads[name, d] = lead(by_seed(here, "accuracy"), method, rivals)
    return leads


def figure3(lab: Lab) -> Findings:
    """Accuracy of seven methods against the dimension."""
    names, missing, used = lab.find(SETS)
    table = runs_of.dimension_runs(lab, names)
    evidence: dict[str, list[Reading]] = {}
    rows, panels = [], []
    for kind, runs in ((kind, chosen(named(table[table["rows"] == kind]))) for kind in PREPARATIONS):
        shown = DataFrame(common.mean_rows(runs, "accuracy", "dimension"))
        keys = ["dataset", "method", "dimension"]
        behind = runs[runs["method"].str.startswith("DEC")].groupby(keys)["trade_off"].first().to_dict()
        shown["trade-off"] = [behind.get(key, "") for key in shown[keys].itertuples(index=False, name=None)]
        shown.insert(1, "rows", kind)
        rows.append(shown)
        panels += [(f"{name}, {kind}", "accuracy", shown[shown["dataset"] == name]) for name in names]
        for key, readings in _dimension_readings(runs, kind).items():
            evidence.setdefault(key, []).extend(readings)
    figure, _ = common.curves(panels, _STYLE, "dimension", width=3.2, height=2.9, columns=len(names))
    notes = [
        DIRECTIONS,
        AS_PRINTED,
        f"Two preparations, each the same for all methods: {WHOLE}, and {LEADING}, those that carry 90% of the "
        f"variance. {lab.runs(10)} runs; the paper has 50.",
        f"DEC's trade-off is one of {', '.join(f'{t:g}' for t in TRADE_OFFS)}, by mean accuracy, among them OCMKM's "
        "and MMCKM's. 0 (PCAKM) and infinity (OLSDAKM) are not, because the paper looks from 1 to 26.",
        "LDAKM has at most c - 1 dimensions. In all directions its fits on ORL and Umist collapse, and it has no "
        "number there; the column 'collapsed' counts such fits.",
    ]
    claims = claims_of("dec", "figure 3", evidence, missing)
    table = pd.concat(rows, ignore_index=True)
    return Findings("dec", "figure 3", "Accuracy against the dimension", table, figure, claims, notes, missing, used)


def _dimension_readings(runs: DataFrame, kind: str) -> dict[str, list[Reading]]:
    """What one preparation says of the claims, for both ways of choosing the trade-off."""
    claims: dict[str, list[Reading]] = {key: [] for key in ("dec-best", "dec-isolet", "dec-joint", "dec-pcakm")}
    for way in (EACH, ONCE):
        method, choice = f"DEC, {way}", f"{kind}, {way}"
        leads = points(runs, method, OTHERS)
        claims["dec-best"].append(
            Reading([ahead(f"{n}, {d} ({r})", gap) for (n, d), (r, gap) in leads.items()], choice)
        )
        easier = points(runs, method, (ONE_START, *OTHERS[1:]))
        parts = [ahead(f"{n}, {d} ({r})", gap) for (n, d), (r, gap) in easier.items()]
        claims["dec-best"].append(Reading(parts, f"{choice}, k-means with one random start", counted=False))
        mean = _over_dimensions(leads)
        if "isolet5" in mean:
            rest = [ahead(f"over {n}", mean["isolet5"] - gap) for n, gap in mean.items() if n != "isolet5"]
            claims["dec-isolet"].append(Reading(rest, choice))
        gains = points(runs, method, ("PCAKM",))
        claims["dec-joint"].append(Reading([ahead(n, gap) for n, gap in _over_dimensions(gains).items()], choice))
        family = {m: points(runs, m, ("PCAKM",)) for m in (method, "OCMKM", "MMCKM", "OLSDAKM")}
        parts = [ahead(f"{n}, {m}, {d}", gap) for m, own in family.items() for (n, d), (_, gap) in own.items()]
        claims["dec-pcakm"].append(Reading(parts, choice))
    claims["dec-dimensions"] = [Reading(_falls(runs), kind)]
    umist = runs[runs["dataset"] == "umist"]
    claims["dec-umist"] = [
        Reading(
            [ahead(f"{d}", -gap) for (_, d), (_, gap) in points(umist, "PCAKM", (plain,)).items()], f"{kind}, {plain}"
        )
        for plain in ("K-means", ONE_START)
        if len(umist)
    ]
    return claims


def _over_dimensions(leads: dict[tuple[str, int], tuple[str, NDArray]]) -> dict[str, NDArray]:
    """The lead on each set, mean over its dimensions."""
    by_name: dict[str, list[NDArray]] = {}
    for (name, _), (_, gap) in leads.items():
        if len(gap):
            by_name.setdefault(name, []).append(gap)
    return {name: np.mean([one[: min(map(len, own))] for one in own], axis=0) for name, own in by_name.items()}


def _falls(runs: DataFrame) -> list[Part]:
    """First less last dimension, for each set and method: for where the last is at most a point better."""
    parts = []
    for (name, method), own in runs[runs["dimension"] != ""].groupby(["dataset", "method"], sort=False):
        wide = own.pivot_table(index="seed", columns="dimension", values="accuracy", dropna=False)
        wide = wide.loc[:, wide.notna().mean() > 0.5]
        if wide.shape[1] > 1:
            gaps = wide[wide.columns.min()] - wide[wide.columns.max()]
            parts.append(ahead(f"{name}, {method}", gaps.to_numpy(float), -0.01))
    return parts


# -- figure 4: updating rules -------------------------------------------------------------------------------------


def figure4(lab: Lab) -> Findings:
    """Three updating rules: objective over iterations, and accuracy."""
    names, missing, used = lab.find(THREE)
    runs = common.with_parameter(runs_of.rule_runs(lab, names), "n_components", "dimension")
    runs = common.with_parameter(runs, "trade_off", "trade_off")
    last = {name: min(lab.load(name).n_classes - 1, *lab.load(name).data.shape) for name in names}
    runs = runs.assign(
        end=[one[-1] for one in runs["objective_history_"]],
        fell=[bool(np.any(np.diff(one) < -1e-9 * abs(one[-1]))) for one in runs["objective_history_"]],
        rests=[rested(one) for one in runs["objective_history_"]],
    )
    at_c = runs[[d == last[n] for d, n in zip(runs["dimension"], runs["dataset"], strict=True)]]
    claims = claims_of("dec", "figure 4", _rule_readings(runs, at_c, names), missing)
    rows = common.mean_rows(runs, "accuracy", "dimension", "trade_off")
    rows += common.mean_rows(at_c, "end", "dimension", "trade_off", measure="objective at the end")
    notes = [
        DIRECTIONS,
        "All rules start from the same labels, the best of ten k-means in PCA's subspace. As printed, equations 24 "
        "and 26 draw ten random labellings in every step and judge them with the old centroids. Folded: ten runs of "
        "k-means from random rows in every step, as the equations may be meant; and the library's rule, which draws "
        "ten runs of k-means whenever the alternation rests.",
        f"{lab.runs(6)} runs; the paper does not say how many it took here. In the upper panels 'fixed' lies upon "
        "'comparison', and 'minimization' as printed below what is shown. Where half or more of the fits collapsed, "
        "the lower panels have no point.",
    ]
    title = "Three updating rules: objective and accuracy"
    figure = _rules_figure(names, DataFrame(rows), at_c)
    return Findings("dec", "figure 4", title, DataFrame(rows), figure, claims, notes, missing, used)


def rested(history: Sequence[float], max_iter: int = 100) -> bool:
    """Whether a run came to rest: its last step changed the objective by less than 0.1%, or found the same labels.

    A run that finds its labels again ends at its best objective, before ``max_iter``; one that wanders is ended after
    ten steps that found nothing better.
    """
    by_itself = len(history) < max_iter and int(np.argmax(history)) == len(history) - 1
    return by_itself or abs(history[-1] - history[-2]) < 1e-3 * abs(history[-1])


def _rule_readings(runs: DataFrame, at_c: DataFrame, names: Sequence[str]) -> dict[str, list[Reading]]:
    keys = (
        "minimization-falls",
        "comparison-rises",
        "others-converge",
        "rule-objective",
        "rule-accuracy",
        "comparison-avoids",
    )
    claims: dict[str, list[Reading]] = {f"dec-{key}": [] for key in keys}
    for reading, words in READINGS.items():
        counted, first, least = reading == "as printed", f"comparison{words}", f"minimization{words}"
        for trade_off in sorted(runs["trade_off"].unique()):
            choice = f"lambda {trade_off:g}{words}"
            all_of = runs[runs["trade_off"] == trade_off]
            ends = at_c[at_c["trade_off"] == trade_off]
            own = {n: ends[ends["dataset"] == n] for n in names}

            def share(method: str, column: str, own: dict[str, DataFrame] = own) -> dict[str, float]:
                return {n: float(one[one["method"] == method][column].mean()) for n, one in own.items()}

            falls, rises = share(least, "fell"), share(first, "fell")
            rest = {f"{n}, {m}": v for m in ("fixed", least) for n, v in share(m, "rests").items()}
            claims["dec-minimization-falls"].append(
                Reading([fact(n, v > 0, v) for n, v in falls.items()], choice, counted)
            )
            claims["dec-comparison-rises"].append(
                Reading([fact(n, v == 0, v) for n, v in rises.items()], choice, counted)
            )
            claims["dec-others-converge"].append(
                Reading([fact(n, v == 1, v) for n, v in rest.items()], choice, counted)
            )
            parts = []
            for n, one in own.items():
                wide = by_seed(one, "end")
                size = wide.abs().mean().max()
                parts += [ahead(f"{n}, {m}", (wide[first] - wide[m]) / size) for m in ("fixed", least) if m in wide]
            claims["dec-rule-objective"].append(Reading(parts, choice, counted))
            avoided = [part for part in parts if part.name.endswith(", fixed")]
            claims["dec-comparison-avoids"].append(Reading(avoided, choice, counted))
            parts = []
            for n in names:
                mean = (
                    whole(all_of[all_of["dataset"] == n]).groupby(["method", "seed"])["accuracy"].mean().reset_index()
                )
                rival, gap = lead(by_seed(mean, "accuracy"), first, ("fixed", least))
                parts.append(ahead(f"{n}, {rival}", gap))
            claims["dec-rule-accuracy"].append(Reading(parts, choice, counted))
    return claims


def _rules_figure(names: Sequence[str], table: DataFrame, runs: DataFrame) -> Figure:
    """Objectives as a share of where 'fixed' ends, so that a step far below does not set the scale."""
    figure, axes = grid_of_axes(2 * len(names), 3.4, 2.9, len(names))
    lines = dict(zip(READINGS, ("-", "--", ":"), strict=True))
    trade_off = max(runs["trade_off"])
    for top, bottom, name in zip(axes[: len(names)], axes[len(names) :], names, strict=True):
        here = runs[(runs["dataset"] == name) & (runs["trade_off"] == trade_off)]
        unit = abs(here[here["method"] == "fixed"]["end"].mean())
        for title, (rule, reading) in TITLES.items():
            look = {"color": _COLOURS[rule], "ls": lines[reading], "lw": 1.2}
            kept = here[here["method"] == title]["objective_history_"]
            length = max(map(len, kept))
            # A run that has ended stays where it ended.
            mean = np.mean([np.r_[one, np.full(length - len(one), one[-1])] for one in kept], axis=0) / unit
            top.plot(np.arange(1, length + 1), mean, label=title, **look)
            curve = table[(table["dataset"] == name) & (table["method"] == title) & (table["measure"] == "accuracy")]
            curve = curve[curve["trade_off"] == trade_off].sort_values("dimension")
            bottom.plot(curve["dimension"].astype(int), curve["ours"], marker=".", **look)
            bottom.fill_between(
                curve["dimension"].astype(int), curve["low"], curve["high"], color=_COLOURS[rule], alpha=0.1, lw=0
            )
        top.set(
            title=f"{name}, lambda {trade_off:g}",
            xlabel="iteration",
            ylabel="objective / end of 'fixed'",
            ylim=(0.5, 1.25),
            xlim=(1, 40),
        )
        bottom.set(xlabel="dimension", ylabel="accuracy")
    common.legend(figure, axes)
    return figure


# -- the start ----------------------------------------------------------------------------------------------------


def start(lab: Lab) -> Findings:
    """How much the start decides: labels at the start and at the end, and objectives from many starts."""
    names, missing, used = lab.find(THREE)
    trade_offs, n = lab.few([2.0, 6.0, 11.0, 26.0], 2), lab.runs(8)
    rows: list[dict[str, Any]] = []
    for name in lab.few(names, 1):
        data = lab.load(name)
        for trade_off in trade_offs:
            rows += lab.computed(f"start {name} {trade_off} {n}", partial(_starts, data, trade_off, n))
    table = DataFrame(rows)
    keys = {"kept": "dec-fixed-fast", "dominates": "dec-start-dominates", "gap": "dec-start-works"}
    evidence: dict[str, list[Reading]] = {key: [] for key in keys.values()}
    for trade_off in trade_offs:
        own = table[table["trade-off"] == trade_off]
        values = {
            m: {
                name: one["ours"].to_numpy(float)
                for name, one in own[own["measure"] == m].groupby("dataset", sort=False)
            }
            for m in keys
        }
        choice = f"lambda {trade_off:g}"
        evidence["dec-fixed-fast"].append(Reading([ahead(name, v, 0.9) for name, v in values["kept"].items()], choice))
        evidence["dec-start-dominates"].append(
            Reading([ahead(name, v) for name, v in values["dominates"].items()], choice)
        )
        evidence["dec-start-works"].append(Reading([near(name, v, 0.01) for name, v in values["gap"].items()], choice))
    notes = [
        f"{n} starts by k-means in PCA's subspace, one run of it each, and 20 random partitions; rule as printed. A "
        "fit that collapsed returns the labels of its start, and has no number; nor has a set where half "
        "or more of them collapsed."
    ]
    claims = claims_of("dec", "start", evidence, missing)
    return Findings("dec", "start", "How much the start decides", table, None, claims, notes, missing, used)


def _starts(data: Any, trade_off: float, n: int) -> list[dict[str, Any]]:
    X, c = np.asarray(data.data, dtype=float), data.n_classes
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    Y = U[:, : c - 1] * s[: c - 1]
    begun = [KMeans(c, n_init=1, random_state=seed).fit(Y).labels_ for seed in range(n)]
    rng = np.random.RandomState(0)
    begun += [rng.permutation(np.arange(len(X)) % c) for _ in range(20 if n > 3 else 3)]
    ends, gone = [], []
    for labels in begun:
        with collected() as messages:
            ends.append(RuledDEC(c, trade_off=trade_off, update_rule="fixed", init=labels).fit(X))
        gone.append(collapsed(messages))
    best = max((one.objective_ for one, lost in zip(ends, gone, strict=True) if not lost), default=np.nan)
    few = 2 * sum(gone[:n]) < n
    rows = []
    for i in range(n):
        own, j = ends[i].labels_, (i + 1) % n
        other = adjusted_rand_score(own, ends[j].labels_) if not gone[j] else np.nan
        values = {
            "kept": clustering_accuracy(begun[i], own),
            "dominates": adjusted_rand_score(begun[i], own) - other,
            "gap": (best - ends[i].objective_) / abs(best),
        }
        known = {"dataset": data.name, "trade-off": trade_off, "seed": i, "collapsed": int(gone[i])}
        shown = few and not gone[i]
        rows += [
            known | {"measure": key, "ours": float(value) if shown and np.isfinite(value) else None}
            for key, value in values.items()
        ]
    return rows


# -- figure 5: the trade-off --------------------------------------------------------------------------------------


def figure5(lab: Lab) -> Findings:
    """Accuracy against the trade-off, on two levels."""
    names, missing, used = lab.find(THREE)
    runs = runs_of.trade_off_runs(lab, names)
    rows = common.mean_rows(runs.sort_values(["dataset", "trade_off"], kind="stable"), "accuracy", "trade_off")
    table = DataFrame(rows)
    figure, axes = grid_of_axes(len(names))
    parts: dict[str, list[Part]] = {"coarse": [], "printed": [], "about the best": [], "two": []}
    for ax, name in zip(axes, names, strict=True):
        own = whole(runs[runs["dataset"] == name])
        wide = own.pivot_table(index="seed", columns="trade_off", values="accuracy", dropna=False)
        wide = wide.loc[:, wide.notna().mean() > 0.5]
        middle = runs_of.coarse_best(own)
        windows = {"printed": runs_of._window(name), "about the best": list(fine_trade_offs(middle))}
        parts["coarse"].append(ahead(name, _range(wide, COARSE_TRADE_OFFS), 0.05))
        for kind, window in windows.items():
            parts[kind].append(near(name, _range(wide, window), 0.05))
        half = wide.index < (wide.index.max() + 1) / 2
        levels = [t for t in (*COARSE_TRADE_OFFS, *windows["about the best"]) if t in wide]
        dense = [t for t in wide.columns if float(t).is_integer()]
        if 2 * len(dense) > sum(float(t).is_integer() for t in own["trade_off"].unique()):
            two, best = (wide.loc[half, values].mean().idxmax() for values in (levels, dense))
            gap = (wide[two] - wide[best])[~half].to_numpy(float)
            parts["two"].append(ahead(f"{name}, {two:g} and {best:g}", gap, -0.01))
        one = table[table["dataset"] == name]
        error = np.abs([one["ours"] - one["low"], one["high"] - one["ours"]])
        ax.errorbar(one["trade_off"], one["ours"], error, marker="o", ms=3, lw=1, capsize=2, color="#c8102e")
        ax.axvspan(*runs_of.WINDOWS.get(name, (0, 0)), color="0.9", zorder=0)
        lost = sorted(set(own["trade_off"]) - set(wide))
        if lost:
            ax.plot(lost, np.full(len(lost), 0.04), "x", ms=4, color="0.5", transform=ax.get_xaxis_transform())
        ax.set(title=name, xlabel="trade-off (grey: the printed window)", ylabel="accuracy")
    evidence = {
        "dec-two-levels": [Reading(parts["two"])],
        "dec-lambda": [Reading(parts["coarse"])],
        "dec-window": [Reading(parts[kind], f"window {kind}") for kind in ("printed", "about the best")],
    }
    notes = [
        DIRECTIONS,
        AS_PRINTED,
        f"{lab.runs(10)} runs; the paper has 50. Dimension c - 1. Crosses: trade-offs at which half or more of the "
        "fits collapsed. They have no number; a set of which fewer than two values are left, or for the two levels "
        "half, has no part in a claim.",
    ]
    claims = claims_of("dec", "figure 5", evidence, missing)
    title = "Accuracy against the trade-off"
    return Findings("dec", "figure 5", title, table, figure, claims, notes, missing, used)


def _range(wide: DataFrame, values: Sequence[float]) -> NDArray:
    """Best less worst value, run by run; nothing where fewer than two are left."""
    means = wide[[v for v in values if v in wide]].mean()
    if len(means) < 2:
        return np.empty(0)
    return (wide[means.idxmax()] - wide[means.idxmin()]).to_numpy(float)


# -- tables IV to VI: time ----------------------------------------------------------------------------------------


ITERATIVE = ("LDAKM", "OCMKM", "MMCKM", "OLSDAKM", "DEC")
# 3000 x 36 and 625 x 625 in the paper; 2000 x 36 and 575 x 644 here.
ALIKE = {"satellite": "Corel", "umist": "Pollen"}


def table4(lab: Lab) -> Findings:
    """Time of the methods as printed."""
    names, missing, used = lab.find(("coil20", "corel", "pollen"))
    alike = [name for name in ALIKE if datasets.present(name, lab.data_home)]
    names = names[:1]
    runs = runs_of.time_runs(lab, [*names, *alike])
    evidence: dict[str, list[Reading]] = {key: [] for key in ("dec-least-time", "dec-similar-time", "dec-iterations")}
    for name, own in runs.groupby("dataset", sort=False):
        counted = name in names
        choice = "" if counted else f"{name}, of the shape of {ALIKE[name]}"
        means = own.groupby("method", sort=False)[["seconds", "n_iter"]].mean()
        seconds = means["seconds"]
        slower = max(seconds["K-means"], seconds["PCAKM"])
        least = [fact(m, seconds[m] > slower, float(np.log(seconds[m] / slower))) for m in ITERATIVE]
        similar = [near(m, [np.log(seconds[m] / seconds["DEC"])], float(np.log(2))) for m in ITERATIVE[:-1]]
        spread = float(seconds[list(ITERATIVE)].max() / seconds[list(ITERATIVE)].min())
        rank = float(spearmanr(seconds[list(ITERATIVE)], means.loc[list(ITERATIVE), "n_iter"]).statistic)
        step = (seconds / means["n_iter"])[list(ITERATIVE)]
        steps = float(step.max() / step.min())
        differ = [
            fact("slowest over fastest", spread > 1.25, spread),
            fact("rank correlation", rank > 0.5, rank),
            fact("slowest over fastest, by iteration", steps > 1.25, steps),
        ]
        for key, parts in zip(evidence, (least, similar, differ), strict=True):
            evidence[key].append(Reading(parts, choice, counted))
    runs = common.with_parameter(runs, "n_components", "setting")
    rows = common.mean_rows(runs, "seconds", "setting") + common.mean_rows(
        runs, "n_iter", "setting", measure="iterations"
    )
    table = common.beside_paper("dec", "table 4", rows)
    notes = [
        "CPU seconds of one thread, whole fits, as printed: covariance matrices formed, full eigendecompositions, "
        f"one start of k-means, 30 iterations at most; {lab.runs(2)} runs. The paper's are of MATLAB on a 3.2 GHz "
        "machine of 2014: compare ratios.",
    ]
    figure = _time_figure(table, [*names, *alike])
    claims = claims_of("dec", "table 4", evidence, missing)
    return Findings("dec", "table 4", "Time of the methods as printed", table, figure, claims, notes, missing, used)


def _printed_kmeans(name: str) -> float:
    """The mean of k-means' printed times, which stand beside every dimension though it has none."""
    rows = [r for r in common.published() if (r["paper"], r["item"], r["method"]) == ("dec", "table 4", "K-means")]
    return float(np.mean([float(row["value"]) for row in rows if row["dataset"] == name]))


def _time_figure(table: DataFrame, names: Sequence[str]) -> Figure:
    figure, axes = grid_of_axes(len(names), 3.8, 2.8)
    own = table[table["measure"] == "seconds"]
    for ax, name in zip(axes, names, strict=True):
        means = own[own["dataset"] == name].groupby("method", sort=False)[["ours", "paper"]].mean()
        if "K-means" in means.index and means["paper"].notna().any():
            means.loc["K-means", "paper"] = _printed_kmeans(name)
        ratio = means / means.loc["DEC"]
        ax.plot(ratio["ours"], ratio.index, "o", color="#1f4e9c", label="ours")
        ax.plot(ratio["paper"].astype(float), ratio.index, "D", mfc="none", color="#c8102e", label="paper")
        ax.set(xscale="log", xlabel="time over DEC's", title=name)
        ax.xaxis.set_minor_formatter("")
        ax.grid(axis="x", color="0.9")
    axes[0].legend(fontsize=7)
    return figure
