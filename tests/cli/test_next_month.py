"""A run that is used on next month's data: check, and fit --like."""

import json

import numpy as np
import pytest
from calling import call, failure, rows_of


def write(path, n, seed, price=1.0, extra=0, names="abc"):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    visits = np.array([2.0, 12, 25])[kind] + rng.standard_normal(n)
    basket = price * np.array([80.0, 30, 10])[kind] * np.exp(0.2 * rng.standard_normal(n))
    age = np.array([60.0, 40, 25])[kind] + 4 * rng.standard_normal(n)
    rows = [f"{a:.2f},{b:.2f},{c:.1f}" for a, b, c in zip(visits, basket, age, strict=True)]
    rows += [f"{60 + rng.standard_normal():.2f},{300 + rng.standard_normal():.2f},90.0" for _ in range(extra)]
    header = ",".join(["customer", *(f"{name}x" for name in names)])
    path.write_text("\n".join([header, *(f"c{place},{row}" for place, row in enumerate(rows))]) + "\n")
    return path


@pytest.fixture(scope="module")
def january(tmp_path_factory):
    folder = tmp_path_factory.mktemp("months")
    data = write(folder / "january.csv", 240, 0)
    assert call("fit", data, "-k", 3, "--out", folder / "run", "--id-column", "customer", "--quiet") == 0
    return folder


def test_check(january, capsys):
    run, same = january / "run", write(january / "same.csv", 240, 1)
    capsys.readouterr()
    assert call("check", run, same) == 0
    assert capsys.readouterr().out.startswith("Fits: ")
    assert call("check", run, write(january / "dear.csv", 240, 2, price=1.2), "--json") == 5
    loaded = json.loads(capsys.readouterr().out)
    assert loaded["verdict"] == "drifts"
    assert "'bx'" in loaded["reasons"][0]
    assert call("check", run, write(january / "more.csv", 240, 2, extra=40), "--json") == 5
    loaded = json.loads(capsys.readouterr().out)
    assert (loaded["verdict"], set(loaded["new_rows"])) == ("refit", {f"c{place}" for place in range(240, 280)})


def test_check_of_other_columns(january, capsys):
    run = january / "run"
    assert call("check", run, write(january / "other.csv", 240, 1, names="abd")) == 5
    out = capsys.readouterr().out
    assert "'cx' is missing" in out
    assert "does not know 'dx'" in out
    status, message = failure(capsys, "check", run, write(january / "none.csv", 240, 1, names="uvw"))
    assert status in (1, 3)
    assert "columns" in message
    empty = january / "empty.csv"
    empty.write_text("customer,ax,bx,cx\n")
    assert call("check", run, empty) in (1, 3)
    assert call("check", january / "nothing", january / "january.csv") == 3


def test_like(january, capsys):
    run, out = january / "run", january / "july"
    data = write(january / "july.csv", 150, 3, extra=50)
    capsys.readouterr()
    assert call("fit", data, "-k", 4, "--like", run, "--out", out, "--id-column", "customer", "--json") == 0
    loaded = json.loads(capsys.readouterr().out)
    assert [change["kind"] for change in loaded["changes"]] == ["kept", "kept", "kept", "new"]
    before, now = ({row["cluster"]: row["name"] for row in rows_of(folder / "clusters.csv")} for folder in (run, out))
    assert {number: now[number] for number in before} == before
    assert set(now) - set(before) == {"3"}
    assert "a new cluster of 50 rows" in (out / "report.html").read_text()
    # A cluster that is gone leaves its number free.
    rest = january / "rest.csv"
    lines = data.read_text().splitlines()
    gone = rows_of(out / "labels.csv")[5]["label"]
    kept = [row["label"] != gone for row in rows_of(out / "labels.csv")]
    rest.write_text("\n".join([lines[0], *(line for line, keep in zip(lines[1:], kept, strict=True) if keep)]) + "\n")
    last = january / "last"
    assert call("fit", rest, "-k", 3, "--like", out, "--out", last, "--id-column", "customer", "--quiet") == 0
    assert {row["label"] for row in rows_of(last / "labels.csv")} == {"0", "1", "2", "3"} - {gone}
    assert {row["cluster"] for row in rows_of(last / "clusters.csv")} == {"0", "1", "2", "3"} - {gone}
    assert call("check", last, rest, "--quiet") == 0


def test_like_what_cannot_be(january, capsys):
    data = january / "january.csv"
    assert failure(capsys, "fit", data, "--like", january / "nothing", "--out", january / "a")[0] == 3
    status, message = failure(
        capsys, "fit", data, "--like", january / "run", "--method", "ldakm", "--out", january / "a"
    )
    assert (status, "--like goes with the default" in message) == (2, True)
    other = write(january / "o.csv", 60, 1, names="uvw")
    status, message = failure(capsys, "fit", other, "-k", 3, "--like", january / "run", "--out", january / "a")
    assert "like: the model cannot label these rows" in message
