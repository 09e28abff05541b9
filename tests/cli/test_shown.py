"""Names of rows, and columns that are shown without being clustered."""

import json
import re

import numpy as np
import pytest
from calling import call, failure, rows_of


@pytest.fixture
def tickets(tmp_path):
    """Texts of two kinds with an id, a priority and a city, and 3 copies of rows."""
    rng = np.random.RandomState(0)
    words = [["invoice", "refund", "card", "payment", "charged"], ["password", "login", "locked", "reset", "code"]]
    lines = []
    for row in range(60):
        text = " ".join(
            [*rng.permutation(words[row % 2])[:4], *rng.permutation(["the", "and", "my", "was", "for"])[:3]]
        )
        lines.append({"ticket": f"T{row}", "priority": int(rng.randint(9)), "city": "Oslo", "body": text})
    path = tmp_path / "tickets.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *lines[:3]]))
    return path


FIT = ("-k", 2, "--set", "effort=quick", "--set", "trust=false", "--quiet")


def test_texts_keep_the_names_of_their_rows_and_the_columns_beside_them(tickets, tmp_path, capsys):
    run = tmp_path / "run"
    assert call("fit", tickets, "--text-column", "body", "--show", "city,priority", *FIT, "--out", run) == 0
    labels = rows_of(run / "labels.csv")
    assert [row["id"] for row in labels[:2]] == ["T0", "T1"]
    assert {row["city"] for row in labels} == {"Oslo"}
    assert len({(row["label"], row["name"]) for row in labels}) == 2
    record = json.loads((run / "run.json").read_text())
    assert any("63 rows have 60 names" in note and "3 rows are copies" in note for note in record["notes"])
    page = (run / "report.html").read_text()
    assert '"name":"body","kind":"text"' in page
    assert '"role":"asked"' in page
    assert call("predict", run, tickets, "--quiet", "-o", tmp_path / "new.csv") == 0
    assert [row["id"] for row in rows_of(tmp_path / "new.csv")[:2]] == ["T0", "T1"]
    _, message = failure(capsys, "fit", tickets, "--text-column", "bodi", "--out", tmp_path / "x")
    assert "no column 'bodi'. Did you mean 'body'" in message
    _, message = failure(capsys, "fit", tickets, "--show", "town", "--out", tmp_path / "x")
    assert "no column 'town'" in message
    _, message = failure(capsys, "fit", tickets, "--show", "body", "--columns", "body", "--out", tmp_path / "x")
    assert "'body' is clustered, or only shown, not both. (--columns, --show)" in message


def test_a_column_that_is_shown_does_not_name_the_rows(tmp_path, capsys):
    """Another one does, or they are counted."""
    rng = np.random.RandomState(0)
    lines = [f"{{id}}{i},person {i},{9 * (i % 2) + rng.rand():.3f},{9 * (i % 2) + rng.rand():.3f}" for i in range(40)]
    for ids, expected in (("K", ["K0", "K1"]), ("", ["0", "1"])):
        path, run = tmp_path / f"x{ids}.csv", tmp_path / f"run{ids}"
        path.write_text("\n".join(["customer,name,size,weight", *(one.format(id=ids or "7.") for one in lines)]) + "\n")
        beside = ("--drop", "customer") if not ids else ()
        assert call("fit", path, "--show", "name", *beside, *FIT, "--out", run) == 0
        rows = rows_of(run / "labels.csv")
        assert [row["id"] for row in rows[:2]] == expected
        assert [row["data_name"] for row in rows[:2]] == ["person 0", "person 1"]
        assert re.search('"name":"name","kind":"text","data":"[^"]*","role":"asked"', (run / "report.html").read_text())
    _, message = failure(capsys, "fit", path, "--id-column", "name", "--show", "name", "--out", tmp_path)
    assert "'name' is named twice" in message


@pytest.mark.parametrize("categories", ["drop", "onehot"])
def test_text_that_names_rows_does_so_whatever_is_done_to_text(categories, tmp_path):
    rng = np.random.RandomState(0)
    lines = [f"row {i},{'ab'[i % 2]},{9 * (i % 2) + rng.rand():.3f}" for i in range(40)]
    (tmp_path / "x.csv").write_text("\n".join(["name,kind,size", *lines, lines[0]]) + "\n")
    method = ("--method", "ldakm", "--resamples", 0, "-k", 2, "--quiet")
    assert call("fit", tmp_path / "x.csv", "--categories", categories, *method, "--out", tmp_path / "run") == 0
    assert [row["id"] for row in rows_of(tmp_path / "run" / "labels.csv")[:2]] == ["row 0", "row 1"]
    columns = json.loads((tmp_path / "run" / "run.json").read_text())["fitted"]["features"]
    assert columns == (["size"] if categories == "drop" else ["size", "kind=a", "kind=b"])


