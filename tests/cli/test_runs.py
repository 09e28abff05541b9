"""What is done with a run once it is there: new rows, names for clusters, rows to ask about."""

import csv
import io
import json
import re
import shlex
import shutil
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from calling import call, failure, rows_of

import jointclust as jc
from jointclust import default

h5py = pytest.importorskip("h5py")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two groups with names that a spreadsheet would run, a category, and the group itself for half of the rows."""
    rng = np.random.RandomState(0)
    path = tmp_path_factory.mktemp("data") / "data.csv"
    rows = [
        [f"=cell {i}", *np.round(rng.standard_normal(3) + 8 * (i % 2), 3), "ab"[i % 2], "AB"[i % 2] if i < 20 else ""]
        for i in range(40)
    ]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["name", "x", "y", "z", "kind", "some"], *rows])
    return path


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    """A run whose rows are named by a column that nobody has named."""
    folder = tmp_path_factory.mktemp("run") / "run"
    assert call("fit", data, "-k", 2, "--drop", "some", "--out", folder, "--quiet") == 0
    return folder


def table_in(text):
    return list(csv.DictReader(io.StringIO(text)))


def without_names(data, tmp_path, columns=("x", "y", "z", "kind")):
    path = tmp_path / "nameless.csv"
    path.write_text("\n".join(",".join(row[name] for name in columns) for row in rows_of(data)) + "\n")
    return path


# -- predict ------------------------------------------------------------------------------------------------------


def test_a_folder_remembers_what_names_the_rows(run, data, tmp_path, capsys):
    assert call("predict", run, data, "-o", tmp_path / "new.csv", "--quiet") == 0
    assert (tmp_path / "new.csv").read_text() == (run / "labels.csv").read_text()
    nameless = tmp_path / "other.csv"
    nameless.write_text("\n".join(line.partition(",")[2] for line in data.read_text().splitlines()) + "\n")
    assert call("predict", run, nameless, "-o", "-") == 0
    output = capsys.readouterr()
    assert "no column 'name'" in output.err
    assert [row["id"] for row in table_in(output.out)[:2]] == ["0", "1"]


def test_labels_beside_the_columns_of_the_file(run, data, capsys):
    """On standard output there is the table, and nothing but the table."""
    assert call("predict", run, data, "--append", "-o", "-") == 0
    output = capsys.readouterr()
    assert "40 rows in 2 clusters" in output.err
    labels = rows_of(run / "labels.csv")
    for row, given, label in zip(table_in(output.out), rows_of(data), labels, strict=True):
        assert row["name"] == "'" + given["name"]
        own = {key: label[key] for key in ("label", "confidence")} | {"jointclust_name": label["name"]}
        assert row | {"name": given["name"]} == given | own
    assert call("predict", run, data, "--append", "--raw-cells", "--quiet", "-o", "-") == 0
    assert [row["name"] for row in table_in(capsys.readouterr().out)] == [row["name"] for row in rows_of(data)]
    assert "both go to standard output" in failure(capsys, "predict", run, data, "-o", "-", "--json")[1]


def test_columns_without_names_go_by_position(run, data, tmp_path, capsys):
    path = without_names(data, tmp_path)
    assert "--no-header" in failure(capsys, "predict", run, path, "-o", "-")[1]
    assert call("predict", run, path, "--no-header", "-o", "-") == 0
    output = capsys.readouterr()
    assert "the first for 'x', the last for 'kind'" in output.err
    assert [row["label"] for row in table_in(output.out)] == [row["label"] for row in rows_of(run / "labels.csv")]
    few = without_names(data, tmp_path, ("x", "kind"))
    assert "2 columns without names" in failure(capsys, "predict", run, few, "--no-header", "-o", "-")[1]


def test_arrays_go_by_position_too(data, tmp_path, capsys):
    fit = ("fit", data, "-k", 2, "--columns", "x,y,z", "--id-column", "name", "--method", "dec", "--resamples", 0)
    assert call(*fit, "--out", tmp_path / "run", "--quiet") == 0
    X = np.array([[float(row[name]) for name in "xyz"] for row in rows_of(data)])
    np.save(tmp_path / "x.npy", X)
    assert call("predict", tmp_path / "run", tmp_path / "x.npy", "-o", "-") == 0
    values = [row["label"] for row in table_in(capsys.readouterr().out)]
    assert values == [row["label"] for row in rows_of(tmp_path / "run" / "labels.csv")]
    np.save(tmp_path / "x.npy", X[:, :2])
    status, message = failure(capsys, "predict", tmp_path / "run", tmp_path / "x.npy", "-o", "-")
    assert (status, "the model was fitted on 3" in message) == (3, True)


def test_rows_far_from_all_that_was_fitted_are_told(run, data, tmp_path, capsys):
    lines = data.read_text().splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join([cells[0], "1000", *cells[2:]])
    (tmp_path / "far.csv").write_text("\n".join(lines) + "\n")
    assert call("predict", run, tmp_path / "far.csv", "-o", tmp_path / "l.csv") == 0
    assert "1 of 40 rows lies far outside what was fitted ('x' is 1000 " in capsys.readouterr().err
    assert call("predict", run, data, "-o", tmp_path / "near.csv") == 0
    assert "far outside" not in capsys.readouterr().err


@pytest.mark.parametrize("method", ["consensus", "FuzzyKMeans"])
def test_rows_without_any_value_are_guesses(data, tmp_path, capsys, method):
    """In the table of the fit and in that of new rows; counted in a warning."""
    lines = data.read_text().splitlines()
    gappy = [lines[0], *(f"nobody {number},,,,," for number in range(3)), *lines[1:]]
    (tmp_path / "gappy.csv").write_text("\n".join(gappy) + "\n")
    how = ("-k", 2, "--method", method, "--columns", "x,y,z", "--id-column", "name", "--out", tmp_path / "run")
    assert call("fit", tmp_path / "gappy.csv", *how) == 0
    assert "3 of 43 rows have no value" in capsys.readouterr().err
    assert call("predict", tmp_path / "run", tmp_path / "gappy.csv", "-o", tmp_path / "new.csv") == 0
    assert capsys.readouterr().err.count("3 of 43 rows have no value") == 1
    for labels in (tmp_path / "run" / "labels.csv", tmp_path / "new.csv"):
        confidence = [float(row["confidence"]) for row in rows_of(labels)]
        assert max(confidence[:3]) <= 0.5 < min(confidence[3:])


def test_gaps_in_new_rows(data, tmp_path, capsys):
    """The mean and median are those of the new rows; refused or filled, whatever the model does by itself."""
    fit = ("fit", data, "-k", 2, "--columns", "x,y,z", "--method", "dec", "--scale", "standard", "--missing", "refuse")
    assert call(*fit, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    (tmp_path / "gaps.csv").write_text("x,y,z\n0,0,0\n,0,0\n8,8,8\n")
    (tmp_path / "empty.csv").write_text("x,y,z\n,0,0\n,8,8\n")
    predict = ("predict", tmp_path / "run", tmp_path / "gaps.csv", "--quiet", "-o")
    assert call(*predict, "-", "--missing", "mean") == 0
    labels = [row["label"] for row in table_in(capsys.readouterr().out)]
    assert labels[0] == labels[1] != labels[2]
    assert "line 3" in failure(capsys, *predict, "-", "--missing", "refuse")[1]
    empty = ("predict", tmp_path / "run", tmp_path / "empty.csv", "-o", "-", "--missing", "median")
    assert "no median to fill gaps with" in failure(capsys, *empty)[1]


def test_labels_go_into_a_copy_of_an_annotated_matrix(tmp_path, rng, capsys):
    path, labelled = tmp_path / "cells.h5ad", tmp_path / "labelled.h5ad"
    X = rng.standard_normal((30, 4)) + 9 * (np.arange(30) % 2)[:, None]
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        file["X"] = X
        for name, values in (("obs", [f"cell{i}" for i in range(30)]), ("var", list("abcd"))):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group.attrs["column-order"] = np.array([], dtype=text)
            group.create_dataset("_index", data=values, dtype=text)
    assert call("fit", path, "-k", 2, "--out", tmp_path / "run", "--quiet") == 0
    before = path.read_bytes()
    assert call("predict", tmp_path / "run", path, "-o", labelled, "--quiet") == 0
    assert path.read_bytes() == before
    assert call("predict", tmp_path / "run", labelled, "-o", labelled, "--force", "--quiet") == 0, "again, in place"
    expected = rows_of(tmp_path / "run" / "labels.csv")
    with h5py.File(labelled) as file:
        obs = file["obs"]
        assert list(obs.attrs["column-order"]) == ["jointclust", "jointclust_name", "jointclust_confidence"]
        names = obs["jointclust"]["categories"].asstr()[:]
        assert names[obs["jointclust"]["codes"][:]].tolist() == [row["label"] for row in expected]
        np.testing.assert_allclose(obs["jointclust_confidence"][:], [float(row["confidence"]) for row in expected])
    np.save(tmp_path / "x.npy", X)
    status, message = failure(capsys, "predict", tmp_path / "run", tmp_path / "x.npy", "-o", tmp_path / "x.h5ad")
    assert (status, "where DATA is one" in message) == (4, True)


# -- what a run leaves ----------------------------------------------------------------------------------------------


def test_what_each_cluster_is(data, tmp_path):
    fit = ("fit", data, "-k", 2, "--label-column", "kind", "--drop", "some", "--plot", tmp_path / "map.svg")
    assert call(*fit, "--out", tmp_path / "run", "--quiet") == 0
    clusters, table = (
        json.loads((tmp_path / "run" / "clusters.json").read_text()),
        rows_of(tmp_path / "run/clusters.csv"),
    )
    labels = np.array([int(row["label"]) for row in rows_of(tmp_path / "run" / "labels.csv")])
    assert [one["size"] for one in clusters] == np.bincount(labels).tolist()
    assert {(one["main_class"], one["main_class_share"]) for one in clusters} == {("a", 1.0), ("b", 1.0)}
    assert [row["size"] for row in table] == [str(one["size"]) for one in clusters]
    assert all(one["rules"][0]["text"] in row["rules"] for one, row in zip(clusters, table, strict=True))
    assert {one["features"][0]["name"] for one in clusters} <= set("xyz")
    assert "<svg" in (tmp_path / "map.svg").read_text()


def test_a_workbook(data, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    fit = ("fit", data, "-k", 2, "--method", "ldakm", "--resamples", 0, "--quiet", "--out", tmp_path / "run")
    assert call(*fit, "--xlsx") == 0
    book = openpyxl.load_workbook(tmp_path / "run" / "results.xlsx")
    assert book.sheetnames == ["labels", "clusters", "summary"]
    labels = list(book["labels"].values)
    written = rows_of(tmp_path / "run" / "labels.csv")
    assert labels[0] == tuple(written[0])
    assert [str(row[1]) for row in labels[1:]] == [row["label"] for row in written]
    assert labels[1][0] == "'=cell 0"
    assert book["labels"]["A2"].data_type == "s", "text, and no formula"
    clusters = list(book["clusters"].values)
    assert [row[1] for row in clusters[1:]] == sorted(
        {row["name"] for row in written}, key=[r[1] for r in clusters].index
    )
    summary = dict(list(book["summary"].values)[1:])
    assert (summary["rows"], summary["clusters"], summary["how sure"]) == (40, 2, "sure")
    assert call(*fit, "--force") == 0
    assert not (tmp_path / "run" / "results.xlsx").exists(), "of an earlier run"


def test_a_small_report_leaves_features_out(data, tmp_path):
    fit = ("fit", data, "-k", 2, "--method", "ldakm", "--resamples", 0, "--quiet")
    values = {}
    for size in (0.001, 12):
        assert call(*fit, "--report-megabytes", size, "--out", tmp_path / str(size)) == 0
        page = (tmp_path / str(size) / "report.html").read_text()
        carried = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])["features"]
        values[size] = {feature["name"] for feature in carried}
    assert values[0.001] < values[12]
    assert {"x", "y", "z"} <= values[12]


def test_the_recorded_command_line_repeats_the_run(data, tmp_path, monkeypatch):
    """Plain: also where the options came from a file, and whatever needs quoting."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o.toml").write_text(
        'method = "ldakm"\nset = ["n_init=2"]\ndrop = ["some", "kind"]\ndelimiter = "tab"\n'
    )
    spaced = tmp_path / "with space.tsv"
    spaced.write_text(data.read_text().replace(",", "\t"))
    assert call("fit", spaced, "-k", 2, "--config", "o.toml", "--resamples", 0, "--header", "-o", "a", "--quiet") == 0
    text = json.loads((tmp_path / "a" / "run.json").read_text())["command_line"]
    (tmp_path / "o.toml").unlink()
    assert call(*shlex.split(text)[1:], "--force", "--quiet") == 0
    again = json.loads((tmp_path / "a" / "run.json").read_text())
    assert again["command_line"] == text
    assert text.startswith("jointclust fit ")


