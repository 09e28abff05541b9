"""The papers' items: what is printed, what is asked for, what comes out; without data, as on a fresh machine."""

import csv
import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import jointclust as jc
from jointclust.experiments import Journal
from jointclust.experiments.findings import Findings
from jointclust.experiments.papers import (
    ITEMS,
    PAPERS,
    _dec,
    _dec_dimensions,
    _dec_rules,
    _dec_times,
    _ec,
    _lab,
    _odc,
    _rurr,
    differences,
    items,
    reproduce,
)


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    monkeypatch.setenv("JOINTCLUST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MPLBACKEND", "agg")


def printed(paper, item, measure):
    rows = [r for r in _lab.published() if (r["paper"], r["item"], r["measure"]) == (paper, item, measure)]
    return pd.DataFrame(rows).astype({"value": float}).pivot(index="dataset", columns="method", values="value")


def test_published_numbers_are_complete():
    counts = Counter((row["paper"], row["item"]) for row in _lab.published())
    assert counts == {
        ("dec", "figure 2"): 5,
        ("dec", "table 4"): 35,
        ("dec", "table 5"): 35,
        ("dec", "table 6"): 35,
        ("ec", "table 1"): 24,
        ("odc", "table 2"): 80,
        ("rurr", "table 1"): 96,
    }
    assert all(0 < float(row["value"]) < 1 for row in _lab.published() if row["measure"] != "seconds")
    known = set(jc.datasets.registry())
    assert {row["dataset"] for row in _lab.published()} <= known


def test_published_numbers_bear_out_what_the_papers_conclude():
    accuracy = printed("rurr", "table 1", "accuracy")
    assert (accuracy.idxmax(axis=1) == "RURR-SL").all()
    # "2.68% improvement than the runner-up method RMKMC" on FLOWER17, "9.63%" in NMI on IMM
    assert accuracy.loc["flower17", "RURR-SL"] - accuracy.loc["flower17", "RMKMC"] == pytest.approx(0.0268)
    nmi = printed("rurr", "table 1", "nmi")
    assert nmi.loc["imm", "RURR-SL"] - nmi.loc["imm", "RMKMC"] == pytest.approx(0.0963)
    nmi, error = printed("odc", "table 2", "nmi"), printed("odc", "table 2", "error")
    five = ["orl", "srbct", "iris", "yeast", "segmentation"]
    assert (nmi.loc[five, "ODC"] == nmi.loc[five].max(axis=1)).all()
    assert not (nmi.drop(five)["ODC"] == nmi.drop(five).max(axis=1)).any()
    assert (error["ODC"] == error.min(axis=1)).all()
    assert (printed("ec", "table 1", "error").idxmin(axis=1) == "EC").all()
    assert (printed("ec", "table 1", "nmi").idxmax(axis=1) == "EC").all()


def test_every_item_of_the_papers_is_there():
    names = {paper: [one.name for one in items(paper)] for paper in PAPERS}
    assert names["dec"] == ["figure 2", "figure 3", "figure 4", "figure 5", "table 4", "table 5", "table 6"]
    assert sorted(names["ec"]) == ["figure 1", "slides", "table 1"]
    assert sorted(names["odc"]) == ["figure 1", "figure 2", "table 2", "theorem 3"]
    figures = [f"figure {number}" for number in range(1, 6)]
    assert sorted(names["rurr"]) == ["equation 3", *figures, "table 1"]
    for one in ITEMS:
        assert set(one.datasets) <= set(jc.datasets.registry()), one.name


@pytest.mark.parametrize("word", ["table 4", "Table IV", "tab. 4", "TABLE 4", "table  iv"])
def test_items_by_any_spelling(word):
    assert [(one.paper, one.name) for one in items(item=word)] == [("dec", "table 4")]


def test_unknown_items_are_answered_with_the_list():
    with pytest.raises(ValueError, match="'figure 9' in paper ec. There are: ec figure 1; ec table 1; ec slides"):
        items("ec", "figure 9")
    with pytest.raises(ValueError, match="dec, ec, odc, rurr, all"):
        items("lda")


def test_beside_paper():
    rows = [
        {"dataset": "gt", "method": "EC", "measure": "error", "ours": 0.4, "sd": 0.01},
        {"dataset": "gt", "method": "mine", "measure": "error", "ours": 0.3, "sd": 0.01},
    ]
    table = _lab.beside_paper("ec", "table 1", rows)
    assert list(table.columns) == ["dataset", "method", "measure", "paper", "ours", "difference", "sd"]
    assert table["paper"].iloc[0] == 0.3773
    assert table["difference"].iloc[0] == pytest.approx(0.4 - 0.3773)
    assert table[["paper", "difference"]].iloc[1].isna().all()


