"""The papers' items: what is printed, what is asked for, what comes out; without data, as on a fresh machine."""

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import jointclust as jc
from jointclust import cli
from jointclust_papers import claims, provenance, reproduction, rurr_runs
from jointclust_papers import lab as common
from jointclust_papers.experiments import Journal
from jointclust_papers.findings import Findings
from jointclust_papers.reproduction import (
    ITEMS,
    PAPERS,
    cells_of,
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
    rows = [r for r in common.published() if (r["paper"], r["item"], r["measure"]) == (paper, item, measure)]
    return pd.DataFrame(rows).astype({"value": float}).pivot(index="dataset", columns="method", values="value")


def test_published_numbers_are_complete():
    counts = Counter((row["paper"], row["item"]) for row in common.published() if row["item"] != "sizes")
    assert counts == {
        ("dec", "figure 2"): 5,
        ("dec", "table 4"): 35,
        ("dec", "table 5"): 35,
        ("dec", "table 6"): 35,
        ("ec", "table 1"): 24,
        ("odc", "table 2"): 80,
        ("rurr", "table 1"): 96,
    }
    shares = ("accuracy", "error", "nmi")
    assert all(0 < float(row["value"]) < 1 for row in common.published() if row["measure"] in shares)
    known = set(jc.datasets.registry())
    assert {row["dataset"] for row in common.published()} <= known


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
    assert names["dec"] == ["theory", "start", "figure 2", "figure 3", "figure 4", "figure 5", "table 4"]
    assert sorted(names["ec"]) == ["figure 1", "outliers", "table 1", "theory"]
    assert sorted(names["odc"]) == ["figure 1", "figure 2", "table 2", "theory"]
    figures = [f"figure {number}" for number in range(2, 6)]
    assert sorted(names["rurr"]) == ["convergence", *figures, "table 1", "theory"]
    for one in ITEMS:
        assert set(one.datasets) <= set(jc.datasets.registry()), one.name


@pytest.mark.parametrize("word", ["table 4", "Table IV", "tab. 4", "TABLE 4", "table  iv"])
def test_items_by_any_spelling(word):
    assert [(one.paper, one.name) for one in items(item=word)] == [("dec", "table 4")]


def test_unknown_items_are_answered_with_the_list():
    with pytest.raises(ValueError, match="'figure 9' in paper ec. There are: ec theory; ec outliers; ec figure 1"):
        items("ec", "figure 9")
    with pytest.raises(ValueError, match="dec, ec, odc, rurr, all"):
        items("lda")


def test_beside_paper():
    rows = [
        {"dataset": "gt", "method": "EC", "measure": "error", "ours": 0.4, "sd": 0.01},
        {"dataset": "gt", "method": "mine", "measure": "error", "ours": 0.3, "sd": 0.01},
    ]
    table = common.beside_paper("ec", "table 1", rows)
    assert list(table.columns) == ["dataset", "method", "measure", "paper", "ours", "difference", "sd"]
    assert table["paper"].iloc[0] == 0.3773
    assert table["difference"].iloc[0] == pytest.approx(0.4 - 0.3773)
    assert table[["paper", "difference"]].iloc[1].isna().all()


def test_a_set_prepared_in_another_way_is_beside_the_same_numbers():
    row = {"dataset": "gt (other)", "method": "EC", "measure": "error", "ours": 0.4}
    table = common.beside_paper("ec", "table 1", [row], {"gt (other)": "gt"})
    assert table.loc[0, ["dataset", "paper"]].tolist() == ["gt (other)", 0.3773]


def test_column_of_plain_kmeans():
    rows = [("a", "k", "nmi", 0.5), ("a", "m", "nmi", 0.7), ("b", "k", "nmi", 0.4), ("a", "m", "error", 0.2)]
    table = common.with_baseline(pd.DataFrame(rows, columns=["dataset", "method", "measure", "ours"]), "k")
    assert list(table.columns) == ["dataset", "method", "measure", "ours", "k-means"]
    assert table["k-means"].tolist()[:3] == [0.5, 0.5, 0.4]
    assert np.isnan(table["k-means"].iloc[3])


def test_plain_kmeans_is_that_of_the_same_preparation():
    rows = [("90%", "k", 0.5), ("90%", "m", 0.7), ("80%", "k", 0.4), ("80%", "m", 0.6)]
    given = pd.DataFrame(rows, columns=["rows", "method", "ours"]).assign(dataset="a", measure="nmi")
    assert common.with_baseline(given, "k")["k-means"].tolist() == [0.5, 0.5, 0.4, 0.4]


def test_differences_by_hand():
    names = {"dataset": ["gt", "gt", "gt", "gt (other)"], "low": 0.0, "rows": "90%"}
    table = pd.DataFrame(names | {"measure": [*["accuracy"] * 2, "seconds", "nmi"], "difference": [0.1, -0.3, 50, 9]})
    table = pd.concat([table, table.assign(rows="80%")])
    more = pd.DataFrame({"dataset": "gt", "measure": ["nmi", "nmi"], "difference": [0.5, None], "low": 0.0})
    result = differences(
        [
            Findings("ec", "a", "", table),
            Findings("ec", "b", "", more),
            Findings("ec", "c", "", more, stand_ins=["digits"]),
            Findings("ec", "d", "", None),
        ]
    )
    assert result["numbers"].tolist() == [2, 1]
    np.testing.assert_allclose(result["mean absolute difference"], [0.2, 0.5])
    np.testing.assert_allclose(result["mean difference"], [-0.1, 0.5])


def test_unit_scatter_makes_the_mean_eigenvalue_one():
    rng = np.random.RandomState(0)
    for shape in ((50, 8), (8, 50)):
        X = 30 * rng.standard_normal(shape) + 5
        scaled = common.unit_scatter(X)
        values = np.linalg.svd(scaled - scaled.mean(axis=0), compute_uv=False) ** 2
        assert np.mean(values[values > 1e-9]) == pytest.approx(1)


def test_neighbours_are_clipped_to_what_exists():
    result = rurr_runs.methods(common.Lab(quick=False))["RSFKM (l2,1)"][1](jc.datasets.load("iris"))
    assert result == {"n_neighbors": [2]}


def test_reproduce_writes_page_tables_figures_and_cells(tmp_path):
    wanted = items("rurr", "figure 4") + items("odc", "table 2")
    result = reproduce(wanted, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "claims.csv", "parts.csv", "cells.jsonl", "rurr-figure-4.svg", "odc-table-2.csv"} <= names
    table2 = result[1]
    assert "srbct" in table2.missing
    assert table2.stand_ins == []  # iris comes with scikit-learn
    assert set(table2.table["dataset"]) == {"iris"}
    assert {claim.verdict for claim in table2.claims} == {"cannot be tested"}
    row = table2.table[(table2.table["method"] == "ODC") & (table2.table["measure"] == "nmi")].iloc[0]
    assert row["paper"] == 0.7353
    assert abs(row["difference"]) < 0.1
    with (tmp_path / "claims.csv").open() as file:
        assert {row["item"] for row in csv.DictReader(file)} == {"figure 4", "table 2"}
    # A number of the table is the mean of shipped cells, and one of these can be had alone.
    cells = pd.read_csv(tmp_path / "odc-cells.csv.gz", keep_default_na=False)
    assert set(cells["item"]) == {"table 2"}
    own = cells[(cells["method"] == "ODC") & (cells["parameters"] == row["parameters"])]
    own = own[own["prepared"] == "unit_features"]
    assert own["nmi"].astype(float).mean() == pytest.approx(row["ours"], abs=1e-4)
    alone = cells_of("iris", "odc", 1, paper="odc", quick=True).set_index(["prepared", "parameters"])
    same = own[own["seed"].astype(int) == 1].iloc[0]
    assert alone.loc[("unit_features", row["parameters"]), "nmi"] == pytest.approx(float(same["nmi"]), abs=1e-4)
    assert set(json.loads((tmp_path / "provenance.json").read_text())) == {"rurr", "odc"}
    # What has been run is not run again, and the files are the same.
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    reproduce(wanted, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_shipped_cells_name_their_items_and_keep_namesakes(tmp_path):
    """One cell of two items is one row; another one of the same name is its own."""
    known = dict.fromkeys(provenance._COLUMNS, 0) | {"method": "LDAKM", "seconds": 1.0}
    tables = [pd.DataFrame([known | {"item": item, "n_iter": n}]) for item, n in (("a", 3), ("b", 3), ("c", 9))]
    provenance.ship({"dec": tables}, tmp_path, {})
    result = pd.read_csv(tmp_path / "dec-cells.csv.gz")
    assert result[["item", "n_iter"]].to_numpy().tolist() == [["a; b", 3], ["c", 9]]


def test_every_printed_claim_has_an_item_a_rule_and_what_its_verdict_rests_on():
    rows = claims.printed_claims()
    assert len({row["key"] for row in rows}) == len(rows) == 108
    known = {(one.paper, one.name) for one in ITEMS}
    for row in rows:
        assert (row["paper"], row["item"]) in known or row["item"] == claims.NO_ITEM, row["key"]
        assert row["rule"] in ("every", "most", "one")
        assert all(row[name] for name in ("place", "claim", "rests"))


@pytest.mark.parametrize(
    ("paper", "dataset", "method"),
    [
        ("dec", "draw 0", "DEC"),
        ("ec", "digits", "EC"),
        ("odc", "iris", "ODC"),
        ("rurr", "nine Gaussians, spread 0.8, draw 0", "RURR-SL"),
    ],
)
def test_one_cell_of_each_paper(paper, dataset, method):
    result = cells_of(dataset, method, 0, paper=paper, quick=True)
    assert (result["error"].fillna("") == "").all() if "error" in result else True
    assert result["accuracy"].between(0.05, 1).all()


def test_an_unknown_cell_is_answered():
    with pytest.raises(ValueError, match="method 'magic' and seed 0 here. Methods there: DisCluster; .*; ODC"):
        cells_of("iris", "magic", 0, paper="odc", quick=True)
    with pytest.raises(ValueError, match="method 'ODC' and seed 9 here. Seeds there: 0 to 2"):
        cells_of("iris", "ODC", 9, paper="odc", quick=True)
    with pytest.raises(ValueError, match="data set 'toy', method 'DEC' .* Data sets there: .*draw 0;"):
        cells_of("toy", "DEC", 0, paper="dec", quick=True)


def made(paper, item):
    (result,) = reproduction._made(items(paper, item), common.Lab(Journal()), reproduction._silently)
    return result


def test_items_that_need_no_data_have_evidence_for_every_claim():
    for paper, name in (("dec", "figure 2"), ("rurr", "figure 3"), ("rurr", "convergence")):
        result = made(paper, name)
        assert result.figure is not None
        assert len(result.table)
        assert all(claim.evidence for claim in result.claims)


def test_cells_of_all_items_are_run_together_and_failures_once(monkeypatch):
    """An item stops where cells are missing, all of them are run at once, and one that fails does not loop for ever."""
    calls = []
    monkeypatch.setattr(common, "finish", lambda cells, journal, **options: calls.append(len(cells)))
    lab = common.Lab(Journal())
    plans = [lab.experiment({"k": KMeans(n_init=n)}, ["iris"], 3, label_free=False) for n in (1, 2)]
    with pytest.raises(common.UnfinishedError):
        lab.tables(plans)
    with pytest.raises(common.UnfinishedError):
        lab.tables([lab.experiment({"k": KMeans(n_init=3)}, ["iris"], 3, label_free=False)], alone=True)
    lab.finish()
    assert calls == [6, 3]
    one, other = lab.tables(plans)
    assert len(one) == len(other) == 3
    assert one["accuracy"].isna().all()


def run_cli(*arguments, **options):
    command = [sys.executable, "-c", "from jointclust.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.slow
def test_the_command_runs_an_item(tmp_path):
    done = run_cli("reproduce", "--quick", "--paper", "rurr", "--item", "fig. 4", "-o", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    text = json.loads(done.stdout)
    assert text["items"][0]["item"] == "figure 4"
    assert (tmp_path / "out" / "index.html").exists()


def test_help_is_as_agreed(monkeypatch, capsys):
    """After a change that is meant: JOINTCLUST_WRITE_HELP=1 pytest papers/tests/test_reproduction.py."""
    monkeypatch.setenv("COLUMNS", "100")
    cli.main(["reproduce", "--help"])
    shown, agreed = capsys.readouterr().out, Path(__file__).parent / "help.txt"
    if os.environ.get("JOINTCLUST_WRITE_HELP"):
        agreed.write_text(shown)
    assert shown == agreed.read_text()
    assert cli.ELSEWHERE["reproduce"][1] in " ".join(shown.split())


def test_command_line(tmp_path):
    unknown = run_cli("reproduce", "--item", "table 9")
    assert unknown.returncode == 2
    assert "dec figure 2" in unknown.stderr
    half = run_cli("reproduce", "--dataset", "iris")
    assert (half.returncode, "give both" in half.stderr) == (2, True)
    one = run_cli("reproduce", "--dataset", "iris", "--method", "ODC", "--seed", "1", "--quick", "--paper", "odc")
    assert one.returncode == 0, one.stderr
    assert "unit_features" in one.stdout
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