def test_nothing_is_said_of_progress_where_nobody_sees_it(data, tmp_path, capsys):
    """An everyday run says at most six lines before its result, and eight after it; other numbers are four in doubt."""
    assert call("fit", data, "-k", 2, "--drop", "some", "-o", tmp_path / "a") == 0
    output = capsys.readouterr()
    assert len(output.err.splitlines()) <= 6
    assert len(output.out.splitlines()) <= 8 + 4 * ("Not sure" in output.out)
    assert "%," not in output.err
    assert "left" not in output.err


def test_a_bar_on_a_terminal_says_what_takes_long(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("jointclust.progress.bar.PAUSE", 0.001)
    monkeypatch.setattr("jointclust.progress.bar.Bar.LONG", 0.0)
    assert call("fit", data, "-k", 2, "--drop", "some", "-o", tmp_path / "a", "--verbose") == 0
    text = capsys.readouterr().err
    assert re.search(r"This takes about \d+ s\. Faster: --set effort=quick", text)
    assert "JointConsensus(" in text


# -- known classes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "unknown"), [("consensus", ""), ("ldakm", ""), ("ldakm", "-1")])
def test_known_classes_are_kept_and_named(data, tmp_path, method, unknown):
    if unknown:
        text = data.read_text()
        data = tmp_path / "data.csv"
        data.write_text(re.sub(",$", f",{unknown}", text, flags=re.MULTILINE))
    fit = ("fit", data, "--known-column", "some", "--label-column", "kind", "-k", 2, "--method", method)
    assert call(*fit, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    given, outcome = rows_of(data), rows_of(tmp_path / "run" / "labels.csv")
    assert all(row["some"] in (unknown, label["class"]) for row, label in zip(given, outcome, strict=True))
    assert [row["class"] for row in outcome] == [row["kind"].upper() for row in given]
    result = json.loads((tmp_path / "run" / "run.json").read_text())["result"]
    assert (result["accuracy"], result["rows_fitted_with_class"]) == (1.0, 20)
    assert [row["class"] for row in rows_of(tmp_path / "run" / "clusters.csv")] == ["A", "B"]


def test_known_classes_that_cannot_be(data, tmp_path, capsys):
    fit = ("fit", data, "-k", 2, "--out", tmp_path / "run")
    status, message = failure(capsys, *fit, "--known-column", "some", "--label-column", "some")
    assert (status, "cannot judge it" in message) == (2, True)
    status, message = failure(capsys, *fit[:2], "-k", 1, *fit[4:], "--known-column", "some", "--method", "dec")
    assert (status, "known_labels holds 2 classes, more than n_clusters=1" in message) == (1, True)
    assert "(n_clusters: --clusters, known_labels: --known-column)" in message
    (tmp_path / "none.csv").write_text(data.read_text().replace(",A\n", ",\n").replace(",B\n", ",\n"))
    status, message = failure(capsys, "fit", tmp_path / "none.csv", *fit[2:], "--known-column", "some")
    assert (status, "no row has a class" in message) == (3, True)


def test_asked_filled_in_and_fitted_again(run, data, tmp_path, capsys):
    todo = tmp_path / "todo.csv"
    assert call("suggest", run, "-n", 4, "-o", todo) == 0
    assert "4 rows to label" in capsys.readouterr().out
    kinds = {row["name"]: row["kind"] for row in rows_of(data)}
    rows = rows_of(todo)
    assert {"".join(row["class"] for row in rows), len({row["id"] for row in rows})} == {"", 4}
    assert all(row["id"].startswith("'=") for row in rows), "as spreadsheets like it"
    lines = ["id,class", *(f"{row['id']},kind {kinds[row['id'][1:]]}" for row in rows[:3])]
    todo.write_text("\n".join(lines) + "\n")
    fit = ("fit", data, "-k", 2, "--drop", "some,kind", "--id-column", "name", "--method", "ldakm", "--resamples", 0)
    assert call(*fit, "--known-rows", todo, "--out", tmp_path / "again", "--quiet") == 0
    values = {row["id"]: row["class"] for row in rows_of(tmp_path / "again" / "labels.csv")}
    assert all(values[row["id"]] == row["class"] for row in rows_of(todo))
    todo.write_text("id,class\nnobody,a\n")
    status, message = failure(capsys, *fit, "--known-rows", todo, "--out", tmp_path / "no")
    assert (status, "no row of the data is called 'nobody'" in message) == (3, True)


def test_rows_to_ask_about_are_those_of_a_consensus(data, tmp_path, capsys):
    fit = ("fit", data, "-k", 2, "--method", "dec", "--resamples", 0)
    assert call(*fit, "--out", tmp_path / "run", "--quiet") == 0
    status, message = failure(capsys, "suggest", tmp_path / "run", "-o", tmp_path / "todo.csv")
    assert (status, "Fit again without --method" in message) == (2, True)


# -- names --------------------------------------------------------------------------------------------------------


def test_names_and_merged_clusters(tmp_path, rng):
    X = (
        rng.standard_normal((60, 2))
        + 20 * np.eye(2)[[0, 0, 1]].repeat(20, axis=0) * np.array([1, 2, 1]).repeat(20)[:, None]
    )
    np.save(tmp_path / "x.npy", X)
    fit = ("fit", tmp_path / "x.npy", "-k", 3, "--method", "dec", "--scale", "none", "--resamples", 0)
    assert call(*fit, "--out", tmp_path / "run", "--quiet") == 0
    labels = [int(row["label"]) for row in rows_of(tmp_path / "run" / "labels.csv")]
    (tmp_path / "names.json").write_text('{"names": {"2": " far ", "0": ""}, "merged": [[2, 1]], "more": 1}')
    assert call("apply-names", tmp_path / "run", tmp_path / "names.json", "--quiet") == 0
    named = rows_of(tmp_path / "run" / "named_labels.csv")
    assert [int(row["label"]) for row in named] == [min(label, 1) for label in labels]
    made = {row["cluster"]: row["name"] for row in rows_of(tmp_path / "run" / "clusters.csv")}
    assert len(set(made.values())) == 3
    assert {(row["label"], row["name"]) for row in named} == {("0", made["0"]), ("1", "far")}
    assert call(*fit, "--out", tmp_path / "run", "--quiet", "--force") == 0
    assert not (tmp_path / "run" / "named_labels.csv").exists(), "names of clusters that are gone"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is no JSON"),
        ("[]", 'needs an object with "names", "merged" or both'),
        ('{"name": {}}', 'needs an object with "names"'),
        ('{"n_clusters": 5, "names": {"0": "x"}}', "names 5 clusters, and the run has 2"),
        ('{"names": ["a"]}', '"names" has to be an object'),
        ('{"names": {"2": "x"}}', "2 is no cluster of the run, which has 0 to 1"),
        ('{"names": {"first": "x"}}', '"first" is no cluster'),
        ('{"names": {"0": 3}}', "the name of cluster 0 is 3: text is needed"),
        ('{"names": {"00": "x"}}', '"00" is no cluster'),
        ('{"names": {"0": "x", "0": "y"}}', 'the key "0" occurs twice'),
        ('{"names": {"0": "x\\ud800"}}', "the name of cluster 0"),
        pytest.param(f'{{"names": {{"{"1" * 10_000}": "x"}}}}', "is no cluster of the run", id="long key"),
        pytest.param(f'{{"merged": [[{"1" * 10_000}, 0]]}}', "a number of 10000 digits", id="long number"),
        pytest.param(f'{{"names": {"[" * 100_000}{"]" * 100_000}}}', "nested too deeply", id="deep"),
        ('{"merged": [0, 1]}', "a list of lists"),
        ('{"merged": [[0]]}', "at least two"),
        ('{"merged": [[0, 1], [1, 0]]}', "twice"),
        ('{"merged": [[0, true]]}', "true is no cluster"),
        ('{"names": {"0": "x", "1": "y"}, "merged": [[0, 1]]}', "one name is needed"),
    ],
)
def test_names_that_make_no_sense(run, tmp_path, capsys, text, reason):
    (tmp_path / "names.json").write_text(text)
    status, message = failure(capsys, "apply-names", run, tmp_path / "names.json", "-o", tmp_path / "l.csv")
    assert (status, reason in message, "names.json" in message) == (3, True, True), message
    assert not (tmp_path / "l.csv").exists()