def test_a_set_prepared_in_another_way_is_beside_the_same_numbers():
    row = {"dataset": "gt (other)", "method": "EC", "measure": "error", "ours": 0.4}
    table = _lab.beside_paper("ec", "table 1", [row], {"gt (other)": "gt"})
    assert table.loc[0, ["dataset", "paper"]].tolist() == ["gt (other)", 0.3773]


def test_column_of_plain_kmeans():
    rows = [("a", "k", "nmi", 0.5), ("a", "m", "nmi", 0.7), ("b", "k", "nmi", 0.4), ("a", "m", "error", 0.2)]
    table = _lab.with_baseline(pd.DataFrame(rows, columns=["dataset", "method", "measure", "ours"]), "k")
    assert list(table.columns) == ["dataset", "method", "measure", "ours", "k-means"]
    assert table["k-means"].tolist()[:3] == [0.5, 0.5, 0.4]
    assert np.isnan(table["k-means"].iloc[3])


def test_differences_by_hand():
    names = {"dataset": ["gt", "gt", "gt", "gt (other)"]}
    table = pd.DataFrame(names | {"measure": [*["accuracy"] * 2, "seconds", "nmi"], "difference": [0.1, -0.3, 50, 9]})
    more = pd.DataFrame({"dataset": "gt", "measure": ["nmi", "nmi"], "difference": [0.5, None]})
    found = differences(
        [
            Findings("ec", "a", "", table),
            Findings("ec", "b", "", more),
            Findings("ec", "c", "", more, stand_ins=["digits"]),
            Findings("ec", "d", "", None),
        ]
    )
    assert found["numbers"].tolist() == [2, 1]
    np.testing.assert_allclose(found["mean absolute difference"], [0.2, 0.5])
    np.testing.assert_allclose(found["mean difference"], [-0.1, 0.5])


def test_unit_scatter_makes_the_mean_eigenvalue_one():
    rng = np.random.RandomState(0)
    for shape in ((50, 8), (8, 50)):
        X = 30 * rng.standard_normal(shape) + 5
        scaled = _lab.unit_scatter(X)
        values = np.linalg.svd(scaled - scaled.mean(axis=0), compute_uv=False) ** 2
        assert np.mean(values[values > 1e-9]) == pytest.approx(1)


def test_neighbours_are_clipped_to_what_exists():
    found = _rurr._neighbours(_lab.Lab(quick=False), jc.datasets.load("iris"))
    assert found == {"n_neighbors": [2]}


