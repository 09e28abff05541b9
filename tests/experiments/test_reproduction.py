"""The published results of the full run: complete, small, and what the pages say of them is what they hold."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from jointclust.experiments.findings import VERDICTS
from jointclust.experiments.papers import ITEMS, _dec, _dec_rules, _lab

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
# None of their data are here.
NEVER_RUN = {("dec", "table 5"), ("dec", "table 6")}


def table(slug):
    return pd.read_csv(FOLDER / f"{slug}.csv", keep_default_na=False, na_values=["nan"])


def claims():
    with (FOLDER / "claims.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "item", [one for one in ITEMS if (one.paper, one.name) not in NEVER_RUN], ids=lambda i: i.title
)
def test_every_item_is_published(item):
    slug = f"{item.paper}-{item.name.replace(' ', '-')}"
    assert (FOLDER / f"{slug}.csv").stat().st_size < 200_000
    assert slug in "".join(path.read_text() for path in FOLDER.glob("*.rst"))
    if item.paper != "all":
        own = [row for row in claims() if (row["paper"], row["item"]) == (item.paper, item.name)]
        assert own
        assert all(row["verdict"] in VERDICTS and row["because"] for row in own)


def test_figures_are_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.svg")}
    assert len(sizes) >= 15
    assert max(sizes.values()) < 500_000


def test_toy_reaches_the_papers_accuracy():
    toy = table("dec-figure-2").set_index("setting")["ours"]
    assert toy["n_init=10"] >= 0.998


def test_dec_gains_over_pca_then_kmeans_on_isolet():
    found = table("dec-figure-3")
    wide = found[(found["dataset"] == "isolet5") & (found["dimension"] != "")].pivot(
        index="dimension", columns="method", values="ours"
    )
    assert (wide["DEC"].astype(float) - wide["PCAKM"].astype(float)).mean() > 0.02


def test_comparison_ends_with_the_largest_objective_or_the_page_says_not():
    found = table("dec-figure-4")
    (claim,) = [row for row in claims() if row["claim"].startswith("'comparison' ends with")]
    names = list(found["dataset"].unique())
    again = _dec_rules._figure4_claims(found.assign(ours=found["ours"].astype(float)), names)[0]
    assert again.verdict == claim["verdict"]


def test_published_verdicts_of_figure3_follow_from_the_published_numbers():
    found = table("dec-figure-3")
    found = found.assign(
        ours=found["ours"].astype(float), dimension=[int(d) if d != "" else "" for d in found["dimension"]]
    )
    again = {claim.text: claim.verdict for claim in _dec._figure3_claims(found, list(found["dataset"].unique()))}
    said = {row["claim"]: row["verdict"] for row in claims() if (row["paper"], row["item"]) == ("dec", "figure 3")}
    assert again.items() <= said.items()


@pytest.mark.parametrize("slug", ["ec-table-1", "odc-table-2", "rurr-table-1"])
def test_differences_are_ours_less_the_papers(slug):
    found = table(slug)
    printed = found[found["paper"] != ""]
    numbers = printed[["paper", "ours", "difference"]].astype(float)
    assert (numbers["difference"] - (numbers["ours"] - numbers["paper"])).abs().max() < 2e-4
    paper, _, item = slug.replace("-", " ").partition(" ")
    known = {
        (r["dataset"], r["method"], r["measure"]): float(r["value"])
        for r in _lab.published()
        if (r["paper"], r["item"]) == (paper, item)
    }
    for row in printed.to_dict("records"):
        assert float(row["paper"]) == known[row["dataset"], row["method"], row["measure"]]
