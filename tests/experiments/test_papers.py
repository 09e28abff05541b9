"""The papers' items: what is printed, what is asked for, what comes out; without data, as on a fresh machine."""

import csv
import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import jointclust as jc
from jointclust.experiments import Journal
from jointclust.experiments.findings import Claim, Findings
from jointclust.experiments.papers import (
    ITEMS,
    PAPERS,
    _dec,
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
from jointclust.experiments.papers._textbook import TextbookDEC


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
    assert sorted(names["ec"]) == ["figure 1", "table 1"]
    assert sorted(names["odc"]) == ["figure 1", "figure 2", "table 2"]
    assert sorted(names["rurr"]) == ["figure 1", "figure 2", "figure 3", "figure 4", "figure 5", "table 1"]
    for one in ITEMS:
        assert set(one.datasets) <= set(jc.datasets.registry()), one.name


@pytest.mark.parametrize("word", ["table 4", "Table IV", "tab. 4", "TABLE 4", "table  iv"])
def test_items_by_any_spelling(word):
    assert [(one.paper, one.name) for one in items(item=word)] == [("dec", "table 4")]


def test_unknown_items_are_answered_with_the_list():
    with pytest.raises(ValueError, match="'figure 9' in paper ec. There are: ec figure 1; ec table 1"):
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


def test_verdicts():
    verdicts = [
        _lab.judged("", flags, "").verdict for flags in ({"a": True}, {"a": True, "b": False}, {"a": False}, {})
    ]
    assert verdicts == ["holds", "holds in part", "does not hold", "cannot be tested"]
    with pytest.raises(ValueError, match="A verdict is one of"):
        Claim("a", "maybe", "")


def test_differences_by_hand():
    table = pd.DataFrame({"measure": ["accuracy", "accuracy", "seconds"], "difference": [0.1, -0.3, 50.0]})
    more = pd.DataFrame({"measure": ["nmi", "nmi"], "difference": [0.5, None]})
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


def test_textbook_loop_finds_the_toy():
    X, y = jc.datasets.two_gaussians(random_state=0)
    found = max(
        jc.metrics.clustering_accuracy(y, TextbookDEC(2, n_components=1, trade_off=5.0, random_state=s).fit(X).labels_)
        for s in range(5)
    )
    assert found > 0.99


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
    found = _dec.figure2(_lab.Lab(Journal()))
    ours = found.table.set_index("setting")["ours"]
    assert ours["n_init=10"] >= 0.998 - 1e-9
    assert found.claims[0].verdict == "holds in part"  # one start can stick


@pytest.mark.parametrize("name", ["figure 1", "figure 3"])
def test_rurr_figures(name):
    (one,) = items("rurr", name)
    found = one.run(_lab.Lab(Journal()))
    assert found.figure is not None
    assert len(found.table)
    assert all(claim.because for claim in found.claims)


# -- rules behind the verdicts, on made-up numbers ---------------------------------------------------------------


def verdicts(claims):
    return [claim.verdict for claim in claims]


def dimension_table(dec, others, plain):
    rows = [{"dataset": "umist", "method": "K-means", "dimension": "", "ours": plain}]
    for d, value in dec.items():
        rows.append({"dataset": "umist", "method": "DEC", "dimension": d, "ours": value})
        rows += [
            {"dataset": "umist", "method": method, "dimension": d, "ours": value_of[d]}
            for method, value_of in others.items()
        ]
    return pd.DataFrame(rows)


def test_rules_of_dec_figure3():
    names = ["PCAKM", "LDAKM", "OCMKM", "MMCKM", "OLSDAKM"]
    low = {name: {1: 0.2, 2: 0.2, 3: 0.2} for name in names}
    good = _dec._figure3_claims(dimension_table({1: 0.5, 2: 0.6, 3: 0.5}, low, 0.3), ["umist"])
    assert verdicts(good) == ["holds", "holds", "holds", "holds"]
    high = {name: {1: 0.7, 2: 0.8, 3: 0.9} for name in names}
    bad = _dec._figure3_claims(dimension_table({1: 0.1, 2: 0.2, 3: 0.3}, high, 0.3), ["umist"])
    assert verdicts(bad) == ["does not hold"] * 4


def test_label_free_trade_off_does_not_see_accuracy():
    """Accuracy is best about 6, agreement about 1: neither choice may look at the other's column."""
    rows = [
        {"dataset": "a", "level": level, "trade_off": t, "accuracy": -abs(t - 6.25), "agreement": -abs(t - 1.25)}
        for level, values in (("coarse", [1.0, 6.0, 11.0]), ("oracle", [5.75, 6.25]), ("label-free", [0.75, 1.25]))
        for t in values
    ]
    assert _dec.chosen_trade_offs(pd.DataFrame(rows)) == {"a": {"oracle": 6.25, "label-free": 1.25}}


def test_fine_level_of_the_label_free_search_is_about_its_own_best(monkeypatch):
    asked = []

    def over(lab, names, trade_offs):
        asked.append(trade_offs)
        columns = {"accuracy": [-abs(t - 16) for t in trade_offs], "agreement": [-abs(t - 6) for t in trade_offs]}
        return pd.DataFrame({"dataset": "other", "trade_off": trade_offs} | columns)

    monkeypatch.setattr(_dec, "_over", over)
    table = _dec.trade_off_runs(_lab.Lab(quick=False), ["other"])
    assert (min(asked[1]), max(asked[1])) == (15.0, 17.0)
    assert (min(asked[2]), max(asked[2])) == (5.0, 7.0)
    assert _dec.chosen_trade_offs(table)["other"] == {"oracle": 16.0, "label-free": 6.0}


def test_rules_of_dec_figure4():
    def table(objective, accuracy):
        rows = []
        for rule, value, share in zip(_dec_rules.RULES, objective, accuracy, strict=True):
            for measure, ours in (("objective at the end", value), ("objective kept", value), ("accuracy", share)):
                rows.append({"dataset": "a", "method": rule, "measure": measure, "dimension": 1, "ours": ours})
        return pd.DataFrame(rows)

    assert verdicts(_dec_rules._figure4_claims(table([3, 2, 1], [0.5, 0.4, 0.3]), ["a"])) == ["holds", "holds"]
    assert verdicts(_dec_rules._figure4_claims(table([-1, -2, -3], [0.5, 0.4, 0.3]), ["a"])) == ["holds", "holds"]
    lower = _dec_rules._figure4_claims(table([1, 2, 1], [0.3, 0.4, 0.3]), ["a"])
    assert verdicts(lower) == ["does not hold", "does not hold"]


def test_rules_share_a_start_and_comparison_never_falls():
    X, _ = jc.datasets.mixture(200, 20, 4, n_nuisance=3, random_state=0)
    given = {"n_components": 2, "trade_off": 2.0, "random_state": 0}
    start = jc.DiscriminativeEmbeddedClustering(4, **given | {"trade_off": 0.0, "update_rule": "fixed"}).fit(X).labels_
    for rule in _dec_rules.RULES:
        one = _dec_rules.OneStart(4, update_rule=rule, **given).fit(X)
        own = jc.DiscriminativeEmbeddedClustering(4, update_rule=rule, init=start, **given).fit(X)
        np.testing.assert_array_equal(one.objective_history_, own.objective_history_)
        np.testing.assert_array_equal(one.labels_, own.labels_)
        assert one.init == "pca"
    runs = pd.DataFrame(
        {"method": ["comparison", "fixed", "minimization"], "objective_history_": [[1, 2], [1, 2], [2, 1]]}
    )
    assert _dec_rules._convergence({"a": runs}).verdict == "holds"
    runs["objective_history_"] = [[2, 1], [1, 2], [1, 2]]
    assert _dec_rules._convergence({"a": runs}).verdict == "does not hold"


def test_rules_of_ec_figure1():
    def table(ec):
        rows = [{"dataset": "a", "method": m, "dimension": "", "ours": 0.4} for m in ("k-means", "RMKMC")]
        rows += [
            {"dataset": "a", "method": m, "dimension": d, "ours": ec if m == "EC" else 0.5}
            for m in ("PCA + k-means", "PCA + RMKMC", "OLSDA", "EC", "EC (random start)")
            for d in (1, 2, 3)
        ]
        return pd.DataFrame(rows)

    assert verdicts(_ec._figure1_claims(table(0.6), ["a"])) == ["holds"]
    assert verdicts(_ec._figure1_claims(table(0.45), ["a"])) == ["does not hold"]


def measured(values, measures):
    rows = [
        {"dataset": "iris", "method": m, "measure": measure, "ours": value, "best run": value}
        for measure, sign in measures.items()
        for m, value in ((m, value if sign > 0 else 1 - value) for m, value in values.items())
    ]
    return pd.DataFrame(rows)


def test_rules_of_odc_table2():
    measures = {"nmi": 1, "error": -1}
    best = dict(zip(("K-means", "NC", "DisCluster", "DisKmeans", "ODC"), (0.5, 0.6, 0.6, 0.69, 0.7), strict=True))
    claims = _odc._claims(measured(best, measures), ["iris"], [])
    assert verdicts(claims) == ["holds"] * 5 + ["cannot be tested"]
    worst = best | {"ODC": 0.1}
    claims = _odc._claims(measured(worst, measures), ["iris"], ["pie"])
    assert verdicts(claims) == ["does not hold"] * 5 + ["cannot be tested"] * 2
    spread = {"a": {"nmi": 0.1, "accuracy": 0.05}}
    assert [_odc._sweep_claim(m, spread).verdict for m in measures] == ["holds", "holds"]
    spread = {"a": {"nmi": 0.01, "accuracy": 0.05}}
    assert [_odc._sweep_claim(m, spread).verdict for m in measures] == ["does not hold", "does not hold"]


def test_rules_of_rurr_table1():
    measures = {"accuracy": 1, "nmi": 1}
    names = ("k-means", "RMKMC", "FKM", "RSFKM", "URR-SL", "RURR-SL", "RSFKM (capped)", "RURR-SL (as printed)")
    best = dict(zip(names, (0.4, 0.4, 0.4, 0.4, 0.5, 0.6, 0.9, 0.9), strict=True))
    assert verdicts(_rurr._claims(measured(best, measures), ["iris"], [])) == ["holds"] * 3
    worst = best | {"RURR-SL": 0.1}
    assert verdicts(_rurr._claims(measured(worst, measures), ["iris"], ["fei"])) == ["does not hold"] * 3 + [
        "cannot be tested"
    ]
    gains = [(0.03, "holds"), (0.013, "holds in part"), (0.0, "does not hold")]
    for gain, verdict in gains:
        assert _lab.gained("", {"a": (gain, 0.04)}, "").verdict == verdict


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
        }
    )
    row = _ec.measure_row(found, "a", "m", "error", "accuracy")
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