def test_reproduce_writes_page_tables_and_figures(tmp_path):
    wanted = items("rurr", "figure 4") + items("odc", "table 2")
    found = reproduce(wanted, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "claims.csv", "cells.jsonl", "rurr-figure-4.svg", "odc-table-2.csv"} <= names
    table2 = found[1]
    assert "srbct" in table2.missing
    assert table2.stand_ins == []  # iris comes with scikit-learn
    assert set(table2.table["dataset"]) == {"iris"}
    assert {claim.verdict for claim in table2.claims} == {"cannot be tested"}
    row = table2.table[(table2.table["method"] == "ODC") & (table2.table["measure"] == "nmi")].iloc[0]
    assert row["paper"] == 0.7353
    assert abs(row["difference"]) < 0.1
    with (tmp_path / "claims.csv").open() as file:
        assert {row["item"] for row in csv.DictReader(file)} == {"figure 4", "table 2"}
    # What has been run is not run again, and the files are the same.
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    reproduce(wanted, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_toy_of_dec_reaches_the_papers_accuracy():
    """The must-hold of the toy, on fewer draws than the full run."""
    found = _lab.finished(_dec.figure2, _lab.Lab(Journal()))
    ours = found.table.set_index("setting")["ours"]
    assert ours["n_init=10"] >= 0.998 - 1e-9
    assert found.claims[0].verdict == "holds in part"  # one start can stick


def test_cells_of_all_items_are_run_together_and_failures_once(monkeypatch):
    """An item stops where cells are missing, all of them are run at once, and one that fails does not loop for ever."""
    asked = []
    monkeypatch.setattr(_lab, "finish", lambda cells, journal, **options: asked.append(len(cells)))
    lab = _lab.Lab(Journal())
    plans = [lab.experiment({"k": KMeans(n_init=n)}, ["iris"], 3, label_free=False) for n in (1, 2)]
    with pytest.raises(_lab.UnfinishedError):
        lab.tables(plans)
    with pytest.raises(_lab.UnfinishedError):
        lab.tables([lab.experiment({"k": KMeans(n_init=3)}, ["iris"], 3, label_free=False)], alone=True)
    lab.finish()
    assert asked == [6, 3]
    one, other = lab.tables(plans)
    assert len(one) == len(other) == 3
    assert one["accuracy"].isna().all()


@pytest.mark.parametrize("name", ["figure 1", "figure 3"])
def test_rurr_figures(name):
    (one,) = items("rurr", name)
    found = _lab.finished(one.run, _lab.Lab(Journal()))
    assert found.figure is not None
    assert len(found.table)
    assert all(claim.because for claim in found.claims)


# -- rules behind the verdicts, on made-up numbers ---------------------------------------------------------------


def verdicts(claims):
    return [claim.verdict for claim in claims]


def dimension_runs(values, plain, n_runs=7):
    """Runs and means of figure 3: accuracies by method and dimension, which differ a little from run to run."""
    given = dict.fromkeys(_dec_dimensions.READINGS, values["DEC"]) | values
    rows = [
        {"dataset": "umist", "method": method, "dimension": d, "seed": seed, "accuracy": ours + 0.001 * seed}
        for method, value_of in {**given, "K-means": {"": plain}, "K-means (one start)": {"": plain - 0.05}}.items()
        for d, ours in value_of.items()
        for seed in range(n_runs)
    ]
    runs = pd.DataFrame(rows).assign(nmi=0.5)
    return pd.DataFrame(_lab.dimension_rows(runs)), runs


def test_rules_of_dec_figure3():
    low = {name: {1: 0.2, 2: 0.2, 3: 0.2} for name in _dec_dimensions.OTHERS}
    table, runs = dimension_runs({**low, "DEC": {1: 0.5, 2: 0.6, 3: 0.5}}, 0.3)
    good = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.WHOLE)
    assert verdicts(good) == ["holds", "holds", "holds", "holds", "cannot be tested"]
    assert good[0].share == "1 of 1"
    assert good[0].evidence.startswith("strong (+0.233")
    high = {name: {1: 0.7, 2: 0.8, 3: 0.9} for name in _dec_dimensions.OTHERS}
    table, runs = dimension_runs({**high, "DEC": {1: 0.1, 2: 0.2, 3: 0.3}}, 0.3)
    bad = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.WHOLE)
    assert verdicts(bad) == ["does not hold"] * 4 + ["cannot be tested"]
    assert bad[0].evidence.startswith("strong against it (-0.6")
    assert len(_dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)) == 2


def test_figure3_tells_what_the_budget_of_kmeans_decides():
    """DEC is above k-means with one start at both dimensions, and above k-means at its own budget at one."""
    values = {name: {1: 0.2, 2: 0.2} for name in _dec_dimensions.OTHERS}
    table, runs = dimension_runs({**values, "DEC": {1: 0.42, 2: 0.38}}, 0.4)
    because = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)[0].because
    assert "ties counted): umist 50.0%" in because
    assert because.endswith("With k-means of one start as its rival: umist 100.0%")


def test_figure3_tells_what_the_choice_of_the_trade_off_decides():
    """DEC at infinity is OLSDAKM, and ties with it; a trade-off of the paper's range is best at one dimension."""
    values = {name: {1: 0.2, 2: 0.2} for name in _dec_dimensions.OTHERS} | {"OLSDAKM": {1: 0.5, 2: 0.5}}
    own = {"DEC": {1: 0.5, 2: 0.6}, _dec_dimensions.RANGE: {1: 0.4, 2: 0.6}, _dec_dimensions.ONCE: {1: 0.4, 2: 0.4}}
    table, runs = dimension_runs({**values, **own, _dec_dimensions.FREE: {1: 0.5, 2: 0.5}}, 0.3)
    claim = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)[0]
    said = [part.rpartition(": umist ")[2] for part in claim.because.replace(". ", "; ").split("; ")]
    assert said == ["100.0%", "50.0%", "50.0%", "0.0%", "100.0%", "100.0%"]


def test_joint_methods_of_figure3_are_all_of_them():
    """OLSDAKM counts: the other three alone would be above PCAKM."""
    values = {name: {1: 0.6, 2: 0.6} for name in ("OCMKM", "MMCKM", "DEC", "LDAKM")}
    table, runs = dimension_runs({**values, "PCAKM": {1: 0.5, 2: 0.5}, "OLSDAKM": {1: 0.1, 2: 0.1}}, 0.3)
    joint = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)[1]
    assert joint.verdict == "does not hold"