def test_a_name_is_no_number_and_two_clusters_of_one_name_are_two(run, tmp_path, capsys):
    names, out, nameless = tmp_path / "names.json", tmp_path / "l.csv", tmp_path / "run"
    shutil.copytree(run, nameless)  # of a version that made no names
    rows = [f"{row['id']},{row['label']}\n" for row in rows_of(run / "labels.csv")]
    (nameless / "labels.csv").write_text("id,label\n" + "".join(rows))
    record = json.loads((run / "run.json").read_text())
    (nameless / "run.json").write_text(json.dumps({key: part for key, part in record.items() if key != "files"}))
    names.write_text('{"names": {"0": "1"}}')
    assert call("apply-names", nameless, names, "-o", out) == 0
    output = capsys.readouterr()
    assert "2 clusters: 1 (20); cluster 1 (20)" in output.out
    assert not output.err
    names.write_text('{"names": {"0": "same", "1": "same"}}')
    assert call("apply-names", run, names, "-o", out, "--force", "--json") == 0
    output = capsys.readouterr()
    assert "Clusters 0 and 1 are all called 'same', and stay apart" in output.err
    facts = json.loads(output.out)
    assert facts["sizes"] == {"0": 20, "1": 20}
    assert facts["names"] == {"0": "same", "1": "same"}


