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
from jointclust.experiments import Journal, papers
from jointclust.experiments.findings import Findings
from jointclust.experiments.papers import (
    ITEMS,
    PAPERS,
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
    found = _rurr.methods(_lab.Lab(quick=False))["RSFKM"][1](jc.datasets.load("iris"))
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


def made(paper, item):
    (found,) = papers._made(items(paper, item), _lab.Lab(Journal()), papers._silently)
    return found


def test_toy_of_dec_reaches_the_papers_accuracy():
    """The must-hold of the toy, on fewer draws than the full run."""
    found = made("dec", "figure 2")
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
    found = made("rurr", name)
    assert found.figure is not None
    assert len(found.table)
    assert all(claim.because for claim in found.claims)


# -- rules behind the verdicts, on made-up numbers ---------------------------------------------------------------


def verdicts(claims):
    return [claim.verdict for claim in claims]


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


@pytest.mark.slow
def test_the_command_runs_an_item(tmp_path):
    done = run_cli("reproduce", "--quick", "--paper", "rurr", "--item", "fig. 4", "-o", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["items"][0]["item"] == "figure 4"
    assert (tmp_path / "out" / "index.html").exists()


def test_command_line(tmp_path):
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