def figure3_runs(accuracy, trade_offs):
    rows = [
        {"dataset": "a", "dimension": d, "seed": seed, "parameters": json.dumps({"trade_off": t}), "nmi": 0.5}
        | {"accuracy": accuracy(d, t), "agreement": -t, "error": "", "empty": 0}
        for d in (5, 10)
        for t in trade_offs
        for seed in range(2)
    ]
    return pd.DataFrame(rows)


def trade_offs_of(runs):
    found = _dec_dimensions.chosen(runs)
    assert len(found) == 4 * len(_dec_dimensions.READINGS | {"DEC": ""})
    return {m: own.set_index("dimension")["trade_off"].to_dict() for m, own in found.groupby("method")}


def test_trade_off_is_chosen_for_each_dimension():
    """The classes say 6 and infinity; the paper's range ends before; chosen once it is 6; agreement says 0."""
    best = {5: 6.0, 10: np.inf}

    def accuracy(d, t):
        return 1.0 if t == best[d] else 0.5 if t == 6 else 0.4 if t == 2 else 0.1

    found = trade_offs_of(figure3_runs(accuracy, (0.0, 1.0, 2.0, 6.0, np.inf)))
    assert found["DEC"] == best
    assert found[_dec_dimensions.RANGE] == found[_dec_dimensions.ONCE] == {5: 6.0, 10: 6.0}
    assert found[_dec_dimensions.FREE] == {5: 0.0, 10: 0.0}
    found = trade_offs_of(figure3_runs(lambda d, t: 0.9 if (d, t) == (5, 1) else 0.1 * t, (1.0, 2.0, 6.0)))
    assert found[_dec_dimensions.RANGE] == {5: 1.0, 10: 6.0}
    assert found[_dec_dimensions.ONCE] == {5: 6.0, 10: 6.0}


def test_no_trade_off_with_an_empty_cluster_is_chosen():
    runs = figure3_runs(lambda d, t: t, (1.0, 2.0, 6.0))
    runs.loc[runs["parameters"].str.contains("6.0") & (runs["seed"] == 1), "empty"] = 1
    assert trade_offs_of(runs)["DEC"] == {5: 2.0, 10: 2.0}
    levels = pd.DataFrame({"dataset": "a", "level": "coarse", "trade_off": [1.0, 6.0], "accuracy": [0.4, 0.5]})
    levels = levels.assign(seed=0, nmi=0.5, agreement=[0.4, 0.5], error="", empty=[0, 1])
    assert _dec.chosen_trade_offs(levels) == {"a": {"oracle": 1.0, "label-free": 1.0}}


def test_label_free_trade_off_does_not_see_accuracy():
    """Accuracy is best about 6, agreement about 1: neither choice may look at the other's column."""
    rows = [
        {"dataset": "a", "level": level, "trade_off": t, "accuracy": -abs(t - 6.25), "agreement": -abs(t - 1.25)}
        | {"seed": 0, "error": ""}
        for level, values in (("coarse", [1.0, 6.0, 11.0]), ("oracle", [6.0, 6.25]), ("label-free", [1.0, 1.25]))
        for t in values
    ]
    assert _dec.chosen_trade_offs(pd.DataFrame(rows)) == {"a": {"oracle": 6.25, "label-free": 1.25}}


def test_fine_level_of_the_label_free_search_is_about_its_own_best(monkeypatch):
    asked = []

    def over(lab, names, trade_offs):
        asked.append(trade_offs)
        columns = {"accuracy": [-abs(t - 16) for t in trade_offs], "agreement": [-abs(t - 6) for t in trade_offs]}
        return pd.DataFrame({"dataset": "other", "trade_off": trade_offs, "seed": 0, "error": ""} | columns)

    monkeypatch.setattr(_dec, "_over", over)
    table = _dec.trade_off_runs(_lab.Lab(quick=False), ["other"])
    assert (min(asked[1]), max(asked[1])) == (15.0, 17.0)
    assert (min(asked[2]), max(asked[2])) == (5.0, 7.0)
    assert _dec.chosen_trade_offs(table)["other"] == {"oracle": 16.0, "label-free": 6.0}


def test_fine_level_of_coil20_goes_beyond_the_papers_edge():
    assert _dec.FINE == {"umist": (17, 19), "coil20": (2, 6), "isolet5": (2, 4)}