def test_a_damaged_record_is_named(run, data, tmp_path, capsys):
    damaged, sound = tmp_path / "damaged", json.loads((run / "run.json").read_text())
    shutil.copytree(run, damaged)
    predict = ("predict", damaged, data, "-o", tmp_path / "l.csv")
    fit = ("fit", data, "--config", damaged / "run.json", "-o", tmp_path / "again")
    for changes, place, commands in (
        ({"parameters": ["text_column"]}, "parameters", (predict, fit)),
        ({"parameters": sound["parameters"] | {"no_header": "yes"}}, "parameters.no_header", (predict,)),
        ({"parameters": sound["parameters"] | {"columns": "x"}}, "parameters.columns", (predict,)),
        ({"input": [1]}, "input", (predict,)),
        ({"input": {"date_orders": {"x": 1}}}, "input.date_orders", (predict,)),
        ({"fitted": sound["fitted"] | {"highest": ["a"]}}, "fitted.highest", (predict,)),
        ({"fitted": sound["fitted"] | {"features": ["x"]}}, "fitted", (predict,)),
        ({"fitted": sound["fitted"] | {"lowest": None}}, "fitted", (predict,)),
    ):
        (damaged / "run.json").write_text(json.dumps(sound | changes))
        for command in commands:
            status, message = failure(capsys, *command)
            assert (status, "run.json is " in message, place in message) == (3, True, True), message
    less = {name: value for name, value in sound["parameters"].items() if name != "columns"}
    (damaged / "run.json").write_text(json.dumps(sound | {"parameters": less}))
    assert "does not say parameters.columns" in failure(capsys, "cut", damaged, "-k", 2)[1]


