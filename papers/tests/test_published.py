"""The published results of the full run: complete, small, and what the pages say of them is what they hold."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from jointclust_papers import lab as common
from jointclust_papers import odc
from jointclust_papers.claims import printed_claims
from jointclust_papers.findings import VERDICTS, Part, Reading, judged
from jointclust_papers.reproduction import ITEMS

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
PAPERS = ("dec", "ec", "odc", "rurr")


def table(slug):
    return pd.read_csv(FOLDER / f"{slug}.csv", keep_default_na=False, na_values=["nan"])


def rows(name):
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cells(paper):
    return pd.read_csv(FOLDER / f"{paper}-cells.csv.gz", keep_default_na=False, na_values=[""])


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper} {item.name}")
def test_every_item_is_published(item):
    slug = f"{item.paper}-{item.name.replace(' ', '-')}"
    assert (FOLDER / f"{slug}.csv").stat().st_size < 200_000
    assert slug in "".join(path.read_text() for path in FOLDER.glob("*.rst"))


def test_every_printed_claim_has_one_row():
    values = [row for row in rows("claims.csv") if row["paper"] != "all"]
    assert sorted(row["key"] for row in values) == sorted(row["key"] for row in printed_claims())
    assert all(row["verdict"] in VERDICTS and row["rests"] for row in values)
    tested = [row for row in values if row["verdict"] != "cannot be tested"]
    assert all(row["share"] and row["evidence"] for row in tested)


def test_published_verdicts_follow_from_the_published_parts():
    """The rules, run again on parts.csv, give the verdicts of claims.csv."""
    rules = {row["key"]: row["rule"] for row in printed_claims()}
    readings = {}
    for row in rows("parts.csv"):
        own = readings.setdefault(row["key"], {}).setdefault((row["choice"], row["counted"] == "yes"), [])
        own.append(Part(row["name"], row["outcome"], n=int(row["n"])))
    for row in (one for one in rows("claims.csv") if one["paper"] != "all"):
        given = [Reading(parts, *choice) for choice, parts in readings.get(row["key"], {}).items()]
        again = judged(row["key"], "", "", "", given, rules[row["key"]])
        assert (again.verdict, again.share) == (row["verdict"], row["share"]), row["key"]


def test_outcomes_are_those_of_their_intervals():
    """For, tie and against by the interval alone, where what is asked for is more than nothing."""
    for row in rows("parts.csv"):
        if row["key"] in (
            "ec-best",
            "ec-table",
            "odc-nmi",
            "odc-error",
            "rurr-accuracy",
            "rurr-nmi",
            "dec-best",
            "dec-joint",
        ):
            low, high = float(row["low"]), float(row["high"])
            outcome = "for" if low > 1e-9 else "against" if high < -1e-9 else "tie"
            assert row["outcome"] == outcome or min(abs(low), abs(high)) < 1e-6, row


def test_numbers_of_the_tables_are_means_of_the_shipped_cells():
    for slug, prepared in (("odc-table-2", "unit_features"), ("rurr-table-1", "")):
        shipped = cells(slug.split("-")[0])
        for row in table(slug).to_dict("records")[::7]:
            own = shipped[(shipped["dataset"] == row["dataset"]) & (shipped["parameters"] == row["parameters"])]
            own = own[own["method"] == row["method"].replace("RSFKM", "RSFKM (l2,1)", row["method"] == "RSFKM")]
            own = own[own["prepared"].isin([prepared] if prepared else ["unit_scatter", "log_unit_scatter"])]
            own = own[own["collapsed"] == 0]
            if row["ours"] != "" and len(own) and row["method"] != odc.VARIANCE_ONE:
                value = own["nmi" if row["measure"] == "nmi" else "accuracy"].astype(float).mean()
                assert float(row["ours"]) == pytest.approx(1 - value if row["measure"] == "error" else value, abs=2e-4)


def test_shipped_cells_belong_to_items():
    """Every item that fits estimators has its cells, and no cell is without one."""
    for paper in PAPERS:
        values = {name for names in cells(paper)["item"].unique() for name in names.split("; ")}
        assert values == {one.name for one in ITEMS if one.paper == paper and one.cells}


def test_provenance_is_told_and_cells_are_small():
    known = json.loads((FOLDER / "provenance.json").read_text())
    for paper in (*PAPERS, "all"):
        assert {"version", "date"} <= set(known[paper])
    sizes = [path.stat().st_size for path in FOLDER.glob("*-cells.csv.gz")]
    assert len(sizes) == len(PAPERS)
    assert sum(sizes) < 3_000_000


def test_figures_are_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.svg")}
    assert len(sizes) >= 15
    assert max(sizes.values()) < 500_000


def test_each_printed_number_of_the_toy_is_near_at_a_trade_off():
    """Within 0.05 at one of the strip's trade-offs at least."""
    toy = table("dec-figure-2")
    own = toy[toy["method"] == "DEC"].astype({"difference": float})
    assert own.groupby("setting")["difference"].apply(lambda gaps: gaps.abs().min()).max() <= 0.05


