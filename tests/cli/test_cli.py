"""The command line from end to end, as a user calls it."""

import csv
import gzip
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
import scipy.io
import scipy.sparse

import jointclust as jc
from jointclust import cli, files
from jointclust.choosing import comparison, registry
from jointclust.cli import preparing, results, runs
from jointclust.datasets import _download
from jointclust.estimators import base
from jointclust.readers import _table
from jointclust.subspace import decomposition
from jointclust.subspace.decomposition import coordinates_of
from test_persistence import rewrite

HELP = Path(__file__).parent / "help"
ROOT = Path(__file__).parents[2]
COMMANDS = ["fit", "predict", "select", "compare", "datasets", "reproduce", "demo"]


def command(*arguments, **options):
    """Run ``jointclust`` in a process of its own."""
    call = [sys.executable, "-c", "from jointclust.cli import main; main()", *map(str, arguments)]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(call, capture_output=True, text=True, env=environment, timeout=300, **options)


def call(*arguments):
    """Run it in this process; returns the exit status."""
    try:
        cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code
    return 0


def failure(capsys, *arguments):
    """The exit status and the one line that a failing call leaves."""
    status = call(*arguments)
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert status != 0
    assert message.startswith("Error: ")
    return status, message


@pytest.fixture
def iris_csv(iris, tmp_path):
    path = tmp_path / "iris.csv"
    rows = [["name", *iris.feature_names, "kind"]]
    rows += [[f"flower {i}", *row, f"kind {y}"] for i, (row, y) in enumerate(zip(iris.data, iris.target, strict=True))]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


FIT = ("--clusters", 3, "--id-column", "name", "--label-column", "kind", "--method", "ldakm")


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


# -- each subcommand, as a process ------------------------------------------------------------------------------