@pytest.mark.parametrize("reading", list(_dec_rules.READINGS))
def test_rules_of_dec_figure4(reading):
    def table(objective, accuracy):
        rows = []
        for title, (rule, _) in _dec_rules.TITLES.items():
            at = _dec_rules.RULES.index(rule)
            for measure, ours in (("objective at the end", objective[at]), ("accuracy", accuracy[at])):
                rows.append({"dataset": "a", "method": title, "measure": measure, "dimension": 1, "ours": ours})
        return pd.DataFrame(rows)

    for objective in ([3, 2, 1], [-1, -2, -3]):
        claims = _dec_rules._figure4_claims(table(objective, [0.5, 0.4, 0.3]), ["a"], reading)
        assert verdicts(claims) == ["holds", "holds"]
    lower = _dec_rules._figure4_claims(table([1, 2, 1], [0.3, 0.4, 0.3]), ["a"], reading)
    assert verdicts(lower) == ["does not hold", "does not hold"]


def test_convergence_is_asked_of_comparison_in_every_reading():
    runs = pd.DataFrame({"method": list(_dec_rules.TITLES), "objective_history_": [[1, 2]] * len(_dec_rules.TITLES)})
    assert _dec_rules._convergence(runs).verdict == "holds"
    runs.at[runs.index[runs["method"] == "minimization"][0], "objective_history_"] = [2, 1]
    assert _dec_rules._convergence(runs).verdict == "holds"
    runs.at[runs.index[runs["method"] == "comparison, as printed"][0], "objective_history_"] = [2, 1]
    assert (_dec_rules._convergence(runs).verdict, _dec_rules._convergence(runs).share) == ("holds in part", "2 of 3")


def test_rules_of_ec_figure1():
    def claims(ec):
        rows = [
            {"dataset": "a", "method": m, "dimension": d, "seed": seed, "accuracy": value + 0.001 * seed, "nmi": 0.5}
            for seed in range(7)
            for m, d, value in [
                *((m, "", 0.4) for m in ("k-means", "RMKMC")),
                *((m, d, ec if m == "EC" else 0.5) for m in _ec.CURVES for d in (1, 2, 3)),
            ]
        ]
        runs = pd.DataFrame(rows)
        return _ec._figure1_claims(pd.DataFrame(_lab.dimension_rows(runs)), runs, ["a"])

    assert verdicts(claims(0.6)) == ["holds"]
    assert verdicts(claims(0.45)) == ["does not hold"]


def measured(values, measures, n_runs=7):
    """A table and the runs behind it: for each method one value, by all measures."""
    rows = [
        {"dataset": "iris", "method": m, "measure": measure, "ours": value if sign > 0 else 1 - value}
        for measure, sign in measures.items()
        for m, value in values.items()
    ]
    runs = [
        {"dataset": "iris", "method": m, "parameters": "{}", "seed": seed, "error": "", "empty": 0}
        | {"accuracy": value + 0.01 * seed, "nmi": value + 0.01 * seed, "agreement": 0.1}
        for m, value in values.items()
        for seed in range(n_runs)
    ]
    return pd.DataFrame(rows), pd.DataFrame(runs)


def test_rules_of_odc_table2():
    measures = {"nmi": 1, "error": -1}
    best = dict(zip((*_odc.METHODS, *_odc.EXTRA), (0.5, 0.6, 0.6, 0.69, 0.7, 0.4, 0.9), strict=True))
    best[_odc.VARIANCE_ONE] = 0.45
    claims = _odc._claims(*measured(best, measures), ["iris"], [])
    assert verdicts(claims) == ["holds"] * 2 + ["does not hold"] + ["holds"] * 3 + ["cannot be tested"]
    assert claims[0].evidence.startswith("strong (+0.200")
    assert claims[2].text.endswith("(variance one)")
    worst = best | {"ODC": 0.1, _odc.VARIANCE_ONE: 0.9}
    claims = _odc._claims(*measured(worst, measures), ["iris"], ["pie"])
    assert verdicts(claims) == ["does not hold"] * 2 + ["holds"] + ["does not hold"] * 3 + ["cannot be tested"] * 2
    assert claims[0].evidence.startswith("strong against it")
    spread = {"a": {"nmi": 0.1, "accuracy": 0.05}}
    assert [_odc._sweep_claim(m, spread).verdict for m in measures] == ["holds", "holds"]
    spread = {"a": {"nmi": 0.01, "accuracy": 0.05}}
    assert [_odc._sweep_claim(m, spread).verdict for m in measures] == ["does not hold", "does not hold"]


