"""Which columns are used, as the command line says and changes it."""

import csv
import json
import re
import sys

import numpy as np
import pytest
from calling import call, failure, rows_of

RELATED = ["age", "spent", "visits"]
QUICK = ("-k", 2, "--set", "effort=quick")


@pytest.fixture
def customers(tmp_path):
    """Two segments in three numbers; luck depends on nothing, city and country on each other; two rows twice."""
    rng, n = np.random.default_rng(0), 200
    segment, city = rng.integers(0, 2, n), rng.integers(0, 4, n)
    age = np.where(rng.random(n) < 0.05, -999, 30 + 20 * segment + rng.integers(0, 8, n))
    columns = {
        "customer": [f"c{number}" for number in range(n)],
        "age": age,
        "spent": 100 + 80 * segment + rng.normal(0, 9, n),
        "visits": 3 + 4 * segment + rng.normal(0, 0.5, n),
        "luck": rng.random(n),
        "city": np.array(["Graz", "Linz", "Bern", "Genf"])[city],
        "country": np.array(["AT", "AT", "CH", "CH"])[city],
    }
    rows = list(zip(*columns.values(), strict=True))
    with (tmp_path / "customers.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([columns, *rows, *(("more", *row[1:]) for row in rows[:2])])
    return tmp_path / "customers.csv"


def looked(capsys, *arguments):
    assert call("look", *arguments, "--json", "--quiet") == 0
    return json.loads(capsys.readouterr().out)


def test_look_tells_what_a_fit_does(customers, tmp_path, capsys):
    result = looked(capsys, customers)
    assert result["clustered_by"] == RELATED
    assert result["other_groupings"] == [["city", "country"]]
    assert (result["repeated_rows"], result["id_column"], result["sentinels"]) == (2, "customer", {"age": [-999.0]})
    change = {column["name"]: column["change"] for column in result["columns"]}
    assert (change["age"], change["luck"]) == ("--drop age", "--keep luck")
    assert change["city"] == "--keep city, or --columns city,country"
    levels = {column["name"]: column["levels"] for column in result["columns"]}
    assert (levels["city"], levels["country"], levels["age"]) == (4, 2, 16)

    assert call("fit", customers, *QUICK, "--out", tmp_path / "run") == 0
    text = capsys.readouterr().err
    assert "by 3 of 6 columns" in text
    assert "'luck' (depends on no other column)" in text
    assert "--columns city,country" in text
    recorded = json.loads((tmp_path / "run" / "run.json").read_text())["columns"]
    assert [column["name"] for column in recorded if column["used"]] == RELATED
    assert min(column["drives"] for column in recorded if column["used"]) > 0.5


@pytest.mark.parametrize("method", ["consensus", "ldakm"])
def test_predict_needs_no_columns_that_are_not_used(method, customers, tmp_path):
    options = QUICK if method == "consensus" else ("-k", 2, "--resamples", 0)
    assert call("fit", customers, "--method", method, *options, "--out", tmp_path / "run", "--quiet") == 0
    rows = rows_of(customers)
    with (tmp_path / "some.csv").open("w", newline="") as stream:
        some = csv.DictWriter(stream, ["visits", "customer", "age", "spent"], extrasaction="ignore")
        some.writeheader()
        some.writerows(rows)
    assert call("predict", tmp_path / "run", tmp_path / "some.csv", "-o", tmp_path / "new.csv", "--quiet") == 0
    expected = [(row["id"], row["label"]) for row in rows_of(tmp_path / "run" / "labels.csv")]
    assert [(row["id"], row["label"]) for row in rows_of(tmp_path / "new.csv")] == expected


@pytest.mark.parametrize(
    ("options", "used"),
    [
        (("--keep", "luck"), [*RELATED, "luck"]),
        (("--keep", "city"), [*RELATED, "city"]),
        (("--columns", "luck,city"), ["luck", "city"]),
        (("--drop", "age,luck"), ["spent", "visits"]),
        (("--all-columns",), [*RELATED, "luck", "city", "country"]),
    ],
)
def test_options_change_what_is_used(options, used, customers, tmp_path, capsys):
    assert looked(capsys, customers, *options)["clustered_by"] == used
    method = ("--method", "ldakm", "-k", 2, "--resamples", 0)
    assert call("fit", customers, *method, *options, "--out", tmp_path / "run", "--quiet") == 0
    recorded = json.loads((tmp_path / "run" / "run.json").read_text())["columns"]
    assert [column["name"] for column in recorded if column["used"]] == used


def test_clusters_of_one_column_are_said_first(customers, tmp_path, capsys):
    options = ("--columns", "city,luck", "-k", 4, "--set", "effort=quick")
    assert call("fit", customers, *options, "--out", tmp_path / "run") == 0
    lines = capsys.readouterr().err.splitlines()
    after = lines[[line.startswith("Clustering") for line in lines].index(True) + 1]
    assert after.startswith("Warning: These clusters are (nearly) the values of column 'city'")
    assert "take it out of --columns" in after
    first = json.loads((tmp_path / "run" / "run.json").read_text())["warnings"][0]
    assert after == f"Warning: {first}"


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("--keep", "citty"), 3, r"no column 'citty'\. Did you mean 'city'\?.* \(--keep\)$"),
        (("--columns", "citty"), 3, r"no column 'citty'\. Did you mean 'city'\?.* \(--columns\)$"),
        (("--keep", "city", "--all-columns"), 2, "--all-columns and --keep exclude each other"),
        (("--keep", "city", "--label-column", "city"), 2, "--keep city: another option says"),
        (("--keep", "customer"), 1, "'customer' has a value of its own in each row"),
    ],
)
def test_names_that_cannot_be_used_are_told(options, status, message, customers, capsys):
    rows = customers.read_text().splitlines()[:-2]  # no id twice
    customers.write_text("\n".join(rows))
    result = failure(capsys, "look", customers, *options)
    assert result[0] == status
    assert re.search(message, result[1])


def test_look_breaks_no_words_on_a_narrow_terminal(customers, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert call("look", customers) == 0
    told = " ".join(capsys.readouterr().out.split())
    monkeypatch.undo()
    for column in looked(capsys, customers)["columns"]:
        change = f" ({column['change']})" if column["change"] else ""
        assert f"- {column['name']}: {column['why']}{change}" in told


def test_unrelated_columns_are_all_used(tmp_path, capsys):
    rng = np.random.default_rng(1)
    np.savetxt(tmp_path / "noise.csv", rng.normal(size=(100, 5)), delimiter=",", header="a,b,c,d,e", comments="")
    result = looked(capsys, tmp_path / "noise.csv")
    assert result["clustered_by"] == ["a", "b", "c", "d", "e"]
    assert call("look", tmp_path / "noise.csv") == 0
    assert "no columns depend on each other, so all are used" in capsys.readouterr().out