def test_a_folder_that_is_no_run(tmp_path, capsys):
    for name in ("suggest", "apply-names", "predict"):
        more = () if name == "suggest" else (tmp_path / "x.json",)
        status, message = failure(capsys, name, tmp_path, *more, "-o", tmp_path / "x.csv")
        assert (status, "holds no model.skops" in message) == (3, True)


def test_a_model_alone_is_enough_to_predict(run, data, tmp_path):
    (tmp_path / "alone.skops").write_bytes((run / "model.skops").read_bytes())
    assert call("predict", tmp_path / "alone.skops", data, "-o", tmp_path / "l.csv", "--quiet") == 0
    values = [int(row["label"]) for row in rows_of(tmp_path / "l.csv")]
    np.testing.assert_array_equal(values, jc.load(run / "model.skops").labels_)


# -- cut ----------------------------------------------------------------------------------------------------------


def test_a_run_is_cut_without_a_fit(run, data, tmp_path, capsys):
    """The labels are those of the model's layer; the new folder is a run, and its model labels rows alike."""
    out = tmp_path / "cut"
    assert call("cut", run, "-k", 4, "--out", out, "--quiet") == 0
    layer = jc.load(run / "model.skops").cut(4)
    assert [int(row["label"]) for row in rows_of(out / "labels.csv")] == layer.tolist()
    assert len(rows_of(out / "clusters.csv")) == 4
    page = (out / "report.html").read_text()
    assert re.search(r">method</th><td>\w+</td><td>the earlier run<", page)
    assert re.search(r">resamples</th><td>10</td></tr>", page), "a default of this command, folded away"
    assert call("predict", out, data, "-o", tmp_path / "again.csv", "--quiet") == 0
    assert [row["label"] for row in rows_of(tmp_path / "again.csv")] == [str(label) for label in layer]
    again = tmp_path / "once"
    assert call("fit", data, "-k", 2, "--drop", "some", "--cut", 4, "--out", again, "--quiet") == 0
    assert [row["label"] for row in rows_of(again / "labels.csv")] == [str(label) for label in layer]
    assert call("cut", out, "-k", 3, "--out", tmp_path / "again", "--quiet") == 0
    assert len({row["label"] for row in rows_of(tmp_path / "again" / "labels.csv")}) == 3
    assert {row["id"] for row in rows_of(tmp_path / "again" / "labels.csv")} == {
        row["id"] for row in rows_of(run / "labels.csv")
    }