def test_a_column_that_is_shown_is_not_clustered(tmp_path):
    rng = np.random.RandomState(0)
    lines = [f"{9 * (i % 2) + rng.rand():.3f},{9 * (i % 2) + rng.rand():.3f},{i % 3}" for i in range(60)]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,shift", *lines]) + "\n")
    assert call("fit", tmp_path / "x.csv", "--show", "shift", *FIT, "--out", tmp_path / "run") == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert [column["name"] for column in record["columns"]] == ["a", "b"]
    assert [row["shift"] for row in rows_of(tmp_path / "run" / "labels.csv")[:3]] == ["0.0", "1.0", "2.0"]


def test_rows_to_label_are_found_by_their_names(tmp_path, capsys):
    """A table of labels that was sorted says the same as before; one whose names tell nothing is refused."""
    rng = np.random.RandomState(0)
    lines = [f"row {i},{3 * (i % 2) + rng.normal():.3f},{3 * (i % 2) + rng.normal():.3f}" for i in range(60)]
    (tmp_path / "x.csv").write_text("\n".join(["name,a,b", *lines]) + "\n")
    run = tmp_path / "run"
    assert call("fit", tmp_path / "x.csv", *FIT, "--out", run) == 0
    assert call("suggest", run, "-n", 5, "--quiet", "-o", tmp_path / "before.csv") == 0
    head, *rows = (run / "labels.csv").read_text().splitlines()
    (run / "labels.csv").write_text("\n".join([head, *sorted(rows, key=lambda row: row.split(",")[-1])]) + "\n")
    assert call("suggest", run, "-n", 5, "--quiet", "-o", tmp_path / "after.csv") == 0
    assert (tmp_path / "after.csv").read_text() == (tmp_path / "before.csv").read_text()
    for path in run.glob("embedding.*"):
        path.unlink()
    status, message = failure(capsys, "suggest", run, "-n", 5, "-o", tmp_path / "x.csv", "--force")
    assert (status, "it was sorted or changed" in message) == (3, True)


@pytest.mark.parametrize("other", ["baskets", "BASKET"])
def test_predict_hints_at_a_column_of_another_name(other, tmp_path, capsys):
    rng = np.random.RandomState(0)
    lines = [f"{9 * (i % 2) + rng.rand():.3f},{9 * (i % 2) + rng.rand():.3f}" for i in range(40)]
    (tmp_path / "x.csv").write_text("\n".join(["basket,visits", *lines]) + "\n")
    (tmp_path / "y.csv").write_text("\n".join([f"{other},visits", *lines]) + "\n")
    assert call("fit", tmp_path / "x.csv", *FIT, "--out", tmp_path / "run") == 0
    _, message = failure(capsys, "predict", tmp_path / "run", tmp_path / "y.csv", "-o", tmp_path / "l.csv")
    assert f"Did you mean {other!r} for 'basket'?" in message


def test_clusters_of_images_have_the_same_names_everywhere(tmp_path):
    rng = np.random.RandomState(0)
    np.save(tmp_path / "x.npy", np.repeat([0.0, 9.0], 30)[:, None] * [1, 0, 0, 1] + rng.rand(60, 4))
    method = ("--method", "ldakm", "--resamples", 0, "-k", 2, "--quiet")
    assert call("fit", tmp_path / "x.npy", "--image-shape", "2x2", *method, "--out", tmp_path / "run") == 0
    assert {row["name"] for row in rows_of(tmp_path / "run" / "labels.csv")} == {"cluster 0", "cluster 1"}
    assert '"names":["cluster 0","cluster 1"' in (tmp_path / "run" / "report.html").read_text()


def test_gaps_of_a_data_set_are_empty_cells(tmp_path):
    """A spreadsheet takes "nan" for a word, which makes text of the column."""
    assert call("datasets", "survey", "--no-classes", "--out", tmp_path / "survey.csv", "--quiet") == 0
    cells = [cell for row in rows_of(tmp_path / "survey.csv") for cell in row.values()]
    assert "" in cells
    assert "nan" not in {cell.lower() for cell in cells}
