"""The command line from end to end, as a user calls it."""

import importlib
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
import scipy.io
import scipy.sparse
from calling import FIT, RUN, call, command, failure, rows_of
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust import cli, registry
from jointclust.cli import preparing, results
from jointclust.consensus import views as sights
from jointclust.datasets import _download
from jointclust.estimators import base
from jointclust.readers import _table
from jointclust.selection import comparison
from jointclust.showing.fitted import Fitted
from jointclust.subspace import decomposition
from jointclust.subspace.decomposition import coordinates_of

HELP = Path(__file__).parent / "help"
COMMANDS = list(cli.COMMANDS)


# -- each subcommand, as a process ------------------------------------------------------------------------------


def test_fit_and_predict(iris_csv, tmp_path, iris):
    done = command("fit", iris_csv, *FIT, "--scale", "standard", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "Clustering 150 rows" in done.stderr
    assert done.stdout.strip().endswith(f"Open {tmp_path / 'run' / 'report.html'}")
    run = tmp_path / "run"
    assert {path.name for path in run.iterdir()} == RUN
    labels = rows_of(run / "labels.csv")
    assert [row["id"] for row in labels[:2]] == ["flower 0", "flower 1"]
    result = np.array([int(row["label"]) for row in labels])
    model = jc.load(run / "model.skops")
    np.testing.assert_array_equal(model.predict(iris.data), result)
    embedding = parquet.read_table(run / "embedding.parquet")
    np.testing.assert_allclose(embedding["component_0"].to_numpy(), model.transform(iris.data)[:, 0])
    record = json.loads((run / "run.json").read_text())
    assert record["result"]["accuracy"] == jc.metrics.clustering_accuracy(iris.target, result)
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
    header, *lines, _, verdict = done.stdout.strip().splitlines()
    assert header.split()[:3] == ["method", "agreement", "stability"]
    assert {name.strip(",") for line in lines for name in line.split()} >= {"dec", "ldakm"}
    assert verdict.endswith(".")
    assert {row["method"] for row in rows_of(tmp_path / "table.csv")} == {"dec", "ldakm"}


def test_compare_prepares_for_kmeans_what_was_read(iris_csv, tmp_path, iris):
    """Whatever --scale does to the rows of the others."""
    read = ("--id-column", "name", "--label-column", "kind")
    assert call("compare", iris_csv, "-k", 3, *read, "--scale", "l2", "--quiet", "--out", tmp_path / "table.csv") == 0
    rows = {row["method"]: row for row in rows_of(tmp_path / "table.csv")}
    assert {"k-means", "prepared k-means", "LDAKMeans", "consensus"} <= rows.keys()
    by_hand = KMeans(3, n_init=10, random_state=0).fit(StandardScaler().fit_transform(iris.data))
    expected = jc.metrics.clustering_accuracy(iris.target, by_hand.labels_)
    assert float(rows["prepared k-means"]["accuracy (with y_true)"]) == pytest.approx(expected, abs=0.005)


def test_datasets(tmp_path, iris, monkeypatch):
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
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


def test_a_mixed_data_set_goes_to_csv(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JOINTCLUST_DATA", str(tmp_path))
    (tmp_path / "german.csv").write_text("purpose,amount,CLASS\ncar,5,1\nradio,7,2\ncar,9,2\n")
    assert call("datasets", "german", "--out", tmp_path / "own.csv", "--quiet") == 0
    assert [list(row.values())[0::2] for row in rows_of(tmp_path / "own.csv")] == [
        ["car", "0"],
        ["radio", "1"],
        ["car", "1"],
    ]
    _, message = failure(capsys, "datasets", "german", "--out", tmp_path / "own.npz")
    assert "columns of text goes to .csv" in message


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
        monkeypatch.setattr(_download, "ATTEMPTS", 1)
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


@pytest.mark.slow  # `make package` runs it from the wheel
def test_demo(tmp_path):
    done = command("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.strip().rpartition("Open ")[2])
    assert path == tmp_path / "demo" / "run" / "report.html"
    assert path.read_text().rstrip().endswith("</html>")
    assert "JointConsensus" in done.stdout


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_is_as_agreed(name, capsys, monkeypatch):
    """After a change that is meant: JOINTCLUST_WRITE_HELP=1 pytest tests/cli/test_cli.py, and read the diff."""
    monkeypatch.setenv("COLUMNS", "100")
    assert call(*([name] if name else []), "--help") == 0
    shown = capsys.readouterr().out
    golden = HELP / f"{name or 'jointclust'}.txt"
    if os.environ.get("JOINTCLUST_WRITE_HELP"):
        golden.write_text(shown)
    assert shown == golden.read_text()


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_commands_are_listed_as_they_say(name):
    """The list of commands is there before their modules, and says what each says of itself."""
    module, text = cli.COMMANDS[name]
    command = getattr(importlib.import_module(f"jointclust.cli.{module}"), name.replace("-", "_"))
    assert command.name == name
    assert " ".join(command.help.split()).startswith(text)


def test_a_command_of_a_package_that_is_not_here_says_how_to_get_it(capsys, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    status, message = failure(capsys, "reproduce", "--list")
    assert (status, "pip install jointclust-papers" in message) == (2, True)


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
    model = jc.load(tmp_path / "run" / "model.skops")
    assert isinstance(model, jc.JointConsensus)
    assert [view["name"] for view in model.views_] == ["standardised", "rank-normal", "as is"]
    assert call("predict", tmp_path / "run" / "model.skops", iris_csv, "-o", tmp_path / "p.csv", "--quiet") == 0
    assert [float(row["confidence"]) for row in rows_of(tmp_path / "p.csv")] == confidence


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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call("compare", tmp_path / "noise.npy", "--method", "ldakm") == 0
    text = capsys.readouterr().err
    assert "Warning: No cluster structure found" in text
    assert "Number of clusters: no cluster structure found" in text


def test_select_by_another_criterion_tells_its_own_number(tmp_path, capsys):
    """What members agree on need not be what the silhouette prefers."""
    centers = np.array([[0.0, 0, 0], [8, 0, 0], [0, 100, 0]])
    np.save(tmp_path / "x.npy", np.repeat(centers, 30, axis=0) + np.random.RandomState(0).standard_normal((90, 3)))
    by = ("--method", "dec", "--criterion", "silhouette", "--scale", "none", "--resamples", 0)
    assert call("select", tmp_path / "x.npy", "-k", "2-4", *by, "--out", tmp_path / "run") == 0
    assert "Number of clusters" not in capsys.readouterr().err
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["chosen"]["n_clusters"] == record["result"]["clusters"]
    assert "number of clusters" not in record["chosen"]


def test_the_curve_is_drawn_where_it_can_be(iris_csv, tmp_path, capsys):
    """Said before the work, not after it."""
    status, message = failure(capsys, "number", iris_csv, "--plot", tmp_path / "curve.xyz")
    assert (status, "goes to a .svg, .png or .pdf file" in message) == (4, True)


def test_number(tmp_path, capsys):
    """The curve as text, as JSON, as a table and drawn; a range, and numbers to choose among."""
    X, _ = jc.datasets.mixture(120, 8, 3, separation=20, n_nuisance=0, random_state=0)
    np.save(tmp_path / "x.npy", X)
    files = ("-o", tmp_path / "curve.csv", "--plot", tmp_path / "curve.svg")
    assert call("number", tmp_path / "x.npy", "-k", "2-5", *files) == 0
    shown = capsys.readouterr().out
    assert [int(row["n_clusters"]) for row in rows_of(tmp_path / "curve.csv")] == [2, 3, 4, 5]
    assert "3 clusters (probability " in shown
    assert "\n3 rather than " in shown
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    assert call("number", tmp_path / "x.npy", "-k", 2, "-k", 3, "--json", "--quiet") == 0
    loaded = json.loads(capsys.readouterr().out)
    assert loaded["n_clusters"] == 3
    assert set(loaded["scores"]) == {"2", "3"}
    for wrong in ("8-2", "0", "two", "1-2-3"):
        assert call("number", tmp_path / "x.npy", "-k", wrong) == 2


def test_select_searches_over_numbers(tmp_path):
    X, _ = jc.datasets.mixture(120, 8, 3, separation=20, n_nuisance=0, random_state=0)
    np.save(tmp_path / "x.npy", X)
    out = ("--resamples", 0, "--out", tmp_path / "run", "--quiet")
    assert call("select", tmp_path / "x.npy", "-k", 2, "-k", 3, "--method", "ldakm", *out) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["result"]["clusters"] == 3
    assert len(rows_of(tmp_path / "run" / "candidates.csv")) == 2


@pytest.mark.parametrize(
    ("scale", "sparse"),
    [
        (scale, sparse)
        for scale in preparing.SCALES
        for sparse in (False, True)
        if (scale, sparse) != ("rank-normal", True)
    ],
)
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
    text = ["UTF-16", "comment", "decimal comma"]
    record = json.loads((tmp_path / "a" / "run.json").read_text())
    heard = capsys.readouterr().err
    assert all(any(part in note for note in record["notes"]) and part in heard for part in text)
    assert record["input"]["columns"] == 2
    assert call("fit", "--config", tmp_path / "a" / "run.json", "--out", tmp_path / "b", "--quiet") == 0
    assert call(*fit, "--columns", "a", "--columns", "b", "--decimal", ",", "--out", tmp_path / "c", "--quiet") == 0
    new = ("predict", tmp_path / "a" / "model.skops", tmp_path / "x.csv", "--out", tmp_path / "new.csv", "--quiet")
    assert call(*new) == 0
    paths = [*(tmp_path / name / "labels.csv" for name in "abc"), tmp_path / "new.csv"]
    assert len({path.read_text() for path in paths}) == 1


def test_rows_that_stay_on_the_disk(tmp_path, blobs, monkeypatch):
    np.save(tmp_path / "x.npy", blobs[0])
    fit = ("fit", tmp_path / "x.npy", "-k", 4, "--method", "ldakm", "--resamples", 2, "--quiet")
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
    monkeypatch.setattr(results, "STABILITY_ROWS", 200)
    model = jc.LDAKMeans(4, n_init=5, random_state=0).fit(rows)
    assert results.stability_of(Fitted(model, rows), 5, 0).min() > 0.99
    model.labels_ = np.random.RandomState(0).randint(4, size=400).astype(np.int32)
    assert results.stability_of(Fitted(model, rows), 5, 0).max() < 0.5, "clusters that are not there"


@pytest.mark.parametrize(
    "arguments",
    [("fit", "--method", "ldakm"), ("fit",), ("select", "--method", "ldakm"), ("compare", "--method", "ldakm")],
    ids=" ".join,
)
def test_one_decomposition(arguments, tmp_path, monkeypatch):
    """Finds the number of clusters and is fitted; the page looks once more, at other clusters than those of the fit."""
    X, _ = jc.datasets.mixture(200, 30, 3, separation=20, n_nuisance=0, random_state=0)
    np.save(tmp_path / "x.npy", X)
    decomposed = []

    def counting(rows, *arguments, **options):
        decomposed.append(rows.X.shape)
        return coordinates_of(rows, *arguments, **options)

    for module in (base, comparison, decomposition, sights):
        monkeypatch.setattr(module, "coordinates_of", counting)
    out = () if arguments[0] == "compare" else ("--resamples", 1, "--out", tmp_path / "run")
    assert call(*arguments, tmp_path / "x.npy", "--quiet", *out) == 0
    n_views = len(jc.describe(X).views) if arguments == ("fit",) else 1
    assert decomposed.count(X.shape) == (2 * n_views if out else n_views)
    if out:
        assert json.loads((tmp_path / "run" / "run.json").read_text())["result"]["clusters"] == 3