def test_what_cannot_be_cut_is_told(run, data, tmp_path, capsys, monkeypatch):
    assert "no layer of n_clusters=99" in failure(capsys, "cut", run, "-k", 99, "--out", tmp_path / "none")[1]
    with monkeypatch.context() as patch:
        patch.setattr(default, "fit_rows", None)  # a fit may take long
        wrong = failure(capsys, "fit", data, "-k", 2, "--cut", 9, "--out", tmp_path / "none")[1]
        assert "--cut 9 is more than 4 times 2" in wrong
        wrong = failure(capsys, "fit", data, "-k", 2, "--cut", 3, "--method", "ldakm", "--out", tmp_path / "none")[1]
        assert "--cut takes a layer of the consensus" in wrong
    other = tmp_path / "other.csv"
    other.write_text(data.read_text().replace("a,", "b,", 1))
    wrong = failure(capsys, "cut", run, "-k", 3, "--data", other, "--out", tmp_path / "none", "--force")[1]
    assert "its content differs" in wrong
    assert call("fit", data, "-k", 2, "--method", "ldakm", "--out", tmp_path / "ldakm", "--quiet") == 0
    assert "only a JointConsensus has layers" in failure(capsys, "cut", tmp_path / "ldakm", "-k", 2)[1]


def test_a_run_is_fitted_again_with_another_number(run, data, tmp_path, capsys):
    """By the options of the run, to its data: as if that number had been given at first."""
    again, once = tmp_path / "again", tmp_path / "once"
    assert call("cut", run, "-k", 3, "--refit", "--out", again, "--quiet") == 0
    assert call("fit", data, "-k", 3, "--drop", "some", "--out", once, "--quiet") == 0
    assert (again / "labels.csv").read_text() == (once / "labels.csv").read_text()
    record = json.loads((again / "run.json").read_text())
    assert (record["command"], record["result"]["clusters"], record["parameters"]["drop"]) == ("fit", 3, ["some"])
    assert call("cut", run, "-k", 2, "--out", tmp_path / "cut") == 0
    assert re.search(r"To fit with this number: jointclust cut \S+ -k 2 --refit", capsys.readouterr().err)
    assert call("cut", tmp_path / "cut", "-k", 3, "--refit", "--out", tmp_path / "third", "--quiet") == 0
    assert (tmp_path / "third" / "labels.csv").read_text() == (once / "labels.csv").read_text()