def test_fit_and_predict(iris_csv, tmp_path, iris):
    done = command("fit", iris_csv, *FIT, "--scale", "standard", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "Reading" in done.stderr
    assert done.stdout.strip().endswith(f"Open {tmp_path / 'run' / 'report.html'}")
    run = tmp_path / "run"
    names = {"labels.csv", "embedding.parquet", "model.skops", "report.html", "run.json"}
    assert {path.name for path in run.iterdir()} == names
    labels = rows_of(run / "labels.csv")
    assert [row["id"] for row in labels[:2]] == ["flower 0", "flower 1"]
    found = np.array([int(row["label"]) for row in labels])
    model = jc.load(run / "model.skops")
    np.testing.assert_array_equal(model.predict(iris.data), found)
    embedding = parquet.read_table(run / "embedding.parquet")
    np.testing.assert_allclose(embedding["component_0"].to_numpy(), model.transform(iris.data)[:, 0])
    record = json.loads((run / "run.json").read_text())
    assert record["result"]["accuracy"] == jc.metrics.clustering_accuracy(iris.target, found)
    assert record["parameters"]["method"] == "ldakm"
    assert set(record["seconds"]) == {"read", "fit", "stability", "write"}

    done = command("predict", run / "model.skops", iris_csv, "--id-column", "name", "--out", tmp_path / "new.csv")
    assert done.returncode == 0, done.stderr
    assert [row["label"] for row in rows_of(tmp_path / "new.csv")] == [row["label"] for row in labels]


def test_select(iris_csv, tmp_path):
    grid = ("--method", "ldakm", "--method", "dec", "--grid", "variance=0.9,0.99")
    read = ("--id-column", "name", "--label-column", "kind")
    done = command("select", iris_csv, "-k", 3, *read, *grid, "--out", tmp_path / "run", "--json", "--resamples", 2)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    candidates = rows_of(tmp_path / "run" / "candidates.csv")
    assert [row["params"] for row in candidates] == ["variance=0.9", "variance=0.99"] * 2
    best = max(candidates, key=lambda row: float(row["score"]))
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["chosen"]["chosen method"] == best["estimator"]
    assert result["sizes"] == record["result"]["sizes"]
    assert "What was tried" in (tmp_path / "run" / "report.html").read_text()


def test_compare(iris_csv, tmp_path):
    read = ("--id-column", "name", "--label-column", "kind")
    methods = ("--method", "ldakm", "--method", "dec")
    done = command("compare", iris_csv, "-k", 3, *read, *methods, "--out", tmp_path / "table.csv")
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.strip().splitlines()
    assert header.split("\t")[:3] == ["method", "agreement", "stability"]
    assert sorted(line.split("\t")[0] for line in lines) == ["dec", "ldakm"]
    assert {row["method"] for row in rows_of(tmp_path / "table.csv")} == {"dec", "ldakm"}


def test_datasets(tmp_path, iris):
    done = command("datasets", "--json")
    assert done.returncode == 0
    listed = json.loads(done.stdout)
    assert set(jc.datasets.registry()) <= set(listed)
    assert (listed["digits"]["rows"], listed["digits"]["where"]) == (1797, "bundled")
    assert call("datasets", "iris", "--out", tmp_path / "iris.csv", "--quiet") == 0
    assert call("datasets", "iris", "--out", tmp_path / "iris.npz", "--quiet") == 0
    assert len(rows_of(tmp_path / "iris.csv")) == 150
    with np.load(tmp_path / "iris.npz") as archive:
        np.testing.assert_array_equal(archive["X"], iris.data)


def test_no_column_is_lost_on_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTCLUST_DATA", str(tmp_path))
    names = ["a", "class", "a", "a (2)", "class (feature)"]
    np.savez(tmp_path / "own.npz", X=np.arange(10).reshape(2, 5), y=[7, 8], feature_names=names)
    assert call("datasets", "own", "--out", tmp_path / "own.csv", "--quiet") == 0
    row = rows_of(tmp_path / "own.csv")[1]
    assert [float(value) for value in row.values()] == [5, 6, 7, 8, 9, 1]
    assert list(row)[-1] == "class"


def test_datasets_that_are_not_here(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("JOINTCLUST_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    assert call("datasets") == 0
    lines = {line.split("\t")[0]: line.split("\t") for line in capsys.readouterr().out.splitlines()}
    assert lines["coil20"][1:] == ["1440", "1024", "20", "DEC (Coil), EC (COIL20)", "can be downloaded"]
    assert lines["fei"][-1].startswith("bring your own: FEI face database, http")
    assert lines["mixture"][-1] == "generated"
    assert call("datasets", "AT&T") == 0
    assert "terms: free use; credit Olivetti" in capsys.readouterr().out
    for arguments, reason in ((("--out", tmp_path / "x.npz"), "--download"), (("--download",), "cannot be reached")):
        monkeypatch.setattr(_download, "_ATTEMPTS", 1)
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # no one listens there
        status, message = failure(capsys, "datasets", "coil20", *arguments)
        assert (status, reason in message) == (3, True)
    status, message = failure(capsys, "datasets", "fei", "--download")
    assert (status, "apply there" in message) == (3, True)
    status, message = failure(capsys, "datasets", "coil21")
    assert (status, "Did you mean 'coil20'?" in message) == (2, True)


def test_own_copies_of_known_data_sets(tmp_path, capsys, monkeypatch, iris):
    monkeypatch.setenv("JOINTCLUST_DATA", str(tmp_path))
    content = {"fea": iris.data, "gnd": iris.target + 1}
    for same in (True, False):
        scipy.io.savemat(tmp_path / "iris.mat", content)
        assert call("datasets", "Iris", "--json") == 0
        facts = json.loads(capsys.readouterr().out)
        assert (facts["where"], facts["as measured"]) == (str(tmp_path / "iris.mat"), same)
        content["fea"] = iris.data + 1
    scipy.io.savemat(tmp_path / "iris.mat", {"A": iris.data})
    status, message = failure(capsys, "datasets", "iris")
    assert (status, "iris.mat holds A (150 x 4): " in message) == (3, True)


def test_demo(tmp_path):
    done = command("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.strip().rpartition("Open ")[2])
    assert path == tmp_path / "demo" / "run" / "report.html"
    assert path.read_text().rstrip().endswith("</html>")
    assert "JointConsensus" in done.stdout


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_is_as_agreed(name, capsys, monkeypatch):
    """After a change that is meant: JOINTCLUST_WRITE_HELP=1 pytest tests/test_cli.py, and read the diff."""
    monkeypatch.setenv("COLUMNS", "100")
    assert call(*([name] if name else []), "--help") == 0
    shown = capsys.readouterr().out
    golden = HELP / f"{name or 'jointclust'}.txt"
    if os.environ.get("JOINTCLUST_WRITE_HELP"):
        golden.write_text(shown)
    assert shown == golden.read_text()


# -- fit --------------------------------------------------------------------------------------------------------


def test_a_run_can_be_repeated_from_its_record(iris_csv, tmp_path):
    assert call("fit", iris_csv, *FIT, "--set", "ridge=0.1", "--seed", 7, "--out", tmp_path / "a", "--quiet") == 0
    assert call("fit", "--config", tmp_path / "a" / "run.json", "--out", tmp_path / "b", "--quiet") == 0
    for name in ("labels.csv", "embedding.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    first, second = (json.loads((tmp_path / name / "run.json").read_text()) for name in "ab")
    assert first["parameters"] == second["parameters"]
    assert first["result"] == second["result"]


def test_other_data_than_the_record_names_are_pointed_out(iris_csv, tmp_path, capsys):
    assert call("fit", iris_csv, *FIT, "--out", tmp_path / "a", "--quiet") == 0
    iris_csv.write_text(iris_csv.read_text().replace("5.1", "5.2"))
    assert call("fit", "--config", tmp_path / "a" / "run.json", "--out", tmp_path / "b") == 0
    assert "content differs" in capsys.readouterr().err


def test_options_from_toml(iris_csv, tmp_path, capsys):
    (tmp_path / "fit.toml").write_text(
        'clusters = 4\nmethod = "dec"\ntrade-off = "2"\nset = ["n_init=3"]\nid-column = "name"\ncategories = "drop"\n'
    )
    config = ("--config", tmp_path / "fit.toml", "--resamples", 0, "--quiet")
    assert call("fit", iris_csv, *config, "--clusters", 2, "--out", tmp_path / "run") == 0
    model = jc.load(tmp_path / "run" / "model.skops")[-1]
    assert (model.n_clusters, model.trade_off, model.n_init) == (2, 2, 3), "the command line goes first"
    (tmp_path / "fit.toml").write_text("cluster = 4\n")
    status, message = failure(capsys, "fit", iris_csv, *config)
    assert status == 2
    assert "Did you mean 'clusters'" in message


def test_standard_input(iris_csv, tmp_path):
    done = command("fit", "-", *FIT, "--out", tmp_path / "run", "--quiet", input=iris_csv.read_text())
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""
    assert len(rows_of(tmp_path / "run" / "labels.csv")) == 150


def test_default_method_gives_confidence(iris_csv, tmp_path):
    columns = ("--id-column", "name", "--label-column", "kind")
    assert call("fit", iris_csv, "-k", 3, *columns, "--out", tmp_path / "run", "--quiet") == 0
    confidence = [float(row["confidence"]) for row in rows_of(tmp_path / "run" / "labels.csv")]
    assert 0 < min(confidence) <= max(confidence) <= 1
    assert isinstance(jc.load(tmp_path / "run" / "model.skops")[-1], jc.JointConsensus)


def test_number_of_clusters_is_found(tmp_path, capsys):
    X, _ = jc.datasets.mixture(300, 20, 3, separation=20, n_nuisance=0, random_state=0)
    np.save(tmp_path / "x.npy", X)
    for name in ("fit", "select"):
        assert call(name, tmp_path / "x.npy", "--resamples", 0, "--out", tmp_path / name, "--quiet") == 0
        record = json.loads((tmp_path / name / "run.json").read_text())
        assert record["result"]["clusters"] == record["chosen"]["number of clusters"] == 3
    np.save(tmp_path / "noise.npy", np.random.RandomState(0).standard_normal((300, 20)))
    assert call("fit", tmp_path / "noise.npy", "--out", tmp_path / "one") == 0
    assert "No cluster structure found" in capsys.readouterr().err
    assert "No cluster structure found" in (tmp_path / "one" / "report.html").read_text()


@pytest.mark.parametrize("scale", preparing.SCALES)
@pytest.mark.parametrize("sparse", [False, True])
def test_scaling_is_part_of_the_model(scale, sparse, tmp_path, rng):
    counts = rng.poisson(2, size=(80, 12)).astype(float) + 1
    data = tmp_path / ("x.mtx" if sparse else "x.npy")
    if sparse:
        scipy.io.mmwrite(data, scipy.sparse.coo_array(counts))
    else:
        np.save(data, counts)
    fit = ("fit", data, "-k", 3, "--method", "ldakm", "--scale", scale, "--resamples", 0, "--quiet")
    assert call(*fit, "--out", tmp_path / "run") == 0
    assert call("predict", tmp_path / "run" / "model.skops", data, "--out", tmp_path / "new.csv", "--quiet") == 0
    assert rows_of(tmp_path / "new.csv") == rows_of(tmp_path / "run" / "labels.csv")


def test_missing_and_text_cells_go_through_the_model(tmp_path, rng):
    lines = [
        f"{a},{b},{'north' if c else 'south'}"
        for a, b, c in zip(*rng.standard_normal((2, 60)), rng.rand(60) > 0.5, strict=True)
    ]
    lines[7] = ",0.5,north"
    (tmp_path / "x.csv").write_text("\n".join(["a,b,side", *lines]))
    options = ("--categories", "onehot", "--missing", "median", "--scale", "standard", "--method", "dec", "--quiet")
    assert call("fit", tmp_path / "x.csv", "-k", 2, *options, "--resamples", 0, "--out", tmp_path / "run") == 0
    assert (
        call("predict", tmp_path / "run" / "model.skops", tmp_path / "x.csv", "--out", tmp_path / "new.csv", "--quiet")
        == 0
    )
    assert rows_of(tmp_path / "new.csv") == rows_of(tmp_path / "run" / "labels.csv")


def test_files_as_they_come(tmp_path, capsys, rng):
    """European numbers below a comment, an unknown column of text: told, recorded, repeated, predicted."""
    rows = rng.standard_normal((60, 3)) + 5 * (np.arange(60) % 2)[:, None]
    lines = [";".join(f"{value:.4f}" for value in row).replace(".", ",") + f";n{i}" for i, row in enumerate(rows)]
    (tmp_path / "x.csv").write_text("\n".join(["# from the machine", "a;b;c;who", *lines]), encoding="utf-16")
    fit = ("fit", tmp_path / "x.csv", "-k", 2, "--method", "ldakm", "--resamples", 0)
    status, message = failure(capsys, *fit, "--drop", "whom", "--out", tmp_path / "none")
    assert (status, "Did you mean 'who'?" in message) == (3, True)
    assert call(*fit, "--drop", "who,c", "--out", tmp_path / "a") == 0
    told = ["UTF-16", "comment", "decimal comma"]
    record = json.loads((tmp_path / "a" / "run.json").read_text())
    heard = capsys.readouterr().err
    assert all(any(part in warning for warning in record["warnings"]) and part in heard for part in told)
    assert record["input"]["columns"] == 2
    assert call("fit", "--config", tmp_path / "a" / "run.json", "--out", tmp_path / "b", "--quiet") == 0
    assert call(*fit, "--columns", "a", "--columns", "b", "--decimal", ",", "--out", tmp_path / "c", "--quiet") == 0
    new = ("predict", tmp_path / "a" / "model.skops", tmp_path / "x.csv", "--out", tmp_path / "new.csv", "--quiet")
    assert call(*new) == 0
    paths = [*(tmp_path / name / "labels.csv" for name in "abc"), tmp_path / "new.csv"]
    assert len({path.read_text() for path in paths}) == 1


def test_rows_that_stay_on_the_disk(tmp_path, digits, monkeypatch):
    np.save(tmp_path / "x.npy", digits.data)
    fit = ("fit", tmp_path / "x.npy", "-k", 10, "--method", "ldakm", "--resamples", 2, "--quiet")
    assert call(*fit, "--out", tmp_path / "memory") == 0
    monkeypatch.setattr(_table, "available_memory", lambda: 1000.0)
    assert call(*fit, "--out", tmp_path / "disk") == 0
    labels = [[int(row["label"]) for row in rows_of(tmp_path / name / "labels.csv")] for name in ("memory", "disk")]
    assert jc.metrics.clustering_accuracy(*labels) > 0.99


def test_every_method_runs(tmp_path, iris):
    np.save(tmp_path / "x.npy", iris.data)
    for name in (entry.name for entry in registry.METHODS):
        run = (
            "fit",
            tmp_path / "x.npy",
            "-k",
            3,
            "--method",
            name,
            "--resamples",
            1,
            "--quiet",
            "--out",
            tmp_path / name,
        )
        assert call(*run) == 0, name


@pytest.mark.parametrize("sparse", [False, True])
def test_stability_in_few_components(sparse, monkeypatch):
    X, _ = jc.datasets.mixture(400, 80, 4, separation=20, n_nuisance=0, random_state=0)
    rows = scipy.sparse.csr_array(X) if sparse else X
    monkeypatch.setattr(results, "_STABILITY_ROWS", 200)
    model = jc.LDAKMeans(4, n_init=5, random_state=0).fit(rows)
    assert results.stability_of(model, rows, 5, 0).min() > 0.99
    model.labels_ = np.random.RandomState(0).randint(4, size=400).astype(np.int32)
    assert results.stability_of(model, rows, 5, 0).max() < 0.5, "clusters that are not there"


@pytest.mark.parametrize(
    "arguments",
    [("fit", "--method", "ldakm"), ("fit",), ("select", "--method", "ldakm"), ("compare", "--method", "ldakm")],
    ids=" ".join,
)
def test_one_decomposition(arguments, tmp_path, monkeypatch):
    """Finds the number of clusters and is fitted."""
    X, _ = jc.datasets.mixture(200, 30, 3, separation=20, n_nuisance=0, random_state=0)
    np.save(tmp_path / "x.npy", X)
    decomposed = []

    def counting(rows, *arguments, **options):
        decomposed.append(rows.X.shape)
        return coordinates_of(rows, *arguments, **options)

    for module in (base, comparison, decomposition):
        monkeypatch.setattr(module, "coordinates_of", counting)
    out = () if arguments[0] == "compare" else ("--resamples", 1, "--out", tmp_path / "run")
    assert call(*arguments, tmp_path / "x.npy", "--quiet", *out) == 0
    assert decomposed.count(X.shape) == 1
    if out:
        assert json.loads((tmp_path / "run" / "run.json").read_text())["result"]["clusters"] == 3


# -- what can go wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n1\n", "line 3 has 1 cells"),
        ("a,b\n1,2\n1,x\n5,6\n", "line 3, column 'b'"),
        ("a,a\n1,2\n", "more than one column"),
        (b"a,b\n1,\xff\n", "line 2 holds the byte 0xff"),
    ],
)
def test_unreadable_files(tmp_path, capsys, text, reason):
    (tmp_path / "x.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    strict = ("--categories", "refuse", "--missing", "refuse")
    status, message = failure(capsys, "fit", tmp_path / "x.csv", "-k", 2, *strict, "--out", tmp_path / "run")
    assert status == 3
    assert reason in message


def test_missing_file(tmp_path):
    done = command("fit", tmp_path / "absent.csv", "-k", 2, "--out", tmp_path / "run")
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == f"Error: {tmp_path / 'absent.csv'}: there is no such file."
    assert "Traceback" not in done.stderr


def test_debug_shows_where(tmp_path, capsys):
    assert call("fit", tmp_path / "absent.csv", "-k", 2, "--out", tmp_path / "run", "--debug") == 3
    assert "Traceback" in capsys.readouterr().err


def test_too_large_for_the_machine(tmp_path, capsys, monkeypatch):
    with (tmp_path / "x.csv").open("w") as stream:
        stream.write("a,b\n" + "1,2\n" * 2000)
        stream.truncate(10 * 2**30)
    monkeypatch.setattr(_table, "available_memory", lambda: 2.0 * 2**30)
    status, message = failure(capsys, "fit", tmp_path / "x.csv", "-k", 2, "--out", tmp_path / "run")
    assert status == 3
    assert "GiB" in message


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-k", 3, "--method", "concensus"), "Did you mean 'consensus'?"),
        (("-k", 3, "--method", "ldakm", "--trade-off", 2), "--trade-off does not go with --method ldakm"),
        (("-k", 3, "--set", "rigde=2", "--method", "ldakm"), "Did you mean 'ridge'?"),
        (("-k", 3, "--set", "ridge"), "NAME=VALUE"),
        (("-k", 3, "--image-shape", "2x3", *FIT), "makes 6 pixels; the data have 4"),
        (("-k", 0), "0 is not in the range"),
        (("-k", 3, "--scale", "big"), "'big' is not one of"),
        (("-k", 3, "--frobnicate"), "--frobnicate"),
    ],
)
def test_wrong_usage(iris_csv, tmp_path, capsys, arguments, reason):
    status, message = failure(capsys, "fit", iris_csv, *arguments, "--out", tmp_path / "run")
    assert status == 2
    assert reason in message


def test_data_that_cannot_be_clustered(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.eye(3))
    status, message = failure(capsys, "fit", tmp_path / "x.npy", "-k", 5, "--out", tmp_path / "run")
    assert status == 1
    assert "n_clusters=5 exceeds the number of rows" in message


def test_negative_values_are_no_counts(tmp_path, capsys, rng):
    np.save(tmp_path / "x.npy", rng.standard_normal((20, 3)))
    for scale in ("log1p", "tfidf"):
        status, message = failure(
            capsys, "fit", tmp_path / "x.npy", "-k", 2, "--scale", scale, "--out", tmp_path / "run"
        )
        assert (status, "is for counts" in message) == (2, True)


def test_nothing_is_overwritten_without_force(iris_csv, tmp_path, capsys):
    fit = ("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet")
    assert call(*fit) == 0
    before = (tmp_path / "run" / "labels.csv").stat().st_mtime_ns
    status, message = failure(capsys, *fit)
    assert (status, "--force" in message) == (4, True)
    assert (tmp_path / "run" / "labels.csv").stat().st_mtime_ns == before
    (tmp_path / "run" / "candidates.csv").write_text("of an earlier select")
    (tmp_path / "run" / f"{files.UNFINISHED}left").write_text("by a killed run")
    assert call(*fit, "--force") == 0
    names = {"labels.csv", "embedding.parquet", "model.skops", "report.html", "run.json"}
    assert {path.name for path in (tmp_path / "run").iterdir()} == names
    model = tmp_path / "run" / "model.skops"
    status, message = failure(capsys, "predict", model, iris_csv, "--out", tmp_path / "run" / "labels.csv")
    assert (status, "--force" in message) == (4, True)


def test_models_that_cannot_be_used(iris_csv, tmp_path, capsys):
    predict = ("predict", tmp_path / "m.skops", iris_csv, "--out", tmp_path / "labels.csv")
    assert "there is no such model" in failure(capsys, *predict)[1]
    (tmp_path / "m.skops").write_text("x")
    assert "not a model file" in failure(capsys, *predict)[1]
    assert call("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    model = tmp_path / "run" / "model.skops"
    rewrite(model, "jointclust.json", json.dumps({"library": "jointclust", "format": 99}))
    status, message = failure(capsys, "predict", model, iris_csv, "--out", tmp_path / "labels.csv")
    assert status == 3
    assert "Upgrade jointclust" in message


def test_columns_that_the_model_needs(iris_csv, tmp_path, capsys):
    assert call("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    (tmp_path / "few.csv").write_text("sepal length (cm),other\n1,2\n")
    predict = ("predict", tmp_path / "run" / "model.skops", tmp_path / "few.csv", "--out", tmp_path / "labels.csv")
    status, message = failure(capsys, *predict)
    assert status == 3
    assert "lacks 3 of the model's 4 columns: 'sepal width (cm)', 'petal length (cm)', 'petal width (cm)'" in message


def test_folders_that_cannot_be_written(iris_csv, tmp_path, capsys):
    (tmp_path / "file").touch()
    status, message = failure(capsys, "fit", iris_csv, *FIT, "--out", tmp_path / "file" / "run")
    assert (status, "cannot be written" in message) == (4, True)
    status, message = failure(capsys, "fit", iris_csv, *FIT, "--out", "/proc/jointclust")
    assert (status, "cannot be written" in message) == (4, True)


def test_full_disk(iris_csv, tmp_path, capsys, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    status, message = failure(capsys, "fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run")
    assert (status, "the disk is full" in message) == (4, True)
    assert not any((tmp_path / "run").iterdir())


def test_files_that_may_not_grow(iris_csv, tmp_path):
    """A real refusal by the system: files of at most 2 kB."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = command("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", preexec_fn=limit)
    assert done.returncode == 4
    assert "cannot be written" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert {path.name for path in (tmp_path / "run").iterdir()} <= {"labels.csv"}


def test_without_pyarrow(iris_csv, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(runs, "_can_write_parquet", lambda: False)
    assert call("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    assert len(rows_of(tmp_path / "run" / "embedding.csv")) == 150
    predict = ("predict", tmp_path / "run" / "model.skops", iris_csv, "--out", tmp_path / "new.csv")
    status, message = failure(capsys, *predict, "--embedding", tmp_path / "e.parquet")
    assert (status, "or name a .csv file" in message) == (4, True)
    assert call(*predict, "--embedding", tmp_path / "e.csv", "--quiet") == 0
    assert rows_of(tmp_path / "e.csv") == [
        row | {"id": str(i)} for i, row in enumerate(rows_of(tmp_path / "run" / "embedding.csv"))
    ]


# -- the pages ----------------------------------------------------------------------------------------------------


def test_commands_of_the_pages_run(tmp_path, monkeypatch, rng, iris):
    """Every command of the page on the command line, in order, in one folder; those of the README are among them."""
    page = (ROOT / "docs" / "command_line.rst").read_text()
    lines = re.findall(r"^   \$ (.*)$", page, re.MULTILINE)
    told = re.findall(r"^    (jointclust .*?)(?:  +#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(told) == 2
    assert set(told) <= set(lines)
    table = np.column_stack([np.arange(150), iris.data + 0.01 * rng.standard_normal((150, 4)), iris.target])
    names = ["name", "a", "b", "c", "d", "kind"]
    for name, mark in (("data.csv", ","), ("new.csv", ","), ("big.tsv", "\t")):
        np.savetxt(tmp_path / name, table, delimiter=mark, header=mark.join(names), comments="")
    (tmp_path / "big.tsv.gz").write_bytes(gzip.compress((tmp_path / "big.tsv").read_bytes()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for line in lines:
        if "|" in line:
            subprocess.run(line, shell=True, check=True, capture_output=True)
        elif line != "jointclust demo":  # has a test of its own
            assert call(*shlex.split(line)[1:]) == 0, line
    config = re.search(r"code-block:: toml\n\n((?:   .*\n)+)", page)[1]
    Path("fit.toml").write_text(textwrap.dedent(config))
    assert call("fit", "data.csv", "--config", "fit.toml", "--out", "configured", "--quiet") == 0


# -- processes that end early -----------------------------------------------------------------------------------


def start(*arguments):
    call = [sys.executable, "-c", "from jointclust.cli import main; main()", *map(str, arguments)]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def check_whole(run, n_rows):
    """Whatever stands under its final name is complete; with the record there, so is everything."""
    present = (
        {path.name for path in run.iterdir() if not path.name.startswith(files.UNFINISHED)} if run.exists() else set()
    )
    if "labels.csv" in present:
        assert len(rows_of(run / "labels.csv")) == n_rows
    if "embedding.parquet" in present:
        assert parquet.read_table(run / "embedding.parquet").num_rows == n_rows
    if "model.skops" in present:
        jc.load(run / "model.skops")
    if "report.html" in present:
        assert (run / "report.html").read_text().rstrip().endswith("</html>")
    if "run.json" in present:
        json.loads((run / "run.json").read_text())
        assert len(present) == 5
    return present


def test_sigkill_at_any_moment(iris_csv, tmp_path):
    """Ten kills: some anywhere, most while files are being written."""
    rng = np.random.RandomState()
    fit = ("fit", iris_csv, *FIT, "--resamples", 0, "--quiet", "--out")
    began = time.perf_counter()
    process = start(*fit, tmp_path / "whole")
    process.communicate()
    duration = time.perf_counter() - began
    assert len(check_whole(tmp_path / "whole", 150)) == 5
    whole = 0
    for number in range(10):
        run = tmp_path / str(number)
        process = start(*fit, run)
        if number < 3:
            time.sleep(rng.uniform(0, duration))
        else:
            while process.poll() is None and not (run.exists() and any(run.iterdir())):
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        whole += len(check_whole(run, 150)) == 5
    assert whole < 10, "no run was cut short"


def test_ctrl_c_leaves_nothing_half_written(digits, tmp_path):
    np.save(tmp_path / "x.npy", np.repeat(digits.data, 2, axis=0))
    process = start("fit", tmp_path / "x.npy", "-k", 10, "--out", tmp_path / "run")
    for line in process.stderr:
        if line.startswith("Fitting"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert "Interrupted" in rest
    assert "Traceback" not in rest
    assert not any((tmp_path / "run").iterdir())


# -- what a review found ------------------------------------------------------------------------------------------


def test_a_failed_run_leaves_the_old_one(iris_csv, tmp_path, capsys):
    out = tmp_path / "out"
    assert call("fit", iris_csv, *FIT, "--out", out) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    failure(capsys, "fit", tmp_path / "typo.csv", "-k", "3", "--method", "dec", "--out", out, "--force")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert call("fit", "--config", out / "run.json", "--out", out, "--force") == 0
    assert (out / "labels.csv").read_bytes() == before["labels.csv"]


def test_images_are_checked_before_the_work(iris_csv, tmp_path, capsys):
    for shape in ("3x3", "-2x-2"):
        failure(
            capsys, "fit", iris_csv, "-k", "3", "--method", "dec", f"--image-shape={shape}", "--out", tmp_path / "o"
        )
        assert not list((tmp_path / "o").iterdir())


def test_codes_with_underscores_are_text(tmp_path, capsys):
    path = tmp_path / "codes.csv"
    path.write_text("a,code\n" + "\n".join(f"{i % 3},1_{i}" for i in range(30)) + "\n")
    fit = ("fit", path, "-k", "3", "--method", "dec", "--categories", "refuse", "--out", tmp_path / "o")
    assert "holds text" in failure(capsys, *fit)[1]


def test_rows_without_a_class_are_left_out(tmp_path, rng):
    path, y = tmp_path / "some.csv", np.repeat([0, 1, 2], 20)
    lines = [f"{10 * k + rng.normal()},{rng.normal()},{'' if i % 7 == 0 else 'abc'[k]}" for i, k in enumerate(y)]
    path.write_text("a,b,kind\n" + "\n".join(lines) + "\n")
    options = ("--method", "dec", "--scale", "none", "--label-column", "kind", "--resamples", "0")
    assert call("fit", path, "-k", "3", *options, "--out", tmp_path / "o") == 0
    result = json.loads((tmp_path / "o" / "run.json").read_text())["result"]
    assert result["accuracy"] == 1
    assert result["rows_without_class"] == 9


def test_names_of_rows_in_predict(tmp_path, rng):
    path = tmp_path / "named.csv"
    path.write_text(",a,b\n" + "\n".join(f"cell{i},{10 * (i % 2)},{rng.normal()}" for i in range(40)) + "\n")
    call("fit", path, "-k", "2", "--method", "dec", "--resamples", "0", "--out", tmp_path / "o")
    call("predict", tmp_path / "o" / "model.skops", path, "--out", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text() == (tmp_path / "o" / "labels.csv").read_text()


def test_new_rows_without_the_last_features(tmp_path, rng):
    lines = [f"0 1:{10 * (i % 2)} 2:{rng.normal():.3f} 30:{rng.normal():.3f}" for i in range(40)]
    (tmp_path / "all.svm").write_text("\n".join(lines) + "\n")
    (tmp_path / "few.svm").write_text("0 1:10 2:0.5\n0 1:0.1\n")
    call("fit", tmp_path / "all.svm", "-k", "2", "--method", "dec", "--resamples", "0", "--out", tmp_path / "o")
    call("predict", tmp_path / "o" / "model.skops", tmp_path / "few.svm", "--out", tmp_path / "labels.csv")
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 3


def test_tables_go_to_tables(iris_csv, tmp_path, capsys):
    assert call("fit", iris_csv, *FIT, "--out", tmp_path / "o") == 0
    model = tmp_path / "o" / "model.skops"
    files = ["--out", tmp_path / "l.csv", "--embedding", tmp_path / "e.npy"]
    assert ".csv or .parquet" in failure(capsys, "predict", model, iris_csv, *files)[1]
    assert "--clusters" in failure(capsys, "fit", iris_csv, "--set", "n_clusters=2", "--out", tmp_path / "p")[1]


def test_texts_are_asked_for_and_ids_are_told_once(tmp_path, capsys):
    lines = [f"{7 * row % 30},{text}" for row, text in enumerate(["cat dog", "sun moon", "milk egg"] * 10)]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["id,text", *lines]) + "\n")
    run = tmp_path / "run"
    call("fit", path, "-k", 3, "--text-column", "text", "-o", run, "--resamples", 0)
    _, message = failure(capsys, "predict", run / "model.skops", path, "-o", tmp_path / "labels.csv")
    assert "--text-column" in message
    call("predict", run / "model.skops", path, "--text-column", "text", "-o", tmp_path / "labels.csv")
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("\n".join(["id,a,b", *(f"{7 * row % 30},{row % 3},{row % 5}" for row in range(30))]) + "\n")
    capsys.readouterr()
    call("fit", numbers, "-k", 3, "-o", tmp_path / "other", "--resamples", 0)
    told = capsys.readouterr().err
    assert "'id' names the rows" in told
    assert "taken as a feature" not in told
    call("fit", numbers, "-k", 3, "--missing", "mean", "-o", tmp_path / "matrix", "--resamples", 0)
    assert "'id' is taken as a feature" in capsys.readouterr().err
