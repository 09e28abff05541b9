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
from jointclust.experiments.papers import ITEMS, PAPERS, _dec, _lab, _rurr, differences, items, reproduce
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
    assert found.claims[0].verdict == "holds"


@pytest.mark.parametrize("name", ["figure 1", "figure 3"])
def test_rurr_figures(name):
    (one,) = items("rurr", name)
    found = one.run(_lab.Lab(Journal()))
    assert found.figure is not None
    assert len(found.table)
    assert all(claim.because for claim in found.claims)


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