def test_rule_of_the_axes_of_odc_figures():
    def verdict(values):
        table = pd.DataFrame({"dataset": "iris", "method": "ODC", "ours": values})
        return _odc._axes_claim("nmi", table, ["iris", "mixture"]).verdict

    assert verdict([0.61, 0.7, 0.9]) == "holds"
    assert verdict([0.61, 0.8, 0.9]) == "does not hold"


def test_rules_of_rurr_table1():
    measures = {"accuracy": 1, "nmi": 1}
    best = dict.fromkeys((*_rurr.METHODS, *_rurr.EXTRA), 0.4) | {"URR-SL": 0.5, "RURR-SL": 0.6, "RSFKM (capped)": 0.9}
    claims = _rurr._claims(*measured(best, measures), ["iris"], [])
    assert verdicts(claims) == ["holds"] * 5
    assert [claim.share for claim in claims] == ["1 of 1", "1 of 1", "2 of 2", "2 of 2", "2 of 2"]
    worst = best | {"RURR-SL": 0.1}
    assert verdicts(_rurr._claims(*measured(worst, measures), ["iris"], ["fei"])) == ["does not hold"] * 5 + [
        "cannot be tested"
    ]


def test_collapsed_rows_are_said():
    _, runs = measured({"FKM": 0.05, "RURR-SL": 0.6}, {})
    assert _rurr._collapsed(runs) == []
    runs.loc[runs["method"] == "FKM", "empty"] = 39
    (note,) = _rurr._collapsed(runs)
    assert "FKM on iris (accuracy 0.080)" in note
    assert "RURR" not in note


def test_rules_of_times():
    def table(ours):
        rows = [
            {
                "dataset": "coil20",
                "method": m,
                "measure": "seconds",
                "setting": 6,
                "paper": 1.0,
                "ours": ours.get(m, 1.0),
                "difference": 0.0,
            }
            for m in (*_dec.METHODS, "textbook DEC")
        ]
        return pd.DataFrame(rows)

    found = _dec_times._time_findings("table 4", "coil20", table({"K-means": 0.1, "PCAKM": 0.2}), [], [], 3.0)
    assert verdicts(found.claims) == ["holds", "holds"]
    found = _dec_times._time_findings("table 4", "coil20", table({"K-means": 9, "OCMKM": 5}), [], [], 3.0)
    assert verdicts(found.claims) == ["holds in part", "does not hold"]


def test_table_rows_keep_oracle_and_label_free_apart():
    found = pd.DataFrame(
        {
            "dataset": "a",
            "method": "m",
            "selection": ["oracle", "label-free"],
            "parameters": ["p", "q"],
            "accuracy": [0.9, 0.4],
            "accuracy_std": [0.1, 0.2],
            "accuracy_best": [0.95, 0.5],
            "runs": 10,
            "collapsed": [0, 3],
        }
    )
    row = _lab.measure_row(found, "a", "m", "error", "accuracy")
    assert (row["ours"], row["label-free"]) == (pytest.approx(0.1), pytest.approx(0.6))
    assert (row["best run"], row["parameters"], row["label-free parameters"]) == (pytest.approx(0.05), "p", "q")


def run_cli(*arguments, **options):
    command = [sys.executable, "-c", "from jointclust.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_command_line(tmp_path):
    done = run_cli("reproduce", "--quick", "--paper", "rurr", "--item", "fig. 4", "-o", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["items"][0]["item"] == "figure 4"
    assert (tmp_path / "out" / "index.html").exists()
    unknown = run_cli("reproduce", "--item", "table 9")
    assert unknown.returncode == 2
    assert "dec figure 2" in unknown.stderr
    assert "\n" not in unknown.stderr.strip()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    refused = run_cli("reproduce", "--item", "figure 4", "-o", str(tmp_path / "mine"))
    assert refused.returncode == 4
    listed = run_cli("reproduce", "--list", "--paper", "ec")
    assert "coil100" in listed.stdout
    assert not (tmp_path / "reproduction").exists()


@pytest.mark.slow
@pytest.mark.parametrize("paper", list(PAPERS))
def test_quick_runs_without_data(tmp_path, paper):
    done = run_cli("reproduce", "--quick", "--paper", paper, "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    if paper in ("dec", "ec", "odc"):
        assert "missing data" in done.stdout
    for one in items(paper):
        assert (tmp_path / f"{paper}-{one.name.replace(' ', '-')}.csv").exists()