def test_odc_is_as_near_to_the_paper_as_said():
    """Mean absolute difference of ODC's NMI, SRBCT apart: at most 0.015; with unit rows SRBCT is near, too."""
    result = table("odc-table-2")
    own = result[(result["method"] == "ODC") & (result["measure"] == "nmi") & (result["paper"] != "")]
    gaps = own.set_index("dataset")["difference"].astype(float).abs()
    assert gaps.drop(["srbct", odc.SRBCT_ROWS]).mean() <= 0.015
    assert gaps[odc.SRBCT_ROWS] < gaps["srbct"] / 3


def test_variance_one_does_what_the_page_says():
    result = table("odc-table-2")
    nmi = result[result["measure"] == "nmi"].pivot(index="dataset", columns="method", values="ours")
    nmi = nmi.drop(odc.SRBCT_ROWS).astype(float)
    assert (nmi[odc.VARIANCE_ONE] < nmi["ODC"]).all()
    assert (nmi[odc.VARIANCE_ONE] < nmi["K-means"])[["yeast", "segmentation"]].all()


def test_collapsed_fits_have_a_column_and_no_number_where_they_are_half():
    for slug in ("odc-table-2", "ec-table-1", "rurr-table-1"):
        for row in table(slug).to_dict("records"):
            gone, among = map(int, (row["collapsed"] or "0 of 1").split(" of "))
            assert (row["ours"] != "") == (2 * gone < among)


def test_plain_kmeans_is_the_row_of_plain_kmeans():
    for slug, name in (("odc-table-2", "K-means"), ("rurr-table-1", "k-means"), ("ec-table-1", "k-means")):
        own = table(slug)
        own = own[own["method"] == name]
        np.testing.assert_array_equal(own["ours"].astype(float), own["k-means"].astype(float))


@pytest.mark.parametrize("slug", ["ec-table-1", "odc-table-2", "rurr-table-1"])
def test_differences_are_ours_less_the_papers(slug):
    result = table(slug)
    printed = result[(result["paper"] != "") & (result["ours"] != "")]
    numbers = printed[["paper", "ours", "difference"]].astype(float)
    assert (numbers["difference"] - (numbers["ours"] - numbers["paper"])).abs().max() < 2e-4
    paper, _, item = slug.replace("-", " ").partition(" ")
    known = {
        (r["dataset"], r["method"], r["measure"]): float(r["value"])
        for r in common.published()
        if (r["paper"], r["item"]) == (paper, item)
    }
    for row in printed.to_dict("records"):
        dataset = row["dataset"].partition(" (")[0]
        assert float(row["paper"]) == known[dataset, row["method"], row["measure"]]


def test_range_of_the_trade_off_is_that_of_fits_that_did_not_collapse():
    """DEC's figure 5, best less worst coarse value, from the shipped cells; a set of one such value has no part."""
    fits = cells("dec")
    fits = fits[fits["item"].str.contains("figure 5")]
    fits = fits.assign(trade_off=[json.loads(text)["trade_off"] for text in fits["parameters"]])
    fits = fits[fits["trade_off"].isin([1, 6, 11, 16, 21, 26])]
    expected = {}
    for name, own in fits.groupby("dataset"):
        wide = own[own["collapsed"] == 0].pivot_table(index="seed", columns="trade_off", values="accuracy")
        means = wide.loc[:, wide.notna().sum() > own["seed"].nunique() / 2].mean()
        if len(means) > 1:
            expected[name] = pytest.approx(means.max() - means.min(), abs=1e-4)
    shown = [row for row in rows("parts.csv") if row["key"] == "dec-lambda" and int(row["n"])]
    assert {row["name"]: float(row["mean"]) for row in shown} == expected
    assert expected