def test_a_refit_needs_the_data_of_the_run(run, data, tmp_path, capsys):
    lost = tmp_path / "run"
    shutil.copytree(run, lost)
    record = json.loads((lost / "run.json").read_text())

    def wrong(place, *more):
        record["parameters"]["data"] = str(place)
        (lost / "run.json").write_text(json.dumps(record))
        return failure(capsys, "cut", lost, "-k", 3, "--refit", "--out", tmp_path / "none", *more)[1]

    changed = tmp_path / "changed.csv"
    changed.write_text(data.read_text().replace("a,", "b,", 1))
    assert "are not at" in wrong(tmp_path / "gone.csv")
    assert "its content differs" in wrong(changed)
    assert "its content differs" in wrong(data, "--data", changed)
    assert "does not say where its data are" in wrong("-")
    assert not (tmp_path / "none").exists()
    (tmp_path / "alone.skops").write_bytes((run / "model.skops").read_bytes())
    alone = failure(capsys, "cut", tmp_path / "alone.skops", "-k", 3, "--refit", "--data", data)[1]
    assert "holds no run.json" in alone
    assert call("cut", lost, "-k", 3, "--refit", "--data", data, "--out", tmp_path / "found", "--quiet") == 0


# -- the file of a run, in Python ---------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--method", "ldakm"), ("--columns", "petal length (cm),sepal width (cm)")])
def test_a_model_takes_the_file_that_it_was_fitted_on(iris_csv, tmp_path, options):
    """Columns that the fit has left aside (names of rows, classes) are left aside, in any order, by all libraries."""
    fit = ("fit", iris_csv, "-k", 3, "--id-column", "name", "--label-column", "kind", "--resamples", 0, "--quiet")
    assert call(*fit, *options, "--out", tmp_path / "run") == 0
    model, frame = jc.load(tmp_path / "run" / "model.skops"), pd.read_csv(iris_csv, float_precision="round_trip")
    labels = [int(row["label"]) for row in rows_of(tmp_path / "run" / "labels.csv")]
    for one in (frame, frame[frame.columns[::-1]], pl.from_pandas(frame)):
        np.testing.assert_array_equal(model.predict(one), labels)
    assert sorted(one.size for one in jc.explain(model, frame)) == sorted(np.bincount(labels))
    with pytest.raises(ValueError, match="yet now missing"):
        model.predict(frame[["name", "kind"]])


def test_in_python_columns_that_fit_has_not_seen_are_refused(iris_csv):
    frame = pd.read_csv(iris_csv).drop(columns="kind")
    model = jc.JointConsensus(3, effort="quick", trust=False, random_state=0).fit(frame.drop(columns="name"))
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(frame)
